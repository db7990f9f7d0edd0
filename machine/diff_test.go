package machine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

func lines(ds []machine.Difference) (out []string) {
	for _, d := range ds {
		out = append(out, d.String())
	}
	return out
}

func TestDiffOfEqualDefinitionsIsEmpty(t *testing.T) {
	require.Empty(t, machine.Diff(desk.Describe(), buildDesk().MustBuild().Describe()))
}

// edgeOf is the first edge of an event in a description, factOf a fact, both to be changed in place.
func edgeOf(d *machine.Description, event string) *machine.EdgeDescription {
	return &d.Edges[slices.IndexFunc(d.Edges, func(e machine.EdgeDescription) bool { return e.Event == event })]
}

func factOf(d *machine.Description, name string) *machine.FactDescription {
	return &d.Facts[slices.IndexFunc(d.Facts, func(f machine.FactDescription) bool { return f.Name == name })]
}

// diffRow changes one thing of the description of the desk; the way back must turn added and removed, loosened and tightened.
type diffRow struct {
	name        string
	change      func(d *machine.Description)
	there, back []string
}

func (row diffRow) run(t *testing.T) {
	changed := buildDesk().MustBuild().Describe()
	row.change(&changed)
	require.Equal(t, row.there, lines(machine.Diff(desk.Describe(), changed)))
	require.Equal(t, row.back, lines(machine.Diff(changed, desk.Describe())))
}

func TestDiffOfEdges(t *testing.T) {
	for _, row := range []diffRow{
		{"guard gone", func(d *machine.Description) { edgeOf(d, "pay").Guards = edgeOf(d, "pay").Guards[:1] },
			[]string{"loosened edge pay: asking -> paying: guard enough is gone (review)", "loosened edge pay: asking -> paying: guard good is gone (review)"},
			[]string{"tightened edge pay: asking -> paying: guard enough is new", "tightened edge pay: asking -> paying: guard good is new"}},
		{"guard revised", func(d *machine.Description) { edgeOf(d, "pay").Guards[0].Revision = 7 },
			[]string{"altered edge pay: asking -> paying: guard owner was revision 0, is 7 (review)"},
			[]string{"altered edge pay: asking -> paying: guard owner was revision 7, is 0 (review)"}},
		{"confirmation gone", func(d *machine.Description) { edgeOf(d, "pay").Confirm = "" },
			[]string{"loosened edge pay: asking -> paying: confirmation answer is no longer demanded (review)"},
			[]string{"tightened edge pay: asking -> paying: confirmation answer is demanded"}},
		{"fresh gone", func(d *machine.Description) { edgeOf(d, "pay").Fresh = nil },
			[]string{"loosened edge pay: asking -> paying: fresh good is no longer demanded (review)"},
			[]string{"tightened edge pay: asking -> paying: fresh good is demanded"}},
		{"actor", func(d *machine.Description) { edgeOf(d, "quote").By = []guard.Actor{guard.Model, guard.Operator} },
			[]string{"loosened edge quote: draft -> (stay): operator may propose it (review)"},
			[]string{"tightened edge quote: draft -> (stay): operator may no longer propose it"}},
		{"one state more", func(d *machine.Description) { edgeOf(d, "quote").From = append(edgeOf(d, "quote").From, Paying) },
			[]string{"loosened edge quote: paying -> (stay): it is new, guarded by rate_known (review)"},
			[]string{"tightened edge quote: paying -> (stay): it is gone"}},
		{"functions", func(d *machine.Description) { edgeOf(d, "quote").Revision = 2 },
			[]string{"altered edge quote: draft -> (stay): its functions were revision 0, are 2 (review)"},
			[]string{"altered edge quote: draft -> (stay): its functions were revision 2, are 0 (review)"}},
		{"effects", func(d *machine.Description) { edgeOf(d, "quote").Emits = []string{"send"} },
			[]string{`altered edge quote: draft -> (stay): emits was "", is "send" (review)`},
			[]string{`altered edge quote: draft -> (stay): emits was "send", is "" (review)`}},
	} {
		t.Run(row.name, row.run)
	}
}

func TestDiffOfTheOtherParts(t *testing.T) {
	for _, row := range []diffRow{
		{"age", func(d *machine.Description) { factOf(d, "good").MaxAge = time.Hour.String() },
			[]string{"loosened fact good: counts for 1h0m0s, before 15m0s (review)"},
			[]string{"tightened fact good: counts for 15m0s, before 1h0m0s"}},
		{"lasting", func(d *machine.Description) { factOf(d, "good").MaxAge, factOf(d, "good").Lasting = "", true },
			[]string{"loosened fact good: counts for ever, before 15m0s (review)"},
			[]string{"tightened fact good: counts for 15m0s, before ever"}},
		{"dated", func(d *machine.Description) { factOf(d, "good").Dated = true },
			[]string{"tightened fact good: must be dated: true"},
			[]string{"loosened fact good: must be dated: false (review)"}},
		{"authority", func(d *machine.Description) { factOf(d, "good").Authority = "anybody" },
			[]string{`altered fact good: authority was "policy", is "anybody" (review)`},
			[]string{`altered fact good: authority was "anybody", is "policy" (review)`}},
		{"narrowing", func(d *machine.Description) { d.Events[0].Narrows = !d.Events[0].Narrows },
			[]string{"loosened event ask: judged on the newest version: true (review)"},
			[]string{"tightened event ask: judged on the newest version: false"}},
		{"match", func(d *machine.Description) { d.Effects[0].Matches = false },
			[]string{"loosened effect send: its receipt must match: false (review)"},
			[]string{"tightened effect send: its receipt must match: true"}},
		{"keys", func(d *machine.Description) { d.Effects[0].Keys = machine.NoKeys },
			[]string{`altered effect send: keys honoured was "", is "none" (review)`},
			[]string{`altered effect send: keys honoured was "none", is "" (review)`}},
		{"sent while", func(d *machine.Description) { d.Effects[0].While = []machine.GuardDescription{{Name: "cleared"}} },
			[]string{"tightened effect send: guard cleared is new"},
			[]string{"loosened effect send: guard cleared is gone (review)"}},
		{"invariant", func(d *machine.Description) { d.Invariants = d.Invariants[1:] },
			[]string{"loosened invariant " + desk.Describe().Invariants[0] + ": it is gone (review)"},
			[]string{"tightened invariant " + desk.Describe().Invariants[0] + ": it is new"}},
		{"final", func(d *machine.Description) { d.States[0].Final = !d.States[0].Final },
			[]string{"altered state asking: final: true (review)"}, []string{"altered state asking: final: false (review)"}},
		{"sends nothing", func(d *machine.Description) { d.States[0].NoSend = true },
			[]string{"tightened state asking: effects are sent: false"}, []string{"loosened state asking: effects are sent: true (review)"}},
		{"state and its edge", func(d *machine.Description) {
			d.States = append(d.States, machine.StateDescription{Name: "held"})
			d.Edges = append(d.Edges, machine.EdgeDescription{Event: "note", From: []machine.State{"held"}})
		}, []string{"added edge note: held -> (stay)", "added state held"}, []string{"removed edge note: held -> (stay)", "removed state held"}},
		{"data", func(d *machine.Description) { d.DataShape = "{}" },
			[]string{`altered machine desk: data was "` + desk.Describe().DataShape + `", is "{}"`},
			[]string{`altered machine desk: data was "{}", is "` + desk.Describe().DataShape + `"`}},
	} {
		t.Run(row.name, row.run)
	}
}

// Two edges of one event, state and target are paired by what they are, not by their order.
func TestDiffPairsAlikeEdgesFirst(t *testing.T) {
	two := func(first, second string) machine.Description {
		e := func(guard string) machine.EdgeDescription {
			return machine.EdgeDescription{Event: "go", From: []machine.State{"a"}, To: "b", Guards: []machine.GuardDescription{{Name: guard}}}
		}
		return machine.Description{States: []machine.StateDescription{{Name: "a"}, {Name: "b"}}, Edges: []machine.EdgeDescription{e(first), e(second)}}
	}
	require.Empty(t, machine.Diff(two("x", "y"), two("y", "x")))
	require.Equal(t, []string{"loosened edge go: a -> b: guard y is gone (review)", "tightened edge go: a -> b: guard z is new"},
		lines(machine.Diff(two("x", "y"), two("z", "x"))))
}
