package refund_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/machine/machinetest"
)

// TestExplore visits every situation that the names of the table allow. Notes make no difference to what is possible.
func TestExplore(t *testing.T) {
	x, err := machinetest.Explore(refund.Machine, "testdata/refund.txtar", machinetest.Limits{Ignore: []string{"notes"}})
	require.NoError(t, err)
	require.Empty(t, x.Flaws, x.String())
	require.Empty(t, x.Cut)
	t.Log(x)
}
