package main

import (
	"context"
	"errors"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// Payout is the data of a machine that pays through a provider which has neither keys nor a lookup.
type Payout struct {
	Account string `json:"account"`
	Cents   int64  `json:"cents" validate:"min=1"`
}

// Slip is the provider's receipt.
type Slip struct {
	ID    string `json:"id" validate:"required"`
	Cents int64  `json:"cents"`
}

var (
	pay    = machine.NewEvent[machine.None]("pay")
	slips  = guard.NewFact[Slip]("slip", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())
	payOut = machine.NewEffect[Payout]("pay_out", slips, machine.TriedOnce[Payout, Slip](), machine.Matching(func(p Payout, s Slip) error {
		if p.Cents != s.Cents {
			return errors.New("another amount")
		}
		return nil
	}))

	payouts = func() *machine.Machine[Payout] {
		b := machine.New[Payout]("payout", "asked")
		b.Final("paid", "unpaid")
		machine.On(b, pay).From("asked").To("paying").By(guard.User).Then(
			machine.Emit(payOut, func(c guard.Case[Payout, machine.None]) Payout { return c.Data }),
			machine.Reserve(func(c guard.Case[Payout, machine.None]) []machine.Hold {
				return []machine.Hold{{Resource: "account/" + c.Data.Account, Amount: c.Data.Cents, Limit: 100, Spent: true}}
			}))
		machine.On(b, payOut.Confirmed()).From("paying").To("paid")
		machine.On(b, payOut.Failed()).From("paying").To("unpaid")
		return b.MustBuild()
	}()

	errLost = errors.New("the answer was lost")
)

// till is the controller of payouts. The answer to what it sends is lost, unless the bank answers.
func till(ctx context.Context, st store.Store, answers bool) (*resume.Controller, error) {
	return resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{payouts}, Effects: []resume.Handler{resume.Perform(payOut,
		func(_ context.Context, j machine.Job[Payout]) (Slip, error) {
			if answers {
				return Slip{"s1", j.Args.Cents}, nil
			}
			return Slip{}, errLost
		},
		func(context.Context, machine.Job[Payout]) (Slip, bool, error) { return Slip{}, false, errLost })}})
}

// pays begins a payout of 60 and lets a worker send it: from account 1 what the bank answers, from account 2 what it does not.
func pays(ctx context.Context, st store.Store, task string, answers bool) error {
	ctl, err := till(ctx, st, answers)
	if err != nil {
		return err
	}
	who, account := guard.Principal{ID: "ann"}, "2"
	if answers {
		account = "1"
	}
	s, err := ctl.Start(ctx, payouts.Task(task, who, Payout{account, 60}), who)
	if err != nil {
		return err
	}
	out, err := s.Propose(ctx, pay.With(machine.None{}).As(guard.User))
	return errors.Join(err, out.Err(), ctl.Work(ctx))
}
