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

type draw struct {
	Account string `json:"account" validate:"required" about:"account"`
	Amount  int64  `json:"amount" validate:"min=1"`
}

type slip struct {
	ID string `json:"id"`
}

var (
	paidOut  = guard.NewFact[slip]("paid_out", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())
	payOut   = machine.NewEffect[draw]("pay_out", paidOut)
	withdraw = machine.NewEvent[machine.None]("withdraw")
)

// withdrawals take from an account of 100, whatever tasks there are.
func withdrawals() *machine.Machine[draw] {
	return withdrawing("withdrawal", func(d draw) machine.Hold {
		return machine.Hold{Resource: "account/" + d.Account, Amount: d.Amount, Limit: 100, Spent: true}
	})
}

// withdrawing is a machine that pays out what a hold allows.
func withdrawing(name string, hold func(draw) machine.Hold) *machine.Machine[draw] {
	b := machine.New[draw](name, "asked")
	b.Final("done", "failed")
	machine.On(b, withdraw).From("asked").To("paying").By(guard.User).Then(
		machine.Emit(payOut, func(c guard.Case[draw, machine.None]) draw { return c.Data }),
		machine.Reserve(func(c guard.Case[draw, machine.None]) []machine.Hold { return []machine.Hold{hold(c.Data)} }))
	machine.On(b, payOut.Confirmed()).From("paying").To("done")
	machine.On(b, payOut.Failed()).From("paying").To("failed")
	return b.MustBuild()
}

// bank is a desk of withdrawals.
type bank struct {
	*desk
	m    *machine.Machine[draw]
	send func() error
}

func newBank(t *testing.T) *bank { return newBankOf(t, withdrawals()) }

func newBankOf(t *testing.T, m *machine.Machine[draw]) *bank {
	b := &bank{desk: newDesk(t), m: m, send: func() error { return nil }}
	b.st = store.NewMemory(store.MemoryOptions{Now: b.clock})
	b.ctl = b.controller()
	return b
}

func (b *bank) controller() *resume.Controller {
	ctl, err := resume.Open(b.ctx, b.st, resume.Config{Machines: []machine.Definition{b.m}, Effects: []resume.Handler{resume.Perform(payOut,
		func(context.Context, machine.Job[draw]) (slip, error) { return slip{"s"}, b.send() },
		func(context.Context, machine.Job[draw]) (slip, bool, error) { return slip{}, false, errReset })}})
	require.NoError(b.t, err)
	return ctl
}

func (b *bank) withdraw(id string, amount int64) machine.Outcome {
	s, err := b.ctl.Start(b.ctx, b.m.Task(id, alice, draw{"1", amount}), alice)
	require.NoError(b.t, err)
	out, err := s.Propose(b.ctx, withdraw.With(machine.None{}).As(guard.User))
	require.NoError(b.t, err)
	return out
}

// Law 16: what tasks share is reserved inside the commit, and given back only by an outcome; unknown holds it.
func TestSharedAccount(t *testing.T) {
	b := newBank(t)
	require.NoError(t, b.withdraw("a", 60).Err())
	short := b.withdraw("b", 50)
	require.Equal(t, machine.CodeShort, short.Code())
	require.Contains(t, short.Findings[0].Text, "account/1 has 40 left of 100, and 50 is wanted")
	require.NoError(t, b.withdraw("c", 40).Err())

	b.send = func() error { return errReset }
	b.work() // both may have happened
	b.sleep(100 * time.Hour)
	b.work()
	require.Equal(t, machine.CodeShort, b.withdraw("d", 1).Code(), "unknown holds it")
}

func TestWhatFailedIsGivenBack(t *testing.T) {
	b := newBank(t)
	require.NoError(t, b.withdraw("a", 100).Err())
	b.send = func() error { return machine.Declined(errReset) }
	b.work()
	require.NoError(t, b.withdraw("b", 100).Err())
	b.send = func() error { return nil }
	b.work()
	require.Equal(t, machine.CodeShort, b.withdraw("c", 1).Code(), "what was paid is used up")
}

// Many tasks and two controllers at once: never more than there is.
func TestSharedAccountUnderARace(t *testing.T) { newBank(t).race() }

// race proposes to withdraw 30 in many tasks and through two controllers at once; of 100, three get it.
func (b *bank) race() {
	ctls := []*resume.Controller{b.ctl, b.controller()}
	var wg sync.WaitGroup
	outs := make([]machine.Outcome, 24)
	for i := range outs {
		s, err := ctls[i%2].Start(b.ctx, b.m.Task(fmt.Sprintf("t%d", i), alice, draw{"1", 30}), alice)
		require.NoError(b.t, err)
		wg.Go(func() {
			var err error
			if outs[i], err = s.Propose(b.ctx, withdraw.With(machine.None{}).As(guard.User)); err != nil {
				b.t.Error(err)
			}
		})
	}
	wg.Wait()
	committed := 0
	for _, o := range outs {
		if o.Kind == machine.Committed {
			committed++
		} else {
			require.Equal(b.t, machine.CodeShort, o.Code())
		}
	}
	require.Equal(b.t, 3, committed)
}

// A store without resources cannot serve a machine that reserves.
func TestReserveNeedsResources(t *testing.T) {
	d := newDesk(t)
	_, err := resume.Open(d.ctx, struct{ store.Store }{d.st}, d.config())
	require.ErrorIs(t, err, resume.ErrConfig)
	require.ErrorContains(t, err, "machine refund reserves, and the store has no resources")
}
