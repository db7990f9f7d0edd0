package resume_test

import (
	"testing"
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
