package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestPermitsDoNotGuess: whoever does not know what was sent is not told that a withdrawal is closed; whoever knows is.
func TestPermitsDoNotGuess(t *testing.T) {
	recall := machine.NewEvent[machine.None]("recall")
	m, err := stoppable(func(b *machine.Builder[Desk]) {
		machine.On(b, recall).From(Paying).To(Draft).By(guard.User).Withdraw(Send)
	})
	require.NoError(t, err)
	s, _, err := m.Task("t1", alice, Desk{OrderID: "1", Amount: 1}).First(start)
	require.NoError(t, err)
	typed, _ := machine.As[Desk](s)
	typed, out := m.Step(typed, machine.Input{Proposal: again.With(machine.None{}).BasedOn(1).As(guard.User), Principal: alice, Now: start})
	require.NoError(t, out.Err())
	for _, row := range []struct {
		unsent []string
		open   bool
	}{{nil, true}, {[]string{}, false}, {[]string{"t1/send/1"}, true}} {
		for _, p := range m.Permits(typed, machine.Input{Principal: alice, Now: start, Unsent: row.unsent}) {
			if p.Event == "recall" {
				require.Equal(t, row.open, p.Open, "%v", row.unsent)
			}
		}
	}
}
