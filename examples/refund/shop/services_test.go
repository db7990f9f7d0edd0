package shop_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/shop"
)

func TestOrderAndEligibility(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	order, err := c.Order(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, shop.Order{ID: "123", Owner: "alice", Total: eur(4300), Payee: "alice_card", Status: shop.Paid, At: noon}, order)
	e, err := c.Eligibility(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, shop.Eligibility{OrderID: "123", Eligible: true, PolicyVersion: "v7", EvaluatedAt: noon}, e)

	for _, id := range []string{"999", "a b/../c?d", ""} {
		got, err := c.Eligibility(t.Context(), id)
		requireRefusal(t, err, shop.CodeNoOrder)
		require.Zero(t, got)
	}
	_, err = c.Order(t.Context(), "../123?x#y")
	requireRefusal(t, err, shop.CodeNoOrder)
}

func TestPolicyMoves(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	require.NoError(t, c.MovePolicy(t.Context(), shop.Policy{Version: "v8"}))
	e, err := c.Eligibility(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, shop.Eligibility{OrderID: "123", Eligible: true, PolicyVersion: "v8", EvaluatedAt: noon}, e)

	require.NoError(t, c.MovePolicy(t.Context(), shop.Policy{Version: "v9", Ineligible: []string{"123"}}))
	e, err = c.Eligibility(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, shop.Eligibility{OrderID: "123", PolicyVersion: "v9", EvaluatedAt: noon}, e)
	other, err := c.Eligibility(t.Context(), "124")
	require.NoError(t, err)
	require.True(t, other.Eligible)

	requireRefusal(t, c.MovePolicy(t.Context(), shop.Policy{Version: "v9"}), shop.CodePolicyVersion)
	requireRefusal(t, c.MovePolicy(t.Context(), shop.Policy{Version: "v10", Ineligible: []string{"999"}}), shop.CodeMalformed)
	requireRefusal(t, c.MovePolicy(t.Context(), shop.Policy{}), shop.CodeMalformed)
}

func TestHandledThroughAnotherChannel(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	requireRefusal(t, c.MarkHandled(t.Context(), "999", "phone"), shop.CodeNoOrder)
	requireRefusal(t, c.MarkHandled(t.Context(), "123", ""), shop.CodeMalformed)
	require.NoError(t, c.MarkHandled(t.Context(), "123", "phone"))
	require.NoError(t, c.MarkHandled(t.Context(), "123", "mail"))

	order, err := c.Order(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, shop.Handled, order.Status)
	require.Equal(t, "phone", order.Channel)
	e, err := c.Eligibility(t.Context(), "123")
	require.NoError(t, err)
	require.False(t, e.Eligible)
	_, err = c.Refund(t.Context(), "k", whole())
	requireRefusal(t, err, shop.CodeHandled)
}

func TestRefundOncePerKey(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	_, found, err := c.FindRefund(t.Context(), "refund_order_123/issue_refund/1")
	require.NoError(t, err)
	require.False(t, found)

	first, err := c.Refund(t.Context(), "refund_order_123/issue_refund/1", whole())
	require.NoError(t, err)
	require.Equal(t, shop.Refund{ID: "re_1", Key: "refund_order_123/issue_refund/1", RefundRequest: whole(), At: noon}, first)

	require.NoError(t, c.SetClock(t.Context(), time.Hour))
	again, err := c.Refund(t.Context(), first.Key, whole())
	require.NoError(t, err)
	require.Equal(t, first, again, "the stored answer, with its own time")
	got, found, err := c.FindRefund(t.Context(), first.Key)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, first, got)

	for _, other := range []shop.RefundRequest{
		part(1), {OrderID: "124", Amount: eur(4300), Payee: "alice_card"}, {OrderID: "123", Amount: eur(4300), Payee: "bob_card"},
	} {
		_, err = c.Refund(t.Context(), first.Key, other)
		requireRefusal(t, err, shop.CodeKeyReused)
	}
	all, err := c.Ledger(t.Context())
	require.NoError(t, err)
	require.Equal(t, []shop.Refund{first}, all)
	order, err := c.Order(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, shop.Refunded, order.Status)
}

func TestRefundsStayWithinWhatWasCaptured(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	_, err := c.Refund(t.Context(), "k1", part(4301))
	requireRefusal(t, err, shop.CodeAboveRemainder)
	_, err = c.Refund(t.Context(), "k1", part(4000)) // the refusal left the key free
	require.NoError(t, err)
	_, err = c.Refund(t.Context(), "k2", part(301))
	requireRefusal(t, err, shop.CodeAboveRemainder)
	order, err := c.Order(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, shop.Paid, order.Status)
	_, err = c.Refund(t.Context(), "k2", part(300))
	require.NoError(t, err)
	_, err = c.Refund(t.Context(), "k3", part(1))
	requireRefusal(t, err, shop.CodeAboveRemainder)
}

func TestRefundsThatAreDeclined(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	for code, req := range map[string]shop.RefundRequest{
		shop.CodeNoOrder:    {OrderID: "999", Amount: eur(1), Payee: "alice_card"},
		shop.CodeOtherPayee: {OrderID: "123", Amount: eur(1), Payee: "mallory_card"},
	} {
		_, err := c.Refund(t.Context(), "k", req)
		requireRefusal(t, err, code)
	}
	for _, amount := range []money.Money{{}, eur(0), eur(-1), {Minor: 1, Currency: "USD"}, {Minor: 1, Currency: "eur"}} {
		_, err := c.Refund(t.Context(), "k", shop.RefundRequest{OrderID: "123", Amount: amount, Payee: "alice_card"})
		requireRefusal(t, err, shop.CodeBadAmount)
	}
	all, err := c.Ledger(t.Context())
	require.NoError(t, err)
	require.Empty(t, all)
}

func TestKeysAtTheLimit(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	_, err := c.Refund(t.Context(), strings.Repeat("k", shop.MaxKey), part(1))
	require.NoError(t, err)
	for _, key := range []string{"", strings.Repeat("k", shop.MaxKey+1), "a b", "a\nb", "ü"} {
		_, err := c.Refund(t.Context(), key, part(1))
		require.ErrorIs(t, err, shop.ErrNotSent)
	}
}

func TestManyAtOnce(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	var wg sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		wg.Go(func() {
			if r, err := c.Refund(t.Context(), "same", part(2000)); err == nil {
				ids[i] = r.ID
			}
			_, _ = c.Refund(t.Context(), "own"+string(rune('a'+i)), part(1000)) // two of these fit
		})
	}
	wg.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	all, err := c.Ledger(t.Context())
	require.NoError(t, err)
	sum := eur(0)
	for _, r := range all {
		sum, err = sum.Add(r.Amount)
		require.NoError(t, err)
	}
	require.Len(t, all, 3)
	require.Equal(t, eur(4000), sum)
}

func TestClock(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.ClockOffset = -time.Hour
	c, _ := open(t, cfg)
	e, err := c.Eligibility(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, noon.Add(-time.Hour), e.EvaluatedAt)
	require.NoError(t, c.SetClock(t.Context(), 24*time.Hour))
	e, err = c.Eligibility(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, noon.Add(24*time.Hour), e.EvaluatedAt)
}
