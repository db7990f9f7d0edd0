package resume_test

import (
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

// A freeze stops what is not committed, and what is committed and not sent, across controllers; then everything goes on.
func TestFreeze(t *testing.T) {
	d := newDesk(t)
	d.dispatched()
	require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "the bank has called"))
	other := d.open(nil)
	require.NoError(t, other.Work(d.ctx))
	d.sleep(time.Hour)
	d.work()
	require.Empty(t, d.world.sent, "approved before the freeze, and not sent")
	require.Equal(t, "intent", status(t, d, d.resume()))

	require.NoError(t, d.ctl.Thaw(d.ctx, "refund", operator, "false alarm"))
	d.sleep(time.Hour)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Len(t, d.world.sent, 1)
}

func TestFreezeRefusesNewEffects(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "the bank has called"))
	require.Equal(t, "frozen", d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it")).Code())
	d.commits(s, refund.LeaveNote.With(refund.Note{Text: "effectless edges go on"}).As(guard.User))
	require.NoError(t, d.ctl.Thaw(d.ctx, "refund", operator, "false alarm"))
	d.commits(s, refund.ConfirmRefund.With(confirm)) // her yes is kept, and the offer stands
}

func TestOnlyAnOperatorFreezes(t *testing.T) {
	d := newDesk(t)
	require.ErrorIs(t, d.ctl.Freeze(d.ctx, "refund", alice, "why not"), resume.ErrOperator)
	require.ErrorIs(t, d.ctl.Thaw(d.ctx, "refund", operator, " "), resume.ErrOperator)
	require.ErrorIs(t, d.ctl.Freeze(d.ctx, "unknown", operator, "x"), resume.ErrMachine)
	require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "x"))
	_, err := d.ctl.Resume(d.ctx, resume.Reserved+"freeze.refund", operator)
	require.ErrorIs(t, err, resume.ErrNoTask)
	_, err = d.ctl.Start(d.ctx, refund.Machine.Task(resume.Reserved+"x", alice, refund.Refund{OrderID: "123", Amount: euros}), alice)
	require.ErrorIs(t, err, machine.ErrTask)
}

// Over the rate a proposal is refused before anything is read; after a while it goes on.
func TestRates(t *testing.T) {
	d := newDesk(t)
	d.ctl = d.open(func(c *resume.Config) { c.TaskRate = resume.Rate{Burst: 3, Per: time.Minute} })
	s := d.asked() // one proposal
	note := func() machine.Outcome {
		out, err := s.Propose(d.ctx, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User))
		require.NoError(t, err)
		return out
	}
	require.NoError(t, note().Err())
	require.NoError(t, note().Err())
	out := note()
	require.Equal(t, "too_fast", out.Code())
	require.NotEmpty(t, out.Findings[0].Details["retry_after"])
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Empty(t, attempts)
	d.sleep(20 * time.Second)
	require.NoError(t, note().Err())
	require.Equal(t, "too_fast", note().Code())
	d.sleep(time.Hour)
	for range 3 {
		require.NoError(t, note().Err())
	}
	require.Equal(t, "too_fast", note().Code())
}
