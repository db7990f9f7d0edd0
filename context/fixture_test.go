package projection_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The machine of these tests is a small desk that ships parcels: it has a fact of every kind, an offer, and an event
// with every kind of field.
const (
	stateOpen    machine.State = "open"
	stateWaiting machine.State = "waiting_for_word"
	stateSending machine.State = "sending"
	stateSent    machine.State = "sent"
	stateClosed  machine.State = "closed"
)

// cents is an amount with a String method.
type cents int64

func (c cents) String() string { return fmt.Sprintf("%d.%02d EUR", int64(c)/100, int64(c)%100) }

type parcel struct {
	Order string    `json:"order" about:"order"`
	Price cents     `json:"price"`
	Notes []string  `json:"notes"`
	Due   time.Time `json:"due"`
	Token string    `json:"token"` // never shown
}

type place struct {
	Order string   `json:"order" about:"order"`
	Items []string `json:"items"`
	Price int64    `json:"price"`
}

type pick struct {
	Items []string `json:"items" validate:"required,min=1,max=3" about:"item"`
}

type words struct {
	Text string `json:"text" validate:"required,max=40" jsonschema:"one sentence"`
	Tone string `json:"tone,omitempty" validate:"omitempty,oneof=calm firm"`
}

type weight struct {
	Grams int    `json:"grams"`
	Scale string `json:"scale"` // an internal name
}

type slip struct {
	Number string `json:"number" validate:"required"`
}

var (
	owner   = guard.NewFact[string]("order_owner", guard.From("orders"), guard.About("order"), guard.MaxAge(24*time.Hour))
	status  = guard.NewFact[string]("order_status", guard.From("orders"), guard.About("order"), guard.MaxAge(time.Hour))
	weighed = guard.NewFact[weight]("weight", guard.From("scales"), guard.About("order"), guard.MaxAge(time.Hour))
	stock   = guard.NewFact[int64]("stock", guard.From("shelf"), guard.About("item"), guard.MaxAge(time.Hour))
	credit  = guard.NewFact[string]("credit_line", guard.From("bank"), guard.About("order"), guard.Lasting(), guard.Hidden())
	weather = guard.NewFact[string]("weather", guard.From("sky"), guard.Volatile())
	reply   = guard.NewReply("reply", guard.From("chat"))
	receipt = guard.NewFact[slip]("slip", guard.From("carrier"), guard.About(machine.EffectKind), guard.Lasting())

	ship = machine.NewEffect[place]("ship", receipt)

	ask      = machine.NewEvent[words]("ask")
	choose   = machine.NewEvent[pick]("choose")
	agree    = machine.NewEvent[place]("agree")
	nothing  = machine.NewEvent[machine.None]("do_nothing")
	cancel   = machine.NewEvent[words]("cancel", machine.Narrowing())
	manual   = machine.NewEvent[words]("manual")
	handOver = machine.NewEvent[machine.None]("hand_over")
	lapse    = machine.NewEvent[machine.None]("lapse")
)

var desk = buildDesk()

func buildDesk() *machine.Machine[parcel] {
	b := machine.New[parcel]("desk", stateOpen)
	b.Final(stateSent, stateClosed)
	b.Wait(stateWaiting, machine.TaskOwner, 48*time.Hour, lapse)
	offer := func(c guard.Case[parcel, words]) []place {
		return []place{{c.Data.Order, []string{"I1", "I2"}, int64(c.Data.Price)}, {c.Data.Order, []string{"I1"}, 100}}
	}
	machine.On(b, ask).From(stateOpen).To(stateWaiting).By(guard.Model).
		Require(guard.Owner(owner)).Then(machine.Offer(agree, machine.TaskOwner, 48*time.Hour, offer))
	machine.On(b, choose).From(stateOpen, stateWaiting).Stay().By(guard.Model).
		Require(guard.Holds("in_stock", "an item is out of stock", stock, func(n int64) bool { return n > 0 }))
	machine.On(b, agree).From(stateWaiting).To(stateSending).By(guard.Model, guard.User).
		Require(guard.Owner(owner), guard.Is(status, "paid")).Confirm(reply).
		Then(machine.Emit(ship, func(c guard.Case[parcel, place]) place { return c.Payload }))
	machine.On(b, nothing).From(stateOpen, stateWaiting).Stay().By(guard.Model)
	machine.On(b, cancel).From(stateOpen, stateWaiting).To(stateClosed).By(guard.Model, guard.User).
		Require(guard.Owner(owner))
	machine.On(b, manual).From(stateOpen, stateWaiting).To(stateClosed).By(guard.Operator).
		Require(guard.Known(credit), guard.Known(weather), guard.Known(weighed))
	machine.On(b, handOver).From(stateOpen).To(stateClosed).By(guard.Model)
	machine.On(b, handOver).From(stateWaiting).To(stateClosed).By(guard.User)
	machine.On(b, lapse).From(stateWaiting).To(stateClosed)
	machine.On(b, ship.Confirmed()).From(stateSending).To(stateSent)
	machine.On(b, ship.Failed()).From(stateSending).To(stateClosed)
	b.Accept(machine.LintSecret, "data "+reflect.TypeFor[parcel]().String(), "these tests see that it is never shown")
	for _, event := range []string{"ask", "cancel", "manual"} {
		b.Accept(machine.LintOptional, "payload of "+event+" "+reflect.TypeFor[words]().String(), "these tests need an optional field")
	}
	return b.MustBuild()
}

// deskSpec is a decision with a line of every kind.
func deskSpec() projection.Spec[parcel] {
	return projection.Spec[parcel]{
		Name:   "handle_word",
		In:     []machine.State{stateOpen, stateWaiting},
		Goal:   func(p parcel) string { return "Ship order " + p.Order },
		Stages: map[machine.State]string{stateWaiting: "waiting for a word"},
		Fields: []projection.Field[parcel]{
			{Label: "price", Value: func(p parcel) any { return p.Price }},
			{Label: "notes", Value: func(p parcel) any { return p.Notes }},
			{Label: "due", Value: func(p parcel) any { return p.Due }},
		},
		Facts: []projection.Fact{
			projection.ShowOwned("the order is the customer's", owner),
			{Label: "status", Fact: status},
			{Label: "pieces of item", Fact: stock},
			projection.Show("grams", weighed, func(w weight) any { return w.Grams }),
		},
		NotYet: []projection.Undone[parcel]{
			{Label: "nothing has been shipped", Effect: ship},
			{Label: "no notes were taken", Holds: func(s machine.Snapshot[parcel]) bool { return len(s.Data.Notes) == 0 }},
		},
		Question: "What does the customer want?",
		Allow: []projection.Answer{
			{Event: ask, Means: "ask the customer"},
			{Event: choose, Means: "the items that the customer picked"},
			{Event: agree, Means: "the customer agreed to exactly this"},
			{Event: nothing, Means: "nothing is to be done"},
			{Event: cancel, Means: "the customer does not want it"},
		},
		Drop: []string{"notes", "grams"},
	}
}

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ann  = guard.Principal{ID: "u_ann"}
)

// begin is a task at version 1.
func begin(t testing.TB, change ...func(*parcel)) machine.Snapshot[any] {
	t.Helper()
	p := parcel{Order: "A1", Price: 1250, Notes: []string{}, Due: noon.Add(24 * time.Hour), Token: "tok_CANARY"}
	for _, f := range change {
		f(&p)
	}
	s, _, err := desk.Task("ship_A1", ann, p).First(noon)
	require.NoError(t, err)
	return s
}

// seen is the snapshot after an observation.
func seen[T any](t testing.TB, s machine.Snapshot[any], f guard.Fact[T], subject string, v T, at time.Time) machine.Snapshot[any] {
	t.Helper()
	m := machine.Erase(desk)
	o := f.Observe(guard.NewAuthority(f.Info().Source), guard.Observed[T]{Value: v, Subject: subject, Ref: "ref/CANARY", At: at})
	e, err := guard.Verify(o, guard.Acceptance{Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: at})
	require.NoError(t, err)
	s.Facts, _ = s.Facts.With(e)
	return s
}

// propose is the snapshot after a legal step.
func propose(t testing.TB, s machine.Snapshot[any], p machine.Proposal, at time.Time) machine.Snapshot[any] {
	t.Helper()
	next, out := machine.Erase(desk).Step(s, machine.Input{Proposal: p.BasedOn(s.Version), Principal: ann, Received: at, Now: at})
	require.NoError(t, out.Err())
	return next
}

// waiting is a task whose question was asked at noon.
func waiting(t testing.TB, change ...func(*parcel)) machine.Snapshot[any] {
	t.Helper()
	s := begin(t, change...)
	s = seen(t, s, owner, "A1", "u_ann", noon)
	s = seen(t, s, status, "A1", "paid", noon)
	s = seen(t, s, stock, "I1", 3, noon)
	return propose(t, s, ask.With(words{Text: "Ship it?"}), noon)
}

func define(t testing.TB, s projection.Spec[parcel]) *projection.Decision {
	t.Helper()
	d, err := projection.Define(desk, s)
	require.NoError(t, err)
	return d
}

func viewOf(t testing.TB, d *projection.Decision, s machine.Snapshot[any], now time.Time, said ...projection.Quote) projection.View {
	t.Helper()
	v, err := d.View(s, ann, now, said...)
	require.NoError(t, err)
	return v
}
