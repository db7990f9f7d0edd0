package resume_test

import (
	"context"
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

// stuck is a desk whose policy service hangs for some orders until it is let go.
type stuck struct {
	*desk
	asked chan string
	free  chan struct{}
}

func newStuckDesk(t *testing.T, hangs func(order string) bool, change func(*resume.Config)) *stuck {
	d := &stuck{newDesk(t), make(chan string, 64), make(chan struct{})}
	d.world.policy = func(ctx context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
		if hangs(q.Subject) {
			d.asked <- q.Subject
			<-d.free
		}
		return guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Eligible: true, Policy: "v7"}, Subject: q.Subject}, nil
	}
	d.ctl = d.open(func(c *resume.Config) {
		c.ObserveWithin = time.Hour // whoever hangs does so until the test lets go
		if change != nil {
			change(c)
		}
	})
	return d
}

func (d *stuck) begin(order string) *resume.Session {
	s, err := d.ctl.Start(d.ctx, refund.Machine.Task("task_"+order, alice, refund.Refund{OrderID: order, Amount: euros, Notes: []string{}}), alice)
	require.NoError(d.t, err)
	return s
}

func request(d *desk, s *resume.Session) (machine.Outcome, error) {
	return s.Propose(d.ctx, refund.RequestRefund.With(machine.None{}).As(guard.User))
}

// As much as the limit is under way; one more is turned away, whatever it is, with nothing done; when one is through there is room again.
func TestBusy(t *testing.T) {
	for _, row := range []struct {
		name  string
		limit func(*resume.Config)
		want  resume.BusyError
	}{
		{"controller", func(c *resume.Config) { c.InFlight = 2 }, resume.BusyError{Task: "task_1", Whole: true, Most: 2}},
		{"task", func(c *resume.Config) { c.TaskInFlight = 2 }, resume.BusyError{Task: "task_1", Most: 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newStuckDesk(t, func(string) bool { return true }, row.limit)
			s := d.begin("1")
			var wg sync.WaitGroup
			for range 2 {
				mine, err := d.ctl.Resume(d.ctx, "task_1", alice)
				require.NoError(t, err)
				wg.Go(func() { _, _ = request(d.desk, mine) })
				<-d.asked
			}
			busy := func(err error) {
				t.Helper()
				require.ErrorIs(t, err, resume.ErrBusy)
				got := *err.(*resume.BusyError)
				require.Equal(t, row.want, got)
			}
			_, err := request(d.desk, s)
			busy(err)
			_, err = s.ProposeRaw(d.ctx, "nonsense", nil)
			busy(err)
			_, err = s.Observe(d.ctx)
			busy(err)
			_, err = d.ctl.Observe(d.ctx, "task_1")
			busy(err)
			_, err = s.Look(d.ctx, refund.Eligible)
			busy(err)
			_, err = d.ctl.Resume(d.ctx, "task_1", alice)
			busy(err)
			require.Equal(t, 2, d.ctl.Health(d.ctx).InFlight)
			other := d.begin("2")
			_, err = other.Observe(d.ctx)
			if row.want.Whole {
				require.ErrorIs(t, err, resume.ErrBusy)
			} else {
				require.NoError(t, err, "one hot task does not take the room of others")
			}
			attempts, err := s.Attempts(d.ctx)
			require.NoError(t, err)
			require.Empty(t, attempts)
			close(d.free)
			wg.Wait()
			require.Zero(t, d.ctl.Health(d.ctx).InFlight)
			_, err = s.Observe(d.ctx)
			require.NoError(t, err)
		})
	}
}

// Updates of one task that wait for their turn are bounded too; who is turned away leaves nothing behind, and who gives up waiting makes room.
func TestBusyUpdates(t *testing.T) {
	for _, row := range []struct {
		name  string
		limit func(*resume.Config)
		want  resume.BusyError
	}{
		{"controller", func(c *resume.Config) { c.InFlight = 2 }, resume.BusyError{Task: "task_1", Whole: true, Most: 2}},
		{"task", func(c *resume.Config) { c.TaskInFlight = 2 }, resume.BusyError{Task: "task_1", Most: 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard := &listener{}
				d := newStuckDesk(t, func(string) bool { return true }, func(c *resume.Config) { row.limit(c); c.Monitor = heard })
				d.begin("1")
				began := 0
				update := func(ctx context.Context) error {
					_, err := d.ctl.Update(ctx, "task_1", alice, func(machine.Snapshot[any]) machine.Proposal {
						began++
						return refund.RequestRefund.With(machine.None{}).As(guard.User)
					})
					return err
				}
				var wg sync.WaitGroup
				wg.Go(func() { _ = update(d.ctx) })
				<-d.asked // it has the turn, and asks a source that hangs
				impatient, giveUp := context.WithCancel(d.ctx)
				gone := make(chan error, 1)
				go func() { gone <- update(impatient) }()
				synctest.Wait() // the second waits for its turn
				err := update(d.ctx)
				require.ErrorIs(t, err, resume.ErrBusy)
				require.Equal(t, row.want, *err.(*resume.BusyError))
				require.Equal(t, []resume.Signal{{Kind: resume.SignalBusy, Task: "task_1", Result: row.name}}, heard.of(resume.SignalBusy))
				giveUp()
				require.ErrorIs(t, <-gone, context.Canceled)
				wg.Go(func() { _ = update(d.ctx) })
				synctest.Wait()
				require.ErrorIs(t, update(d.ctx), resume.ErrBusy)
				require.Equal(t, 1, began)
				close(d.free)
				wg.Wait()
				require.Equal(t, 2, began, "the one that waited had its turn")
				require.NoError(t, update(d.ctx), "there is room again")
			})
		})
	}
}

func TestNoLimitInFlight(t *testing.T) {
	d := newDesk(t)
	d.ctl = d.open(func(c *resume.Config) { c.InFlight, c.TaskInFlight = -1, -1 })
	d.asked()
}

// One provider call that hangs takes one place: what others intend meanwhile is sent, also what was intended after the worker began.
func TestSlowEffectHoldsUpNobody(t *testing.T) {
	d := newDesk(t)
	hangs, free := make(chan struct{}), make(chan struct{})
	sent := make(chan string, 16)
	d.world.send = func(_ context.Context, j job) (record, error) {
		if j.Task == taskID {
			close(hangs)
			<-free
		}
		sent <- j.Task
		return d.pay(j), nil
	}
	d.ctl = d.open(func(c *resume.Config) { c.PerformWithin = time.Hour })
	ctx, stop := context.WithCancel(d.ctx)
	over := make(chan error)
	go func() { over <- d.ctl.Run(ctx) }()
	d.dispatched()
	<-hangs
	require.Equal(t, 1, d.ctl.Health(d.ctx).Performing)
	s, err := d.ctl.Start(d.ctx, refund.Machine.Task("other", alice, refund.Refund{OrderID: "9", Amount: euros, Notes: []string{}}), alice)
	require.NoError(t, err)
	d.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
	d.sleep(time.Minute)
	d.commits(s, refund.ConfirmRefund.With(refund.Confirm{OrderID: "9", Amount: euros}), d.says(s, "yes, refund it"))
	require.Equal(t, "other", <-sent)
	stop()
	close(free)
	require.ErrorIs(t, <-over, context.Canceled)
	require.Equal(t, taskID, <-sent, "what was begun was seen through")
}

// Something is always under way in a busy service: what goes wrong meanwhile is told at once, and not kept until there is a pause.
func TestProblemsAreToldAtOnce(t *testing.T) {
	d := newDesk(t)
	told := make(chan error, 1024)
	hangs, free := make(chan struct{}), make(chan struct{})
	d.world.send = func(_ context.Context, j job) (record, error) {
		close(hangs)
		<-free
		return d.pay(j), nil
	}
	d.ctl = d.open(func(c *resume.Config) { // the time to perform is the test's, and it looks often
		c.PerformWithin, c.Poll, c.Problem = time.Hour, time.Millisecond, func(err error) { told <- err }
	})
	d.dispatched()
	ctx, stop := context.WithCancel(d.ctx)
	over := make(chan error)
	go func() { over <- d.ctl.Run(ctx) }()
	<-hangs
	other := newLab(t) // whose effects this controller cannot perform
	other.ctl = other.labOn(d)
	other.sleep(time.Minute + time.Second)
	s := other.decide("l1", "pen")
	other.commits(s, yes.With(buy{"s1", []string{"pen"}}), other.button(s.Offers()[0].ID))
	require.ErrorIs(t, <-told, resume.ErrMachine)
	stop()
	close(free)
	require.ErrorIs(t, <-over, context.Canceled)
	require.Equal(t, refund.Refunded, d.resume().State())
}

// All that is wrong with the new fields comes at once.
func TestLimitsAreConfigured(t *testing.T) {
	d := newDesk(t)
	cfg := d.config()
	cfg.TaskRate = resume.Rate{Burst: 3}
	cfg.PrincipalRate = resume.Rate{Per: time.Second}
	cfg.InFlight, cfg.TaskInFlight = 2, 3
	_, err := resume.Open(d.ctx, d.st, cfg)
	require.ErrorIs(t, err, resume.ErrConfig)
	for _, field := range []string{"TaskRate", "PrincipalRate", "TaskInFlight"} {
		require.ErrorContains(t, err, field+" is")
	}
	cfg.TaskRate, cfg.PrincipalRate, cfg.TaskInFlight = resume.Rate{Burst: 1, Per: 1}, resume.Rate{}, 2
	_, err = resume.Open(d.ctx, d.st, cfg)
	require.NoError(t, err)
}
