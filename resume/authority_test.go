package resume_test

import (
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

// lockable is a desk whose owner can be shut out while her session lives.
type lockable struct {
	*desk
	shut atomic.Bool
}

func newLockable(t *testing.T) *lockable {
	d := &lockable{desk: newDesk(t)}
	d.ctl = d.open(func(c *resume.Config) {
		c.May = func(p guard.Principal, h machine.Head) bool { return p.ID == h.Owner && !d.shut.Load() }
	})
	return d
}

// Who may act is asked at each call, not only when the session began: a session that is kept gives nothing to one who has been
// shut out, and changes nothing for them.
func TestWhoMayIsAskedAtEachCall(t *testing.T) {
	d := newLockable(t)
	s := d.asked()
	view, says := mustProject(d.desk, s), d.says(s, "yes, refund it")
	before, _ := d.kept()
	outcome := func(out machine.Outcome, err error) error {
		require.Zero(t, out, "nothing is told beside the error")
		return err
	}
	d.shut.Store(true)
	for name, call := range map[string]func() error{
		"Propose":        func() error { return outcome(s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), says)) },
		"Propose, empty": func() error { return outcome(s.Propose(d.ctx, machine.Proposal{}, says)) },
		"Propose, as the worker": func() error {
			return outcome(s.Propose(d.ctx, refund.IssueRefund.Info().Confirm(d.key()).As(guard.Worker), says))
		},
		"ProposeRaw": func() error {
			return outcome(s.ProposeRaw(d.ctx, "leave_note", []byte(`{"text":"x"}`)))
		},
		"ProposeRaw, no such event": func() error { return outcome(s.ProposeRaw(d.ctx, "pay_me", nil, says)) },
		"ProposeRaw, malformed":     func() error { return outcome(s.ProposeRaw(d.ctx, "leave_note", []byte(`{`), says)) },
		"Answer": func() error {
			return outcome(s.Answer(d.ctx, view, []byte(`{"event":"ask_again","payload":{"text":"x"}}`), says))
		},
		"Answer, malformed": func() error { return outcome(s.Answer(d.ctx, view, []byte(`yes`), says)) },
		"Observe":           func() error { return outcome(s.Observe(d.ctx, says)) },
		"Look":              func() error { return outcome(s.Look(d.ctx, refund.Eligible)) },
		"Report": func() error {
			r, err := s.Report(d.ctx)
			require.Zero(t, r)
			return err
		},
		"Project": func() error {
			v, err := s.Project(d.ctx, refund.InterpretReply)
			require.Empty(t, v.Markdown())
			return err
		},
		"Attempts": func() error {
			a, err := s.Attempts(d.ctx)
			require.Empty(t, a)
			return err
		},
		"History": func() error {
			for e, err := range s.History(d.ctx) {
				require.Zero(t, e)
				return err
			}
			return nil
		},
		"Watch": func() error {
			for e, err := range s.Watch(d.ctx, 0) {
				require.Zero(t, e)
				return err
			}
			return nil
		},
		"Resume": func() error {
			_, err := d.ctl.Resume(d.ctx, taskID, alice)
			return err
		},
	} {
		require.ErrorIs(t, call(), resume.ErrNoTask, name)
	}
	after, _ := d.kept()
	require.Equal(t, before, after)

	d.shut.Store(false)
	d.commits(s, refund.ConfirmRefund.With(confirm), says)
}

// One who is shut out while they watch hears so, and nothing that is committed afterwards.
func TestWatchEndsWhenTheWatcherIsShutOut(t *testing.T) {
	d := newLockable(t)
	s := d.asked()
	var seen []uint64
	var ended error
	for e, err := range s.Watch(d.ctx, 0) {
		if ended = err; err != nil {
			break
		}
		if seen = append(seen, e.Version); e.Version == s.Version() {
			d.commits(s, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User))
			d.shut.Store(true)
		}
	}
	require.ErrorIs(t, ended, resume.ErrNoTask)
	require.Equal(t, []uint64{1, 2}, seen)
}

// The controller's own hands ask nobody: timers and effects go on for an owner who has been shut out.
func TestWorkGoesOnForOneWhoIsShutOut(t *testing.T) {
	d := newLockable(t)
	d.dispatched()
	d.shut.Store(true)
	d.work()
	d.shut.Store(false)
	require.Equal(t, refund.Refunded, d.resume().State())
}
