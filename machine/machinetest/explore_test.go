package machinetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

const stuck machine.State = "stuck"

// flawedGates are gates with one thing wrong each, and the kind of flaw that an exploration must call it.
var flawedGates = map[string]struct {
	kind string
	do   func(*machine.Builder[gate])
}{
	"unguarded_invariant": {"invariant", func(*machine.Builder[gate]) {}}, // a fourth mark passes every guard
	"two_edges": {"ambiguous", func(b *machine.Builder[gate]) {
		machine.On(b, askOpen).From(shut).To(jammed).By(guard.User).Require(guard.Known(badge))
	}},
	"two_driven": {"ambiguous", func(b *machine.Builder[gate]) {
		machine.When(b, safe).From(asking).To(jammed).Require(guard.Holds("alarmed", "", safe, func(ok bool) bool { return !ok }))
	}},
	"panics": {"fault", func(b *machine.Builder[gate]) {
		machine.On(b, askOpen).From(asking).Stay().By(guard.User).Check("second", func(c guard.Case[gate, machine.None]) guard.Verdict {
			return guard.Deny(c.Data.Marks[1], "")
		})
	}},
	"undeclared_look": {"fault", func(b *machine.Builder[gate]) {
		machine.On(b, leave).From(moving).Stay().By(guard.User).Check("looks", func(c guard.Case[gate, mark]) guard.Verdict {
			if c.Payload.Text == "" || c.Payload.Text == "tried" {
				return guard.Allow() // so that Build does not notice
			}
			if _, known := badge.Get(c); known {
				return guard.Allow()
			}
			return guard.Deny("none", "")
		})
	}},
	"no_way_out": {"trapped", func(b *machine.Builder[gate]) {
		machine.On(b, leave).From(asking).To(stuck).By(guard.User)
		machine.On(b, leave).From(stuck).Stay().By(guard.User)
	}},
	"never_open": {"unreached", func(b *machine.Builder[gate]) {
		machine.On(b, askOpen).From(moving).To(stuck).By(guard.User).Require(guard.Is(badge, "carol"))
		machine.On(b, leave).From(stuck).To(jammed).By(guard.User).Accept(machine.LintEndsUnsettled, "nobody gets here")
		b.Accept(machine.LintUnsettled, "effect turn_motor in stuck", "nobody gets here")
	}},
	"evidence_breaks": {"invariant", func(b *machine.Builder[gate]) {
		b.Invariant("safe while it moves", func(s machine.Snapshot[gate]) error {
			if ok, known := safe.Get(s.Facts); s.State == moving && known && !ok {
				return os.ErrInvalid
			}
			return nil
		})
	}},
}

// TestExploreFlawed finds each flaw by its kind; the report, with the shortest path, is in the golden.
func TestExploreFlawed(t *testing.T) {
	for name, c := range flawedGates {
		t.Run(name, func(t *testing.T) {
			l := Limits{Ignore: []string{"marks"}}
			if name == "unguarded_invariant" {
				l.Ignore = nil
			}
			x, err := Explore(newGate(c.do), "testdata/gate.txtar", l)
			require.NoError(t, err)
			require.Empty(t, x.Cut)
			require.NotEmpty(t, x.Flaws)
			require.Equal(t, c.kind, x.Flaws[0].Kind, x.String())
			for _, f := range x.Flaws[1:] {
				require.Contains(t, []string{c.kind, "unreached"}, f.Kind, "an edge that is never open is not taken either")
			}
			golden(t, filepath.Join("testdata/explored", name+".golden"), x.String()+"\n")
		})
	}
}

// TestExploreIdle names a fact that only ever denies.
func TestExploreIdle(t *testing.T) {
	weather := guard.NewFact[string]("weather", guard.From("office"), guard.About("gate"), guard.MaxAge(time.Hour))
	m := newGate(func(b *machine.Builder[gate]) {
		machine.On(b, leave).From(moving).Stay().By(guard.User).Require(guard.Is(weather, "dry"))
	})
	raw, err := os.ReadFile("testdata/gate.txtar")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "idle.txtar")
	for value, want := range map[string][]Flaw{
		"dry": nil,
		"wet": {{Kind: "unreached", Text: "edge leave_mark from moving to moving"}, {Kind: "idle", Text: "fact weather never lets anything pass"}},
	} {
		text := strings.Replace(string(raw), "-- facts --", "-- facts --\nsky = weather(g1) \""+value+"\"", 1)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		x, err := Explore(m, path, Limits{Ignore: []string{"marks"}})
		require.NoError(t, err)
		require.Equal(t, want, x.Flaws, value)
	}
}

// TestPathIsARow pastes the path of a flaw into its table, where it is a row that passes.
func TestPathIsARow(t *testing.T) {
	raw, err := os.ReadFile("testdata/gate.txtar")
	require.NoError(t, err)
	for name, c := range flawedGates {
		if c.kind == "unreached" || c.kind == "trapped" {
			continue // no step shows them
		}
		t.Run(name, func(t *testing.T) {
			m := newGate(c.do)
			x, err := Explore(m, "testdata/gate.txtar", Limits{})
			require.NoError(t, err)
			text, _, _ := strings.Cut(string(raw), "-- situation")
			path := filepath.Join(t.TempDir(), "pasted.txtar")
			require.NoError(t, os.WriteFile(path, []byte(text+x.Flaws[0].Path), 0o644))
			require.NoError(t, Check(m, path))
		})
	}
}

// TestExploreClean says how much was seen of a gate without a flaw, and sees the same each time.
func TestExploreClean(t *testing.T) {
	for range 3 {
		x, err := Explore(newGate(), "testdata/gate.txtar", Limits{Ignore: []string{"marks"}})
		require.NoError(t, err)
		golden(t, "testdata/explored/clean.golden", x.String()+"\n")
	}
}

// TestExploreLimits is at each limit and one below it.
func TestExploreLimits(t *testing.T) {
	all, err := Explore(newGate(), "testdata/gate.txtar", Limits{Ignore: []string{"marks"}})
	require.NoError(t, err)
	for _, c := range []struct {
		limits Limits
		cut    string
	}{
		{Limits{States: all.Situations}, ""},
		{Limits{States: all.Situations - 1}, "no more than"},
		{Limits{Depth: all.Depth + 1}, ""},
		{Limits{Depth: all.Depth}, "nothing beyond"},
	} {
		c.limits.Ignore = []string{"marks"}
		x, err := Explore(newGate(), "testdata/gate.txtar", c.limits)
		require.NoError(t, err)
		if c.cut == "" {
			require.Equal(t, all, x)
			continue
		}
		require.Contains(t, x.Cut, c.cut)
		require.Contains(t, x.String(), "not all: "+c.cut)
	}
}

// TestExploreUnreadable gives the faults of the table, with their lines.
func TestExploreUnreadable(t *testing.T) {
	_, err := Explore(newGate(), "testdata/failing/declarations.txtar", Limits{})
	require.ErrorContains(t, err, `declarations.txtar:5: two facts are called "safe"`)
	_, err = Actions(newGate(), "testdata/failing/situations.txtar")
	require.ErrorContains(t, err, "situations.txtar:13: situation refused is not reached")
	_, err = Actions(newGate(), "testdata/failing/rows.txtar")
	require.ErrorContains(t, err, `rows.txtar:22: no situation is called "nowhere"`)
}

// TestExploreTrapped tells of each state that nobody gets out of, with the way into it, and of no other.
func TestExploreTrapped(t *testing.T) {
	x, err := Explore(newGate(func(b *machine.Builder[gate]) {
		machine.On(b, leave).From(asking).To(stuck).By(guard.User)
		machine.On(b, leave).From(stuck).To("stuck_too").By(guard.User)
		machine.On(b, leave).From("stuck_too").To(stuck).By(guard.User)
	}), "testdata/gate.txtar", Limits{Ignore: []string{"marks"}})
	require.NoError(t, err)
	var trapped []string
	for _, f := range x.Flaws {
		if f.Kind == "trapped" {
			trapped = append(trapped, f.Text)
			require.Contains(t, f.Path, "-- situation found --\n")
		}
	}
	require.Equal(t, []string{"from stuck no final state can be reached", "from stuck_too no final state can be reached"}, trapped)
}

// TestExploreUnnamed says which facts it could not look into, because the table names no value of them.
func TestExploreUnnamed(t *testing.T) {
	weather := guard.NewFact[string]("weather", guard.From("office"), guard.About("gate"), guard.MaxAge(time.Hour))
	m := newGate(func(b *machine.Builder[gate]) {
		machine.On(b, leave).From(moving).Stay().By(guard.User).Require(guard.Is(weather, "dry"))
	})
	x, err := Explore(m, "testdata/gate.txtar", Limits{Ignore: []string{"marks"}})
	require.NoError(t, err)
	require.Equal(t, []string{"weather"}, x.Unnamed)
	require.Contains(t, x.String(), "; unknown all the way: weather")
	x, err = Explore(newGate(), "testdata/gate.txtar", Limits{Ignore: []string{"marks"}})
	require.NoError(t, err)
	require.Empty(t, x.Unnamed)
}
