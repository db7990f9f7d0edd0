package main

import (
	"fmt"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/engine"
	"github.com/pawlgo/pawl/machine"
)

// stepRefund measures the pure step on the edge that pays: owner, status and eligibility observed again, the offer answered yes,
// one effect, four invariants. The floor is stateless alone, firing one transition with one guard: it keeps no facts, gives
// no reasons, applies nothing, records nothing.
func stepRefund() benchmark {
	return benchmark{
		name: "step/refund", unit: nanoseconds, callers: 1, calls: 48_000, batch: 8,
		ours: func(place) (side, error) {
			s, in, err := confirmation()
			if err != nil {
				return side{}, err
			}
			return side{call: func(_, _ int) error {
				_, out := refund.Machine.Step(s, in)
				return out.Err()
			}}, nil
		},
		floor: func(place) (side, error) {
			fire := engine.Bare()
			return side{call: func(_, _ int) error { return fire() }}, nil
		},
	}
}

// confirmation is a task that waits for its owner's word, and the proposal that has it, with all evidence.
func confirmation() (s machine.Snapshot[refund.Refund], in machine.Input, err error) {
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	first, _, err := newTask("refund_order_123").First(at)
	if err != nil {
		return s, in, err
	}
	s, _ = machine.As[refund.Refund](first)
	facts, err := evidence(s, at, sources()...)
	if err != nil {
		return s, in, err
	}
	s, out := refund.Machine.Step(s, machine.Input{Proposal: life[0].BasedOn(s.Version), Principal: customer, Evidence: facts, Now: at})
	if err := out.Err(); err != nil {
		return s, in, err
	}
	at = at.Add(24 * time.Hour)
	heard := says(yes, s.Offers[0], at)
	if facts, err = evidence(s, at, append(sources(), heard)...); err != nil {
		return s, in, err
	}
	in = machine.Input{Proposal: life[2].BasedOn(s.Version), Principal: customer, Evidence: facts, Received: at, Now: at.Add(time.Millisecond)}
	if _, out = refund.Machine.Step(s, in); out.State != refund.DispatchingRefund {
		return s, in, fmt.Errorf("the refund was not confirmed: %w", out.Err())
	}
	return s, in, nil
}

// sources are what order service and policy say.
func sources() []guard.Observation {
	orders, policies := guard.NewAuthority("order_service"), guard.NewAuthority("policy")
	return []guard.Observation{
		refund.OrderOwner.Observe(orders, guard.Observed[string]{Value: customer.ID, Subject: order}),
		refund.OrderStatus.Observe(orders, guard.Observed[string]{Value: refund.OrderOpen, Subject: order}),
		refund.Eligible.Observe(policies, guard.Observed[refund.Eligibility]{Value: policy, Subject: order, Ref: "policy/v7"}),
	}
}

func evidence(s machine.Snapshot[refund.Refund], now time.Time, observations ...guard.Observation) ([]guard.Evidence, error) {
	var out []guard.Evidence
	for _, o := range observations {
		e, err := guard.Verify(o, guard.Acceptance{
			Fact: machine.Erase(refund.Machine).FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: now, BasedOn: s.Version})
		if err != nil {
			return nil, err
		}
		out = append(out, e.Pulled())
	}
	return out, nil
}
