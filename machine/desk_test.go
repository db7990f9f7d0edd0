package machine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The desk of these tests pays an order back: it asks the owner, pays in one or several parts, and ends.
const (
	Draft  machine.State = "draft"
	Asking machine.State = "asking"
	Paying machine.State = "paying"
	Paid   machine.State = "paid"
	Failed machine.State = "failed"
	Closed machine.State = "closed"
)

type Desk struct {
	OrderID string            `json:"order_id" about:"order" validate:"required"`
	Amount  int64             `json:"amount" validate:"min=0"`
	Notes   []string          `json:"notes"`
	Tags    map[string]string `json:"tags"`
}

type Pay struct {
	OrderID string `json:"order_id" about:"order"`
	Amount  int64  `json:"amount" validate:"min=1"`
}

type Text struct {
	Text string `json:"text" validate:"required"`
}

type Transfer struct {
	OrderID string `json:"order_id"`
	Amount  int64  `json:"amount"`
}

type Slip struct {
	Amount int64 `json:"amount"`
}

type Case[P any] = guard.Case[Desk, P]

// Patience and the other times of the desk.
const (
	Patience = time.Hour
	Nudge    = 20 * time.Minute
	Age      = 15 * time.Minute
)

var (
	OwnerOf = guard.NewFact[string]("owner", guard.From("shop"), guard.About("order"), guard.MaxAge(24*time.Hour))
	Good    = guard.NewFact[bool]("good", guard.From("policy"), guard.About("order"), guard.MaxAge(Age))
	Open    = guard.NewFact[bool]("open", guard.From("shop"), guard.About("order"), guard.MaxAge(Age))
	Frozen  = guard.NewFact[bool]("frozen", guard.From("shop"), guard.Lasting())
	Rate    = guard.NewFact[int64]("rate", guard.From("bank"), guard.About("order"), guard.Volatile())
	Answer  = guard.NewReply("answer", guard.From("chat"))
	SlipOf  = guard.NewFact[Slip]("slip", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())

	Ask     = machine.NewEvent[machine.None]("ask")
	PayIt   = machine.NewEvent[Pay]("pay")
	Change  = machine.NewEvent[Pay]("change")
	Cancel  = machine.NewEvent[Text]("cancel", machine.Narrowing())
	Note    = machine.NewEvent[Text]("note")
	Break   = machine.NewEvent[Text]("break")
	Quote   = machine.NewEvent[machine.None]("quote")
	Lapsed  = machine.NewEvent[machine.None]("lapsed")
	Nudged  = machine.NewEvent[machine.None]("nudged")
	Foreign = machine.NewEvent[machine.None]("foreign")
)

var Send = machine.NewEffect("send", SlipOf, machine.Matching(func(t Transfer, s Slip) error {
	switch {
	case s.Amount == -1:
		panic("a receipt that nobody can read")
	case s.Amount != t.Amount:
		return fmt.Errorf("%d is not %d", s.Amount, t.Amount)
	}
	return nil
}))

var desk = buildDesk().MustBuild()

func buildDesk() *machine.Builder[Desk] {
	b := machine.New[Desk]("desk", Draft)
	b.Final(Paid, Failed, Closed)
	b.Wait(Asking, machine.TaskOwner, Patience, Lapsed)
	b.After(Asking, Nudge, Nudged)
	b.Facts(Frozen)
	mine, good := guard.Owner(OwnerOf), guard.True(Good)

	machine.On(b, Ask).From(Draft, Asking).To(Asking).By(guard.Model, guard.User).Require(mine, good).
		Then(machine.Offer(PayIt, machine.TaskOwner, 2*Patience, offered[machine.None]))
	machine.On(b, Change).From(Asking).Stay().By(guard.User).
		Apply(func(d *Desk, c Case[Pay]) { d.Amount = c.Payload.Amount }).
		Then(machine.Offer(PayIt, machine.TaskOwner, 2*Patience, offered[Pay]))
	machine.On(b, PayIt).From(Asking).To(Paying).By(guard.Model, guard.User).Fresh(Good).Require(mine, good).Confirm(Answer).
		Check("enough", func(c Case[Pay]) guard.Verdict {
			if c.Payload.Amount > 1000 {
				return guard.Deny("too_much", "more than anybody may have").With("most", 1000)
			}
			return guard.Allow()
		}).
		Then(machine.Emit(Send, func(c Case[Pay]) Transfer { return Transfer{c.Data.OrderID, c.Payload.Amount} }))
	machine.On(b, Cancel).From(Draft, Asking).To(Closed).By(guard.Model, guard.User, guard.Operator)
	machine.On(b, Note).From(Draft, Asking, Paying).Stay().By(guard.User, guard.Model).
		Apply(func(d *Desk, c Case[Text]) {
			d.Notes = append(d.Notes, c.Payload.Text)
			if d.Tags == nil {
				d.Tags = map[string]string{}
			}
			d.Tags[c.Payload.Text] = "seen"
		}).
		Then(machine.Return(func(c Case[Text]) Text { return Text{"noted " + c.Payload.Text} }))
	machine.On(b, Break).From(Draft).Stay().By(guard.User).
		Apply(breaks).
		Then(machine.Return(func(c Case[Text]) float64 { return nan(c.Payload.Text) }))
	machine.On(b, Quote).From(Draft).Stay().By(guard.Model).Require(guard.Known(Rate)).
		Then(machine.Return(func(c Case[machine.None]) int64 { r, _ := Rate.Get(c); return r * c.Data.Amount }))
	machine.On(b, Lapsed).From(Asking).To(Closed)
	machine.On(b, Nudged).From(Asking).Stay().Apply(func(d *Desk, _ Case[machine.None]) { d.Notes = append(d.Notes, "nudged") })
	machine.When(b, Good).From(Draft, Asking).To(Closed).Require(guard.False(Good))
	machine.When(b, Open).From(Draft, Asking).To(Closed).Require(guard.False(Open))
	machine.On(b, Send.Confirmed()).From(Paying).To(Paid)
	machine.On(b, Send.Failed()).From(Paying).To(Failed)

	b.Accept(machine.LintUnguarded, "invariant never too many notes", "evidence alone can break it, and is never kept out")
	b.Invariant("never too many notes", func(s machine.Snapshot[Desk]) error {
		if frozen, _ := Frozen.Get(s.Facts); frozen && len(s.Data.Notes) > 0 {
			return errors.New("a note on a frozen task")
		}
		if slices.Contains(s.Data.Notes, "judge") {
			panic("cannot judge this")
		}
		return nil
	})
	b.InvariantStep("the amount only falls", func(old, next machine.Snapshot[Desk]) error {
		if old.Version > 0 && next.Data.Amount > old.Data.Amount {
			return fmt.Errorf("from %d to %d", old.Data.Amount, next.Data.Amount)
		}
		return nil
	})
	return b
}

func offered[P any](c Case[P]) []Pay {
	switch c.Data.Amount {
	case 666:
		panic("unlucky")
	case 2:
		return []Pay{{c.Data.OrderID, 1}, {c.Data.OrderID, 1}}
	case 3:
		return []Pay{{c.Data.OrderID, 1}, {c.Data.OrderID, 2}}
	}
	return []Pay{{c.Data.OrderID, c.Data.Amount}}
}

// breaks does what an edge's own function must not do.
func breaks(d *Desk, c Case[Text]) {
	switch c.Payload.Text {
	case "panic":
		panic("boom")
	case "invalid":
		d.OrderID = ""
	case "no text":
		d.Notes = []string{"\xff"}
	case "too large":
		d.Notes = []string{string(make([]byte, machine.MaxData))}
	}
}

func nan(text string) float64 {
	zero := 0.0
	switch text {
	case "nan":
		return zero / zero
	case "return panic":
		panic("boom")
	}
	return 1
}

// world is one task of the desk and its clock.
type world struct {
	t   require.TestingT
	now time.Time
	s   machine.Snapshot[Desk]
}

var (
	start = time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)
	alice = guard.Principal{ID: "alice"}
	bob   = guard.Principal{ID: "bob"}
	olga  = guard.Principal{ID: "olga", Roles: []string{guard.OperatorRole}}

	handles = map[string]*guard.Authority{}
)

func init() {
	for _, name := range []string{"shop", "policy", "bank", "chat"} {
		handles[name] = guard.NewAuthority(name)
	}
}

func newWorld(t require.TestingT) *world { return worldWith(t, 50) }

func worldWith(t require.TestingT, amount int64) *world {
	s, entry, err := desk.Task("t1", alice, Desk{OrderID: "1", Amount: amount}).First(start)
	require.NoError(t, err)
	require.NotNil(t, entry)
	typed, ok := machine.As[Desk](s)
	require.True(t, ok)
	return &world{t, start, typed}
}

// saw is evidence of now.
func saw[T any](w *world, f guard.Fact[T], subject string, v T) guard.Evidence {
	return sawAt(w, f, subject, v, w.now)
}

func sawAt[T any](w *world, f guard.Fact[T], subject string, v T, at time.Time) guard.Evidence {
	ev, err := guard.Verify(f.Observe(handles[f.Info().Source], guard.Observed[T]{Value: v, Subject: subject, At: at}),
		guard.Acceptance{Fact: desk.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: w.now, BasedOn: w.s.Version})
	require.NoError(w.t, err)
	return ev
}

// fine is what lets the desk ask and pay.
func (w *world) fine() []guard.Evidence {
	return []guard.Evidence{saw(w, OwnerOf, "1", "alice"), saw(w, Good, "1", true)}
}

// says is the answer of somebody to the newest offer.
func (w *world) says(who, text string) guard.Evidence {
	o := w.s.Offers[len(w.s.Offers)-1]
	return saw(w, Answer, o.ID, guard.Reply{By: who, Text: text, Shown: shown(o)})
}

// shown is the channel's word that the question was shown as soon as it was put, and that nothing came in between.
func shown(o machine.OpenOffer) *guard.Shown {
	return &guard.Shown{Message: "q/" + o.ID, At: o.OpenedAt}
}

// try judges a proposal of alice's at the newest version, and changes nothing.
func (w *world) try(p machine.Proposal, evidence ...guard.Evidence) (machine.Snapshot[Desk], machine.Outcome) {
	return w.tryAs(alice, p.BasedOn(w.s.Version), evidence...)
}

// tryAs judges a proposal and checks what holds of every step: it is deterministic, leaves its snapshot alone, raises the
// version by one or not at all, and what it makes can be stored and read back.
func (w *world) tryAs(who guard.Principal, p machine.Proposal, evidence ...guard.Evidence) (machine.Snapshot[Desk], machine.Outcome) {
	in := machine.Input{Proposal: p, Principal: who, Evidence: evidence, Received: w.now, Now: w.now}
	before := w.encode(w.s)
	next, out := desk.Step(w.s, in)
	require.Equal(w.t, before, w.encode(w.s), "the step wrote into its snapshot")
	again, twice := desk.Step(w.s, in)
	require.Equal(w.t, w.encode(next), w.encode(again))
	require.Equal(w.t, out, twice)
	if out.Kind != machine.Committed {
		require.Equal(w.t, before, w.encode(next))
		require.Nil(w.t, out.Entry())
		require.Error(w.t, out.Err())
		return next, out
	}
	require.NoError(w.t, out.Err())
	require.Equal(w.t, w.s.Version+1, next.Version)
	require.Equal(w.t, w.s.Version, next.BasedOn)
	back, err := desk.Decode([]byte(w.encode(next)))
	require.NoError(w.t, err)
	require.Equal(w.t, w.encode(next), w.encode(back))
	raw, err := out.Entry().Append(nil)
	require.NoError(w.t, err)
	entry, err := machine.DecodeEntry(raw)
	require.NoError(w.t, err)
	require.Equal(w.t, next.Version, entry.Version)
	require.Equal(w.t, next.State, entry.To)
	return next, out
}

func (w *world) encode(s machine.Snapshot[Desk]) string {
	b, err := desk.Encode(nil, s)
	require.NoError(w.t, err)
	return string(b)
}

// does commits a proposal of alice's.
func (w *world) does(p machine.Proposal, evidence ...guard.Evidence) machine.Outcome {
	next, out := w.try(p, evidence...)
	require.NoError(w.t, out.Err(), "%+v", out.Findings)
	w.s = next
	return out
}

// sees commits evidence on its own.
func (w *world) sees(evidence ...guard.Evidence) machine.Outcome {
	next, out := w.tryAs(guard.Principal{}, machine.Proposal{}, evidence...)
	require.NoError(w.t, out.Err(), "%+v", out.Findings)
	w.s = next
	return out
}

// refuses expects a code, and nothing changed.
func (w *world) refuses(code string, p machine.Proposal, evidence ...guard.Evidence) machine.Outcome {
	_, out := w.try(p, evidence...)
	require.Equal(w.t, code, out.Code(), "%s %+v", out.Kind, out.Findings)
	return out
}

func (w *world) after(d time.Duration) *world { w.now = w.now.Add(d); return w }

// asked is a task that has asked for its amount.
func asked(t require.TestingT) *world {
	w := newWorld(t)
	w.does(Ask.With(machine.None{}), w.fine()...)
	return w
}

// paying is a task that was agreed to a minute later.
func paying(t require.TestingT) *world {
	w := asked(t).after(time.Minute)
	w.does(PayIt.With(Pay{"1", 50}), append(w.fine(), w.says("alice", "yes"))...)
	return w
}

func (w *world) key() string { return w.s.Intents[len(w.s.Intents)-1].Key }

func TestTheStory(t *testing.T) {
	w := paying(t)
	require.Equal(t, Paying, w.s.State)
	require.Equal(t, "t1/send/1", w.key())
	require.Equal(t, Transfer{"1", 50}, w.s.Intents[0].Args)
	w.does(Send.Info().Confirm(w.key()), saw(w, SlipOf, w.key(), Slip{50}))
	require.Equal(t, Paid, w.s.State)
	require.True(t, w.s.Settled(Send))
	require.Equal(t, machine.Confirmed, w.s.Intents[0].Status)
	require.Equal(t, w.s.Version, w.s.Intents[0].Settled)
}
