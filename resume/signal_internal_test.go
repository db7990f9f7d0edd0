package resume

import (
	"testing"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/stretchr/testify/require"
)

// Nobody pays for what nobody hears.
func TestSilenceCostsNothing(t *testing.T) {
	c, l := &Controller{}, loaded{}
	entry := &machine.Entry{Voided: []machine.Voided{{Reason: machine.VoidExpired}}}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, end := c.begin(t.Context(), OperationPropose, "task")
		if end != nil {
			end(nil)
		}
		c.tellCommit(t.Context(), l, entry)
		c.tellRefusal(t.Context(), l, guard.Model, machine.Outcome{})
		c.tellSilence(t.Context(), l, "fact", nil)
	}))
}
