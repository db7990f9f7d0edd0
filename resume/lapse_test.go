package resume_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// tooOld is longer than the shop's word about an order's status, and the policy's about its eligibility, are good for.
const tooOld = 16 * time.Minute

// slowDesk is a desk whose store lets time pass between the judging of a commit and its writing.
type slowDesk struct {
	*desk
	store     *bent
	writes    int // that were tried
	questions int // to the policy
}

// newSlowDesk lets as much time pass before the nth commit, counted from 1, as pause says.
func newSlowDesk(t *testing.T, pause func(n int) time.Duration) *slowDesk {
	d := &slowDesk{desk: newDesk(t)}
	d.store = &bent{Store: d.st}
	d.st = d.store
	d.world.policy = func(_ context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
		d.questions++
		return guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Eligible: true, Policy: "v7"}, Subject: q.Subject}, nil
	}
	d.store.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		d.writes++
		d.sleep(pause(d.writes))
		return d.store.Store.Commit(ctx, c)
	}
	d.ctl = d.open(nil)
	return d
}

// counted forgets what the way to here has cost.
func (d *slowDesk) counted() { d.writes, d.questions = 0, 0 }

// kept is all that the store keeps of the task.
func (d *desk) kept() (store.Record, []store.Effect) {
	r, effects, err := d.st.Load(d.ctx, taskID)
	require.NoError(d.t, err)
	return r, effects
}

// Law 5: evidence that ran out between judging and writing refuses the write. It is asked for again, once, and what is written
// stands on the new answers.
func TestLapsedEvidenceIsAskedForAgain(t *testing.T) {
	late := 0
	d := newSlowDesk(t, func(n int) time.Duration {
		if n == late {
			return tooOld
		}
		return 0
	})
	s := d.asked()
	d.counted()
	late = 1
	v, began := s.Version(), d.clock()
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
	require.Equal(t, v+1, s.Version())
	require.Equal(t, 2, d.writes, "one that lapsed, one that landed")
	require.Equal(t, 2, d.questions, "asked when the proposal came in, and again when the answer had run out")
	for e, err := range s.History(d.ctx) {
		require.NoError(t, err)
		require.NotEmpty(t, e.Ground)
		for _, g := range e.Ground {
			if g.Fact == refund.Eligible.Info().Name {
				require.Greater(t, time.UnixMicro(g.At), began.Add(tooOld), "it stands on the second answer")
			}
		}
		break
	}
}

// Law 5 and 7: evidence that always runs out first never comes to be written. The rounds of questions end, the refusal says
// why, and the store holds what it held: the same version, no effect, no used-up key.
func TestEvidenceThatKeepsLapsing(t *testing.T) {
	always := time.Duration(0)
	d := newSlowDesk(t, func(int) time.Duration { return always })
	s := d.asked()
	d.counted()
	before, _ := d.kept()
	always = tooOld
	out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm).Keyed("click-1"), d.says(s, "yes, refund it"))
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
	require.Equal(t, machine.CodeLapsed, out.Code())
	require.NotEmpty(t, out.Permits)
	require.Equal(t, resume.MaxRounds/2, d.writes, "each takes a round of questions first")
	require.Equal(t, resume.MaxRounds/2, d.questions)

	after, effects := d.kept()
	require.Equal(t, before, after)
	require.Empty(t, effects)
	used, err := d.st.Once(d.ctx, taskID, "key/click-1")
	require.NoError(t, err)
	require.Zero(t, used)
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Equal(t, machine.CodeLapsed, attempts[0].Findings[0].Code)

	always = 0
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it")) // nothing was spoilt
	d.work()
	require.Len(t, d.world.ledger, 1)
}

// An edge that evidence drives is under the same law: the evidence lands when it is too old to drive, and the edge is not taken.
func TestLapsedEvidenceDrivesNothing(t *testing.T) {
	policy := guard.NewAuthority("policy")
	always := time.Duration(0)
	d := newSlowDesk(t, func(int) time.Duration { return always })
	d.ctl = d.open(func(c *resume.Config) { c.Trust = append(c.Trust, policy) })
	s := d.asked()
	always = tooOld
	no := refund.Eligible.Observe(policy, guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Policy: "v7"}, Subject: "123", At: d.clock()})
	out, err := d.ctl.Observe(d.ctx, taskID, no)
	require.NoError(t, err)
	require.Equal(t, machine.Committed, out.Kind)
	require.Equal(t, refund.AwaitingUserConfirmation, out.State)
	require.Equal(t, s.Version()+1, out.Version)
}

// The time that an offer is good for is judged in the write as well.
func TestOfferThatRunsOutInTheWrite(t *testing.T) {
	pause := time.Duration(0)
	d := newSlowDesk(t, func(int) time.Duration { return pause })
	s := d.asked()
	d.sleep(s.Offers()[0].Expires.Sub(d.clock()) - time.Minute)
	says := d.says(s, "yes, refund it")
	before, _ := d.kept()
	pause = 2 * time.Minute
	out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), says)
	require.NoError(t, err)
	require.Equal(t, machine.CodeOfferExpired, out.Code())
	after, _ := d.kept()
	require.Equal(t, before.Tip.Version+1, after.Tip.Version, "the yes itself is kept, and nothing else")
	require.Equal(t, refund.AwaitingUserConfirmation, s.State())
	require.Empty(t, s.Snapshot().Intents)
}
