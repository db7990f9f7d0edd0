package machine_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestPictures: graphs and page are made of the definition, and do not change by accident.
func TestPictures(t *testing.T) {
	golden(t, "desk.mermaid", desk.Mermaid(Asking))
	golden(t, "desk.dot", desk.DOT(Asking))
	golden(t, "desk.md", desk.Markdown())
	golden(t, "nested.mermaid", nested(t).Mermaid(""))
	golden(t, "nested.dot", nested(t).DOT(""))
	golden(t, "reopened.md", reopened(t).Markdown())
	require.NotContains(t, desk.Mermaid("nowhere"), "current")
}

// TestDescription: equal definitions have equal descriptions, as data.
func TestDescription(t *testing.T) {
	first, err := json.MarshalIndent(desk.Describe(), "", "  ")
	require.NoError(t, err)
	for range 5 {
		again, err := json.MarshalIndent(buildDesk().MustBuild().Describe(), "", "  ")
		require.NoError(t, err)
		require.Equal(t, string(first), string(again))
	}
	golden(t, "desk.json", string(first)+"\n")
	require.Equal(t, desk.Digest(), desk.Describe().Digest)
	require.Equal(t, "desk", desk.Name())
	require.Equal(t, 1, desk.Version())
}

// TestDigest: whatever part of a definition changes, its digest changes with it; a deliberate revision does too.
func TestDigest(t *testing.T) {
	type other struct {
		Text string `json:"text" validate:"required,max=9"`
	}
	note := func(b B) *machine.Edge[Desk, Text] {
		return machine.On(b, Note).From(Draft).Stay().By(guard.User)
	}
	variant := func(f func(b B)) string {
		b := machine.New[Desk]("small", Draft)
		b.Final(Closed)
		machine.On(b, Cancel).From(Draft).To(Closed).By(guard.User)
		f(b)
		m, err := b.Build()
		require.NoError(t, err)
		return m.Digest()
	}
	lasting := func(opts ...guard.FactOption) func(b B) {
		return func(b B) {
			b.Facts(guard.NewFact[bool]("f", guard.From("x"), append([]guard.FactOption{guard.About("order")}, opts...)...))
		}
	}
	seen := map[string]int{}
	for i, f := range []func(b B){
		func(B) {},
		func(b B) { b.Version(2) },
		func(b B) { note(b) },
		func(b B) { note(b).By(guard.Model) },
		func(b B) { note(b).Require(guard.True(Good)) },
		func(b B) { note(b).Require(guard.True(Good).Revised(1)) },
		func(b B) { note(b).Require(guard.False(Good)) },
		func(b B) { note(b).Fresh(Good) },
		func(b B) { note(b).Check("x", func(Case[Text]) guard.Verdict { return guard.Allow() }) },
		func(b B) { note(b).Check("y", func(Case[Text]) guard.Verdict { return guard.Allow() }) },
		func(b B) { note(b).Check("y", func(Case[Text]) guard.Verdict { return guard.Allow() }, Good) },
		func(b B) { note(b).Revised(1) },
		func(b B) { note(b).Apply(func(*Desk, Case[Text]) {}) },
		func(b B) { note(b).Then(machine.Return(func(Case[Text]) int { return 1 })) },
		func(b B) { machine.On(b, Note).From(Draft).To(Draft).By(guard.User) },
		func(b B) { machine.On(b, machine.NewEvent[other]("note")).From(Draft).Stay().By(guard.User) },
		func(b B) {
			machine.On(b, machine.NewEvent[Text]("note", machine.Narrowing())).From(Draft).Stay().By(guard.User)
		},
		func(b B) { b.Wait(Draft, machine.TaskOwner, 1, Lapsed); machine.On(b, Lapsed).From(Draft).Stay() },
		func(b B) { b.Wait(Draft, "clerk", 1, Lapsed); machine.On(b, Lapsed).From(Draft).Stay() },
		func(b B) { b.Wait(Draft, "clerk", 2, Lapsed); machine.On(b, Lapsed).From(Draft).Stay() },
		func(b B) { b.After(Draft, 2, Lapsed); machine.On(b, Lapsed).From(Draft).Stay() },
		func(b B) { b.Super(Alive, Draft) },
		func(b B) { b.Invariant("x", func(machine.Snapshot[Desk]) error { return nil }) },
		func(b B) { machine.Override(b, Force).From(Draft).Stay() },
		func(b B) { machine.Override(b, Force).From(Draft, Closed).To(Draft).Reopens() },
		func(b B) { machine.When(b, Good).From(Draft).To(Closed).Require(guard.False(Good)) },
		lasting(guard.Lasting()), lasting(guard.Volatile()), lasting(guard.MaxAge(time.Hour)), lasting(guard.MaxAge(time.Minute)),
		lasting(guard.Lasting(), guard.Hidden()), lasting(guard.Lasting(), guard.Ordered(guard.ByArrival)), lasting(guard.Lasting(), guard.About("")),
		func(b B) {
			b.Facts(guard.NewFact[bool]("f", guard.From("y"), guard.About("order"), guard.Lasting()))
		},
		func(b B) {
			b.Facts(guard.NewFact[int]("f", guard.From("x"), guard.About("order"), guard.Lasting()))
		},
	} {
		d := variant(f)
		before, twice := seen[d]
		require.False(t, twice, "definitions %d and %d have one digest", before, i)
		seen[d] = i
		require.Equal(t, d, variant(f))
	}
}

// TestPermits says what may be proposed now, by whom, what it still needs, and what blocks it.
func TestPermits(t *testing.T) {
	w := newWorld(t)
	find := func(event string, evidence ...guard.Evidence) machine.Permit {
		for _, p := range desk.Permits(w.s, machine.Input{Principal: alice, Evidence: evidence, Now: w.now}) {
			if p.Event == event {
				return p
			}
		}
		return machine.Permit{}
	}
	ask := find("ask")
	require.True(t, ask.Open)
	require.Equal(t, []guard.Actor{guard.Model, guard.User}, ask.By)
	require.Equal(t, []guard.Key{{Fact: "owner", Subject: "1"}, {Fact: "good", Subject: "1"}}, ask.Needs)
	require.Empty(t, find("ask", w.fine()...).Needs)
	blocked := find("ask", saw(w, OwnerOf, "1", "bob"))
	require.False(t, blocked.Open)
	require.Equal(t, "not_owner", blocked.Blocked[0].Code)
	require.Zero(t, find("pay"), "not from here")
	w = asked(t)
	require.True(t, find("pay").Open)
	require.Zero(t, find("lapsed"), "nobody proposes it")
	w.after(Patience)
	pay := find("pay")
	require.False(t, pay.Open)
	require.Equal(t, machine.CodeNotOffered, pay.Blocked[len(pay.Blocked)-1].Code, "the offer has run out")
	w.s.State = Paid
	require.Empty(t, desk.Permits(w.s, machine.Input{Now: w.now}))
}
