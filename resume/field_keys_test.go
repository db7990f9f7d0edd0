package resume_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// slowStore lets time pass between what a worker decided and its next claim, as a process does that stops in between.
type slowStore struct {
	store.Store
	claims func()
}

func (s slowStore) Claim(ctx context.Context, slots store.Slots, limit int, holder string, hold store.Micros) ([]store.Effect, error) {
	s.claims()
	return s.Store.Claim(ctx, slots, limit, holder, hold)
}

func (s slowStore) Resource(ctx context.Context, name string) (store.Resource, error) {
	return s.Store.(store.Resources).Resource(ctx, name)
}

// Case B009, at its sharpest: the lookup found nothing while the key was still honoured, and the worker comes to send it again when it is
// not any more. Found by internal/sim/days.
func TestB009KeyRunsOutBeforeItIsSentAgain(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
	d.world.find = func(context.Context, job) (record, bool, error) { return record{}, false, nil }
	d.dispatched()
	d.work()
	d.sleep(machine.DefaultKeyRetention - time.Hour)
	claims := 0
	ctl, err := resume.Open(d.ctx, slowStore{d.st, func() {
		if claims++; claims == 2 { // after the lookup
			d.sleep(2 * time.Hour)
		}
	}}, d.config())
	require.NoError(t, err)
	require.NoError(t, ctl.Work(d.ctx))
	require.Len(t, d.world.sent, 1, "not sent again")
	require.Equal(t, "unknown", status(t, d, d.resume()))
	require.Equal(t, refund.DispatchingRefund, d.resume().State())
	unsettled, err := d.ctl.Unsettled(d.ctx, machine.DefaultKeyRetention)
	require.NoError(t, err)
	require.Len(t, unsettled, 1)
}

// Case B009: both sides of the time for which the provider honours a key, counted from the first attempt. A lookup that finds nothing is
// followed by the same key within it, and by nothing after it.
func TestB009BothSidesOfTheRetention(t *testing.T) {
	for after, sends := range map[time.Duration]int{machine.DefaultKeyRetention - time.Minute: 2, machine.DefaultKeyRetention + time.Second: 1, 3 * 24 * time.Hour: 1} {
		d := newDesk(t)
		d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
		d.dispatched()
		d.work()
		d.world.send = nil
		d.sleep(after)
		d.work()
		require.Len(t, d.world.sent, sends, after)
		require.Len(t, d.world.ledger, sends-1, after)
		want := map[int]machine.State{1: refund.DispatchingRefund, 2: refund.Refunded}[sends]
		require.Equal(t, want, d.resume().State(), after)
	}
}
