package main

import (
	"context"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// decisions is how many tasks wait for their yes in one repetition of decide.
const decisions = 3000

// decide measures a confirmation through the whole controller but for the disk and the observers: rates, the comparison with an
// earlier proposal, verification of four observations, the step, the resources, the encoding of snapshot and entry, the sealed record.
// The observations are carried, so nobody is asked; the store is in memory. The floor is the step alone.
func decide() benchmark {
	return benchmark{
		name: "decide/refund", unit: nanoseconds, callers: 1, calls: decisions,
		ours: func(place) (side, error) {
			waiting, err := undecided()
			if err != nil {
				return side{}, err
			}
			return side{call: func(_, n int) error { return waiting[n].decide() }}, nil
		},
		floor: func(place) (side, error) {
			s, in, err := confirmation()
			if err != nil {
				return side{}, err
			}
			return side{call: func(_, _ int) error {
				_, out := refund.Machine.Step(s, in)
				return out.Err()
			}}, nil
		},
	}
}

// undecidedTask is a session on a task that waits, and what is about to be proposed.
type undecidedTask struct {
	s     *resume.Session
	p     machine.Proposal
	heard []guard.Observation
}

func (u *undecidedTask) decide() error {
	out, err := u.s.Propose(context.Background(), u.p, u.heard...)
	if err != nil {
		return err
	}
	return out.Err()
}

// undecided starts the tasks, and asks their owners.
func undecided() ([]*undecidedTask, error) {
	ctx := context.Background()
	orders, policies := guard.NewAuthority("order_service"), guard.NewAuthority("policy")
	ctl, err := openDesk(ctx, store.NewMemory(store.MemoryOptions{}), orders, policies)
	if err != nil {
		return nil, err
	}
	out := make([]*undecidedTask, decisions)
	for i := range out {
		id := taskID(0, i*len(life))
		if _, err := ctl.Start(ctx, newTask(id), customer); err != nil {
			return nil, err
		}
		if err := move(ctx, ctl, id, life[0]); err != nil {
			return nil, err
		}
		s, err := ctl.Resume(ctx, id, customer)
		if err != nil {
			return nil, err
		}
		// As of a little later, so that they count as observed after the proposal came in.
		at := time.Now().Add(guard.FutureTolerance / 2)
		out[i] = &undecidedTask{s, refund.ConfirmRefund.With(refund.Confirm{OrderID: orderOf(id), Amount: amount}).As(guard.Model), []guard.Observation{
			says(yes, s.Offers()[0], time.Now()),
			refund.OrderOwner.Observe(orders, guard.Observed[string]{Value: customer.ID, Subject: orderOf(id), At: at}),
			refund.OrderStatus.Observe(orders, guard.Observed[string]{Value: refund.OrderOpen, Subject: orderOf(id), At: at}),
			refund.Eligible.Observe(policies, guard.Observed[refund.Eligibility]{Value: policy, Subject: orderOf(id), Ref: "policy/v7", At: at}),
		}}
	}
	return out, nil
}
