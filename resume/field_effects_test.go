package resume_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// Field cases of classes A (replay and double effect), C (conflict and lease) and E (evidence) that concern the controller,
// each under its id.

// Case B007: the outcome is unknown; the same amount goes out under the same key, another amount not at all, and the intent stays.
func TestB007RetryKeepsItsKey(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
	d.dispatched()
	d.work()
	d.world.send = nil
	s := d.resume()
	other := refund.Confirm{OrderID: "123", Amount: money.Money{Minor: 1000, Currency: "EUR"}}
	d.refuses(s, refund.ConfirmRefund.With(other))
	d.refuses(s, refund.ConfirmRefund.With(confirm))
	_, found := s.Snapshot().Intent(d.key())
	require.True(t, found)
	d.sleep(time.Minute)
	d.work()
	require.Equal(t, []string{d.key(), d.key()}, d.world.sent, "one key, and the amount that was confirmed")
	require.Equal(t, euros, d.world.ledger[d.key()].Amount)
	require.Len(t, d.world.ledger, 1)
}

// Case B012: "already used" after an attempt that may have arrived forces a lookup, and is never a failure.
func TestB012AlreadyUsedIsLookedUp(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(_ context.Context, j job) (record, error) { d.pay(j); return record{}, errReset }
	hidden := true
	d.world.find = func(_ context.Context, j job) (record, bool, error) {
		if hidden {
			return record{}, false, nil // the provider's index lags
		}
		return d.world.ledger[j.Key], true, nil
	}
	d.dispatched()
	d.work()
	d.world.send = func(context.Context, job) (record, error) {
		return record{}, machine.Declined(errors.New("nonce already used"))
	}
	d.sleep(time.Minute)
	d.work()
	require.Equal(t, "unknown", status(t, d, d.resume()))
	hidden = false
	d.sleep(time.Hour)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Len(t, d.world.ledger, 1)
}

// lookAt is a fresh session of alice's on a task.
func (d *desk) lookAt(task string) *resume.Session {
	s, err := d.ctl.Resume(d.ctx, task, alice)
	require.NoError(d.t, err)
	return s
}

// Case B046: eight writers read one version and write at once; each is in, or was told of the conflict and tries again.
func TestB046NobodyDropsAnothersWrite(t *testing.T) {
	for range 30 {
		d := newDesk(t)
		d.asked()
		var wg sync.WaitGroup
		sessions := make([]*resume.Session, 8)
		for i := range sessions {
			sessions[i] = d.resume()
		}
		for i, s := range sessions {
			wg.Go(func() {
				note := refund.LeaveNote.With(refund.Note{Text: fmt.Sprintf("note %d", i)}).As(guard.User)
				for out, err := s.Propose(d.ctx, note); ; out, err = s.Propose(d.ctx, note) {
					if err != nil || out.Kind != machine.Conflict {
						if err != nil || out.Err() != nil {
							t.Error(err, out)
						}
						return
					}
					if s, err = d.ctl.Resume(d.ctx, taskID, alice); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		snap, ok := machine.As[refund.Refund](d.resume().Snapshot())
		require.True(t, ok)
		for i := range sessions {
			require.Contains(t, snap.Data.Notes, fmt.Sprintf("note %d", i))
		}
		require.Len(t, snap.Data.Notes, len(sessions))
	}
}

// Case B049: two controllers, each with a copy of its own in memory, on one store. Whether the second judges after the first has written, or
// both have judged and one writes first, one of them wins the version, and the other is told which it is.
func TestB049ThePrivateCopyDecidesNothing(t *testing.T) {
	for name, at := range map[string]*desk{"memory": newDesk(t), "pebble": newPebbleDesk(t).desk} {
		at.asked()
		b := &bent{Store: at.st}
		whole := at.st
		at.st = b
		other := at.open(nil)
		at.st = whole
		mine, theirs := at.resume(), at.resumeBy(other)
		require.Equal(t, mine.Version(), theirs.Version())
		at.commits(mine, refund.LeaveNote.With(refund.Note{Text: "mine"}).As(guard.User))
		require.Equal(t, machine.Conflict, at.refuses(theirs, refund.LeaveNote.With(refund.Note{Text: "theirs"}).As(guard.User)).Kind, name)

		mine, theirs = at.resume(), at.resumeBy(other)
		b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
			b.commit = nil
			at.commits(mine, refund.LeaveNote.With(refund.Note{Text: "mine again"}).As(guard.User)) // both have judged
			return b.Store.Commit(ctx, c)
		}
		out := at.refuses(theirs, refund.LeaveNote.With(refund.Note{Text: "theirs again"}).As(guard.User))
		require.Equal(t, machine.Conflict, out.Kind, name)
		require.Equal(t, mine.Version(), out.Version, name)
		snap, ok := machine.As[refund.Refund](at.resumeBy(other).Snapshot())
		require.True(t, ok)
		require.Equal(t, []string{"mine", "mine again"}, snap.Data.Notes, name)
	}
}

// resumeBy is a session of alice's by another controller.
func (d *desk) resumeBy(c *resume.Controller) *resume.Session {
	s, err := c.Resume(d.ctx, taskID, alice)
	require.NoError(d.t, err)
	return s
}

// Case B052: whose hold ran out cannot take it back by being late: the revision that it knows is no longer the newest.
func TestB052LateHeartbeatTakesNothingBack(t *testing.T) {
	d := newDesk(t)
	d.dispatched()
	stalled, err := d.st.Claim(d.ctx, store.Slots{}, 1, "stalled", store.Micros(5*time.Minute/time.Microsecond))
	require.NoError(t, err)
	require.Len(t, stalled, 1)
	d.sleep(6 * time.Minute)
	second, err := d.st.Claim(d.ctx, store.Slots{}, 1, "second", store.Micros(5*time.Minute/time.Microsecond))
	require.NoError(t, err)
	require.Len(t, second, 1)
	late := stalled[0]
	late.Hold = second[0].Hold
	_, err = d.st.Update(d.ctx, late)
	require.ErrorIs(t, err, store.ErrFenced)
	_, err = d.st.Update(d.ctx, second[0])
	require.NoError(t, err)
}

// Case B054: a worker has nothing to perform but what a claim gave it: two controllers that work at once send once.
func TestB054OnlyTheClaimPerforms(t *testing.T) {
	d := newDesk(t)
	d.dispatched()
	ctls := []*resume.Controller{d.ctl, d.open(nil), d.open(nil)}
	var wg sync.WaitGroup
	for _, c := range ctls {
		wg.Go(func() {
			if err := c.Work(d.ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, []string{d.key()}, d.world.sent)
	require.Equal(t, refund.Refunded, d.resume().State())
}

// Case B055: the webhook, the answer of the call and an error, in every order: the end is the same, and the late ones change nothing.
func TestB055LateAnswerPullsNothingBack(t *testing.T) {
	webhook := func(d *desk) {
		_, err := d.ctl.Observe(d.ctx, taskID, refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: d.world.ledger[d.key()], Subject: d.key(), At: d.clock()}))
		require.NoError(d.t, err)
	}
	for name, answer := range map[string]error{"accepted": nil, "error": errReset, "declined": machine.Declined(errors.New("duplicate"))} {
		for _, first := range []bool{true, false} {
			d := newDesk(t)
			d.world.send = func(_ context.Context, j job) (record, error) {
				r := d.pay(j)
				if first {
					webhook(d)
				}
				return r, answer
			}
			d.dispatched()
			d.work()
			if !first && name == "declined" {
				// A first attempt that the provider surely refused has failed. What it says later of the same key, the run against its ledger finds.
				require.Equal(t, refund.RefundFailed, d.resume().State(), name)
				r, err := d.ctl.Reconcile(d.ctx, refund.IssueRefund, d.ledgerOf(nil))
				require.NoError(t, err)
				require.Equal(t, []string{d.key()}, r.Failed, "failed here, and there all the same")
				continue
			}
			webhook(d)
			d.sleep(time.Hour)
			d.work()
			require.Equal(t, refund.Refunded, d.resume().State(), "%s, webhook first: %v", name, first)
			require.Equal(t, []string{d.key()}, d.world.sent)
		}
	}
}

// Case B073: between the yes and the payment the order turns out to be disputed, or refunded elsewhere. What is known at the moment of
// acting decides: the payment is refused with its reason, and the task has a legal next state.
func TestB073DisputedOrRefundedElsewhere(t *testing.T) {
	for _, status := range []string{"disputed", "refunded"} {
		d := newDesk(t)
		s := d.asked()
		said := d.says(s, "yes, refund it")
		d.sleep(time.Minute)
		d.world.status = observed(status)
		out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), said)
		require.NoError(t, err)
		require.Equal(t, machine.Refused, out.Kind, status)
		require.Equal(t, machine.CodeMovesFirst, out.Code(), status)
		require.Equal(t, refund.HandledElsewhere, d.resume().State(), status)
		d.work()
		require.Empty(t, d.world.sent, status)
	}
}

// Case B075: the newer event arrives first; the older one is kept as late, and two of one time are not guessed at.
func TestB075OlderEventOverwritesNothing(t *testing.T) {
	at := time.Date(2026, 1, 5, 8, 59, 0, 0, time.UTC)
	d := newDesk(t)
	clerk := guard.NewAuthority(refund.OrderStatus.Info().Source)
	d.ctl = d.open(func(c *resume.Config) { c.Trust = append(c.Trust, clerk) })
	s := d.asked()
	says := func(status string, at time.Time) machine.Outcome {
		t.Helper()
		out, err := d.ctl.Observe(d.ctx, taskID, refund.OrderStatus.Observe(clerk, guard.Observed[string]{Value: status, Subject: "123", At: at}))
		require.NoError(t, err)
		return out
	}
	e, known := d.resume().Snapshot().Facts.Entry(guard.Key{Fact: refund.OrderStatus.Info().Name, Subject: "123"})
	require.True(t, known)
	require.Equal(t, machine.Unchanged, says("incomplete", at).Kind, "older than what is known")
	require.Equal(t, s.State(), d.resume().State())
	out := says("incomplete", e.At)
	require.NoError(t, out.Err())
	require.Equal(t, guard.Dispute, out.Entry().Evidence[0].Merged, "of one time and not equal: unknown until it is asked again")
	require.Equal(t, refund.AwaitingUserConfirmation, d.resume().State(), "unknown drives nothing")
}

// Case B106: a clock that steps back un-expires nothing.
func TestB106ClockStepsBack(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	said := d.says(s, "yes, refund it")
	d.sleep(refund.Patience + time.Minute)
	d.work()
	require.Equal(t, refund.Cancelled, d.resume().State())
	d.sleep(-2 * refund.Patience)
	d.refuses(d.resume(), refund.ConfirmRefund.With(confirm), said)
	d.work()
	require.Equal(t, refund.Cancelled, d.resume().State())
	require.Empty(t, d.world.sent)
}
