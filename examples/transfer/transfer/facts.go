package transfer

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Money is an amount of one currency, in its smallest units.
type Money struct {
	Minor    int64  `json:"minor" validate:"min=1,max=100000000000"`
	Currency string `json:"currency" validate:"oneof=EUR USD"`
}

// String is the amount as people write it: 43.00 EUR.
func (m Money) String() string {
	return fmt.Sprintf("%d.%02d %s", m.Minor/100, m.Minor%100, m.Currency)
}

// Order is what the bank is told: a payment order, or one that takes it back.
type Order struct {
	ID     string `json:"id"`
	Payee  string `json:"payee"`
	Amount Money  `json:"amount"`
}

// Receipt is the bank's own record of an order.
type Receipt struct {
	Number string `json:"number" validate:"required"`
	Payee  string `json:"payee"`
	Amount Money  `json:"amount"`
}

// PayeeClear is the status of a payee to whom money may go.
const PayeeClear = "clear"

// What the desk may believe, and whom.
var (
	PayeeStatus = guard.NewFact[string]("payee_status", guard.From("compliance"), guard.About("transfer"), guard.MaxAge(time.Hour))
	Reply       = guard.NewReply("treasurer_reply", guard.From("treasury_channel"))
	Sent        = guard.NewFact[Receipt]("sent_receipt", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())
	TakenBack   = guard.NewFact[Receipt]("taken_back_receipt", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())
)

// The effects: the payment, and what makes up for one that was not wanted any more.
var (
	Send     = machine.NewEffect("send_transfer", Sent, machine.Matching(matches))
	TakeBack = machine.NewEffect("take_back", TakenBack, machine.Matching(matches))
)

func matches(o Order, r Receipt) error {
	if o.Payee != r.Payee || o.Amount != r.Amount {
		return errors.New("another payee or amount than was ordered")
	}
	return nil
}
