package machine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine"
)

// TestDecodeHead: what a snapshot says of itself is read without its definition, whatever became of that.
func TestDecodeHead(t *testing.T) {
	s := full(t).s
	s.Parent = "above"
	s.Intents[0].Holds = []machine.Hold{{Resource: "r", Amount: 1, Limit: 2, Spent: true}}
	raw := full(t).encode(s)
	want := s.Head
	want.Facts, want.Waiting, want.Offers, want.Timers = machine.Head{}.Facts, nil, nil, nil
	for i := range want.Intents {
		want.Intents[i].Args = nil
	}
	for _, stored := range []string{raw, strings.Replace(raw, `"data":{`, `"data":{"gone":[1],`, 1)} {
		h, err := machine.DecodeHead([]byte(stored))
		require.NoError(t, err)
		require.Equal(t, want, h)
	}
	for _, bad := range []string{"", "null", "{}", `{"task_id":"t"}`, `{"task_id":"a b","state_version":1}`, raw[:len(raw)-1]} {
		_, err := machine.DecodeHead([]byte(bad))
		require.ErrorIs(t, err, machine.ErrStored, bad)
	}
}
