package main

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine/workingstate"
)

// The floor of workingstate/set writes each record that the calls leave.
func TestWorkingStateSides(t *testing.T) {
	const calls = 2 * workingstate.MaxKeys
	j, err := record(openTrader, trades(calls))
	require.NoError(t, err)
	require.Len(t, j.moves[0], calls)
	require.Greater(t, j.moves[0][calls-1].size, j.moves[0][0].size, "a record holds all keys")
	s, err := replay(place{vfs.NewMem(), "floor"}, j)
	require.NoError(t, err)
	require.NoError(t, s.call(0, 0))
	require.NoError(t, s.close())

	for _, side := range []setup{workingStateBlock().ours, workingStateBlock().floor} {
		s, err := side(place{})
		require.NoError(t, err)
		require.NoError(t, s.call(0, 0))
	}
	table, now := fullTable()
	block := workingstate.Layout{}.Block(table, now)
	require.Contains(t, block, "older keys left out", "the budget is met, as it is measured")
	require.Contains(t, block, "Handoff")
}
