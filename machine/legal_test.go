package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine"
)

// TestLegal: what commits write is legal in every state of the desk, and what none can write is not (case B060).
func TestLegal(t *testing.T) {
	paid := paying(t)
	paid.does(Send.Info().Confirm(paid.key()), saw(paid, SlipOf, paid.key(), Slip{50}))
	for _, w := range []*world{newWorld(t), asked(t), paying(t), paid} {
		require.NoError(t, desk.Legal(w.s), w.s.State)
	}
	for text, change := range map[string]func() machine.Snapshot[Desk]{
		"waits for somebody, and nobody is named": func() machine.Snapshot[Desk] { s := asked(t).s; s.Waiting = nil; return s },
		"waits for nobody, and":                   func() machine.Snapshot[Desk] { s := asked(t).s; s.State = Draft; return s },
		"it ended in state paid":                  func() machine.Snapshot[Desk] { s := paying(t).s; s.State = Paid; return s },
	} {
		err := desk.Legal(change())
		require.ErrorIs(t, err, machine.ErrStored, text)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, "task t1, version ")
	}
}
