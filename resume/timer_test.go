package resume_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

type errand struct {
	Rings int `json:"rings"`
}

var (
	ring   = machine.NewEvent[machine.None]("ring")
	giveUp = machine.NewEvent[machine.None]("give_up")
	home   = guard.NewFact[bool]("anybody_home", guard.From("neighbour"), guard.MaxAge(time.Minute))
)

// errands ring every hour for three times, and give up after a day, when the neighbour says that nobody is home.
func errands() *machine.Machine[errand] {
	b := machine.New[errand]("errand", "ringing")
	b.Final("given_up")
	b.After("ringing", time.Hour, ring)
	b.After("ringing", 24*time.Hour, giveUp)
	machine.On(b, ring).From("ringing").Stay().Apply(func(e *errand, _ guard.Case[errand, machine.None]) { e.Rings++ })
	machine.On(b, giveUp).From("ringing").To("given_up").Require(guard.False(home))
	b.Accept(machine.LintLapse, machine.Everywhere, "the neighbour comes home sooner or later")
	return b.MustBuild()
}

// A deadline whose edge is refused is put off and told, and comes again; it fires as soon as the evidence allows it.
func TestRefusedTimerIsPutOff(t *testing.T) {
	d := newDesk(t)
	d.st = store.NewMemory(store.MemoryOptions{Now: d.clock})
	answer, asked := errors.New("nobody answers"), 0
	m := errands()
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Observers: []resume.Observer{
		resume.Pull(home, func(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
			asked++
			return guard.Observed[bool]{Subject: q.Subject}, answer
		})}})
	require.NoError(t, err)
	_, err = ctl.Start(d.ctx, m.Task("errand_1", alice, errand{}), alice)
	require.NoError(t, err)

	d.sleep(25 * time.Hour) // both came due while nobody worked
	require.NoError(t, ctl.Work(d.ctx))
	require.NoError(t, ctl.Work(d.ctx))
	s, err := ctl.Resume(d.ctx, "errand_1", alice)
	require.NoError(t, err)
	data, _ := machine.As[errand](s.Snapshot())
	require.Equal(t, 1, data.Data.Rings, "the earlier one fired, once")
	require.Equal(t, machine.State("ringing"), s.State())
	require.Equal(t, 1, asked)
	for e, err := range s.History(d.ctx) {
		require.NoError(t, err)
		require.Equal(t, guard.CodeUnknown, e.Blocked[0].Code)
		break
	}
	v := s.Version()
	for range 10 {
		require.NoError(t, ctl.Work(d.ctx))
	}
	s, err = ctl.Resume(d.ctx, "errand_1", alice)
	require.NoError(t, err)
	require.Equal(t, v, s.Version(), "not before it is due again")

	answer = nil
	d.sleep(2 * time.Hour)
	require.NoError(t, ctl.Work(d.ctx))
	s, err = ctl.Resume(d.ctx, "errand_1", alice)
	require.NoError(t, err)
	require.Equal(t, machine.State("given_up"), s.State())
}

// Told to stop, a controller claims nothing more and sees through what it has begun.
func TestStopSeesThroughWhatHasBegun(t *testing.T) {
	d := newDesk(t)
	ctx, stop := context.WithCancel(d.ctx)
	d.world.send = func(ctx context.Context, j job) (record, error) {
		stop()
		if ctx.Err() != nil {
			return record{}, ctx.Err()
		}
		return d.pay(j), nil
	}
	d.dispatched()
	require.ErrorIs(t, d.ctl.Run(ctx), context.Canceled)
	require.Equal(t, "refunded", string(d.resume().State()))
}
