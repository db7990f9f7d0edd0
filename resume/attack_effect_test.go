package resume_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// A handler that hangs, whatever its context says, must not keep timers and the effects of others from being done.
func TestAttackHangingHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.dispatched()
		stop := make(chan struct{})
		d.world.send = func(_ context.Context, j job) (record, error) { <-stop; return d.pay(j), nil }
		began := time.Now()
		done := make(chan error, 1)
		go func() { done <- d.ctl.Work(d.ctx) }()
		select {
		case err := <-done:
			require.NoError(t, err)
			require.Less(t, time.Since(began), 2*resume.DefaultPerformWithin)
			require.Equal(t, "unknown", status(t, d, d.resume()))
		case <-time.After(time.Hour):
			require.Fail(t, "the worker hangs with its handler")
		}
		close(stop)
		synctest.Wait()
		d.sleep(time.Hour)
		d.work()
		require.Equal(t, refund.Refunded, d.resume().State())
		require.Len(t, d.world.ledger, 1)
		require.Len(t, d.world.sent, 1)
	})
}

// A handler that ends its goroutine instead of returning.
func TestAttackGoexit(t *testing.T) {
	d := newDesk(t)
	d.dispatched()
	d.world.send = func(_ context.Context, j job) (record, error) { d.pay(j); runtime.Goexit(); return record{}, nil }
	d.work()
	require.Equal(t, refund.DispatchingRefund, d.resume().State())
	d.sleep(time.Hour)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Len(t, d.world.sent, 1)
	require.Len(t, d.world.ledger, 1)
}

// Receipts that prove nothing: of another amount, of another order, empty, of another key, by somebody else, of the future.
func TestAttackWrongReceipts(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
	d.world.find = func(context.Context, job) (record, bool, error) { return record{}, true, nil }
	d.dispatched()
	d.work()
	d.sleep(time.Minute)
	d.work()
	good := record{ID: "re_1", OrderID: "123", Amount: euros}
	for name, o := range map[string]guard.Observation{
		"amount":   refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: record{ID: "re_1", OrderID: "123", Amount: money.Money{Minor: 1, Currency: "EUR"}}, Subject: d.key()}),
		"currency": refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: record{ID: "re_1", OrderID: "123", Amount: money.Money{Minor: 4300, Currency: "JPY"}}, Subject: d.key()}),
		"order":    refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: record{ID: "re_1", OrderID: "124", Amount: euros}, Subject: d.key()}),
		"empty":    refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Subject: d.key()}),
		"next key": refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: good, Subject: taskID + "/issue_refund/2"}),
		"task":     refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: good, Subject: "other/issue_refund/1"}),
		"subject":  refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: good, Subject: "123"}),
		"chat":     refund.RefundRecord.Observe(d.chat, guard.Observed[record]{Value: good, Subject: d.key()}),
		"stranger": refund.RefundRecord.Observe(guard.NewAuthority("payments"), guard.Observed[record]{Value: good, Subject: d.key()}),
		"future":   refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: good, Subject: d.key(), At: d.clock().Add(time.Hour)}),
	} {
		_, err := d.ctl.Observe(d.ctx, taskID, o)
		require.NoError(t, err, name)
		require.Equal(t, refund.DispatchingRefund, d.resume().State(), name)
	}
	out, err := d.ctl.Observe(d.ctx, taskID, refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: good, Subject: d.key(), At: d.clock()}))
	require.NoError(t, err)
	require.Equal(t, refund.Refunded, out.State)
}

// Each touch of the store fails once, before it took hold or after, and the same controller goes on with what it holds in
// memory: one intent, one refund, and nothing is sent again without a lookup.
func TestAttackEachTouchOfTheStoreFails(t *testing.T) {
	for n, whole := 1, false; !whole; n++ {
		d := newDesk(t)
		f := &fragile{Store: d.st, took: n%2 == 0}
		d.st = f
		d.ctl = d.open(nil)
		for f.left.Store(int64(n)); !d.story(); d.sleep(2 * time.Minute) {
			require.Less(t, d.clock().Sub(d.now0()), 100*time.Hour, "stop %d", n)
		}
		whole = f.left.Load() > 0 // the story came to its end before the failure
		f.left.Store(0)
		require.Equal(t, refund.Refunded, d.resume().State(), "stop %d", n)
		require.Len(t, d.world.ledger, 1, "stop %d", n)
		require.Equal(t, uint64(1), d.resume().Snapshot().Operations[0].Number, "stop %d", n)
		for i, key := range d.world.sent {
			require.Equal(t, d.key(), key, "stop %d", n)
			require.LessOrEqual(t, i, d.world.found, "stop %d: sent again without a lookup", n)
		}
	}
}

// now0 is when a desk opens.
func (d *desk) now0() time.Time { return time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC) }

var errStopped = errors.New("the process stopped")

// fragile is a store whose nth touch from now fails, once: before it took hold, or after.
type fragile struct {
	store.Store
	left atomic.Int64
	took bool
}

func (f *fragile) Resource(ctx context.Context, name string) (store.Resource, error) {
	return f.Store.(store.Resources).Resource(ctx, name)
}

func (f *fragile) fails() bool { return f.left.Add(-1) == 0 }

func (f *fragile) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	fails := f.fails()
	if fails && !f.took {
		return store.Tip{}, errStopped
	}
	tip, err := f.Store.Commit(ctx, c)
	if err == nil && fails {
		return store.Tip{}, errStopped
	}
	return tip, err
}

func (f *fragile) Claim(ctx context.Context, s store.Slots, limit int, holder string, hold store.Micros) ([]store.Effect, error) {
	fails := f.fails()
	if fails && !f.took {
		return nil, errStopped
	}
	e, err := f.Store.Claim(ctx, s, limit, holder, hold)
	if err == nil && fails {
		return nil, errStopped
	}
	return e, err
}

func (f *fragile) Update(ctx context.Context, e store.Effect) (uint64, error) {
	fails := f.fails()
	if fails && !f.took {
		return 0, errStopped
	}
	rev, err := f.Store.Update(ctx, e)
	if err == nil && fails {
		return 0, errStopped
	}
	return rev, err
}

func (f *fragile) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	if f.fails() {
		return store.Record{}, nil, errStopped
	}
	return f.Store.Load(ctx, task)
}

func (f *fragile) Tip(ctx context.Context, task string) (store.Tip, error) {
	if f.fails() {
		return store.Tip{}, errStopped
	}
	return f.Store.Tip(ctx, task)
}

func (f *fragile) Now(ctx context.Context) (store.Micros, error) {
	if f.fails() {
		return 0, errStopped
	}
	return f.Store.Now(ctx)
}

// story brings the task one run further, whatever was done before; false when something failed on the way.
func (d *desk) story() bool {
	first := true
	d.world.send = func(_ context.Context, j job) (record, error) {
		r := d.pay(j)
		if first {
			first = false
			return record{}, errReset
		}
		return r, nil
	}
	s, err := d.ctl.Start(d.ctx, refund.Machine.Task(taskID, alice, refund.Refund{OrderID: "123", Amount: euros, Notes: []string{}}), alice)
	if errors.Is(err, resume.ErrExists) {
		s, err = d.ctl.Resume(d.ctx, taskID, alice)
	}
	if err != nil {
		return false
	}
	if s.State() == refund.CheckingEligibility {
		if _, err := s.Propose(d.ctx, refund.RequestRefund.With(machine.None{}).As(guard.User)); err != nil {
			return false
		}
	}
	if s.State() == refund.AwaitingUserConfirmation {
		if _, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), d.says(s, "yes")); err != nil {
			return false
		}
	}
	for range 3 {
		if d.ctl.Work(d.ctx) != nil {
			return false
		}
		d.sleep(2 * time.Minute)
	}
	s, err = d.ctl.Resume(d.ctx, taskID, alice)
	return err == nil && s.State() == refund.Refunded
}

// Final states are left by nothing: no event, no evidence, no receipt, no timer.
func TestAttackFinalStatesAreFinal(t *testing.T) {
	for _, end := range []string{"refunded", "failed", "cancelled", "declined"} {
		d := newDesk(t)
		policy := guard.NewAuthority("policy")
		d.ctl = d.open(func(c *resume.Config) { c.Trust = append(c.Trust, policy) })
		var s *resume.Session
		switch end {
		case "refunded":
			d.dispatched()
			d.work()
		case "failed":
			d.world.send = func(context.Context, job) (record, error) { return record{}, machine.Declined(errors.New("no")) }
			d.dispatched()
			d.work()
		case "cancelled":
			s = d.asked()
			d.commits(s, refund.CancelRefund.With(refund.Reason{Text: "x"}).As(guard.User))
		case "declined":
			s = d.start()
			_, err := s.Observe(d.ctx, refund.Eligible.Observe(policy, guard.Observed[refund.Eligibility]{Subject: "123", Value: refund.Eligibility{Policy: "v7"}}))
			require.NoError(t, err)
		}
		s = d.resume()
		state := s.State()
		require.True(t, machine.Erase(refund.Machine).IsFinal(state), end)
		for _, p := range []machine.Proposal{refund.RequestRefund.With(machine.None{}), refund.ConfirmRefund.With(confirm), refund.AskAgain.With(refund.Question{Text: "x"}),
			refund.CancelRefund.With(refund.Reason{Text: "x"}), refund.LeaveNote.With(refund.Note{Text: "x"}), refund.Lapsed.With(machine.None{})} {
			for _, a := range []guard.Actor{guard.Model, guard.User, guard.Timer, guard.Worker, guard.Observer} {
				require.Equal(t, machine.Refused, d.refuses(s, p.As(a)).Kind)
				require.Equal(t, machine.Refused, d.refuses(s, p.AsController(a)).Kind)
			}
		}
		for _, o := range []guard.Observation{
			refund.Eligible.Observe(policy, guard.Observed[refund.Eligibility]{Subject: "123", Value: refund.Eligibility{Eligible: true, Policy: "v9"}}),
			refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Subject: d.key(), Value: record{ID: "re_7", OrderID: "123", Amount: euros}}),
		} {
			_, err := d.ctl.Observe(d.ctx, taskID, o)
			require.NoError(t, err)
			require.Equal(t, state, d.resume().State(), end)
		}
		d.sleep(1000 * time.Hour)
		d.work()
		require.Equal(t, state, d.resume().State(), end)
		require.LessOrEqual(t, len(d.world.sent), 1)
	}
}
