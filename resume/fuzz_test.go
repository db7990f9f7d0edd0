package resume_test

import (
	"testing"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/machine"
	"github.com/stretchr/testify/require"
)

// Whatever a model writes, nothing is paid before the owner has said yes, and nothing panics.
func FuzzProposeRaw(f *testing.F) {
	for _, event := range []string{"confirm_refund", "request_refund", "ask_again", "cancel_refund", "leave_note", "lapsed", "issue_refund.confirmed", ""} {
		for _, payload := range []string{`{}`, `{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}}`, `{"text":"x"}`, `{"key":"refund_order_123/issue_refund/1"}`,
			`{"order_id":"123","order_id":"124","amount":{"minor":4300,"currency":"EUR"}}`, `{"order_id":"123","amount":{"minor":1e3,"currency":"EUR"}}`, `null`, "\xff", `[`} {
			f.Add(event, []byte(payload))
		}
	}
	f.Fuzz(func(t *testing.T, event string, payload []byte) {
		d := newDesk(t)
		s := d.asked()
		out, err := s.ProposeRaw(d.ctx, event, payload)
		require.NoError(t, err)
		require.Empty(t, s.Snapshot().Intents)
		require.Contains(t, []machine.State{refund.AwaitingUserConfirmation, refund.Cancelled}, s.State())
		if out.Kind == machine.Committed {
			require.Contains(t, []string{"ask_again", "cancel_refund"}, event)
		}
		d.work()
		require.Empty(t, d.world.ledger)
	})
}
