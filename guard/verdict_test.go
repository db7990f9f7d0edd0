package guard_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
)

// verdicts are one of each kind, from what blocks most to what allows.
var verdicts = []guard.Verdict{
	guard.Deny("no", "it is not so"),
	guard.Missing(guard.Key{Fact: "paid", Subject: "1"}),
	guard.Ask("shall I?"),
	guard.Allow(),
}

// TestKleene writes the tables down: Both is the least of its arguments and Either the greatest, in the order deny,
// unknown, ask, allow (field case B087).
func TestKleene(t *testing.T) {
	both := []string{
		"deny    deny    deny    deny   ",
		"deny    unknown unknown unknown",
		"deny    unknown ask     ask    ",
		"deny    unknown ask     allow  ",
	}
	either := []string{
		"deny    unknown ask     allow  ",
		"unknown unknown ask     allow  ",
		"ask     ask     ask     allow  ",
		"allow   allow   allow   allow  ",
	}
	for i, a := range verdicts {
		var b, e string
		for j, c := range verdicts {
			sep := " "
			if j == 3 {
				sep = ""
			}
			b += fmt.Sprintf("%-7s%s", word(guard.Both(a, c)), sep)
			e += fmt.Sprintf("%-7s%s", word(guard.Either(a, c)), sep)
		}
		require.Equal(t, both[i], b, "Both, %s", word(a))
		require.Equal(t, either[i], e, "Either, %s", word(a))
	}
	require.True(t, guard.Both().Allowed())
	require.True(t, guard.Either().Denied())
	require.Equal(t, "none_of", guard.Either().Code())
}

func TestNot(t *testing.T) {
	for i, want := range []string{"allow", "unknown", "ask", "deny"} {
		g := guard.New("g", func(*guard.Scene) guard.Verdict { return verdicts[i] })
		require.Equal(t, want, word(guard.Not(g).Judge(scene(guard.Facts{}))), "not %s", word(verdicts[i]))
	}
}

// TestNotOfFault: what denies because a guard is at fault, or because there is nothing to judge, denies under every
// combination of All, Any and Not around it.
func TestNotOfFault(t *testing.T) {
	deny := guard.New("d", func(*guard.Scene) guard.Verdict { return guard.Deny("no", "") })
	for name, g := range map[string]guard.Guard{
		"the zero guard":    {},
		"the zero verdict":  guard.New("z", func(*guard.Scene) guard.Verdict { return guard.Verdict{} }),
		"a panic":           guard.New("p", func(*guard.Scene) guard.Verdict { panic("boom") }),
		"an undeclared":     guard.New("u", func(s *guard.Scene) guard.Verdict { paid.Get(s); return guard.Allow() }),
		"nothing of a kind": guard.True(guard.NewFact[bool]("other", guard.From("x"), guard.About("nothing"), guard.Lasting())),
	} {
		f := known(saw(t, paid, "1", true))
		require.True(t, g.Judge(scene(f)).Denied(), name)
		for _, around := range []guard.Guard{guard.Not(g), guard.Not(guard.All(deny, g)), guard.Not(guard.Any(deny, g)), guard.Not(guard.Any(g, deny)), guard.Not(guard.Not(g))} {
			require.True(t, around.Judge(scene(f)).Denied(), "%s in %s", name, around.Name())
		}
	}
}

// TestMissingIsGathered: a verdict of unknown names what any of its parts waits for, once.
func TestMissingIsGathered(t *testing.T) {
	a, b := guard.Key{Fact: "a", Subject: "1"}, guard.Key{Fact: "b", Subject: "1"}
	for _, join := range []func(...guard.Verdict) guard.Verdict{guard.Both, guard.Either} {
		v := join(guard.Missing(a), guard.Missing(b, a), guard.Missing(a))
		require.Equal(t, []guard.Key{a, b}, v.Missing())
		require.Equal(t, guard.CodeUnknown, v.Code())
		require.Equal(t, "needs a(1), b(1)", v.Text())
	}
	require.Empty(t, guard.Both(guard.Deny("no", ""), guard.Missing(a)).Missing())
}

func TestFirstDenialGivesTheReason(t *testing.T) {
	require.Equal(t, "first", guard.Both(guard.Allow(), guard.Deny("first", ""), guard.Deny("second", "")).Code())
	require.Equal(t, "first", guard.Either(guard.Deny("first", ""), guard.Deny("second", "")).Code())
	require.Equal(t, guard.CodeGuardFault, guard.Both(guard.Deny("first", ""), guard.Deny(guard.CodeGuardFault, "")).Code())
	require.Equal(t, guard.CodeGuardFault, guard.Either(guard.Deny("first", ""), guard.Deny(guard.CodeGuardFault, ""), guard.Deny("third", "")).Code())
}

func TestDetailsAreCopied(t *testing.T) {
	v := guard.Deny("no", "fixed").With("item", "a")
	w := v.With("item", "b").With("left", 2)
	require.Equal(t, map[string]any{"item": "a"}, v.Details())
	require.Equal(t, map[string]any{"item": "b", "left": 2}, w.Details())
}

// TestZeroVerdictDenies: nothing is allowed by accident.
func TestZeroVerdictDenies(t *testing.T) {
	var v guard.Verdict
	require.True(t, v.Denied())
	require.False(t, v.Allowed() || v.Unknown() || v.Asks())
	require.True(t, guard.Both(guard.Allow(), v).Denied())
	require.Equal(t, guard.Unknown, *new(guard.Status))
}

// TestAlgebra: the combinators form a lattice with a negation, for all verdicts that speak about the world.
func TestAlgebra(t *testing.T) {
	pick := rapid.SampledFrom(verdicts)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := pick.Draw(t, "a"), pick.Draw(t, "b"), pick.Draw(t, "c")
		require.Equal(t, word(guard.Both(a, b, c)), word(guard.Both(guard.Both(c, b), a)))
		require.Equal(t, word(guard.Either(a, b, c)), word(guard.Either(guard.Either(c, b), a)))
		require.Equal(t, word(a), word(guard.Both(a, guard.Either(a, b))))
		require.Equal(t, word(guard.Both(a, guard.Either(b, c))), word(guard.Either(guard.Both(a, b), guard.Both(a, c))))
	})
}
