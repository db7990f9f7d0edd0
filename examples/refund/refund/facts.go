package refund

import (
	"fmt"
	"time"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Eligibility is what the policy service says of an order. The policy's version is part of the value: when the policy moves,
// an offer that stood on the old one is void.
type Eligibility struct {
	Eligible bool   `json:"eligible"`
	Policy   string `json:"policy"`
}

// String is what the policy says, in words.
func (e Eligibility) String() string {
	if e.Eligible {
		return "eligible under policy " + e.Policy
	}
	return "not eligible under policy " + e.Policy
}

// Record is the payment service's own record of a refund: the receipt.
type Record struct {
	ID      string      `json:"id" validate:"required"`
	OrderID string      `json:"order_id" validate:"required"`
	Amount  money.Money `json:"amount"`
}

// String is the receipt in words.
func (r Record) String() string { return r.ID + ", " + r.Amount.String() + " for order " + r.OrderID }

// OrderOpen is the status of an order that is paid for and not refunded or handled.
const OrderOpen = "paid"

// What the desk may believe, and whom.
var (
	OrderOwner   = guard.NewFact[string]("order_owner", guard.From("order_service"), guard.About("order"), guard.MaxAge(24*time.Hour))
	OrderStatus  = guard.NewFact[string]("order_status", guard.From("order_service"), guard.About("order"), guard.MaxAge(15*time.Minute))
	Eligible     = guard.NewFact[Eligibility]("refund_eligibility", guard.From("policy"), guard.About("order"), guard.MaxAge(15*time.Minute))
	Reply        = guard.NewReply("user_confirmation", guard.From("customer_channel"))
	RefundRecord = guard.NewFact[Record]("refund_record", guard.From("payments"), guard.About(machine.EffectKind), guard.Lasting())
)

// IssueRefund pays the money back. A receipt of another order or amount proves nothing.
var IssueRefund = machine.NewEffect("issue_refund", RefundRecord, machine.Matching(func(p Payment, r Record) error {
	if r.OrderID != p.OrderID || r.Amount != p.Amount {
		return fmt.Errorf("the receipt is of %s for order %s, not of %s for order %s", r.Amount, r.OrderID, p.Amount, p.OrderID)
	}
	return nil
}))

// Guards over facts.
var (
	owner    = guard.Owner(OrderOwner)
	open     = guard.Is(OrderStatus, OrderOpen)
	eligible = guard.Holds("eligible", "the policy does not allow a refund of this order", Eligible, isEligible)
)

func isEligible(e Eligibility) bool { return e.Eligible }
