package resume_test

import (
	"context"
	"testing"
	"time"

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

// venue is a desk of entries at a venue that tests can bend.
type venue struct {
	*desk
	m      *machine.Machine[entry]
	says   venueOrder
	asked  int
	placed int
}

func newVenue(t *testing.T) *venue {
	d := &venue{desk: newDesk(t), m: entries(t), says: venueOrder{Status: "open"}}
	d.restart()
	return d
}

// restart ends the process; a new one goes on with what is stored.
func (d *venue) restart() {
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{
		Machines: []machine.Definition{d.m},
		Observers: []resume.Observer{resume.Pull(atVenue, func(ctx context.Context, q guard.Query) (guard.Observed[venueOrder], error) {
			d.asked++
			return observed(d.says)(ctx, q)
		})},
		Effects: []resume.Handler{resume.Perform(placeStop,
			func(_ context.Context, j machine.Job[stopOrder]) (stopOrder, error) { d.placed++; return j.Args, nil },
			func(context.Context, machine.Job[stopOrder]) (stopOrder, bool, error) { return stopOrder{}, false, nil })},
	})
	require.NoError(d.t, err)
	d.ctl = ctl
}

// entered is a task whose order waits at the venue; that it does is on record.
func (d *venue) entered() *resume.Session {
	s, err := d.ctl.Start(d.ctx, d.m.Task("t1", alice, entry{"o1"}), alice)
	require.NoError(d.t, err)
	d.refuses(s, protect.With(machine.None{}))
	return s
}

// Case B081: the process restarts while an entry is open; the venue has cancelled it with nothing filled. Resuming asks the venue before
// anything else: the task ends there, and no stop is placed for a position that does not exist.
func TestB081CancelledEntryIsNotAPosition(t *testing.T) {
	d := newVenue(t)
	d.entered()
	d.sleep(time.Hour)
	d.says = venueOrder{Status: "cancelled"}
	d.restart()
	s := d.lookAt("t1")
	require.Equal(t, machine.State("entry_cancelled"), s.State())
	require.Equal(t, machine.CodeNoTransition, d.refuses(s, protect.With(machine.None{})).Code())
	d.work()
	require.Zero(t, d.placed)
}

// Case B082: the venue is asked again at every restart, and says the same. Nothing is changed, nothing is made up to close the gap, and what is
// on record is the venue's own word.
func TestB082EqualViewsChangeNothing(t *testing.T) {
	d := newVenue(t)
	s := d.entered()
	before := s.Snapshot()
	for range 3 { // asked by hand, while what is on record is young
		d.sleep(time.Second)
		out, err := s.Look(d.ctx, atVenue)
		require.NoError(t, err)
		require.Equal(t, machine.Unchanged, out.Kind)
	}
	require.Equal(t, before, d.lookAt("t1").Snapshot())
	d.sleep(-3 * time.Second)
	for range 3 {
		d.sleep(50 * time.Second) // within the age of what is on record, which resuming trusts
		d.restart()
		require.Equal(t, before, d.lookAt("t1").Snapshot())
		d.sleep(time.Hour)
		d.restart()
		asked := d.asked
		after := d.lookAt("t1").Snapshot()
		require.Equal(t, asked+1, d.asked, "it was asked again")
		require.Equal(t, []any{before.Version, before.State, before.Data, before.Intents}, []any{after.Version, after.State, after.Data, after.Intents})
		e, known := after.Facts.Entry(guard.Key{Fact: "at_venue", Subject: "o1"})
		require.True(t, known)
		require.Equal(t, "venue", e.Source)
		require.Equal(t, venueOrder{Status: "open"}, e.Value)
		require.Equal(t, after, d.lookAt("t1").Snapshot(), "resumed twice: the same version")
		before = after
	}
	d.work()
	require.Zero(t, d.placed)
}

// Case B070: a task and the question that it waits on live and end together, whatever either was given: never a question without its task, nor
// a task that waits on a question that is gone.
func TestB070TaskAndQuestionEndTogether(t *testing.T) {
	for _, lives := range []time.Duration{24 * time.Hour, 240 * time.Hour} {
		b := machine.New[basket]("waits", shopping)
		b.Final(bought, failed)
		b.Wait(deciding, machine.TaskOwner, 72*time.Hour, later)
		machine.On(b, ask).From(shopping).To(deciding).By(guard.User).
			Then(machine.Offer(yes, machine.TaskOwner, lives, func(c labCase[machine.None]) []buy { return []buy{{c.Data.Shop, c.Data.Items}} }))
		machine.On(b, yes).From(deciding).To(bought).By(guard.User).Confirm(labReply)
		machine.On(b, later).From(deciding).To(failed)
		m := b.MustBuild()
		d := newLab(t)
		var err error
		d.ctl, err = resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{d.chat}})
		require.NoError(t, err)
		s, err := d.ctl.Start(d.ctx, m.Task("t1", alice, basket{Shop: "s1", Items: []string{"pen"}, Tags: map[string]string{}}), alice)
		require.NoError(t, err)
		d.commits(s, ask.With(machine.None{}).As(guard.User))
		o := s.Offers()[0]
		require.Equal(t, o.OpenedAt.Add(min(lives, 72*time.Hour)), o.Expires, "no longer than the wait")

		for _, after := range []time.Duration{2 * time.Hour, 23 * time.Hour} {
			d.sleep(after)
			d.work()
			r, err := d.lookAt("t1").Report(d.ctx)
			require.NoError(t, err)
			require.Equal(t, deciding, r.State)
			require.Len(t, r.Offers, map[bool]int{true: 1, false: 0}[d.clock().Before(o.Expires)], "after %s", after)
			require.NotNil(t, r.Waiting)
		}
		d.sleep(48 * time.Hour)
		d.work()
		s = d.lookAt("t1")
		require.Equal(t, failed, s.State())
		require.Empty(t, s.Offers())
		require.Nil(t, s.Snapshot().Waiting)
	}
}
