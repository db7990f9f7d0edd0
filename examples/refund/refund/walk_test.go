package refund_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/machine/machinetest"
)

// TestWalks goes through random days at the desk. No content of a proposal makes a refund without an explicit yes.
func TestWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions, err := machinetest.Actions(refund.Machine, "testdata/refund.txtar")
		require.NoError(t, err)
		t.Repeat(actions)
	})
}
