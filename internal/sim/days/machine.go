package days

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The life of a simulated refund.
const (
	asking  machine.State = "asking"
	waiting machine.State = "waiting"
	paying  machine.State = "paying"
	paid    machine.State = "paid"
	failed  machine.State = "failed"
	ended   machine.State = "ended"
)

// The times of the desk and of the payment service.
const (
	patience = 72 * time.Hour // how long a customer is waited for
	keysKept = 24 * time.Hour // how long the service honours a key
)

type (
	claim struct {
		Order   string `json:"order" validate:"required" about:"order"`
		Account string `json:"account" validate:"required"`
		Amount  int64  `json:"amount" validate:"min=1"`
	}
	agree struct {
		Order  string `json:"order" validate:"required" about:"order"`
		Amount int64  `json:"amount" validate:"min=1"`
	}
	payment struct {
		Order  string `json:"order"`
		Amount int64  `json:"amount"`
	}
	slip struct {
		ID     string `json:"id" validate:"required"`
		Order  string `json:"order"`
		Amount int64  `json:"amount"`
	}
	// Case is what the checks of the machine look at.
	Case[P any] = guard.Case[claim, P]
)

// accountLimit is what all refunds of one account may come to, paid, pending and unknown together.
const accountLimit = 300

var (
	owner    = guard.NewFact[string]("owner", guard.From("orders"), guard.About("order"), guard.MaxAge(24*time.Hour))
	eligible = guard.NewFact[bool]("eligible", guard.From("policy"), guard.About("order"), guard.MaxAge(15*time.Minute))
	said     = guard.NewReply("said", guard.From("chat"))
	receipt  = guard.NewFact[slip]("receipt", guard.From("payments"), guard.About(machine.EffectKind), guard.Lasting())

	pay = machine.NewEffect("pay", receipt, machine.KeysKept[payment, slip](keysKept), machine.Matching(func(p payment, s slip) error {
		if s.Order != p.Order || s.Amount != p.Amount {
			return fmt.Errorf("a receipt of %d for order %s", s.Amount, s.Order)
		}
		return nil
	}))

	request  = machine.NewEvent[machine.None]("request")
	confirm  = machine.NewEvent[agree]("confirm")
	askAgain = machine.NewEvent[machine.None]("ask_again")
	cancel   = machine.NewEvent[machine.None]("cancel", machine.Narrowing())
	lapse    = machine.NewEvent[machine.None]("lapse")
)

// desk is the machine that is simulated: the refund desk with all that a payment can meet.
func desk() (*machine.Machine[claim], error) {
	b := machine.New[claim]("days", asking)
	b.Final(paid, failed, ended)
	b.Wait(waiting, machine.TaskOwner, patience, lapse)
	mine, allowed := guard.Owner(owner), guard.True(eligible)
	machine.On(b, request).From(asking).To(waiting).By(guard.Model, guard.User).Require(mine, allowed).
		Then(machine.Offer(confirm, machine.TaskOwner, patience, theClaim))
	machine.On(b, askAgain).From(waiting).Stay().By(guard.Model).
		Then(machine.Offer(confirm, machine.TaskOwner, patience, theClaim))
	machine.On(b, confirm).From(waiting).To(paying).By(guard.Model, guard.User).
		Fresh(owner, eligible).Require(mine, allowed).Confirm(said).
		Then(machine.Emit(pay, func(c Case[agree]) payment { return payment{c.Data.Order, c.Payload.Amount} }),
			machine.Reserve(func(c Case[agree]) []machine.Hold {
				return []machine.Hold{
					{Resource: "order/" + c.Data.Order, Amount: 1, Limit: 1, Spent: true},
					{Resource: "account/" + c.Data.Account, Amount: c.Payload.Amount, Limit: accountLimit, Spent: true},
				}
			}))
	machine.On(b, cancel).From(asking, waiting).To(ended).By(guard.Model, guard.User).Require(mine)
	machine.On(b, lapse).From(waiting).To(ended)
	b.After(asking, patience, lapse)
	machine.On(b, lapse).From(asking).To(ended)
	machine.When(b, eligible).From(asking, waiting).To(ended).Require(guard.False(eligible))
	machine.On(b, pay.Confirmed()).From(paying).To(paid)
	machine.On(b, pay.Failed()).From(paying).To(failed)
	b.Invariant("nothing is sent while waiting", func(s machine.Snapshot[claim]) error {
		if s.State == waiting && s.Emitted(pay) {
			return errors.New("a payment was intended while the customer is asked")
		}
		return nil
	})
	return b.Build()
}

func theClaim(c Case[machine.None]) []agree { return []agree{{c.Data.Order, c.Data.Amount}} }
