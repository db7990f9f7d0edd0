package shop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/shop"
)

func TestFaultsOfARefund(t *testing.T) {
	for _, f := range []struct {
		action  shop.Action
		applied int
	}{
		{shop.DropBefore, 0}, {shop.ErrorBefore, 0}, {shop.DropAfter, 1}, {shop.ErrorAfter, 1},
	} {
		t.Run(string(f.action), func(t *testing.T) {
			c, _ := open(t, config(t.TempDir()))
			id, err := c.SetFault(t.Context(), shop.Fault{Op: shop.OpRefund, Action: f.action})
			require.NoError(t, err)
			r, err := c.Refund(t.Context(), "k", whole())
			requireUnknown(t, err)
			require.Zero(t, r)
			require.NoError(t, c.AwaitFault(t.Context(), id))
			all, err := c.Ledger(t.Context())
			require.NoError(t, err)
			require.Len(t, all, f.applied, "neither client nor transport sent it again")

			_, err = c.Refund(t.Context(), "k", whole())
			require.NoError(t, err, "the fault was for one request")
			all, err = c.Ledger(t.Context())
			require.NoError(t, err)
			require.Len(t, all, 1)
		})
	}
}

func TestHoldAfterHoldsUntilTheClientGoesAway(t *testing.T) {
	for _, f := range []struct {
		action  shop.Action
		applied int
	}{{shop.HangBefore, 0}, {shop.HoldAfter, 1}} {
		t.Run(string(f.action), func(t *testing.T) {
			c, _ := open(t, config(t.TempDir()))
			id, err := c.SetFault(t.Context(), shop.Fault{Op: shop.OpRefund, Action: f.action})
			require.NoError(t, err)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			answered := make(chan error, 1)
			go func() {
				_, err := c.Refund(ctx, "k", whole())
				answered <- err
			}()
			require.NoError(t, c.AwaitFault(t.Context(), id))
			all, err := c.Ledger(t.Context())
			require.NoError(t, err)
			require.Len(t, all, f.applied)
			require.Empty(t, answered)

			leave()
			err = <-answered
			requireUnknown(t, err)
			require.ErrorIs(t, err, context.Canceled)
			_, found, err := c.FindRefund(t.Context(), "k")
			require.NoError(t, err)
			require.Equal(t, f.applied == 1, found)
		})
	}
}

func TestAHeldAnswerDoesNotHoldUpTheShutdown(t *testing.T) {
	c, stop := open(t, config(t.TempDir()))
	id, err := c.SetFault(t.Context(), shop.Fault{Op: shop.OpRefund, Action: shop.HoldAfter})
	require.NoError(t, err)
	answered := make(chan error, 1)
	go func() {
		_, err := c.Refund(t.Context(), "k", whole())
		answered <- err
	}()
	require.NoError(t, c.AwaitFault(t.Context(), id))
	stop()
	requireUnknown(t, <-answered)
}

func TestEligibilityThatHangs(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	_, err := c.SetFault(t.Context(), shop.Fault{Op: shop.OpEligibility, Action: shop.HangBefore, Times: 2})
	require.NoError(t, err)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, err = c.Eligibility(ctx, "123")
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	_, err = c.Eligibility(t.Context(), "123")
	require.NoError(t, err)
}

func TestAnswersThatAreBent(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	for _, f := range []shop.Fault{
		{Op: shop.OpEligibility, Action: shop.OtherOrder, OrderID: "124"},
		{Op: shop.OpEligibility, Action: shop.FutureDated, By: time.Hour},
		{Op: shop.OpOrder, Action: shop.OtherOrder, OrderID: "124"},
		{Op: shop.OpOrder, Action: shop.FutureDated, By: time.Hour},
	} {
		_, err := c.SetFault(t.Context(), f)
		require.NoError(t, err)
	}
	ids, times := []string{"124", "123", "123"}, []time.Time{noon, noon.Add(time.Hour), noon}
	for i := range ids {
		e, err := c.Eligibility(t.Context(), "123")
		require.NoError(t, err)
		require.Equal(t, ids[i], e.OrderID)
		require.Equal(t, times[i], e.EvaluatedAt)
		o, err := c.Order(t.Context(), "123")
		require.NoError(t, err)
		require.Equal(t, ids[i], o.ID)
		require.Equal(t, times[i], o.At)
	}
}

func TestDelay(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	_, err := c.SetFault(t.Context(), shop.Fault{Op: shop.OpRefund, Action: shop.Delay, By: time.Millisecond})
	require.NoError(t, err)
	_, err = c.Refund(t.Context(), "k", part(1))
	require.NoError(t, err)

	id, err := c.SetFault(t.Context(), shop.Fault{Op: shop.OpRefund, Action: shop.Delay, By: time.Hour})
	require.NoError(t, err)
	ctx, leave := context.WithCancel(t.Context())
	go func() { // leaves only when the shop has the request
		_ = c.AwaitFault(t.Context(), id)
		leave()
	}()
	_, err = c.Refund(ctx, "k2", part(1))
	requireUnknown(t, err)
	_, found, err := c.FindRefund(t.Context(), "k2")
	require.NoError(t, err)
	require.False(t, found)
}

func TestFaultsAreCountedOrderedAndCleared(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	for _, f := range []shop.Fault{
		{Op: shop.OpFindRefund, Action: shop.ErrorBefore},
		{Op: shop.OpFindRefund, Action: shop.DropBefore, Times: 2},
		{Op: shop.OpLedger, Action: shop.DropBefore, Times: shop.MaxFaultTimes},
	} {
		_, err := c.SetFault(t.Context(), f)
		require.NoError(t, err)
	}
	_, _, err := c.FindRefund(t.Context(), "k")
	require.ErrorContains(t, err, "500")
	for range 2 {
		_, _, err = c.FindRefund(t.Context(), "k")
		requireUnknown(t, err)
		require.NotContains(t, err.Error(), "500")
	}
	_, _, err = c.FindRefund(t.Context(), "k")
	require.NoError(t, err)
	_, err = c.Ledger(t.Context())
	requireUnknown(t, err)
	require.NoError(t, c.ClearFaults(t.Context()))
	_, err = c.Ledger(t.Context())
	require.NoError(t, err)
}

func TestFaultsThatCannotBe(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	for _, f := range []shop.Fault{
		{},
		{Op: "weather", Action: shop.DropBefore},
		{Op: shop.OpOrder, Action: "rain"},
		{Op: shop.OpOrder, Action: shop.DropBefore, Times: -1},
		{Op: shop.OpOrder, Action: shop.DropBefore, Times: shop.MaxFaultTimes + 1},
		{Op: shop.OpOrder, Action: shop.DropBefore, By: time.Second},
		{Op: shop.OpOrder, Action: shop.Delay},
		{Op: shop.OpOrder, Action: shop.Delay, By: -time.Second},
		{Op: shop.OpOrder, Action: shop.FutureDated},
		{Op: shop.OpRefund, Action: shop.FutureDated, By: time.Second},
		{Op: shop.OpRefund, Action: shop.OtherOrder, OrderID: "124"},
		{Op: shop.OpOrder, Action: shop.OtherOrder},
		{Op: shop.OpOrder, Action: shop.DropBefore, OrderID: "124"},
	} {
		_, err := c.SetFault(t.Context(), f)
		requireRefusal(t, err, shop.CodeMalformed)
	}
	_, err := c.SetFault(t.Context(), shop.Fault{Op: shop.OpOrder, Action: shop.OtherOrder, OrderID: "999"})
	requireRefusal(t, err, shop.CodeNoOrder)
	for _, id := range []int{-1, 0, 1} {
		requireRefusal(t, c.AwaitFault(t.Context(), id), shop.CodeMalformed)
	}
	_, err = c.Order(t.Context(), "123")
	require.NoError(t, err)
}
