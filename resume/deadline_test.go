package resume_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

type hire struct {
	From  time.Time `json:"from"`
	Calls int       `json:"calls"`
}

type moved struct {
	To time.Time `json:"to"`
}

var (
	call = machine.NewEvent[machine.None]("call")
	over = machine.NewEvent[machine.None]("over")
	move = machine.NewEvent[moved]("move")
)

// hires call on the first Friday at 17:00 in Taipei, and are over at the end of the 30th day.
func hires() *machine.Machine[hire] {
	b := machine.New[hire]("hire", "out")
	b.Final("back")
	b.At("out", "Asia/Taipei", "Friday 17:00", func(h hire, z machine.Zone) time.Time { return z.Next(h.From, time.Friday, 17, 0) }, call)
	b.At("out", "Asia/Taipei", "30th day, end of day", func(h hire, z machine.Zone) time.Time { return z.EndOfDay(h.From, 30) }, over)
	machine.On(b, call).From("out").Stay().Apply(func(h *hire, _ guard.Case[hire, machine.None]) { h.Calls++ })
	machine.On(b, over).From("out").To("back")
	machine.On(b, move).From("out").Stay().By(guard.User).Apply(func(h *hire, c guard.Case[hire, moved]) { h.From = c.Payload.To })
	return b.MustBuild()
}

// hiring is a desk with one hire on two controllers.
type hiring struct {
	*desk
	ctls []*resume.Controller
}

func newHiring(t *testing.T) *hiring {
	h := &hiring{desk: newDesk(t)}
	h.st = store.NewMemory(store.MemoryOptions{Now: h.clock})
	m := hires()
	for range 2 {
		ctl, err := resume.Open(h.ctx, h.st, resume.Config{Machines: []machine.Definition{m}})
		require.NoError(t, err)
		h.ctls = append(h.ctls, ctl)
	}
	_, err := h.ctls[0].Start(h.ctx, m.Task("hire_1", alice, hire{From: h.now}), alice)
	require.NoError(t, err)
	return h
}

// at sets the clock, forth or back, and lets both controllers work.
func (h *hiring) at(now time.Time) machine.Snapshot[hire] {
	h.mu.Lock()
	h.now = now
	h.mu.Unlock()
	for _, ctl := range h.ctls {
		require.NoError(h.t, ctl.Work(h.ctx))
	}
	s, err := h.ctls[0].Resume(h.ctx, "hire_1", alice)
	require.NoError(h.t, err)
	typed, ok := machine.As[hire](s.Snapshot())
	require.True(h.t, ok)
	return typed
}

// A deadline fires once on two controllers, and a clock that steps back un-expires nothing.
func TestDeadlineOnTwoControllers(t *testing.T) {
	h := newHiring(t)
	friday := time.Date(2026, 1, 9, 9, 0, 0, 0, time.UTC)
	require.Equal(t, 0, h.at(friday.Add(-time.Second)).Data.Calls)
	s := h.at(friday)
	require.Equal(t, 1, s.Data.Calls)
	require.Len(t, s.Timers, 1)
	require.Equal(t, s, h.at(friday.Add(-48*time.Hour)), "it has been")
	require.Equal(t, s, h.at(friday.Add(time.Hour)), "once")
	end := time.Date(2026, 2, 4, 16, 0, 0, 0, time.UTC)
	require.Equal(t, machine.State("out"), h.at(end.Add(-time.Second)).State)
	require.Equal(t, machine.State("back"), h.at(end).State)
	require.Equal(t, machine.State("back"), h.at(end.Add(-time.Hour)).State)
}

// After a long stop deadlines fire in the order in which they came due.
func TestDeadlinesAfterALongStop(t *testing.T) {
	s := newHiring(t).at(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	require.Equal(t, 1, s.Data.Calls)
	require.Equal(t, machine.State("back"), s.State)
}

// Data that puts a deadline into the past lets it fire at once; stored, it wakes the task.
func TestDeadlineMovedIntoThePast(t *testing.T) {
	h := newHiring(t)
	s, err := h.ctls[0].Resume(h.ctx, "hire_1", alice)
	require.NoError(t, err)
	out, err := s.Propose(h.ctx, move.With(moved{h.now.AddDate(-1, 0, 0)}).As(guard.User))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	got := h.at(h.now)
	require.Equal(t, machine.State("back"), got.State)
	require.Equal(t, 1, got.Data.Calls)
}

// A timer that two controllers find due at once fires once: the one that commits second finds that it has been.
func TestTwoControllersFireOneTimer(t *testing.T) {
	h := newHiring(t)
	b := &bent{Store: h.st}
	first, err := resume.Open(h.ctx, b, resume.Config{Machines: []machine.Definition{hires()}})
	require.NoError(t, err)
	h.sleep(5 * 24 * time.Hour) // past Friday
	var races int
	b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		if races++; races == 1 {
			require.NoError(t, h.ctls[1].Work(h.ctx)) // before the first one's commit lands
		}
		return h.st.Commit(ctx, c)
	}
	require.NoError(t, first.Work(h.ctx))
	require.Equal(t, 1, races, "and nothing was committed after that")
	s := h.at(h.now)
	require.Equal(t, 1, s.Data.Calls)
	require.Equal(t, uint64(2), s.Version)
	require.Len(t, s.Timers, 1)
	require.NoError(t, first.Work(h.ctx))
	require.Equal(t, 1, races)
}

// A controller that begins anew fires nothing again, and what came due while none ran is fired once.
func TestTimersOverRestarts(t *testing.T) {
	h := newHiring(t)
	again := func() machine.Snapshot[hire] {
		ctl, err := resume.Open(h.ctx, h.st, resume.Config{Machines: []machine.Definition{hires()}})
		require.NoError(t, err)
		h.ctls[1] = ctl
		return h.at(h.now)
	}
	h.sleep(5 * 24 * time.Hour)
	for range 3 {
		require.Equal(t, 1, again().Data.Calls)
	}
	s, err := h.ctls[0].Resume(h.ctx, "hire_1", alice)
	require.NoError(t, err)
	out, err := s.Propose(h.ctx, move.With(moved{h.now}).As(guard.User)) // another Friday
	require.NoError(t, err)
	require.NoError(t, out.Err())
	require.Equal(t, 1, again().Data.Calls)
	h.sleep(7 * 24 * time.Hour)
	for range 3 {
		require.Equal(t, 2, again().Data.Calls)
	}
}

// A clock that steps ahead lets come due what it passes, and nothing twice when it is put back: the store's clock stands still until the
// machine's has caught up, and what is armed meanwhile counts from there.
func TestClockStepsAheadAndBack(t *testing.T) {
	h := newHiring(t)
	began := h.now
	ahead := time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC) // past Friday, by mistake
	require.Equal(t, 1, h.at(ahead).Data.Calls)
	h.at(began)
	s, err := h.ctls[0].Resume(h.ctx, "hire_1", alice)
	require.NoError(t, err)
	out, err := s.Propose(h.ctx, move.With(moved{ahead}).As(guard.User)) // for the Friday after
	require.NoError(t, err)
	require.NoError(t, out.Err())
	require.False(t, out.Entry().At < ahead.UnixMicro(), "the store's clock does not go back")
	friday := time.Date(2026, 1, 16, 9, 0, 0, 0, time.UTC)
	for _, now := range []time.Time{began, ahead, friday.Add(-time.Second), began} {
		require.Equal(t, 1, h.at(now).Data.Calls, now)
	}
	require.Equal(t, 2, h.at(friday).Data.Calls)
	require.Equal(t, 2, h.at(began).Data.Calls)
}

// Deadlines of many tasks that came due while nobody worked fire in the order in which they did, whatever the tasks are called.
func TestDeadlinesOfManyTasksInDueOrder(t *testing.T) {
	h := newHiring(t)
	from := h.now
	ids := []string{"d", "a", "c", "b"}
	for i, id := range ids { // the first of them ends last
		_, err := h.ctls[0].Start(h.ctx, hires().Task(id, alice, hire{From: from.AddDate(0, 0, 7*(len(ids)-i))}), alice)
		require.NoError(t, err)
	}
	var fired []string
	b := &bent{Store: h.st, commit: func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		fired = append(fired, c.Task)
		return h.st.Commit(ctx, c)
	}}
	ctl, err := resume.Open(h.ctx, b, resume.Config{Machines: []machine.Definition{hires()}})
	require.NoError(t, err)
	h.sleep(365 * 24 * time.Hour)
	require.NoError(t, ctl.Work(h.ctx))
	require.Equal(t, []string{"hire_1", "b", "c", "a", "d"}, fired, "the calls")
	fired = nil
	require.NoError(t, ctl.Work(h.ctx))
	require.Equal(t, []string{"hire_1", "b", "c", "a", "d"}, fired, "the ends")
	fired = nil
	require.NoError(t, ctl.Work(h.ctx))
	require.Empty(t, fired)
}

// Two controllers that run all the time, in the bubble's time: each deadline fires at its instant, once, and they stop when told to.
func TestTimersWhileControllersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory(store.MemoryOptions{})
		m, ctx := hires(), t.Context()
		from := time.Now() // a Saturday
		ctx, stop := context.WithCancel(ctx)
		var ctls []*resume.Controller
		done := make(chan error)
		for range 2 {
			ctl, err := resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{m}, Poll: time.Hour})
			require.NoError(t, err)
			ctls = append(ctls, ctl)
			go func() { done <- ctl.Run(ctx) }()
		}
		_, err := ctls[0].Start(ctx, m.Task("hire_1", alice, hire{From: from}), alice)
		require.NoError(t, err)
		time.Sleep(40 * 24 * time.Hour) // reason: time is that of the test's bubble
		synctest.Wait()
		s, err := ctls[0].Resume(ctx, "hire_1", alice)
		require.NoError(t, err)
		var at []string
		for e, err := range s.History(ctx) {
			require.NoError(t, err)
			at = append(at, e.Event+" "+time.UnixMicro(e.At).UTC().Format("2006-01-02 15h"))
		}
		require.Equal(t, []string{"over 2000-01-31 16h", "call 2000-01-07 09h", "start 2000-01-01 00h"}, at)
		stop()
		for range ctls {
			require.ErrorIs(t, <-done, context.Canceled)
		}
	})
}
