package trading_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine/machinetest"
)

// TestExplore visits every situation that the names of a small table allow.
func TestExplore(t *testing.T) {
	x, err := machinetest.Explore(trading.Machine, "testdata/explore/explore.txtar", machinetest.Limits{States: 20_000})
	require.NoError(t, err)
	require.Empty(t, x.Flaws, x.String())
	require.Empty(t, x.Cut)
	t.Log(x)
}

// TestWalks goes through random days at the desk.
func TestWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions, err := machinetest.Actions(trading.Machine, "testdata/trading.txtar")
		require.NoError(t, err)
		t.Repeat(actions)
	})
}
