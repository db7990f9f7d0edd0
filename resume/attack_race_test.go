package resume_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// Everything at once on one task and one controller: owners who confirm, cancel, ask and look, webhooks, timers and workers.
// Whatever comes out, there is at most one refund, and it had a yes.
func TestAttackEverythingAtOnce(t *testing.T) {
	d := newDesk(t)
	policy := guard.NewAuthority("policy")
	d.ctl = d.open(func(c *resume.Config) { c.Trust = append(c.Trust, policy) })
	s := d.asked()
	says := d.says(s, "yes")
	var wg sync.WaitGroup
	each := func(do func(s *resume.Session)) {
		wg.Go(func() {
			s, err := d.ctl.Resume(d.ctx, taskID, alice)
			if err != nil {
				t.Error(err)
				return
			}
			for range 4 {
				do(s)
			}
		})
	}
	propose := func(p machine.Proposal, carried ...guard.Observation) func(*resume.Session) {
		return func(s *resume.Session) {
			if _, err := s.Propose(d.ctx, p, carried...); err != nil {
				t.Error(err)
			}
		}
	}
	each(propose(refund.ConfirmRefund.With(confirm), says))
	each(propose(refund.ConfirmRefund.With(confirm).As(guard.User), says))
	each(propose(refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User)))
	each(propose(refund.AskAgain.With(refund.Question{Text: "x"})))
	each(propose(refund.CancelRefund.With(refund.Reason{Text: "x"}).As(guard.User)))
	each(func(s *resume.Session) {
		if _, err := s.Report(d.ctx); err != nil {
			t.Error(err)
		}
		if s.State() == refund.AwaitingUserConfirmation {
			if v, err := s.Project(d.ctx, refund.InterpretReply); err == nil {
				_, _ = v.Read([]byte(`{}`))
			}
		}
		for i, notes := 0, s.Snapshot().Data.(refund.Refund).Notes; i < len(notes); i++ {
			notes[i] = "mine"
		}
	})
	each(func(s *resume.Session) {
		if _, err := d.ctl.Observe(d.ctx, taskID, refund.Eligible.Observe(policy, guard.Observed[refund.Eligibility]{Subject: "123",
			Value: refund.Eligibility{Eligible: true, Policy: "v7"}, At: d.clock()})); err != nil {
			t.Error(err)
		}
		for _, err := range s.History(d.ctx) {
			if err != nil {
				t.Error(err)
			}
		}
	})
	each(func(*resume.Session) {
		if err := d.ctl.Work(d.ctx); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	d.sleep(time.Hour)
	d.work()
	d.paidAtMostOnceAndForAYes()
}

// paidAtMostOnceAndForAYes looks through the whole history.
func (d *desk) paidAtMostOnceAndForAYes() {
	require.LessOrEqual(d.t, len(d.world.ledger), 1)
	confirmed, versions := 0, uint64(0)
	for e, err := range d.resume().History(d.ctx) {
		require.NoError(d.t, err)
		versions++
		if e.Event == "confirm_refund" {
			confirmed++
			require.Contains(d.t, e.Guards, "confirm")
		}
	}
	require.Len(d.t, d.world.ledger, confirmed)
	require.Equal(d.t, d.resume().Version(), versions)
}

// Observers that hang whatever their context says do not pile up without end.
func TestAttackObserversPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		stop := make(chan struct{})
		d.world.policy = func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error) {
			<-stop
			return guard.Observed[refund.Eligibility]{}, context.Canceled
		}
		s := d.start()
		before := runtime.NumGoroutine()
		for range resume.MaxAsking + 44 {
			out, err := s.Propose(d.ctx, refund.RequestRefund.With(machine.None{}))
			require.NoError(t, err)
			require.Equal(t, machine.NeedsEvidence, out.Kind)
		}
		synctest.Wait()
		grown := runtime.NumGoroutine() - before
		close(stop)
		synctest.Wait()
		require.LessOrEqual(t, grown, resume.MaxAsking+1) // and the last one that waits
	})
}

// What is refused is kept, and no more than the newest of it.
func TestAttackAttemptsPileUp(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	v := s.Version()
	for i := range store.MaxAttempts + 50 {
		_, err := s.ProposeRaw(d.ctx, fmt.Sprintf("event_%d", i), []byte(`{}`))
		require.NoError(t, err)
	}
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Len(t, attempts, store.MaxAttempts)
	require.Equal(t, v, d.resume().Version())
}

// Words that look like others: ids, owners and answers of other scripts and with characters that are not seen.
func TestAttackLookAlikes(t *testing.T) {
	for _, text := range []string{"ｙｅｓ", "y\u200bes", "yes\u202e", "уes", "yes\u00a0please", "yes\x00", "y e s", "yes\nno", "yes,,", "yes?", "yes…", "\"yes\"", "“yes”", "yes\u0301",
		"ok", "👍", "YES PLEASE DO NOT", "no yes", "yes no", "да", "ja", "oui", "1", "true", "confirm", "是 不", "不是", "是吗", "好", "y", "yep", "not no", "yes, unless it rains", "don't not send it",
		strings.Repeat("yes ", 30)} {
		d := newDesk(t)
		s := d.asked()
		out := d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, text))
		require.NotEqual(t, machine.Committed, out.Kind, "%q", text)
	}
	d := newDesk(t)
	s := d.asked()
	for id, code := range map[string]string{"１２３": machine.CodeOtherSubject, "123 ": machine.CodeOtherSubject, " 123": machine.CodeOtherSubject,
		"0123": machine.CodeOtherSubject, "12\u0033\ufe0f": machine.CodeOtherSubject, "123\u200b": machine.CodeForm, "123\x00": machine.CodeForm} {
		c := confirm
		c.OrderID = id
		require.Equal(t, code, d.refuses(s, refund.ConfirmRefund.With(c), d.says(s, "yes")).Code(), "%q", id)
	}
	d = newDesk(t) // alice's own yes, said above, would stand
	s = d.asked()
	for _, by := range []string{"Alice", "аlice", "alice ", "alice\u200b", "alice\x00", "ALICE", "ａlice"} {
		o := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: by, Text: "yes", Shown: shown(s.Offers()[0])}, Subject: s.Offers()[0].ID, At: d.clock()})
		require.Equal(t, machine.CodeNotApprover, d.refuses(s, refund.ConfirmRefund.With(confirm), o).Code(), "%q", by)
		_, err := d.ctl.Resume(d.ctx, taskID, guard.Principal{ID: by})
		require.ErrorIs(t, err, resume.ErrNoTask, "%q", by)
		found, _ := d.ctl.Owned(d.ctx, guard.Principal{ID: by})
		require.Empty(t, found, "%q", by)
		found, _ = d.ctl.Waiting(d.ctx, guard.Principal{ID: by, Roles: []string{"user/alice", "owner", "", "alice"}})
		require.Empty(t, found, "%q", by)
	}
}

// The largest of everything, and one more.
func TestAttackLargest(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	note := func(n int) machine.Proposal {
		return refund.LeaveNote.With(refund.Note{Text: strings.Repeat("x", n)}).As(guard.User)
	}
	for range 20 {
		d.commits(s, note(400))
	}
	for code, p := range map[string]machine.Proposal{machine.CodeData: note(400), machine.CodeForm: note(401)} {
		require.Equal(t, code, d.refuses(s, p).Code())
	}
	require.Equal(t, machine.CodeForm, d.refuses(s, note(machine.MaxProposal+1)).Code())
	require.Equal(t, machine.CodeForm, d.refuses(s, note(1).Written(strings.Repeat("w", machine.MaxRevision+1))).Code())
	long := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: strings.Repeat("y", guard.MaxReplyText+1)}, Subject: s.Offers()[0].ID, At: d.clock()})
	require.Equal(t, machine.CodeNotEvidence, d.refuses(s, refund.ConfirmRefund.With(confirm), long).Code())
	roles := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "yes", Roles: make([]string, 70000)}, Subject: s.Offers()[0].ID, At: d.clock()})
	require.Equal(t, machine.CodeNotEvidence, d.refuses(s, refund.ConfirmRefund.With(confirm), roles).Code())
	var many []guard.Observation
	for range machine.MaxEvidence + 1 {
		many = append(many, d.says(s, "yes"))
	}
	require.Equal(t, machine.CodeTooMany, d.refuses(s, refund.ConfirmRefund.With(confirm), many...).Code())
	out, err := s.Answer(d.ctx, mustProject(d, s), []byte(strings.Repeat("[", 1<<20)))
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
	_, err = d.ctl.Resume(d.ctx, strings.Repeat("a", 1<<20), alice)
	require.ErrorIs(t, err, machine.ErrTask)
	require.Less(t, len(err.Error()), 1000)
}
