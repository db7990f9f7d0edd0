package resume_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// silence makes every observer of the desk fail from now on.
func (d *desk) silence() {
	down := errors.New("down")
	d.world.owner = func(context.Context, guard.Query) (guard.Observed[string], error) {
		return guard.Observed[string]{}, down
	}
	d.world.status = d.world.owner
	d.world.policy = func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error) {
		return guard.Observed[refund.Eligibility]{}, down
	}
}

// looked is a task that has not been asked about yet, and whose facts are known.
func (d *desk) looked() *resume.Session {
	s := d.start()
	out, err := s.Look(d.ctx, refund.OrderOwner, refund.OrderStatus, refund.Eligible)
	require.NoError(d.t, err)
	require.NoError(d.t, out.Err())
	return s
}

// newest is the newest entry of the session's history.
func (d *desk) newest(s *resume.Session) machine.Entry {
	for e, err := range s.History(d.ctx) {
		require.NoError(d.t, err)
		return e
	}
	require.Fail(d.t, "no history")
	return machine.Entry{}
}

func facts(exhibits []machine.Exhibit) []string {
	var out []string
	for _, x := range exhibits {
		out = append(out, x.Fact)
	}
	return out
}

// What resuming observed again and found unchanged is held by the session: a proposal stands on it when the sources have
// stopped answering, and it is committed with that proposal, once.
func TestHeldEvidenceIsCommittedWithTheNextProposal(t *testing.T) {
	d := newDesk(t)
	v := d.looked().Version()
	d.sleep(20 * time.Minute) // status and eligibility are too old, the owner is not
	s := d.resume()
	require.Equal(t, v, s.Version())
	d.silence()

	d.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
	e := d.newest(s)
	require.Equal(t, []string{"order_status", "refund_eligibility"}, facts(e.Evidence))
	for _, x := range e.Evidence {
		require.Equal(t, guard.Renewed, x.Merged, x.Fact)
		require.Greater(t, x.Seen, d.now0().Add(20*time.Minute).UnixMicro(), x.Fact)
		require.Equal(t, v, x.BasedOn, x.Fact)
	}
	d.commits(s, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User))
	require.Empty(t, d.newest(s).Evidence, "held no longer: it is in the facts")
}

// A refusal leaves what is held where it is.
func TestHeldEvidenceOutlivesARefusal(t *testing.T) {
	d := newDesk(t)
	d.looked()
	d.sleep(20 * time.Minute)
	s := d.resume()
	d.silence()
	require.Equal(t, machine.CodeNoTransition, d.refuses(s, refund.AskAgain.With(refund.Question{Text: "x"})).Code())
	d.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
}

// Where evidence keeps running out, what was asked for is kept as an observation of its own; what the proposal carried belongs to
// that proposal, and goes with it.
func TestKeepsRunningOutKeepsWhatWasAskedFor(t *testing.T) {
	service := guard.NewAuthority("order_service")
	pause := time.Duration(0)
	d := newSlowDesk(t, func(int) time.Duration { return pause })
	d.ctl = d.open(func(c *resume.Config) { c.Trust = append(c.Trust, service) })
	s := d.start()
	d.counted()
	pause = tooOld
	carried := refund.OrderOwner.Observe(service, guard.Observed[string]{Value: "alice", Subject: "123", At: d.clock()})
	out, err := s.Propose(d.ctx, refund.RequestRefund.With(machine.None{}).As(guard.User), carried)
	require.NoError(t, err)
	require.Equal(t, machine.CodeLapsed, out.Code())
	require.Equal(t, resume.MaxRounds/2, d.questions)
	require.Equal(t, []string{"order_status", "refund_eligibility"}, facts(d.newest(s).Evidence))
	_, known := s.Snapshot().Facts.Entry(guard.Key{Fact: "order_owner", Subject: "123"})
	require.False(t, known)
}

// The same when another commit has used up what was carried: what was asked for is still told from it.
func TestKeepsRunningOutAfterALostRace(t *testing.T) {
	service := guard.NewAuthority("order_service")
	d := newDesk(t)
	b := &bent{Store: d.st}
	d.st = b
	trust := func(c *resume.Config) { c.Trust = append(c.Trust, service) }
	d.ctl = d.open(trust)
	other := d.open(trust)
	s := d.start()
	status := func(id string) guard.Observation {
		return refund.OrderStatus.Observe(service, guard.Observed[string]{Value: refund.OrderOpen, Subject: "123", At: d.clock()}).Identified(id)
	}
	carried := []guard.Observation{status("e1"), status("e2")}
	tried := 0
	b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		switch tried++; {
		case c.Meta.State == string(refund.CheckingEligibility):
			return b.Store.Commit(ctx, c) // evidence on its own
		case tried == 1:
			_, err := other.Observe(ctx, taskID, carried...)
			require.NoError(t, err)
		default:
			d.sleep(25 * time.Hour) // longer than the owner is known for
		}
		return b.Store.Commit(ctx, c)
	}
	out, err := s.Propose(d.ctx, refund.CancelRefund.With(refund.Reason{Text: "x"}).As(guard.User), carried...)
	require.NoError(t, err)
	require.Equal(t, machine.CodeLapsed, out.Code())
	require.Equal(t, []string{"order_owner"}, facts(d.newest(s).Evidence))
}
