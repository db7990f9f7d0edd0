package resume_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// A velocity limit: within any 24 hours a customer is paid at most 500.00, whatever tasks there are.
func ExampleController_velocity() {
	type payout struct {
		Customer string `json:"customer"`
		Cents    int64  `json:"cents" validate:"min=1"`
	}
	receipt := guard.NewFact[string]("transfer", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())
	pay := machine.NewEffect[payout]("pay", receipt)
	request := machine.NewEvent[machine.None]("request")

	b := machine.New[payout]("payout", "asked")
	b.Final("paid", "failed")
	machine.On(b, request).From("asked").To("paying").By(guard.User).Then(
		machine.Emit(pay, func(c guard.Case[payout, machine.None]) payout { return c.Data }),
		machine.Reserve(func(c guard.Case[payout, machine.None]) []machine.Hold {
			return []machine.Hold{machine.Velocity("paid/"+c.Data.Customer, c.Data.Cents, 500_00, 24*time.Hour)}
		}))
	machine.On(b, pay.Confirmed()).From("paying").To("paid")
	machine.On(b, pay.Failed()).From("paying").To("failed")
	payouts := b.MustBuild()

	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	ctx, ann := context.Background(), guard.Principal{ID: "ann"}
	ctl, err := resume.Open(ctx, store.NewMemory(store.MemoryOptions{Now: func() time.Time { return now }}), resume.Config{
		Machines: []machine.Definition{payouts},
		Effects: []resume.Handler{resume.Perform(pay,
			func(context.Context, machine.Job[payout]) (string, error) { return "t1", nil },
			func(context.Context, machine.Job[payout]) (string, bool, error) { return "", false, nil })}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, cents := range []int64{300_00, 300_00, 200_00} {
		s, err := ctl.Start(ctx, payouts.Task(fmt.Sprintf("payout_%d", i), ann, payout{"ann", cents}), ann)
		if err != nil {
			fmt.Println(err)
			return
		}
		out, err := s.Propose(ctx, request.With(machine.None{}).As(guard.User))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(out.Kind)
		for _, f := range out.Findings {
			fmt.Println(f.Text)
		}
		now = now.Add(time.Hour)
	}
	// Output:
	// committed
	// refused
	// resource paid/ann has 20000 left of 50000, and 30000 is wanted within 24h0m0s; it fits from 2026-01-06T09:00:00Z on
	// committed
}
