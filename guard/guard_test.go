package guard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
)

// TestReadyMade has one row for each ready guard and each situation.
func TestReadyMade(t *testing.T) {
	order := func(f guard.Evidence) guard.Facts { return known(f) }
	for _, row := range []struct {
		guard guard.Guard
		facts guard.Facts
		want  string
		code  string
	}{
		{guard.Owner(owner), order(saw(t, owner, "1", "alice")), "allow", ""},
		{guard.Owner(owner), order(saw(t, owner, "1", "bob")), "deny", "not_owner"},
		{guard.Owner(owner), order(saw(t, owner, "1", "")), "deny", "not_owner"},
		{guard.Owner(owner), order(saw(t, owner, "2", "alice")), "unknown", guard.CodeUnknown},
		{guard.True(paid), order(saw(t, paid, "1", true)), "allow", ""},
		{guard.True(paid), order(saw(t, paid, "1", false)), "deny", "paid_false"},
		{guard.True(paid), guard.Facts{}, "unknown", guard.CodeUnknown},
		{guard.False(paid), order(saw(t, paid, "1", false)), "allow", ""},
		{guard.False(paid), order(saw(t, paid, "1", true)), "deny", "paid_true"},
		{guard.False(paid), guard.Facts{}, "unknown", guard.CodeUnknown},
		{guard.Is(owner, "bob", "alice"), order(saw(t, owner, "1", "alice")), "allow", ""},
		{guard.Is(owner, "bob"), order(saw(t, owner, "1", "alice")), "deny", "owner_differs"},
		{guard.Is[string](owner), order(saw(t, owner, "1", "alice")), "deny", "owner_differs"},
		{guard.Known(paid), order(saw(t, paid, "1", false)), "allow", ""},
		{guard.Known(paid), guard.Facts{}, "unknown", guard.CodeUnknown},
		{guard.Holds("enough", "too few", stock, func(n int64) bool { return n > 2 }), order(saw(t, stock, "a", 3)), "allow", ""},
		{guard.Holds("enough", "too few", stock, func(n int64) bool { return n > 2 }), order(saw(t, stock, "a", 2)), "deny", "not_enough"},
		{guard.Holds("enough", "too few", stock, func(n int64) bool { panic(n) }), order(saw(t, stock, "a", 2)), "deny", guard.CodeGuardFault},
		{guard.True(paid.Of("9")), order(saw(t, paid, "9", true)), "allow", ""},
		{guard.Is(level, "gold"), order(saw(t, level, "t", "gold")), "allow", ""},
		{guard.Is(level, "gold"), order(saw(t, level, "1", "gold")), "unknown", guard.CodeUnknown},
	} {
		v := row.guard.Judge(scene(row.facts))
		require.Equal(t, row.want, word(v), "%s", row.guard.Name())
		require.Equal(t, row.code, v.Code(), "%s", row.guard.Name())
	}
}

// TestNobodyOwnsNothing: the zero principal is refused even where the source names nobody.
func TestNobodyOwnsNothing(t *testing.T) {
	for _, who := range []string{"", "alice"} {
		s := guard.NewScene(guard.SceneSpec{Now: noon, Facts: known(saw(t, owner, "1", who)), Subjects: guard.Subjects{"order": {"1"}}})
		require.True(t, guard.Owner(owner).Judge(s).Denied())
	}
	require.False(t, guard.Principal{Roles: []string{"operator"}}.Has("operator"))
	require.True(t, guard.Principal{ID: "o", Roles: []string{"operator"}}.Has("operator"))
	require.False(t, guard.Actor("").Outside())
}

// TestSeveralSubjects: a guard over a fact holds only when it holds for each subject that the proposal names.
func TestSeveralSubjects(t *testing.T) {
	about := func(f guard.Facts, ids ...string) *guard.Scene {
		return guard.NewScene(guard.SceneSpec{Now: noon, Facts: f, Subjects: guard.Subjects{"order": ids}})
	}
	yes1, yes2, no2 := saw(t, paid, "1", true), saw(t, paid, "2", true), saw(t, paid, "2", false)
	g := guard.True(paid)
	require.True(t, g.Judge(about(known(yes1, yes2), "1", "2")).Allowed())
	require.Equal(t, "paid_false", g.Judge(about(known(yes1, no2), "1", "2")).Code())
	require.Equal(t, []guard.Key{{Fact: "paid", Subject: "2"}}, g.Judge(about(known(yes1), "1", "2")).Missing())
	require.True(t, g.Judge(about(known(no2), "1", "2")).Unknown(), "a denial beside something unknown is unknown")
	require.Equal(t, guard.CodeNamesNothing, g.Judge(about(known(yes1))).Code())
	bare := guard.New("bare", func(s *guard.Scene) guard.Verdict { paid.Get(s); return guard.Allow() }, paid)
	require.Equal(t, guard.CodeGuardFault, bare.Judge(about(known(yes1, yes2), "1", "2")).Code(), "which of two is not said")
}

// TestLooks: whatever a guard makes of it, a look in vain makes its verdict unknown, and a look that it did not declare
// is its fault. Asking another guard, or the record, is no way around.
func TestLooks(t *testing.T) {
	yes := guard.Allow()
	var zero guard.Fact[bool]
	for _, row := range []struct {
		name  string
		judge func(*guard.Scene) guard.Verdict
		want  string
	}{
		{"ignores a miss", func(s *guard.Scene) guard.Verdict { paid.Get(s); return yes }, "unknown"},
		{"denies after a miss", func(s *guard.Scene) guard.Verdict { paid.Get(s); return guard.Deny("no", "") }, "unknown"},
		{"reads a status", func(s *guard.Scene) guard.Verdict { s.Reading(paid); return yes }, "unknown"},
		{"asks a guard", func(s *guard.Scene) guard.Verdict { guard.True(paid).Judge(s); return yes }, "unknown"},
		{"asks guards", func(s *guard.Scene) guard.Verdict {
			guard.Any(guard.Known(owner), guard.True(paid)).Judge(s)
			return yes
		}, "unknown"},
		{"looks elsewhere", func(s *guard.Scene) guard.Verdict { stock.Get(s); return yes }, "fault"},
		{"asks a guard elsewhere", func(s *guard.Scene) guard.Verdict { guard.Known(stock).Judge(s); return yes }, "fault"},
		{"asks the zero guard", func(s *guard.Scene) guard.Verdict { guard.Guard{}.Judge(s); return yes }, "fault"},
		{"asks a guard that panics", func(s *guard.Scene) guard.Verdict {
			guard.New("p", func(*guard.Scene) guard.Verdict { panic("boom") }).Judge(s)
			return yes
		}, "fault"},
		{"looks at the zero fact", func(s *guard.Scene) guard.Verdict { zero.Get(s); return yes }, "fault"},
		{"reads all facts", func(s *guard.Scene) guard.Verdict { s.Facts(); return yes }, "fault"},
		{"reads the record", func(s *guard.Scene) guard.Verdict { s.Record(guard.Key{Fact: "owner", Subject: "1"}); return yes }, "fault"},
		{"panics", func(*guard.Scene) guard.Verdict { panic("boom") }, "fault"},
		{"looks in order", func(s *guard.Scene) guard.Verdict { owner.Get(s); return yes }, "allow"},
	} {
		s := scene(known(saw(t, owner, "1", "alice"), saw(t, stock, "a", 1)))
		v := guard.New("g", row.judge, owner, paid).Judge(s)
		got := word(v)
		if v.Code() == guard.CodeGuardFault {
			got = "fault"
		}
		require.Equal(t, row.want, got, row.name)
		require.True(t, guard.Known(owner).Judge(s).Allowed(), "%s: the next guard starts afresh", row.name)
	}
}

// TestUsed: what guards found is the ground of the commit, each once.
func TestUsed(t *testing.T) {
	s := scene(known(saw(t, owner, "1", "alice"), saw(t, paid, "1", true), saw(t, stock, "a", 1)))
	guard.All(guard.Owner(owner), guard.True(paid), guard.Known(owner)).Judge(s)
	var keys []string
	for _, e := range s.Used() {
		keys = append(keys, e.Key.String())
	}
	require.Equal(t, []string{"owner(1)", "paid(1)"}, keys)
}

func TestGrounded(t *testing.T) {
	s := scene(known(saw(t, owner, "1", "alice")))
	require.True(t, guard.Grounded(s, func() { owner.Get(s) }).Allowed())
	require.Equal(t, []guard.Key{{Fact: "paid", Subject: "1"}}, guard.Grounded(s, func() { paid.Get(s) }).Missing())
	require.Equal(t, guard.CodeGuardFault, guard.Grounded(s, func() { guard.Fact[bool]{}.Get(s) }).Code())
	require.Panics(t, func() { guard.Grounded(s, func() { panic("boom") }) })
	require.True(t, guard.Known(owner).Judge(s).Allowed())
}

func TestNames(t *testing.T) {
	g := guard.All(guard.True(paid).Revised(2), guard.Not(guard.Owner(owner).Revised(3)))
	require.Equal(t, "all_paid_not_owner", g.Name())
	require.Equal(t, 5, g.Revision())
	require.Len(t, g.Reads(), 2)
	require.Equal(t, "any", guard.Any().Name())
}

// tree draws a guard of ready parts and combinators.
func tree(t *rapid.T, depth int) guard.Guard {
	kind := rapid.IntRange(0, 9).Draw(t, "part")
	if depth == 0 {
		kind %= 7
	}
	switch kind {
	case 0:
		return guard.Owner(owner)
	case 1:
		return guard.True(paid)
	case 2:
		return guard.False(paid)
	case 3:
		return guard.Holds("enough", "", stock, func(n int64) bool { return n > 2 })
	case 4:
		return guard.Known(price)
	case 5:
		return guard.Is(level, "gold", "blue")
	case 6:
		return guard.New("careless", func(s *guard.Scene) guard.Verdict {
			if v, _ := paid.Get(s); v {
				return guard.Deny("careless", "")
			}
			if n, ok := stock.Get(s); !ok || n == 0 {
				return guard.Allow()
			}
			return guard.Ask("really?")
		}, paid, stock)
	case 7:
		return guard.All(tree(t, depth-1), tree(t, depth-1))
	case 8:
		return guard.Any(tree(t, depth-1), tree(t, depth-1))
	}
	return guard.Not(tree(t, depth-1))
}

// TestUnknownOnlyBlocks is law 4: making any fact unknown, stale or disputed turns allowed into blocked or changes
// nothing, and never the other way round.
func TestUnknownOnlyBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := tree(t, 4)
		all := []guard.Evidence{
			saw(t, owner, "1", anyOf(t, "owner", "alice", "bob")), saw(t, paid, "1", rapid.Bool().Draw(t, "paid")),
			saw(t, stock, "a", anyOf(t, "stock", int64(0), 2, 3)), saw(t, price, "a", 5), saw(t, level, "t", anyOf(t, "level", "gold", "red")),
		}
		before := g.Judge(scene(known(all...)))
		worse, spec := known(), guard.SceneSpec{Task: "t", Now: noon, Received: noon, Principal: guard.Principal{ID: "alice"}, Subjects: guard.Subjects{"order": {"1"}, "item": {"a"}}}
		for i, ev := range all {
			k := ev.Entry().Key
			switch anyOf(t, fmt.Sprint("spoil ", i), "keep", "drop", "dispute", "stale") {
			case "keep":
				worse, _ = worse.With(ev)
			case "dispute":
				worse, _ = worse.With(ev, disputes(t, k))
			case "stale":
				worse, _ = worse.With(ev)
				spec.Fresh, spec.Received = append(spec.Fresh, factNamed(k.Fact)), noon.Add(time.Microsecond)
			}
		}
		spec.Facts = worse
		if after := g.Judge(guard.NewScene(spec)); after.Allowed() {
			require.True(t, before.Allowed(), "%s was %s and is allowed on less", g.Name(), word(before))
		}
	})
}

// disputes is another value of the fact, with the same mark.
func disputes(t require.TestingT, k guard.Key) guard.Evidence {
	switch k.Fact {
	case "owner":
		return saw(t, owner, k.Subject, "mallory")
	case "paid":
		return saw(t, paid, k.Subject, true)
	case "stock":
		return saw(t, stock, k.Subject, 77)
	case "price":
		return saw(t, price, k.Subject, 77)
	}
	return saw(t, level, k.Subject, "other")
}

func factNamed(name string) guard.AnyFact {
	for _, f := range []guard.AnyFact{owner, paid, stock, price, level, latest} {
		if f.Info().Name == name {
			return f
		}
	}
	return nil
}
