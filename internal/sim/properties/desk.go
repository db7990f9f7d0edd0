package properties

import (
	"errors"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The states of a claim.
const (
	open   machine.State = "open"
	asking machine.State = "asking"
	paying machine.State = "paying"
	paid   machine.State = "paid"
	failed machine.State = "failed"
	closed machine.State = "closed"
)

// patience is how long an owner is waited for.
const patience = 72 * time.Hour

type (
	// claim is the data of a task.
	claim struct {
		Order  string   `json:"order" validate:"required" about:"order"`
		Amount int64    `json:"amount" validate:"min=1"`
		Notes  []string `json:"notes" validate:"max=8"`
	}
	// agreement is what an owner is asked to agree to.
	agreement struct {
		Order  string `json:"order" validate:"required" about:"order"`
		Amount int64  `json:"amount" validate:"min=1"`
	}
	// words are free text of whoever proposes.
	words struct {
		Text string `json:"text" validate:"required,max=200"`
	}
	// payment is what the provider is asked for, and what it says that it did.
	payment struct {
		Order  string `json:"order"`
		Amount int64  `json:"amount"`
	}
	check[P any] = guard.Case[claim, P]
)

// The facts of a desk; riskScore is nobody's business.
var (
	owner     = guard.NewFact[string]("owner", guard.From("shop"), guard.About("order"), guard.MaxAge(24*time.Hour))
	stock     = guard.NewFact[int64]("stock", guard.From("shop"), guard.About("order"), guard.Lasting())
	eligible  = guard.NewFact[bool]("eligible", guard.From("policy"), guard.About("order"), guard.MaxAge(15*time.Minute))
	riskScore = guard.NewFact[string]("risk_score", guard.From("policy"), guard.About("order"), guard.Lasting(), guard.Hidden())
	answer    = guard.NewReply("answer", guard.From("chat"))
	slip      = guard.NewFact[payment]("slip", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())

	pay = machine.NewEffect("pay", slip, machine.Matching(func(asked, done payment) error {
		if asked != done {
			return errors.New("it is another payment")
		}
		return nil
	}))

	ask     = machine.NewEvent[machine.None]("ask")
	remind  = machine.NewEvent[machine.None]("remind")
	confirm = machine.NewEvent[agreement]("confirm")
	cancel  = machine.NewEvent[words]("cancel", machine.Narrowing())
	note    = machine.NewEvent[words]("note")
	lapsed  = machine.NewEvent[machine.None]("lapsed")
)

// rule is an invariant of the desk, as the walks judge it by themselves.
type rule struct {
	name  string
	holds func(was, is machine.Snapshot[claim]) bool
}

// rules are the desk's invariants.
var rules = []rule{
	{"nothing is paid while the owner is asked", func(_, is machine.Snapshot[claim]) bool {
		return is.State != open && is.State != asking || !is.Emitted(pay)
	}},
	{"nothing is intended that is not known to be eligible", func(was, is machine.Snapshot[claim]) bool {
		ok, known := eligible.Get(is.Facts)
		return was.Emitted(pay) || !is.Emitted(pay) || known && ok
	}},
	{"paid means settled", func(_, is machine.Snapshot[claim]) bool { return is.State != paid || is.Settled(pay) }},
	{"what has ended stays as it ended", func(was, is machine.Snapshot[claim]) bool {
		return was.State != paid && was.State != failed && was.State != closed || was.State == is.State
	}},
}

// parts are what a desk is built of, so that a seeded bug can change one.
type parts struct {
	policy     guard.Fact[bool]
	stocked    guard.Fact[int64]
	confirming []guard.Guard
	consent    bool
	noting     func(check[words]) guard.Verdict
	invariants bool
	more       func(*machine.Builder[claim])
}

// whole are the parts of the desk as it should be.
func whole() parts {
	return parts{policy: eligible, stocked: stock, confirming: []guard.Guard{guard.Owner(owner), guard.True(eligible)}, consent: true,
		noting: func(check[words]) guard.Verdict { return guard.Allow() }, invariants: true, more: func(*machine.Builder[claim]) {}}
}

func (p parts) build() *machine.Machine[claim] {
	b := machine.New[claim]("claim", open)
	b.Final(paid, failed, closed)
	b.Facts(p.stocked, riskScore)
	b.Wait(asking, machine.TaskOwner, patience, lapsed)
	machine.On(b, ask).From(open).To(asking).By(guard.Model, guard.User).Require(p.confirming...).Then(offer[machine.None]())
	machine.On(b, remind).From(asking).Stay().By(guard.Model).Then(offer[machine.None]())
	agreed := machine.On(b, confirm).From(asking).To(paying).By(guard.Model, guard.User).Fresh(p.policy).Require(p.confirming...)
	if p.consent {
		agreed.Confirm(answer)
	}
	agreed.Then(
		machine.Emit(pay, func(c check[agreement]) payment { return payment{c.Payload.Order, c.Payload.Amount} }),
		machine.Reserve(func(c check[agreement]) []machine.Hold {
			return []machine.Hold{{Resource: "claim_of_order/" + c.Data.Order, Amount: 1, Limit: 1, Spent: true}}
		}))
	machine.On(b, cancel).From(open, asking).To(closed).By(guard.Model, guard.User).Require(guard.Owner(owner))
	machine.On(b, note).From(open, asking, paying).Stay().By(guard.Model, guard.User).Check("noting", p.noting).
		Apply(func(d *claim, c check[words]) { d.Notes = append(d.Notes, c.Payload.Text) })
	machine.On(b, lapsed).From(asking).To(closed)
	machine.When(b, p.policy).From(open, asking).To(closed).Require(guard.False(p.policy))
	machine.On(b, pay.Confirmed()).From(paying).To(paid)
	machine.On(b, pay.Failed()).From(paying).To(failed)
	if p.invariants {
		for _, r := range rules {
			b.InvariantStep(r.name, func(was, is machine.Snapshot[claim]) error {
				if !r.holds(was, is) {
					return errors.New("it does not hold")
				}
				return nil
			})
		}
	}
	p.more(b)
	return b.MustBuild()
}

func offer[P any]() machine.Output[claim, P] {
	return machine.Offer(confirm, machine.TaskOwner, patience, func(c check[P]) []agreement {
		return []agreement{{c.Data.Order, c.Data.Amount}}
	})
}

// decision is the view of a desk that waits for its owner.
func decision(m *machine.Machine[claim], more ...projection.Field[claim]) *projection.Decision {
	return projection.MustDefine(m, projection.Spec[claim]{
		Name: "interpret", In: []machine.State{asking}, Question: "Does the owner agree?",
		Goal:   func(c claim) string { return "Pay the claim" },
		Fields: append([]projection.Field[claim]{{Label: "order", Value: func(c claim) any { return c.Order }}}, more...),
		Facts: []projection.Fact{
			{Label: "the order's owner", Fact: owner},
			{Label: "the policy allows it", Fact: eligible},
		},
		Allow: []projection.Answer{{Event: confirm, Means: "the owner agrees"}, {Event: remind, Means: "it is not clear"}},
	})
}
