package resume_test

import (
	"context"
	"iter"
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

// ledgerOf yields what the shop's ledger holds, and lines that it should not hold.
func (d *desk) ledgerOf(more map[string]record) iter.Seq2[guard.Observation, error] {
	return func(yield func(guard.Observation, error) bool) {
		for _, lines := range []map[string]record{d.world.ledger, more} {
			for key, r := range lines {
				if !yield(refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: r, Subject: key}), nil) {
					return
				}
			}
		}
	}
}

// Both ways: what we hold and the provider lacks, what it holds and we lack; what has no outcome is settled by what is found.
func TestReconcileWithTheLedger(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(_ context.Context, j job) (record, error) { d.pay(j); return record{}, errReset }
	d.dispatched()
	d.work()
	ours := d.world.ledger[d.key()]

	r, err := d.ctl.Reconcile(d.ctx, refund.IssueRefund, d.ledgerOf(map[string]record{
		"refund_order_123/issue_refund/2": ours, "somebody_else/issue_refund/1": ours, "not a key": ours, "refund_order_123/other/1": ours,
	}))
	require.NoError(t, err)
	require.Equal(t, []string{d.key()}, r.Settled)
	require.Equal(t, 1, r.Agree, "what was just settled is confirmed here, and there")
	require.Equal(t, []string{"not a key", "refund_order_123/issue_refund/2", "refund_order_123/other/1", "somebody_else/issue_refund/1"}, r.Foreign)
	require.Equal(t, refund.Refunded, d.resume().State())

	d.world.ledger = nil
	r, err = d.ctl.Reconcile(d.ctx, refund.IssueRefund, d.ledgerOf(nil))
	require.NoError(t, err)
	require.Equal(t, []string{d.key()}, r.Absent)
	require.False(t, r.Clean())
}

func TestReconcileTellsWhatDiffers(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
	d.dispatched()
	d.work()
	r, err := d.ctl.Reconcile(d.ctx, refund.IssueRefund, d.ledgerOf(map[string]record{
		d.key(): {ID: "re_1", OrderID: "123", Amount: money.Money{Minor: 1, Currency: "EUR"}}}))
	require.NoError(t, err)
	require.Equal(t, []string{d.key()}, r.Differs)
	require.Equal(t, refund.DispatchingRefund, d.resume().State())
}

// What failed here and is found there is for a person to look at.
func TestReconcileTellsWhatFailedHere(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, machine.Declined(errReset) }
	d.dispatched()
	d.work()
	r, err := d.ctl.Reconcile(d.ctx, refund.IssueRefund, d.ledgerOf(map[string]record{
		d.key(): {ID: "re_1", OrderID: "123", Amount: euros}}))
	require.NoError(t, err)
	require.Equal(t, []string{d.key()}, r.Failed)
	require.Equal(t, refund.RefundFailed, d.resume().State())
}

func TestUnsettledEffectsAreListed(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
	d.dispatched()
	d.work()
	list, err := d.ctl.Unsettled(d.ctx, time.Hour)
	require.NoError(t, err)
	require.Empty(t, list)
	d.sleep(2 * time.Hour)
	list, err = d.ctl.Unsettled(d.ctx, time.Hour)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "unknown", list[0].Status)
	require.Equal(t, 1, list[0].Attempts)
	require.Equal(t, "no answer came", list[0].Last)
}

// What has been pruned cannot be told: the watcher hears so, and does not wait for ever or go on as if nothing were missing.
func TestWatchOfAPrunedHistory(t *testing.T) {
	d := newLab(t)
	s := d.begin("lab1", "pen")
	for range resume.MaxWatched + 10 {
		d.commits(s, put.With(setItems{[]string{"ink"}}).As(guard.User))
	}
	below := s.Version() - 2
	require.NoError(t, d.st.(*store.Memory).Prune(d.ctx, s.Task(), below))
	for _, after := range []uint64{0, 1, below - 2} {
		told := 0
		for _, err := range s.Watch(d.ctx, after) {
			require.ErrorIs(t, err, resume.ErrPruned, "after %d", after)
			told++
		}
		require.Equal(t, 1, told)
	}
	want := below
	for e, err := range s.Watch(d.ctx, below-1) {
		require.NoError(t, err)
		require.Equal(t, want, e.Version)
		if want++; want > s.Version() {
			break
		}
	}
}

// A watcher misses no version, whatever it was doing when it was committed.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.asked()
		ctx, stop := context.WithCancel(d.ctx)
		seen := make(chan machine.Entry)
		go func() {
			defer close(seen)
			for e, err := range s.Watch(ctx, 0) {
				if err != nil {
					t.Error(err)
				}
				seen <- e
			}
		}()
		require.Equal(t, uint64(1), (<-seen).Version)
		w := d.resume()
		for range 5 {
			d.commits(w, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User))
		}
		for v := uint64(2); v <= 7; v++ {
			require.Equal(t, v, (<-seen).Version)
		}
		synctest.Wait()
		d.commits(w, refund.LeaveNote.With(refund.Note{Text: "y"}).As(guard.User))
		require.Equal(t, uint64(8), (<-seen).Version)
		stop()
		for range seen {
			require.Fail(t, "nothing more was committed")
		}
	})
}
