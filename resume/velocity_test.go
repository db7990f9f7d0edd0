package resume_test

import (
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/stretchr/testify/require"
)

// hourly are withdrawals of which an account allows 100 in any hour, failed ones included.
func hourly() *machine.Machine[draw] {
	return withdrawing("hourly", func(d draw) machine.Hold {
		return machine.Velocity("hourly/"+d.Account, d.Amount, 100, time.Hour)
	})
}

func newHourly(t *testing.T) *bank { return newBankOf(t, hourly()) }

// What is taken counts from the commit that took it, whenever its task began.
func TestVelocityCountsFromItsCommit(t *testing.T) {
	b := newHourly(t)
	s, err := b.ctl.Start(b.ctx, b.m.Task("a", alice, draw{"1", 100}), alice)
	require.NoError(t, err)
	b.sleep(10 * time.Hour)
	b.commits(s, withdraw.With(machine.None{}).As(guard.User))
	b.sleep(59 * time.Minute)
	require.Equal(t, machine.CodeShort, b.withdraw("b", 1).Code())
	b.sleep(2 * time.Minute)
	require.NoError(t, b.withdraw("c", 1).Err())
}

// A velocity limit lets through what fits into its window, across restarts; whatever becomes of the effects, only time gives it back.
func TestVelocityLimit(t *testing.T) {
	b := newHourly(t)
	require.NoError(t, b.withdraw("a", 60).Err())
	at := b.clock()
	b.send = func() error { return machine.Declined(errReset) }
	b.work()
	b.ctl = b.controller()
	short := b.withdraw("b", 50)
	require.Equal(t, machine.CodeShort, short.Code(), "an attempt that failed counts")
	require.Contains(t, short.Findings[0].Text, "resource hourly/1 has 40 left of 100, and 50 is wanted within 1h0m0s; it fits from ")
	require.EqualValues(t, 40, short.Findings[0].Details["left"])
	from, err := time.Parse(time.RFC3339Nano, short.Findings[0].Details["fits_from"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, at.Add(time.Hour), from, time.Second)
	b.send = func() error { return nil }
	require.NoError(t, b.withdraw("c", 40).Err())
	b.work()
	require.Equal(t, machine.CodeShort, b.withdraw("d", 1).Code())
	b.sleep(from.Sub(b.clock()) - time.Second)
	b.ctl = b.controller()
	require.Equal(t, machine.CodeShort, b.withdraw("e", 60).Code())
	b.sleep(time.Hour/16 + 2*time.Second)
	require.NoError(t, b.withdraw("f", 60).Err())
}

// Many tasks and two controllers at once: never more than the window allows.
func TestVelocityUnderARace(t *testing.T) { newHourly(t).race() }

// A resource of the other kind of holds is refused in the proposal, and nothing changes.
func TestVelocityOnAnAccount(t *testing.T) {
	b := newBank(t)
	require.NoError(t, b.withdraw("a", 60).Err())
	b.m = withdrawing("mixed", func(d draw) machine.Hold { return machine.Velocity("account/"+d.Account, d.Amount, 100, time.Hour) })
	b.ctl = b.controller()
	out := b.withdraw("b", 1)
	require.Equal(t, machine.CodeForm, out.Code())
	require.Contains(t, out.Findings[0].Text, "resource account/1 is for holds without a window")
}
