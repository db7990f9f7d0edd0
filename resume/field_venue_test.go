package resume_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

// An entry is an order that waits at a venue: when it is filled a stop is placed, and only then.
type entry struct {
	Order string `json:"order" validate:"required" about:"venue_order"`
}

type venueOrder struct {
	Status string `json:"status" validate:"oneof=open cancelled filled"`
	Filled int64  `json:"filled"` // in thousandths
}

type stopOrder struct {
	Order  string `json:"order"`
	Amount int64  `json:"amount"`
}

var (
	atVenue   = guard.NewFact[venueOrder]("at_venue", guard.From("venue"), guard.About("venue_order"), guard.MaxAge(time.Minute))
	stopSlip  = guard.NewFact[stopOrder]("stop_slip", guard.From("venue"), guard.About(machine.EffectKind), guard.Lasting())
	placeStop = machine.NewEffect("place_stop", stopSlip, machine.Matching(func(want, got stopOrder) error { return nil }))
	protect   = machine.NewEvent[machine.None]("protect")
)

func entries(t *testing.T) *machine.Machine[entry] {
	b := machine.New[entry]("entry", "entry_pending")
	b.Final("entry_cancelled", "protected", "unprotected")
	filled := guard.Holds("filled", "it is not filled", atVenue, func(o venueOrder) bool { return o.Status == "filled" && o.Filled > 0 })
	gone := guard.Holds("gone", "it is not cancelled, or part of it was filled", atVenue, func(o venueOrder) bool { return o.Status == "cancelled" && o.Filled == 0 })
	machine.When(b, atVenue).From("entry_pending").To("entry_cancelled").Require(gone)
	machine.On(b, protect).From("entry_pending").To("protecting").By(guard.Model, guard.User).Fresh(atVenue).Require(filled).
		Then(machine.Emit(placeStop, func(c guard.Case[entry, machine.None]) stopOrder {
			o, _ := atVenue.Get(c)
			return stopOrder{c.Data.Order, o.Filled}
		}))
	machine.On(b, placeStop.Confirmed()).From("protecting").To("protected")
	machine.On(b, placeStop.Failed()).From("protecting").To("unprotected")
	m, err := b.Build()
	require.NoError(t, err)
	return m
}

// Case B081: the process restarts while an entry is open; the venue has cancelled it with nothing filled: the task ends there, and no
// stop is placed for a position that does not exist.
func TestB081CancelledEntryIsNotAPosition(t *testing.T) {
	d := newDesk(t)
	m := entries(t)
	venue := venueOrder{Status: "open"}
	placed := 0
	open := func() *resume.Controller {
		ctl, err := resume.Open(d.ctx, d.st, resume.Config{
			Machines: []machine.Definition{m},
			Observers: []resume.Observer{resume.Pull(atVenue, func(ctx context.Context, q guard.Query) (guard.Observed[venueOrder], error) {
				return observed(venue)(ctx, q)
			})},
			Effects: []resume.Handler{resume.Perform(placeStop,
				func(_ context.Context, j machine.Job[stopOrder]) (stopOrder, error) { placed++; return j.Args, nil },
				func(context.Context, machine.Job[stopOrder]) (stopOrder, bool, error) { return stopOrder{}, false, nil })},
		})
		require.NoError(t, err)
		return ctl
	}
	d.ctl = open()
	s, err := d.ctl.Start(d.ctx, m.Task("t1", alice, entry{"o1"}), alice)
	require.NoError(t, err)
	d.refuses(s, protect.With(machine.None{}))
	d.sleep(time.Hour)
	venue = venueOrder{Status: "cancelled"}
	d.ctl = open()
	out, err := d.lookAt("t1").Propose(d.ctx, protect.With(machine.None{}))
	require.NoError(t, err)
	require.Error(t, out.Err())
	require.Equal(t, machine.State("entry_cancelled"), d.lookAt("t1").State())
	require.NoError(t, d.ctl.Work(d.ctx))
	require.Zero(t, placed)
}

// Case B082: what is seen again and is the same changes nothing, however often the task is resumed; nothing is inferred from it.
func TestB082EqualViewsChangeNothing(t *testing.T) {
	d := newDesk(t)
	d.asked()
	before := d.resume().Snapshot()
	for range 3 {
		d.sleep(time.Minute)
		d.ctl = d.open(nil)
		after := d.resume().Snapshot()
		require.Equal(t, before.Version, after.Version)
		require.Equal(t, before.Intents, after.Intents)
		require.Equal(t, before.Data, after.Data)
	}
}

// Case B070: a task and the question that it waits on live and end together: never a question without its task, nor a task that
// waits on a question that is gone.
func TestB070TaskAndQuestionEndTogether(t *testing.T) {
	d := newDesk(t)
	d.asked()
	for _, after := range []time.Duration{2 * time.Hour, 25 * time.Hour} {
		d.sleep(after)
		d.work()
		s := d.resume()
		require.Equal(t, refund.AwaitingUserConfirmation, s.State())
		require.Len(t, s.Offers(), 1)
		require.Equal(t, s.Snapshot().Waiting.Until, s.Offers()[0].Expires)
	}
	d.sleep(refund.Patience)
	d.work()
	s := d.resume()
	require.Equal(t, refund.Cancelled, s.State())
	require.Empty(t, s.Offers())
	require.Nil(t, s.Snapshot().Waiting)
}
