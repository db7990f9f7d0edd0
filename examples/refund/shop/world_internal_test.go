package shop

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/money"
)

// A refund that is not durable is not told, not applied, and nothing is taken after it.
func TestAFailedWriteClosesTheLedger(t *testing.T) {
	eur := func(minor int64) money.Money { return money.Money{Minor: minor, Currency: "EUR"} }
	w, err := openWorld(t.TempDir(), []Order{{ID: "123", Owner: "alice", Total: eur(4300), Payee: "card"}},
		Policy{Version: "v7"}, newClock(time.Now, 0))
	require.NoError(t, err)
	_, _, err = w.refund("k1", RefundRequest{"123", eur(1), "card"})
	require.NoError(t, err)

	w.ledger.file = &failsToSyncOnce{durable: w.ledger.file}
	for _, key := range []string{"k2", "k3"} {
		_, _, err = w.refund(key, RefundRequest{"123", eur(1), "card"})
		require.ErrorContains(t, err, "takes no more entries")
		require.NotErrorIs(t, err, ErrDeclined)
		require.False(t, errors.As(err, new(*Refusal)))
	}
	require.Len(t, w.all(), 1)
	require.Error(t, w.handle("123", "phone"))
	o, err := w.order("123")
	require.NoError(t, err)
	require.Equal(t, Paid, o.Status)
	require.NoError(t, w.close())
}

type failsToSyncOnce struct {
	durable
	failed bool
}

func (f *failsToSyncOnce) Sync() error {
	if !f.failed {
		f.failed = true
		return errors.New("no space left on device")
	}
	return f.durable.Sync()
}

func TestFaultsAtTheLimit(t *testing.T) {
	var f faults
	for range MaxFaults {
		_, err := f.add(Fault{Op: OpOrder, Action: DropBefore})
		require.NoError(t, err)
	}
	_, err := f.add(Fault{Op: OpOrder, Action: DropBefore})
	require.ErrorIs(t, err, ErrDeclined)
}
