package properties

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/machine"
)

// TestProperties walks at random, and holds every step to P1 to P8. The walks get around: into each state, and to a payment.
func TestProperties(t *testing.T) {
	states, paid := map[machine.State]bool{}, 0
	rapid.Check(t, func(t *rapid.T) {
		all, w := actions(t, sound())
		defer w.close()
		t.Repeat(all)
		for _, versions := range w.benches[0].known {
			for _, s := range versions {
				states[s.State] = true
			}
		}
		paid += len(w.benches[0].world.arrived)
	})
	if flag.Lookup("rapid.checks").Value.String() != "100" {
		return // fewer walks may not get everywhere
	}
	for _, s := range sound().machine.Describe().States {
		require.True(t, states[s.Name], "no walk came to %s", s.Name)
	}
	require.Positive(t, paid)
}
