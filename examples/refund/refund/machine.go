// Package refund is a refund desk: who may say what, what may be proposed, and what follows.
package refund

import (
	"errors"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The states of a refund.
const (
	CheckingEligibility      machine.State = "checking_eligibility"
	AwaitingUserConfirmation machine.State = "awaiting_user_confirmation"
	DispatchingRefund        machine.State = "dispatching_refund"
	Refunded                 machine.State = "refunded"
	RefundFailed             machine.State = "refund_failed"
	Declined                 machine.State = "declined"
	HandledElsewhere         machine.State = "handled_elsewhere"
	Cancelled                machine.State = "cancelled"
)

// Patience is how long the owner is waited for.
const Patience = 72 * time.Hour

// Machine is the definition.
var Machine = build()

func build() *machine.Machine[Refund] {
	b := machine.New[Refund]("refund", CheckingEligibility)
	b.Final(Refunded, RefundFailed, Declined, HandledElsewhere, Cancelled)
	b.Wait(AwaitingUserConfirmation, machine.TaskOwner, Patience, Lapsed)

	machine.On(b, RequestRefund).From(CheckingEligibility).To(AwaitingUserConfirmation).
		By(guard.Model, guard.User).
		Require(owner, open, eligible).
		Then(machine.Offer(ConfirmRefund, machine.TaskOwner, Patience, theRefund[machine.None]))

	machine.On(b, AskAgain).From(AwaitingUserConfirmation).Stay().
		By(guard.Model).
		Check("asked_enough", atMostThreeTimes).
		Apply(func(r *Refund, _ Case[Question]) { r.Asked++ }).
		Then(machine.Offer(ConfirmRefund, machine.TaskOwner, Patience, theRefund[Question]))

	machine.On(b, ConfirmRefund).From(AwaitingUserConfirmation).To(DispatchingRefund).
		By(guard.Model, guard.User).
		Fresh(OrderOwner, OrderStatus, Eligible). // observed again, now
		Require(owner, open, eligible).
		Confirm(Reply). // this payload was offered, and answered yes
		Then(machine.Emit(IssueRefund, func(c Case[Confirm]) Payment { return Payment{c.Data.OrderID, c.Payload.Amount} }),
			machine.Reserve(oneRefund))

	machine.On(b, CancelRefund).From(CheckingEligibility, AwaitingUserConfirmation).To(Cancelled).
		By(guard.Model, guard.User).
		Require(owner)
	machine.On(b, Lapsed).From(AwaitingUserConfirmation).To(Cancelled)
	machine.When(b, Eligible).From(CheckingEligibility, AwaitingUserConfirmation).To(Declined).
		Require(guard.Not(eligible))
	machine.When(b, OrderStatus).From(CheckingEligibility, AwaitingUserConfirmation).To(HandledElsewhere).
		Require(guard.Not(open))

	machine.On(b, LeaveNote).From(AwaitingUserConfirmation, DispatchingRefund).Stay().
		By(guard.User, guard.Operator).
		Apply(func(r *Refund, c Case[Note]) { r.Notes = append(r.Notes, c.Payload.Text) })

	machine.On(b, IssueRefund.Confirmed()).From(DispatchingRefund).To(Refunded)
	machine.On(b, IssueRefund.Failed()).From(DispatchingRefund).To(RefundFailed)

	invariants(b)
	return b.MustBuild()
}

// theRefund is the one thing that this desk offers.
func theRefund[P any](c Case[P]) []Confirm { return []Confirm{{c.Data.OrderID, c.Data.Amount}} }

// oneRefund is of each order, whatever tasks there are: it is free again only when the payment service has refused.
func oneRefund(c Case[Confirm]) []machine.Hold {
	return []machine.Hold{{Resource: "refund_of_order/" + c.Data.OrderID, Amount: 1, Limit: 1, Spent: true}}
}

func atMostThreeTimes(c Case[Question]) guard.Verdict {
	if c.Data.Asked >= 3 {
		return guard.Deny("asked_enough", "three questions have been asked")
	}
	return guard.Allow()
}

func invariants(b *machine.Builder[Refund]) {
	b.Invariant("nothing is sent while waiting", func(s machine.Snapshot[Refund]) error {
		if s.State == AwaitingUserConfirmation && s.Emitted(IssueRefund) {
			return errors.New("a refund was intended while the owner is still asked")
		}
		return nil
	})
	// It judges the version that intends: a policy that turns later must not keep a receipt out.
	b.InvariantStep("no intent without eligibility", func(old, next machine.Snapshot[Refund]) error {
		if e, known := Eligible.Get(next.Facts); !old.Emitted(IssueRefund) && next.Emitted(IssueRefund) && !(known && e.Eligible) {
			return errors.New("a refund was intended for an order that is not known to be eligible")
		}
		return nil
	})
	b.InvariantStep("completed stays completed", func(old, next machine.Snapshot[Refund]) error {
		if old.State == Refunded && next.State != Refunded {
			return errors.New("a completed refund went back to " + string(next.State))
		}
		return nil
	})
	b.Invariant("refunded means paid", func(s machine.Snapshot[Refund]) error {
		if s.State == Refunded && !s.Settled(IssueRefund) {
			return errors.New("refunded without a settled refund")
		}
		return nil
	})
}
