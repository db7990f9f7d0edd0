package retail_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/examples/retail/retail"
	"github.com/pawlgo/pawl/machine/machinetest"
)

// TestWalks goes through random conversations of what the table names, and holds the desk to its laws after each step.
func TestWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions, err := machinetest.Actions(retail.Machine, "testdata/retail.txtar")
		require.NoError(t, err)
		t.Repeat(actions)
	})
}
