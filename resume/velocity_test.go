package resume_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// hourly are withdrawals of which an account allows 100 in any hour, failed ones included.
func hourly() *machine.Machine[draw] {
	b := machine.New[draw]("hourly", "asked")
	b.Final("done", "failed")
	machine.On(b, withdraw).From("asked").To("paying").By(guard.User).Then(
		machine.Emit(payOut, func(c guard.Case[draw, machine.None]) draw { return c.Data }),
		machine.Reserve(func(c guard.Case[draw, machine.None]) []machine.Hold {
			return []machine.Hold{machine.Velocity("hourly/"+c.Data.Account, c.Data.Amount, 100, time.Hour)}
		}))
	machine.On(b, payOut.Confirmed()).From("paying").To("done")
	machine.On(b, payOut.Failed()).From("paying").To("failed")
	return b.MustBuild()
}

func newHourly(t *testing.T) *bank {
	b := &bank{desk: newDesk(t), m: hourly(), send: func() error { return nil }}
	b.st = store.NewMemory(store.MemoryOptions{Now: b.clock})
	b.ctl = b.controller()
	return b
}

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
func TestVelocityUnderARace(t *testing.T) {
	b := newHourly(t)
	ctls := []*resume.Controller{b.ctl, b.controller()}
	var wg sync.WaitGroup
	outs := make([]machine.Outcome, 12)
	for i := range outs {
		s, err := ctls[i%2].Start(b.ctx, b.m.Task(fmt.Sprintf("t%d", i), alice, draw{"1", 30}), alice)
		require.NoError(t, err)
		wg.Go(func() {
			var err error
			if outs[i], err = s.Propose(context.Background(), withdraw.With(machine.None{}).As(guard.User)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	committed := 0
	for _, o := range outs {
		if o.Kind == machine.Committed {
			committed++
		} else {
			require.Equal(t, machine.CodeShort, o.Code())
		}
	}
	require.Equal(t, 3, committed)
}

// A resource of the other kind of holds is refused in the proposal, and nothing changes.
func TestVelocityOnAnAccount(t *testing.T) {
	b := newBank(t)
	require.NoError(t, b.withdraw("a", 60).Err())
	m := machine.New[draw]("mixed", "asked")
	m.Final("done", "failed")
	machine.On(m, withdraw).From("asked").To("paying").By(guard.User).Then(
		machine.Emit(payOut, func(c guard.Case[draw, machine.None]) draw { return c.Data }),
		machine.Reserve(func(c guard.Case[draw, machine.None]) []machine.Hold {
			return []machine.Hold{machine.Velocity("account/"+c.Data.Account, c.Data.Amount, 100, time.Hour)}
		}))
	machine.On(m, payOut.Confirmed()).From("paying").To("done")
	machine.On(m, payOut.Failed()).From("paying").To("failed")
	b.m = m.MustBuild()
	b.ctl = b.controller()
	out := b.withdraw("b", 1)
	require.Equal(t, machine.CodeForm, out.Code())
	require.Contains(t, out.Findings[0].Text, "resource account/1 is for holds without a window")
}
