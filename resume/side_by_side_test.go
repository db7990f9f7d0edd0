package resume_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

// Sources are asked side by side: three slow ones answer in the time of the slowest, when a proposal asks and when resuming does.
func TestObserversAreAskedSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.world.owner = slowly(time.Second, "alice")
		d.world.status = slowly(3*time.Second, refund.OrderOpen)
		d.world.policy = slowly(2*time.Second, refund.Eligibility{Eligible: true, Policy: "v7"})
		s := d.start()
		began := time.Now()
		d.commits(s, refund.RequestRefund.With(machine.None{}))
		require.Equal(t, 3*time.Second, time.Since(began))
		d.sleep(25 * time.Hour)
		began = time.Now()
		d.resume()
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

// slowly answers after a while.
func slowly[T any](after time.Duration, v T) func(context.Context, guard.Query) (guard.Observed[T], error) {
	return func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		time.Sleep(after) // reason: time is that of the test's bubble
		return guard.Observed[T]{Value: v, Subject: q.Subject}, nil
	}
}

// A source that answers after the round has ended changes nothing any more, and what the others said is used.
func TestLateAnswerIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.ctl = d.open(func(c *resume.Config) { c.ObserveWithin = time.Second })
		d.world.policy = slowly(time.Second+time.Millisecond, refund.Eligibility{Eligible: true, Policy: "v7"})
		s := d.start()
		out, err := s.Propose(d.ctx, refund.RequestRefund.With(machine.None{}))
		require.NoError(t, err)
		require.Equal(t, machine.NeedsEvidence, out.Kind)
		require.Equal(t, 2, s.Snapshot().Facts.Len())
		synctest.Wait()
		require.Equal(t, 2, d.resume().Snapshot().Facts.Len())
		d.world.policy = slowly(time.Second-time.Millisecond, refund.Eligibility{Eligible: true, Policy: "v7"})
		d.commits(s, refund.RequestRefund.With(machine.None{}))
	})
}

// Observers are called under ObserveWithin, handlers under PerformWithin: both can see their deadline.
func TestDeadlinesOfObserversAndHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		var seen []string
		see := func(ctx context.Context, who string) {
			at, ok := ctx.Deadline()
			require.True(t, ok, who)
			seen = append(seen, fmt.Sprint(who, " ", time.Until(at)))
		}
		d.ctl = d.open(func(c *resume.Config) { c.ObserveWithin, c.PerformWithin = 7*time.Second, 5*time.Second })
		d.world.policy = func(ctx context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
			see(ctx, "policy")
			return guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Eligible: true, Policy: "v7"}, Subject: q.Subject}, nil
		}
		d.world.send = func(ctx context.Context, j job) (record, error) {
			see(ctx, "send")
			d.pay(j)
			<-ctx.Done() // it is told when its time is over
			return record{}, ctx.Err()
		}
		d.world.find = func(ctx context.Context, j job) (record, bool, error) {
			see(ctx, "find")
			return d.world.ledger[j.Key], true, nil
		}
		d.dispatched()
		began := time.Now()
		d.work()
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Equal(t, "unknown", status(t, d, d.resume()))
		d.sleep(time.Minute)
		d.work()
		require.Equal(t, refund.Refunded, d.resume().State())
		require.Equal(t, []string{"policy 7s", "policy 7s", "send 5s", "find 5s"}, seen)
	})
}

// Effects are performed side by side, MaxHandlers at most.
func TestMaxHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newLab(t)
		var mu sync.Mutex
		now, most, all := 0, 0, 0
		d.pays = func(_ context.Context, j machine.Job[order]) (paid, error) {
			mu.Lock()
			now, all = now+1, all+1
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second) // reason: time is that of the test's bubble
			mu.Lock()
			now--
			mu.Unlock()
			return paid{j.Args.Items}, nil
		}
		for i := range resume.MaxHandlers + 1 {
			s := d.decide(fmt.Sprint("lab", i), "pen")
			d.commits(s, yes.With(buy{"s1", []string{"pen"}}), d.button(s.Offers()[0].ID))
		}
		began := time.Now()
		d.work()
		require.Equal(t, resume.MaxHandlers, most)
		require.Equal(t, resume.MaxHandlers+1, all)
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

// One handler that fails holds up no other, and each error names its task.
func TestHandlersFailByThemselves(t *testing.T) {
	d := newLab(t)
	d.pays = func(_ context.Context, j machine.Job[order]) (paid, error) {
		if j.Task == "lab0" {
			return paid{}, machine.Declined(errors.New("card stolen"))
		}
		return paid{j.Args.Items}, nil
	}
	for i := range 2 {
		s := d.decide(fmt.Sprint("lab", i), "pen")
		d.commits(s, yes.With(buy{"s1", []string{"pen"}}), d.button(s.Offers()[0].ID))
	}
	d.work()
	for id, want := range map[string]machine.State{"lab0": failed, "lab1": bought} {
		s, err := d.ctl.Resume(d.ctx, id, alice)
		require.NoError(t, err)
		require.Equal(t, want, s.State())
	}
	require.Len(t, d.heard, 1)
	require.ErrorContains(t, d.heard[0], "task lab0, effect lab0/pay/1, attempt 1: ")
}
