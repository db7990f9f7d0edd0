package resume_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

// Field cases about what one round of questions leaves to the next: a trip is planned, agreed to, paid for after a second yes, and
// planned again. The letter to the hotel leaves in the commit that asks for the first yes.
type (
	trip struct {
		City string `json:"city"`
		Fare int64  `json:"fare" validate:"min=1"`
	}
	plan struct {
		City string `json:"city" validate:"required"`
	}
	fare struct {
		Fare int64 `json:"fare" validate:"min=1"`
	}
	letter struct {
		City string `json:"city"`
		Fare int64  `json:"fare"`
	}
	slipOf struct {
		ID string `json:"id"`
	}
	tripCase[P any] = guard.Case[trip, P]
)

const (
	packing    machine.State = "packing"
	askedPlan  machine.State = "asked_about_the_plan"
	askedFare  machine.State = "asked_about_the_fare"
	payingFare machine.State = "paying"
	tripDone   machine.State = "travelled"
)

var (
	tripReply  = guard.NewReply("trip_reply", guard.From("customer_channel"))
	hotelSlip  = guard.NewFact[slipOf]("hotel_slip", guard.From("mailer"), guard.About(machine.EffectKind), guard.Lasting())
	fareSlip   = guard.NewFact[slipOf]("fare_slip", guard.From("railway"), guard.About(machine.EffectKind), guard.Lasting())
	childDone  = guard.NewFact[string]("child_done", guard.From("colleague"), guard.Lasting())
	writeHotel = machine.NewEffect[letter]("write_hotel", hotelSlip)
	payFare    = machine.NewEffect[letter]("pay_fare", fareSlip)

	makePlan  = machine.NewEvent[machine.None]("make_plan")
	agreePlan = machine.NewEvent[plan]("agree_plan")
	agreeFare = machine.NewEvent[fare]("agree_fare")
	unpack    = machine.NewEvent[plan]("unpack")
	travel    = machine.NewEvent[machine.None]("travel")
	tired     = machine.NewEvent[machine.None]("tired")
)

func tripMachine() *machine.Machine[trip] {
	b := machine.New[trip]("trip", packing)
	b.Final(tripDone)
	b.Facts(childDone)
	b.Wait(askedPlan, machine.TaskOwner, 24*time.Hour, tired)
	b.Wait(askedFare, machine.TaskOwner, 24*time.Hour, tired)
	machine.On(b, makePlan).From(packing).To(askedPlan).By(guard.Model, guard.User).
		Then(machine.Emit(writeHotel, func(c tripCase[machine.None]) letter { return letter{c.Data.City, c.Data.Fare} }),
			machine.Offer(agreePlan, machine.TaskOwner, 24*time.Hour, func(c tripCase[machine.None]) []plan { return []plan{{c.Data.City}} }))
	machine.On(b, agreePlan).From(askedPlan).To(askedFare).By(guard.Model, guard.User).
		Confirm(tripReply).
		Then(machine.Offer(agreeFare, machine.TaskOwner, 24*time.Hour, func(c tripCase[plan]) []fare { return []fare{{c.Data.Fare}} }))
	machine.On(b, agreeFare).From(askedFare).To(payingFare).By(guard.Model, guard.User).
		Confirm(tripReply).
		Then(machine.Emit(payFare, func(c tripCase[fare]) letter { return letter{c.Data.City, c.Payload.Fare} }))
	machine.On(b, unpack).From(packing, payingFare).Stay().By(guard.User).
		Apply(func(d *trip, c tripCase[plan]) { d.City = c.Payload.City })
	machine.On(b, tired).From(askedPlan, askedFare).To(packing)
	machine.On(b, travel).From(packing).To(tripDone).By(guard.User).Require(writeHotel.Idle())
	for _, s := range []machine.State{packing, askedPlan, askedFare, payingFare} {
		machine.On(b, writeHotel.Confirmed()).From(s).Stay()
		machine.On(b, writeHotel.Failed()).From(s).Stay()
	}
	machine.On(b, payFare.Confirmed()).From(payingFare).To(packing)
	machine.On(b, payFare.Failed()).From(payingFare).To(packing)
	return b.MustBuild()
}

// tripDesk is a desk of trips on a disk that can lose its power.
type tripDesk struct {
	*pebbleDesk
	m         *machine.Machine[trip]
	colleague *guard.Authority
	letters   []string // keys, one for each that was sent
	fares     []string
}

func newTrips(t *testing.T) *tripDesk {
	d := &tripDesk{pebbleDesk: newPebbleDesk(t), m: tripMachine(), colleague: guard.NewAuthority("colleague")}
	d.ctl = d.serve()
	return d
}

func (d *tripDesk) serve() *resume.Controller {
	lost := func(context.Context, machine.Job[letter]) (slipOf, bool, error) {
		return slipOf{}, false, errors.New("down")
	}
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{
		Machines: []machine.Definition{d.m},
		Effects: []resume.Handler{
			resume.Perform(writeHotel, func(_ context.Context, j machine.Job[letter]) (slipOf, error) {
				d.letters = append(d.letters, j.Key)
				return slipOf{fmt.Sprint("r", len(d.letters))}, nil
			}, lost),
			resume.Perform(payFare, func(_ context.Context, j machine.Job[letter]) (slipOf, error) {
				d.fares = append(d.fares, j.Key)
				return slipOf{fmt.Sprint("f", len(d.fares))}, nil
			}, lost),
		},
		Trust: []*guard.Authority{d.chat, d.colleague},
	})
	require.NoError(d.t, err)
	return ctl
}

// restart ends the process and its power; a new one goes on with what was synced.
func (d *tripDesk) restart() {
	d.cut()
	d.ctl = d.serve()
}

// planned is a task that has been asked about its plan.
func (d *tripDesk) planned() *resume.Session {
	s, err := d.ctl.Start(d.ctx, d.m.Task("t1", alice, trip{"Kyoto", 4300}), alice)
	require.NoError(d.t, err)
	d.commits(s, makePlan.With(machine.None{}).As(guard.User))
	return s
}

// presses is the button under an offer.
func (d *tripDesk) presses(by, offer string) guard.Observation {
	return tripReply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: by, Choice: guard.ChoiceYes}, Subject: offer, At: d.clock()})
}

// writes is a message of the owner's channel that says yes right after an offer was shown.
func (d *tripDesk) writes(o machine.OpenOffer, message string) guard.Observation {
	return tripReply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "yes", Shown: shown(o)}, Subject: o.ID, At: d.clock()}).Identified(message)
}

// offer is the one open offer of the task.
func (d *tripDesk) offer() machine.OpenOffer {
	offers := d.lookAt("t1").Offers()
	require.Len(d.t, offers, 1)
	return offers[0]
}

// Case B001: one commit writes to the hotel and asks the traveller; the wait, the answer and any number of restarts leave the letter as it
// is, whether it left before the answer or after, and its receipt is read, not made again.
func TestB001FinishedSiblingRunsOnce(t *testing.T) {
	for _, sentFirst := range []bool{true, false} {
		d := newTrips(t)
		d.planned()
		if sentFirst {
			d.work()
		}
		d.restart()
		d.commits(d.lookAt("t1"), agreePlan.With(plan{"Kyoto"}), d.presses("alice", d.offer().ID))
		for range 3 {
			d.sleep(time.Minute)
			d.work()
			d.restart()
		}
		s := d.lookAt("t1")
		require.Equal(t, askedFare, s.State())
		require.Equal(t, []string{"t1/write_hotel/1"}, d.letters, "sent before the answer: %v", sentFirst)
		r, known := hotelSlip.Of(d.letters[0]).Get(s.Snapshot().Facts)
		require.True(t, known)
		require.Equal(t, "r1", r.ID)
	}
}

// Case B003: the first question is answered, and the second is open. Waking the task up with nothing, or with the first answer again, does
// nothing, and costs no version.
func TestB003UsedAnswerAnswersNothingMore(t *testing.T) {
	d := newTrips(t)
	d.planned()
	d.work()
	first := d.offer()
	yes := d.writes(first, "m1")
	d.commits(d.lookAt("t1"), agreePlan.With(plan{"Kyoto"}), yes)
	v := d.lookAt("t1").Version()
	for range 3 {
		d.restart()
		d.work()
		s := d.lookAt("t1")
		_, err := d.ctl.Observe(d.ctx, "t1")
		require.NoError(t, err)
		out, err := d.ctl.Observe(d.ctx, "t1", yes)
		require.NoError(t, err)
		require.NotEqual(t, machine.Committed, out.Kind)
		require.Equal(t, machine.Ask, d.refuses(s, agreeFare.With(fare{4300})).Kind)
		require.Equal(t, machine.Ask, d.refuses(s, agreeFare.With(fare{4300}), yes).Kind)
		require.Equal(t, v, d.lookAt("t1").Version())
		require.Equal(t, askedFare, s.State())
		require.Empty(t, d.offer().Answers)
	}
	require.Empty(t, d.fares)
}

// Case B016: word of a finished helper comes while a question is open. As a proposal it fits nothing here: it is kept as refused, and makes
// no version. As evidence it lands (law 15) and moves nothing. It is no answer, to this question or to the next.
func TestB016LeftoverMessageWakesNothing(t *testing.T) {
	d := newTrips(t)
	d.planned()
	d.work()
	s := d.lookAt("t1")
	v := s.Version()
	require.Equal(t, machine.CodeNoTransition, d.refuses(s, unpack.With(plan{"Nara"}).As(guard.User)).Code())
	require.Equal(t, v, d.lookAt("t1").Version())
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Equal(t, unpack.Info().Name, attempts[0].Event)

	for _, next := range []machine.State{askedFare, payingFare} {
		asked := d.offer()
		out, err := d.ctl.Observe(d.ctx, "t1", childDone.Observe(d.colleague, guard.Observed[string]{Value: "done, before " + string(next), Subject: "t1", At: d.clock()}))
		require.NoError(t, err)
		require.NoError(t, out.Err())
		s = d.lookAt("t1")
		require.Equal(t, asked, d.offer(), "still the same question, and no answer")
		events := map[machine.State]machine.Proposal{askedFare: agreePlan.With(plan{"Kyoto"}), payingFare: agreeFare.With(fare{4300})}
		require.Equal(t, machine.Ask, d.refuses(s, events[next]).Kind)
		d.commits(s, events[next], d.presses("alice", asked.ID))
		require.Equal(t, next, s.State())
		for _, e := range s.Snapshot().Facts.All() {
			require.NotEqual(t, tripReply.Info().Name, e.Key.Fact, "an answer goes with its question")
		}
	}
}

// Case B019: what a finished round left behind neither blocks nor feeds the next one, which asks the same again.
func TestB019FinishedRoundFeedsNothing(t *testing.T) {
	d := newTrips(t)
	d.planned()
	first := d.offer()
	d.commits(d.lookAt("t1"), agreePlan.With(plan{"Kyoto"}), d.writes(first, "m1"))
	d.commits(d.lookAt("t1"), agreeFare.With(fare{4300}), d.presses("alice", d.offer().ID))
	d.work()
	s := d.lookAt("t1")
	require.Equal(t, packing, s.State())

	d.commits(s, unpack.With(plan{"Nara"}).As(guard.User)) // the same letter twice would need a yes of its own
	d.commits(s, makePlan.With(machine.None{}).As(guard.User))
	second := d.offer()
	require.Equal(t, first.Event, second.Event)
	require.NotEqual(t, first.ID, second.ID)
	old := d.presses("alice", first.ID)
	out, err := s.Observe(d.ctx, old)
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind, "(b) the question of the first round is used up")
	require.Equal(t, machine.Ask, d.refuses(s, agreePlan.With(plan{"Nara"}), old).Kind, "(b)")
	require.Contains(t, fmt.Sprint(d.refuses(s, agreePlan.With(plan{"Nara"}), d.writes(second, "m1")).Findings), "reply_used", "(b) so is the message")
	require.Equal(t, machine.CodeNotApprover, d.refuses(s, agreePlan.With(plan{"Nara"}), d.presses("bob", second.ID)).Code(), "(c)")
	require.Equal(t, second, d.offer(), "still open, and nobody has answered")
	d.commits(s, agreePlan.With(plan{"Nara"}), d.writes(second, "m2")) // (a)
}
