package resume_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// An answer belongs to the view that it was given to: in a session of another task, at the same version and with the same offer,
// it is an error, and neither task hears of it.
func TestViewOfAnotherTask(t *testing.T) {
	d := newDesk(t)
	mine := d.asked()
	other, err := d.ctl.Start(d.ctx, refund.Machine.Task("other", alice, refund.Refund{OrderID: "123", Amount: euros}), alice)
	require.NoError(t, err)
	d.commits(other, refund.RequestRefund.With(machine.None{}).As(guard.User))
	require.Equal(t, mine.Version(), other.Version())
	view := mustProject(d, mine)
	out, err := other.Answer(d.ctx, view, []byte(`{"event":"cancel_refund","payload":{"text":"x"}}`))
	require.ErrorIs(t, err, resume.ErrView)
	require.ErrorContains(t, err, taskID)
	require.ErrorContains(t, err, "task other")
	require.Zero(t, out)
	for _, s := range []*resume.Session{mine, other} {
		r, err := s.Report(d.ctx)
		require.NoError(t, err)
		require.Equal(t, refund.AwaitingUserConfirmation, r.State)
		attempts, err := s.Attempts(d.ctx)
		require.NoError(t, err)
		require.Empty(t, attempts)
	}
	out, err = mine.Answer(d.ctx, view, []byte(`{"event":"cancel_refund","payload":{"text":"x"}}`))
	require.NoError(t, err)
	require.NoError(t, out.Err())
}

// A record that holds another task, or another version of its task, than it is kept under is corrupt: nobody is let near it, and
// a stranger does not learn that it is there.
func TestRecordOfAnotherTaskOrVersion(t *testing.T) {
	d := newDesk(t)
	s := d.start()
	r, _ := d.kept()
	swapped := store.Record{Task: "other", Meta: r.Meta, Snapshot: r.Snapshot, Entry: r.Entry}
	_, err := d.st.Commit(d.ctx, &store.Commit{Record: swapped})
	require.NoError(t, err)
	swapped.Task = taskID
	_, err = d.st.Commit(d.ctx, &store.Commit{Record: swapped, Base: r.Tip})
	require.NoError(t, err)
	for task, part := range map[string]string{"other": "holds task " + taskID + ", version 1", taskID: "version 2 holds task " + taskID + ", version 1"} {
		_, err = d.ctl.Resume(d.ctx, task, alice)
		require.ErrorIs(t, err, store.ErrCorrupt, task)
		require.ErrorContains(t, err, part)
		_, err = d.ctl.Observe(d.ctx, task, guard.Observation{})
		require.ErrorIs(t, err, store.ErrCorrupt, task)
		_, err = d.ctl.Resume(d.ctx, task, mallory)
		require.Equal(t, "task "+task+": "+resume.ErrNoTask.Error(), err.Error())
	}
	_, err = s.Propose(d.ctx, refund.RequestRefund.With(machine.None{}))
	require.ErrorIs(t, err, store.ErrCorrupt)
	_, err = d.ctl.Unsettled(d.ctx, 0)
	require.NoError(t, err)
}

// Law 3: two machines that claim one fact for two sources are a fault of Open, also when both sources have a voice there.
func TestOneFactOfTwoSources(t *testing.T) {
	d := newDesk(t)
	elsewhere := guard.NewFact[string]("order_owner", guard.From("elsewhere"), guard.About("order"), guard.MaxAge(refund.OrderOwner.Info().MaxAge))
	b := machine.New[orderOnly]("returns", "a")
	b.Final("b")
	machine.On(b, goOn).From("a").To("b").By(guard.User).Require(guard.Owner(elsewhere))
	cfg := d.config()
	cfg.Machines = append(cfg.Machines, b.MustBuild())
	cfg.Trust = append(cfg.Trust, guard.NewAuthority("elsewhere"), guard.NewAuthority("order_service"))
	cfg.Observers = cfg.Observers[1:] // of the owner nobody is asked
	_, err := resume.Open(d.ctx, d.st, cfg)
	require.ErrorIs(t, err, resume.ErrConfig)
	require.ErrorContains(t, err, `fact order_owner is claimed by "order_service" and by "elsewhere"`)
	require.Equal(t, 1, strings.Count(err.Error(), "\n"), "and that is all that is wrong: %v", err)
}

// orderOnly is data that names an order.
type orderOnly struct {
	OrderID string `json:"order_id" about:"order"`
}

// A principal's tasks come with the unfinished ones first, whatever they are called and whenever they began.
func TestOwnedListsUnfinishedFirst(t *testing.T) {
	d := newDesk(t)
	begin := func(id string, done bool) {
		s, err := d.ctl.Start(d.ctx, refund.Machine.Task(id, alice, refund.Refund{OrderID: "123", Amount: euros}), alice)
		require.NoError(t, err)
		if done {
			d.commits(s, refund.CancelRefund.With(refund.Reason{Text: "x"}).As(guard.User))
		}
	}
	begin("a", true)
	begin("d", false)
	begin("c", true)
	begin("b", false)
	_, err := d.ctl.Start(d.ctx, refund.Machine.Task("e", mallory, refund.Refund{OrderID: "123", Amount: euros}), mallory)
	require.NoError(t, err)
	found, err := d.ctl.Owned(d.ctx, alice)
	require.NoError(t, err)
	var got []string
	for _, f := range found {
		got = append(got, f.Task)
		require.Equal(t, f.State == refund.Cancelled, f.Final, f.Task)
	}
	require.Equal(t, []string{"b", "d", "a", "c"}, got)
	nobody, err := d.ctl.Owned(d.ctx, guard.Principal{})
	require.NoError(t, err)
	require.Empty(t, nobody)
}

// Two hands send the same proposal at the same moment: the one that loses the race finds its own proposal committed, and hears
// its first outcome. One that differs hears of a conflict.
func TestLostRaceToTheSameProposalIsReplayed(t *testing.T) {
	for _, theirs := range []string{"x", "y"} {
		d, b := newBentDesk(t)
		mine, other := d.asked(), d.resume()
		v := mine.Version()
		var first machine.Outcome
		b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
			b.commit = nil
			first = d.commits(other, aNote(theirs))
			return b.Store.Commit(ctx, c)
		}
		out, err := mine.Propose(d.ctx, aNote("x"))
		require.NoError(t, err)
		require.Equal(t, v+1, mine.Version())
		if theirs != "x" {
			require.Equal(t, machine.Conflict, out.Kind)
			continue
		}
		require.NoError(t, out.Err())
		require.True(t, out.Replayed)
		require.Equal(t, first.Version, out.Version)
		require.Equal(t, first.Edge, out.Edge)
		r, _ := d.kept()
		require.Equal(t, v+1, r.Tip.Version, "committed once")
	}
}
