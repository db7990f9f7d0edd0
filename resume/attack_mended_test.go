package resume_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// A yes from a channel whose clock runs ahead, and a no that was said after it and is dated before it: the no is late

// evidence, and let go.
func TestAttackNoBehindASkewedYes(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	say := func(text string, ahead time.Duration) guard.Observation {
		return refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: text, Shown: shown(s.Offers()[0])},
			Subject: s.Offers()[0].ID, At: d.clock().Add(ahead)})
	}
	_, err := s.Observe(d.ctx, say("yes", 50*time.Second))
	require.NoError(t, err)
	d.sleep(10 * time.Second)
	d.refuses(s, refund.ConfirmRefund.With(confirm), say("no, do not", 0))
	d.refuses(s, refund.ConfirmRefund.With(confirm))
}

// Two tasks about one order, confirmed one after the other, pay it twice: nothing is reserved (law 16).
func TestAttackTwoTasksOneOrder(t *testing.T) {
	d := newDesk(t)
	for _, id := range []string{"a", "b"} {
		s, err := d.ctl.Start(d.ctx, refund.Machine.Task(id, alice, refund.Refund{OrderID: "123", Amount: euros, Notes: []string{}}), alice)
		require.NoError(t, err)
		d.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
		_, err = s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), d.says(s, "yes"))
		require.NoError(t, err)
	}
	d.work()
	require.Len(t, d.world.ledger, 1)
}

// The provider paid, the answer was lost, and after three days it has forgotten the key: absent, and paid again (case B009).
func TestAttackForgottenKey(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(_ context.Context, j job) (record, error) { d.pay(j); return record{}, errReset }
	d.dispatched()
	d.work()
	clear(d.world.ledger)
	d.sleep(72 * time.Hour)
	d.work()
	require.Len(t, d.world.sent, 1)
}

// An amount that is no amount is asked about, and sent after a yes (case B096); the example's machine has no guard for it.
func TestAttackAmounts(t *testing.T) {
	for _, m := range []money.Money{{Minor: -4300, Currency: "EUR"}, {Minor: 0, Currency: "EUR"}, {Minor: 1, Currency: "XXX"}, {Minor: 1 << 62, Currency: "EUR"}} {
		d := newDesk(t)
		s, err := d.ctl.Start(d.ctx, refund.Machine.Task(taskID, alice, refund.Refund{OrderID: "123", Amount: m, Notes: []string{}}), alice)
		if err == nil {
			d.refuses(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
		}
	}
}

// What a session observed when it resumed does not win over what came in with the same order mark, also when it came in between
// the judging of a narrowing proposal and its writing (law 6).
func TestAttackHeldAnswerAgainstNewsInARace(t *testing.T) {
	service := guard.NewAuthority("order_service")
	d, b := newBentDesk(t)
	d.ctl = d.open(func(c *resume.Config) { c.Trust = append(c.Trust, service) })
	d.asked()
	d.sleep(25 * time.Hour)
	at := d.clock()
	see := func(owner string) guard.Observed[string] {
		return guard.Observed[string]{Value: owner, Subject: "123", At: at}
	}
	d.world.owner = func(context.Context, guard.Query) (guard.Observed[string], error) { return see("alice"), nil }
	s := d.resume()
	d.silence()
	b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		b.commit = nil
		_, err := d.ctl.Observe(d.ctx, taskID, refund.OrderOwner.Observe(service, see("bob")))
		require.NoError(t, err)
		return b.Store.Commit(ctx, c)
	}
	d.refuses(s, refund.CancelRefund.With(refund.Reason{Text: "x"}).As(guard.User))
}
