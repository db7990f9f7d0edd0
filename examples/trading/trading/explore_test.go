package trading_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine/machinetest"
)

// TestExplore visits every situation that the names of two small tables allow: one knows how to exit, the other how to enter. What
// neither reaches is a flaw, and so is every other that either finds.
func TestExplore(t *testing.T) {
	unreached := map[string]int{}
	tables := []string{"exits", "entries"}
	for _, name := range tables {
		x, err := machinetest.Explore(trading.Machine, "testdata/explore/"+name+".txtar", machinetest.Limits{})
		require.NoError(t, err)
		require.Empty(t, x.Cut)
		for _, f := range x.Flaws {
			require.Equal(t, "unreached", f.Kind, f.String())
			unreached[f.Text]++
		}
		t.Log(name, x.Situations, x.Steps, x.Depth)
	}
	for text, n := range unreached {
		require.Less(t, n, len(tables), text)
	}
}

// TestWalks goes through random days at the desk.
func TestWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions, err := machinetest.Actions(trading.Machine, "testdata/trading.txtar")
		require.NoError(t, err)
		t.Repeat(actions)
	})
}
