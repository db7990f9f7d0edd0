package resume_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
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

// What is claimed and waits for a source when the controller is told to stop is given back at once, unsent: another one need not wait
// until the claim has run out.
func TestStopGivesBackWhatHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newWire(t)
		asked, free := make(chan struct{}, 8), make(chan struct{})
		d.clear = func() (bool, error) {
			asked <- struct{}{}
			<-free
			return true, nil
		}
		ctx, stop := context.WithCancel(d.ctx)
		over, began := make(chan error), time.Now()
		go func() { over <- d.ctl.Run(ctx) }()
		<-asked
		require.Equal(t, "sent", status(t, d.desk, d.lookAt("t1")), "the claim is durable")
		stop()
		require.ErrorIs(t, <-over, context.Canceled)
		require.Zero(t, time.Since(began), "nobody waits for the source")
		require.Equal(t, "intent", status(t, d.desk, d.lookAt("t1")))
		require.Zero(t, d.wires)
		require.Zero(t, d.ctl.Health(d.ctx).Performing)
		d.clear = func() (bool, error) { return true, nil }
		close(free)
		d.work()
		require.Equal(t, wireDone, d.lookAt("t1").State())
		require.Equal(t, 1, d.wires)
	})
}

// So is a lookup that has not begun: it stays unknown, and no place is lost.
func TestStopBeginsNoLookup(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
	d.dispatched()
	d.work()
	require.Equal(t, "unknown", status(t, d, d.resume()))
	d.sleep(time.Hour)
	ctx, stop := context.WithCancel(d.ctx)
	st := &claims{bent: bent{Store: d.st}, after: stop}
	d.st = st
	d.ctl = d.open(nil)
	require.ErrorIs(t, d.ctl.Run(ctx), context.Canceled)
	require.Equal(t, 1, st.calls, "nothing more is claimed")
	require.Zero(t, d.world.found)
	require.Equal(t, "unknown", status(t, d, d.resume()))
	d.work()
	require.Equal(t, 1, d.world.found, "it is there to be looked up at once")
}

// claims is a store after whose next claim something happens.
type claims struct {
	bent
	after func()
	calls int
}

func (c *claims) Claim(ctx context.Context, s store.Slots, limit int, holder string, hold store.Micros) ([]store.Effect, error) {
	c.calls++
	claimed, err := c.Store.Claim(ctx, s, limit, holder, hold)
	if after := c.after; after != nil && len(claimed) > 0 {
		c.after = nil
		after()
	}
	return claimed, err
}

// A controller that is told to stop before it begins changes nothing; one that has stopped serves, and can be run again.
func TestRunWithAContextThatHasEnded(t *testing.T) {
	d := newDesk(t)
	s := d.dispatched()
	version := s.Version()
	d.sleep(100 * time.Hour)
	ctx, stop := context.WithCancel(d.ctx)
	stop()
	for range 2 {
		require.ErrorIs(t, d.ctl.Run(ctx), context.Canceled)
		require.ErrorIs(t, d.ctl.Work(ctx), context.Canceled)
	}
	require.Empty(t, d.heard, "to be told to stop is no problem")
	require.Empty(t, d.world.sent)
	require.Equal(t, version, d.resume().Version())
	require.Zero(t, d.ctl.Health(d.ctx).Worked)

	_, err := d.ctl.Start(ctx, refund.Machine.Task("late", alice, refund.Refund{OrderID: "9", Amount: euros}), alice)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Propose(ctx, jot)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, version, d.resume().Version())
	_, err = d.ctl.Resume(d.ctx, "late", alice)
	require.ErrorIs(t, err, resume.ErrNoTask)

	ctx, stop = context.WithCancel(d.ctx)
	d.world.send = func(_ context.Context, j job) (record, error) { stop(); return d.pay(j), nil }
	require.ErrorIs(t, d.ctl.Run(ctx), context.Canceled)
	require.Equal(t, refund.Refunded, d.resume().State())
}

// After a stop nothing of the controller is left: no timer, no watch, no question. The bubble would not end.
func TestStopLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.dispatched()
		ctx, stop := context.WithCancel(d.ctx)
		var wg sync.WaitGroup
		for range 2 { // twice is no harm
			wg.Go(func() { _ = d.ctl.Run(ctx) })
		}
		seen := make(chan uint64, 16)
		wg.Go(func() {
			for e := range s.Watch(ctx, 0) {
				seen <- e.Version
			}
		})
		wg.Go(func() {
			for range d.ctl.Watch(ctx, alice, resume.Search{Owner: "alice"}, nil) {
				seen <- 0
			}
		})
		time.Sleep(time.Minute) // reason: time is that of the test's bubble
		synctest.Wait()
		require.NotEmpty(t, seen)
		require.Len(t, d.world.sent, 1)
		stop()
		wg.Wait()
		require.NoError(t, d.st.Close())
		require.ErrorIs(t, d.st.Close(), store.ErrClosed)
		require.ErrorIs(t, d.ctl.Run(d.ctx), store.ErrClosed)
		require.ErrorIs(t, d.ctl.Health(d.ctx).Err, store.ErrClosed)
		_, err := d.ctl.Waiting(d.ctx, alice)
		require.ErrorIs(t, err, store.ErrClosed)
	})
}
