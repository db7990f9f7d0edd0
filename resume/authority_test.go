package resume_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
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
		"ProposeRaw":                func() error { return outcome(s.ProposeRaw(d.ctx, "leave_note", []byte(`{"text":"x"}`))) },
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
		"Permits": func() error {
			p, err := s.Permits(d.ctx)
			require.Empty(t, p)
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
		"Resume": func() error { _, err := d.ctl.Resume(d.ctx, taskID, alice); return err },
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

// touches is a store that keeps in which order it is asked for what.
type touches struct {
	bent
	calls []string
}

func (s *touches) touch(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, what)
}

func (s *touches) Tip(ctx context.Context, task string) (store.Tip, error) {
	s.touch("tip")
	return s.Store.Tip(ctx, task)
}

func (s *touches) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	s.touch("load")
	return s.Store.Load(ctx, task)
}

func (s *touches) Now(ctx context.Context) (store.Micros, error) {
	s.touch("now")
	return s.Store.Now(ctx)
}

func (s *touches) Note(ctx context.Context, task string, a store.Attempt) error {
	s.touch("note")
	return s.Store.Note(ctx, task, a)
}

// A stranger learns neither by what is said nor by what is done whether there is a task, by whichever door, even while its owner's own
// call is under way and it is as busy as it may be.
func TestStrangerCannotTellForbiddenFromUnknown(t *testing.T) {
	d := newStuckDesk(t, func(string) bool { return true }, func(c *resume.Config) { c.TaskInFlight, c.Cache = 1, -1 })
	d.begin("1")
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(d.free)
	wg.Go(func() {
		_, _ = d.ctl.Update(d.ctx, "task_1", alice, func(machine.Snapshot[any]) machine.Proposal {
			return refund.RequestRefund.With(machine.None{}).As(guard.User)
		})
	})
	<-d.asked // she holds her turn, and the task's one place
	st := &touches{bent: bent{Store: d.st}}
	cfg := d.config()
	cfg.Cache, cfg.TaskInFlight = -1, 1
	watched, err := resume.Open(d.ctx, st, cfg)
	require.NoError(t, err)
	st.calls = nil
	ctx, stop := context.WithTimeout(d.ctx, time.Minute) // whoever waits for her turn would wait for ever
	defer stop()
	var stranger guard.Principal // another one at each door: who keeps trying is not noted each time
	for name, call := range map[string]func(c *resume.Controller, task string) error{
		"Resume": func(c *resume.Controller, task string) error { _, err := c.Resume(ctx, task, stranger); return err },
		"Latest": func(c *resume.Controller, task string) error { _, _, err := c.Latest(ctx, task, stranger); return err },
		"Recent": func(c *resume.Controller, task string) error { _, err := c.Recent(ctx, task, stranger, 9); return err },
		"Attempts": func(c *resume.Controller, task string) error {
			_, err := c.Attempts(ctx, task, stranger)
			return err
		},
		"Migrate": func(c *resume.Controller, task string) error {
			_, err := c.Migrate(ctx, task, stranger)
			return err
		},
		"Update": func(c *resume.Controller, task string) error {
			_, err := c.Update(ctx, task, stranger, func(machine.Snapshot[any]) machine.Proposal {
				require.Fail(t, "a stranger sees it")
				return machine.Proposal{}
			})
			return err
		},
		"UpdateRaw": func(c *resume.Controller, task string) error {
			_, err := c.UpdateRaw(ctx, task, stranger, "cancel_refund", []byte(`{"text":"x"}`), nil)
			return err
		},
		"Start below": func(c *resume.Controller, task string) error {
			_, err := c.Start(ctx, refund.Machine.Task("child", stranger, refund.Refund{OrderID: "9", Amount: euros}).Under(task), stranger)
			return err
		},
	} {
		stranger = guard.Principal{ID: name, Roles: []string{"clerk"}}
		require.ErrorIs(t, call(d.ctl, "task_1"), resume.ErrNoTask, name)
		forbidden, unknown := call(watched, "task_1"), error(nil)
		calls := st.calls
		st.calls = nil
		unknown = call(watched, "task_2")
		require.ErrorIs(t, unknown, resume.ErrNoTask, name)
		require.Equal(t, strings.ReplaceAll(unknown.Error(), "task_2", "task_1"), forbidden.Error(), name)
		require.Equal(t, calls, st.calls, name)
		require.Contains(t, calls, "note", name)
		st.calls = nil
	}
}

// A stranger who keeps trying cannot wash out what else was tried at a task.
func TestStrangerWashesNothingOut(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	d.refuses(s, refund.ConfirmRefund.With(refund.Confirm{OrderID: "999", Amount: euros}))
	for range 10 * store.MaxAttempts {
		_, err := d.ctl.Resume(d.ctx, taskID, mallory)
		require.ErrorIs(t, err, resume.ErrNoTask)
	}
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Equal(t, machine.CodeOtherSubject, attempts[len(attempts)-1].Findings[0].Code)
	times := 0
	for _, a := range attempts[:len(attempts)-1] {
		require.Equal(t, "mallory", a.Principal)
		times += a.Count
	}
	require.Equal(t, 512, times, "of a thousand, with the next note to come at 1024")
}
