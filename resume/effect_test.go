package resume_test

import (
	"context"
	"errors"
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

type (
	job    = machine.Job[refund.Payment]
	record = refund.Record
)

func observed[T any](v T) func(context.Context, guard.Query) (guard.Observed[T], error) {
	return func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		return guard.Observed[T]{Value: v, Subject: q.Subject}, nil
	}
}

// Case B006: the answer is lost, the refund is proposed again twice; one refund, one key, settled by observation.
func TestLostAnswerB006(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(_ context.Context, j job) (record, error) { d.pay(j); return record{}, errReset }
	d.dispatched()
	d.work()
	s := d.resume()
	require.Equal(t, refund.DispatchingRefund, s.State())
	require.Equal(t, "unknown", status(t, d, s))
	for range 2 {
		require.Equal(t, machine.CodeNoTransition, d.refuses(s, refund.ConfirmRefund.With(confirm)).Code())
	}
	d.sleep(time.Minute)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Equal(t, []string{d.key()}, d.world.sent, "sent once")
	require.Len(t, d.world.ledger, 1)
}

func status(t *testing.T, d *desk, s *resume.Session) string {
	r, err := s.Report(d.ctx)
	require.NoError(t, err)
	require.Len(t, r.Effects, 1)
	return r.Effects[0].Status
}

// Case B010: an outcome that is not known does not expire, and blocks a second refund for as long as it takes.
func TestUnknownDoesNotExpireB010(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
	d.world.find = func(context.Context, job) (record, bool, error) { return record{}, false, errors.New("down") }
	d.dispatched()
	d.work()
	for range 100 {
		d.sleep(61 * time.Minute)
		d.work()
	}
	s := d.resume()
	require.Equal(t, refund.DispatchingRefund, s.State())
	require.Equal(t, "unknown", status(t, d, s))
	require.Len(t, d.world.sent, 1, "looked up, never sent again blindly")
	require.Greater(t, d.world.found, 10)
	d.refuses(s, refund.ConfirmRefund.With(confirm))
}

// What the provider surely does not have is sent again under the same key.
func TestAbsentIsSentAgain(t *testing.T) {
	d := newDesk(t)
	first := true
	d.world.send = func(_ context.Context, j job) (record, error) {
		if first {
			first = false
			return record{}, errReset
		}
		return d.pay(j), nil
	}
	d.dispatched()
	d.work()
	d.sleep(time.Minute)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Equal(t, []string{d.key(), d.key()}, d.world.sent)
	require.Len(t, d.world.ledger, 1)
}

func TestDefiniteRefusalFails(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) {
		return record{}, machine.Declined(errors.New("above the remainder"))
	}
	d.dispatched()
	d.work()
	require.Equal(t, refund.RefundFailed, d.resume().State())
}

// After an attempt that may have arrived, a refusal proves nothing.
func TestRefusalAfterAnUnknownIsUnknown(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
	d.dispatched()
	d.work()
	d.world.send = func(context.Context, job) (record, error) {
		return record{}, machine.Declined(errors.New("key reused"))
	}
	d.sleep(time.Minute)
	d.work()
	s := d.resume()
	require.Equal(t, refund.DispatchingRefund, s.State())
	require.Equal(t, "unknown", status(t, d, s))
	require.Len(t, d.world.sent, 2)
}

func TestNotSentIsTriedAgainLater(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) {
		return record{}, machine.NotSent(errors.New("refused to connect"))
	}
	d.dispatched()
	d.work()
	d.work()
	require.Len(t, d.world.sent, 1, "not before its backoff is over")
	require.Equal(t, "intent", status(t, d, d.resume()))
	d.world.send = nil
	d.sleep(time.Minute)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Zero(t, d.world.found)
}

// A panic in a handler is an unknown outcome, not the end of the service.
func TestPanicIsUnknown(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(_ context.Context, j job) (record, error) { d.pay(j); panic("nil map") }
	d.dispatched()
	d.work()
	require.Equal(t, "unknown", status(t, d, d.resume()))
	d.world.find = func(context.Context, job) (record, bool, error) { panic("again") }
	d.sleep(time.Minute)
	d.work()
	d.world.find = nil
	d.sleep(time.Hour)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
}

// A receipt of another amount is no receipt: the effect stays open until somebody has looked.
func TestReceiptMustMatch(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(_ context.Context, j job) (record, error) {
		r := d.pay(j)
		r.Amount = money.Money{Minor: 1, Currency: "EUR"}
		return r, nil
	}
	s := d.dispatched()
	d.work()
	require.Equal(t, refund.DispatchingRefund, d.resume().State())
	require.Equal(t, "unknown", status(t, d, d.resume()))
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Equal(t, machine.CodeReceiptDiffers, attempts[0].Findings[0].Code)
}

// The provider's webhook is as good as our own lookup, and comes as often as it likes.
func TestWebhookSettles(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(_ context.Context, j job) (record, error) { d.pay(j); return record{}, errReset }
	d.dispatched()
	d.work()
	hook := func() guard.Observation {
		return refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: d.world.ledger[d.key()], Subject: d.key(), Ref: "evt_1"})
	}
	out, err := d.ctl.Observe(d.ctx, taskID, hook())
	require.NoError(t, err)
	require.NoError(t, out.Err())
	require.Equal(t, refund.Refunded, out.State)
	for range 3 {
		out, err = d.ctl.Observe(d.ctx, taskID, hook())
		require.NoError(t, err)
		require.Equal(t, refund.Refunded, out.State)
	}
	d.sleep(time.Hour)
	d.work()
	require.Len(t, d.world.sent, 1)
	require.Zero(t, d.world.found)
}

// Case B051: a worker that paused past its hold cannot end what another one took over.
func TestStalledWorkerIsFencedB051(t *testing.T) {
	d := newDesk(t)
	entered, release := make(chan struct{}), make(chan struct{})
	d.world.send = func(_ context.Context, j job) (record, error) {
		r := d.pay(j)
		close(entered)
		<-release
		return r, nil
	}
	s := d.dispatched()
	old := make(chan error)
	go func() { old <- d.ctl.Work(d.ctx) }()
	<-entered
	d.sleep(time.Hour)
	d.ctl = d.open(nil)
	find := d.world.find
	d.world.find = func(context.Context, job) (record, bool, error) { return record{}, false, errors.New("not now") }
	d.work() // takes over: another revision
	d.world.find = find
	v := d.resume().Version()
	close(release)
	require.NoError(t, <-old)
	require.Equal(t, v, d.resume().Version(), "the stalled worker committed nothing")
	d.sleep(time.Hour)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Len(t, d.world.sent, 1)
	_ = s
}

// Found sent after a crash it is looked up, not sent.
func TestSentAndCrashed(t *testing.T) {
	d := newDesk(t)
	d.dispatched()
	claimed, err := d.st.Claim(d.ctx, store.Slots{}, 1, "dead", 1)
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	d.pay(job{Key: d.key(), Args: refund.Payment{OrderID: "123", Amount: euros}})
	d.sleep(time.Minute)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Empty(t, d.world.sent)
	require.Equal(t, 1, d.world.found)
}

func TestTimerEndsTheWait(t *testing.T) {
	d := newDesk(t)
	d.asked()
	d.sleep(refund.Patience - time.Minute)
	d.work()
	require.Equal(t, refund.AwaitingUserConfirmation, d.resume().State())
	d.sleep(time.Minute)
	d.work()
	s := d.resume()
	require.Equal(t, refund.Cancelled, s.State())
	v := s.Version()
	d.work()
	require.Equal(t, v, d.resume().Version(), "it fires once")
}

// busyError is a refusal that names its own time.
type busyError struct{ after time.Duration }

func (busyError) Error() string               { return "come back later" }
func (e busyError) RetryAfter() time.Duration { return e.after }

// What was not sent is not tried before the provider's own time, within the limit.
func TestRetryAfter(t *testing.T) {
	for _, row := range []struct{ asks, waits time.Duration }{
		{time.Hour, time.Hour}, {resume.MaxRetryAfter, resume.MaxRetryAfter}, {resume.MaxRetryAfter + time.Hour, resume.MaxRetryAfter},
	} {
		d := newDesk(t)
		d.world.send = func(context.Context, job) (record, error) { return record{}, machine.NotSent(busyError{row.asks}) }
		d.dispatched()
		d.work()
		d.sleep(row.waits - time.Minute)
		d.work()
		require.Len(t, d.world.sent, 1, "left alone for %s", row.waits)
		d.sleep(2 * time.Minute)
		d.work()
		require.Len(t, d.world.sent, 2, row.waits)
	}
}
