package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestTimers belong to a stay and fire once, at or after their instant.
func TestTimers(t *testing.T) {
	w := asked(t)
	require.Equal(t, []machine.ArmedTimer{{Event: "lapsed", Due: start.Add(Patience)}, {Event: "nudged", Due: start.Add(Nudge)}}, w.s.Timers)
	require.Equal(t, start.Add(Nudge), w.s.Wake())
	require.Equal(t, &machine.Waiting{For: machine.TaskOwner, Since: start, Until: start.Add(Patience)}, w.s.Waiting)

	nudge := Nudged.With(machine.None{}).AsController(guard.Timer)
	lapse := Lapsed.With(machine.None{}).AsController(guard.Timer)
	require.Empty(t, desk.Due(w.s, start.Add(Nudge-time.Microsecond)))
	w.after(Nudge - time.Microsecond)
	w.refuses(machine.CodeNotDue, nudge)
	w.after(time.Microsecond)
	due := desk.Due(w.s, w.now)
	require.Len(t, due, 1)
	require.Equal(t, "nudged", due[0].Event())

	w.does(due[0])
	require.Equal(t, []machine.ArmedTimer{{Event: "lapsed", Due: start.Add(Patience)}}, w.s.Timers, "it fired; the other is still armed")
	require.Len(t, w.s.Offers, 1, "staying keeps the question open")
	w.refuses(machine.CodeNotDue, nudge)
	w.refuses(machine.CodeNotDue, lapse)
	w.after(Patience)
	w.does(lapse)
	require.Equal(t, Closed, w.s.State)
	require.Empty(t, w.s.Timers)
	require.Nil(t, w.s.Waiting)
	require.True(t, w.s.Wake().IsZero())
}

// TestDueInOrder: several that came due fire earliest first, whatever version they are based on.
func TestDueInOrder(t *testing.T) {
	w := asked(t).after(2 * Patience)
	due := desk.Due(w.s, w.now)
	require.Equal(t, []string{"nudged", "lapsed"}, []string{due[0].Event(), due[1].Event()})
	w.does(due[0])
	_, out := w.tryAs(guard.Principal{}, due[1])
	require.NoError(t, out.Err())
}

// TestMovingRearms: entering a state again begins a new stay, with its own times; a note changes nothing.
func TestMovingRearms(t *testing.T) {
	w := asked(t).after(10 * time.Minute)
	w.does(Note.With(Text{"x"}))
	require.Equal(t, start, w.s.Entered)
	require.Equal(t, start.Add(Nudge), w.s.Wake())
	w.does(Ask.With(machine.None{}), w.fine()...)
	require.Equal(t, w.now, w.s.Entered)
	require.Equal(t, w.now.Add(Nudge), w.s.Wake())
	require.Equal(t, w.now.Add(Patience), w.s.Waiting.Until)
	w.after(Patience - time.Minute)
	w.refuses(machine.CodeNotDue, Lapsed.With(machine.None{}).AsController(guard.Timer))
}

// TestObserving: evidence alone makes a version when it is news, and takes the edge that it drives.
func TestObserving(t *testing.T) {
	w := newWorld(t)
	w.sees(saw(w, OwnerOf, "1", "alice"))
	require.Equal(t, Draft, w.s.State)
	require.Equal(t, "observer", w.s.UpdatedBy)
	for name, ev := range map[string]guard.Evidence{
		"once more":    saw(w, OwnerOf, "1", "alice"),
		"late":         sawAt(w, OwnerOf, "1", "bob", start.Add(-time.Second)),
		"volatile":     saw(w, Rate, "1", 3),
		"volatile two": saw(w, Rate, "1", 4),
	} {
		next, out := w.tryAs(guard.Principal{}, machine.Proposal{}, ev)
		require.Equal(t, machine.Unchanged, out.Kind, name)
		require.ErrorIs(t, out.Err(), machine.ErrUnchanged)
		require.Equal(t, w.s.Version, next.Version)
	}
	for name, ev := range map[string]guard.Evidence{
		"another order":    saw(w, OwnerOf, "2", "alice"),
		"another task":     saw(w, Frozen, "t2", true),
		"no such offer":    saw(w, Answer, "t1/2/pay/0", guard.Reply{By: "alice", Text: "yes", Shown: &guard.Shown{Message: "m1", At: start}}),
		"no such intent":   saw(w, SlipOf, "t1/send/1", Slip{50}),
		"an empty subject": guard.Evidence{},
	} {
		_, out := w.tryAs(guard.Principal{}, machine.Proposal{}, ev)
		require.Equal(t, machine.Refused, out.Kind, name)
	}
}

// TestRenewing: what a source pushes is kept, so that its mark is not lost; the answer to our own question only when what
// is stored will soon be too old, so that asking makes nobody conflict.
func TestRenewing(t *testing.T) {
	w := newWorld(t)
	w.sees(saw(w, Good, "1", true))
	w.after(Age - Age/4)
	_, out := w.tryAs(guard.Principal{}, machine.Proposal{}, saw(w, Good, "1", true).Pulled())
	require.Equal(t, machine.Unchanged, out.Kind)
	_, out = w.tryAs(guard.Principal{}, machine.Proposal{}, saw(w, Good, "1", true))
	require.Equal(t, machine.Committed, out.Kind)
	w.after(time.Microsecond)
	_, out = w.tryAs(guard.Principal{}, machine.Proposal{}, saw(w, Good, "1", true).Pulled())
	require.Equal(t, machine.Committed, out.Kind)
}

// TestDriven: a changed fact takes the edge that it drives, voids what was asked, and goes before any proposal.
func TestDriven(t *testing.T) {
	w := asked(t).after(time.Minute)
	bad := saw(w, Good, "1", false)
	w.refuses(machine.CodeMovesFirst, Note.With(Text{"x"}), bad)
	out := w.sees(bad)
	require.Equal(t, Closed, w.s.State)
	require.Equal(t, "good.changed", out.Event)
	require.Equal(t, guard.Observer, out.Entry().Actor)
	require.JSONEq(t, `{"subject":"1","is":false}`, string(out.Entry().Payload))
	require.Equal(t, []machine.Voided{{Offer: "t1/2/pay/0", Reason: "left_state"}}, out.Entry().Voided)
}

// TestDrivenTwice: where two facts each drive an edge, the one that was declared first is taken, whatever came first.
func TestDrivenTwice(t *testing.T) {
	w := newWorld(t)
	bad, gone := saw(w, Good, "1", false), saw(w, Open, "1", false)
	for _, evidence := range [][]guard.Evidence{{bad, gone}, {gone, bad}} {
		_, out := w.tryAs(guard.Principal{}, machine.Proposal{}, evidence...)
		require.Equal(t, "good.changed", out.Event)
	}
}

// TestDrivenButBlocked: when the edge that evidence drives is refused, the evidence lands all the same, and the history
// says why the task did not move.
func TestDrivenButBlocked(t *testing.T) {
	b := machine.New[Desk]("blocked", Draft)
	b.Final(Closed, Failed)
	machine.When(b, Open).From(Draft).To(Closed).Require(guard.False(Open)).Apply(func(d *Desk, _ Case[machine.Changed[bool]]) { d.OrderID = "" })
	machine.When(b, Good).From(Draft).To(Closed).Require(guard.Known(Good))
	machine.When(b, Good).From(Draft).To(Failed).Require(guard.False(Good))
	m := b.MustBuild()
	s0, _, err := m.Task("t1", alice, Desk{OrderID: "1"}).First(start)
	require.NoError(t, err)
	s, _ := machine.As[Desk](s0)
	for fact, code := range map[*guard.FactInfo]string{Open.Info(): machine.CodeData, Good.Info(): machine.CodeAmbiguous} {
		o, err := fact.Observe(handles[fact.Source], []byte("false"), "1", "r", start)
		require.NoError(t, err)
		ev, err := guard.Verify(o, guard.Acceptance{Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: start})
		require.NoError(t, err)
		next, out := m.Step(s, machine.Input{Evidence: []guard.Evidence{ev}, Now: start})
		require.NoError(t, out.Err())
		require.Equal(t, Draft, next.State)
		require.Equal(t, code, out.Entry().Blocked[0].Code)
		require.Equal(t, 1, next.Facts.Len())
	}
}

// TestDrivenAboutWhatNobodyNames: evidence about something that neither data nor payload names is its own subject.
func TestDrivenAboutWhatNobodyNames(t *testing.T) {
	seen := guard.NewFact[bool]("seen", guard.From("shop"), guard.About("camera"), guard.Lasting())
	b := machine.New[Desk]("camera", Draft)
	b.Final(Closed)
	machine.When(b, seen).From(Draft).To(Closed).Require(guard.True(seen))
	m := b.MustBuild()
	s0, _, err := m.Task("t1", alice, Desk{OrderID: "1"}).First(start)
	require.NoError(t, err)
	see := func(v bool, at time.Time) guard.Evidence {
		ev, err := guard.Verify(seen.Observe(handles["shop"], guard.Observed[bool]{Value: v, Subject: "north"}),
			guard.Acceptance{Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: at})
		require.NoError(t, err)
		return ev
	}
	_, out := machine.Erase(m).Step(s0, machine.Input{Evidence: []guard.Evidence{see(false, start)}, Now: start})
	require.Equal(t, machine.CodeOtherSubject, out.Code(), "nothing ever looked at that camera")
	s0.Facts, _ = s0.Facts.With(see(false, start))
	next, out := machine.Erase(m).Step(s0, machine.Input{Evidence: []guard.Evidence{see(true, start.Add(1e9))}, Now: start.Add(1e9)})
	require.NoError(t, out.Err())
	require.Equal(t, Closed, next.State)
}

// TestEvidenceLimits: both sides of the number of observations of a step and of facts of a task.
func TestEvidenceLimits(t *testing.T) {
	w := newWorld(t)
	many := func(from, n int) (all []guard.Evidence) {
		for i := range n {
			all = append(all, saw(w, Open, string(rune('a'+(from+i)/26/26))+string(rune('a'+(from+i)/26%26))+string(rune('a'+(from+i)%26)), true))
		}
		return all
	}
	w.refuses(machine.CodeTooMany, Note.With(Text{"x"}), many(0, machine.MaxEvidence+1)...)
	for i := 0; i < machine.MaxFacts; i += machine.MaxEvidence {
		w.s.Facts, _ = w.s.Facts.With(many(i, machine.MaxEvidence)...)
	}
	require.Equal(t, machine.MaxFacts, w.s.Facts.Len())
	w.refuses(machine.CodeTooMany, Note.With(Text{"x"}), many(machine.MaxFacts, 1)...)
	w.does(Note.With(Text{"x"}), many(0, 1)...)
}
