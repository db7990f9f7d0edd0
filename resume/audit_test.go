package resume_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/stretchr/testify/require"
)

// asking records the questions that the desk's policy is asked.
func (d *desk) asking() func() []guard.Query {
	var mu sync.Mutex
	var asked []guard.Query
	d.world.policy = func(_ context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, q)
		return guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Eligible: true, Policy: "v7"}, Subject: q.Subject}, nil
	}
	return func() []guard.Query {
		mu.Lock()
		defer mu.Unlock()
		return asked
	}
}

// An observer is told what the question is about, for whom it is asked, of which task, at which version, and when. The history
// says of each exhibit at which version it was asked for, and of each entry on which version it was based.
func TestHistorySaysWhatItWasBasedOn(t *testing.T) {
	d := newDesk(t)
	asked := d.asking()
	s := d.asked()
	for range 3 {
		d.commits(s, aNote("x"))
	}
	d.sleep(20 * time.Minute)
	v, began := s.Version(), d.clock()
	require.Equal(t, uint64(5), v)
	operators, err := d.ctl.Resume(d.ctx, taskID, operator) // whoever resumes is who asks
	require.NoError(t, err)
	require.Equal(t, v, operators.Version())
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))

	questions := asked()
	require.Len(t, questions, 3)
	for i, q := range questions {
		want := guard.Query{Fact: "refund_eligibility", Subject: "123", Task: taskID, BasedOn: []uint64{1, v, v}[i],
			Principal: []guard.Principal{alice, operator, alice}[i], Now: q.Now}
		require.Equal(t, want, q)
	}
	require.True(t, questions[1].Now.After(began))
	require.True(t, questions[2].Now.After(questions[1].Now))

	e := d.newest(s)
	require.Equal(t, v+1, e.Version)
	require.Equal(t, v, e.BasedOn)
	require.Equal(t, []string{"user_confirmation", "order_owner", "order_status", "refund_eligibility"}, facts(e.Evidence))
	for _, x := range e.Evidence {
		require.Equal(t, v, x.BasedOn, x.Fact)
	}
	kept, ok := s.Snapshot().Facts.Entry(guard.Key{Fact: "refund_eligibility", Subject: "123"})
	require.True(t, ok)
	require.Equal(t, v, kept.BasedOn)
}

// An event that is judged on the newest version is recorded with the version that it was judged on, not with the one that its
// proposer had seen; the attempt that was refused with both.
func TestAttemptSaysWhatItWasBasedOn(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	d.commits(s, aNote("x"))
	d.refuses(s, aNote("late").BasedOn(2))
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Equal(t, uint64(2), attempts[0].BasedOn)
	require.Equal(t, uint64(3), attempts[0].Version)
	d.commits(s, refund.CancelRefund.With(refund.Reason{Text: "x"}).As(guard.User).BasedOn(1))
	require.Equal(t, uint64(3), d.newest(s).BasedOn)
}

// What the proposer was shown, and which model and prompt wrote the proposal, stand in the history and with refused attempts.
func TestHistorySaysWhatWasShownAndWhoWrote(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	s.Wrote("small-model/prompt-3")
	view := mustProject(d, s)
	out, err := s.Answer(d.ctx, view, []byte(`{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}}}`))
	require.NoError(t, err)
	require.Equal(t, machine.Ask, out.Kind)
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.NotEmpty(t, view.Digest())
	require.Equal(t, view.Digest(), attempts[0].View)
	require.Equal(t, guard.Model, attempts[0].Actor)
	require.Equal(t, "alice", attempts[0].Principal)

	out, err = s.Answer(d.ctx, view, []byte(`{"event":"ask_again","payload":{"text":"Shall I?"}}`))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	e := d.newest(s)
	require.Equal(t, view.Digest(), e.View)
	require.Equal(t, "small-model/prompt-3", e.Written)
	require.Equal(t, view.Version(), e.BasedOn)

	d.commits(s, aNote("x").Written("by hand"))
	require.Equal(t, "by hand", d.newest(s).Written, "a proposal's own word goes first")
	require.Empty(t, d.newest(s).View)
	d.commits(s, aNote("y"))
	require.Equal(t, "small-model/prompt-3", d.newest(s).Written)
	other := d.resume()
	d.commits(other, aNote("z"))
	require.Empty(t, d.newest(other).Written, "it is said of one session")
}
