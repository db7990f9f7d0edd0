package shop

import (
	"time"

	"github.com/pawlgo/pawl/examples/refund/money"
)

// RefundRequest asks for money to go back. Two requests are the same when they are equal with ==.
type RefundRequest struct {
	// OrderID is the order whose captured amount is given back.
	OrderID string `json:"order_id"`
	// Amount is positive, in the order's currency, and no more than what is left of the captured amount.
	Amount money.Money `json:"amount"`
	// Payee is the order's payee.
	Payee string `json:"payee"`
}

// Refund is one line of the ledger: money that went back. It is the receipt.
type Refund struct {
	// ID is the payment service's own, such as "re_1".
	ID string `json:"id"`
	// Key is the idempotency key under which it was asked for.
	Key string `json:"key"`
	RefundRequest
	// At is when it was applied, on the shop's clock.
	At time.Time `json:"at"`
}

// Event is the body of a webhook.
type Event struct {
	// ID names the event for good: every attempt to deliver it carries the same one.
	ID string `json:"id"`
	// Type is RefundSucceeded.
	Type string `json:"type"`
	// Refund is what happened.
	Refund Refund `json:"refund"`
}

// RefundSucceeded is the type of the event that announces a refund.
const RefundSucceeded = "refund.succeeded"

// Codes of refusals, in [Refusal].Code.
const (
	CodeMalformed      = "malformed"       // 400: the request is not one
	CodeNoOrder        = "no_order"        // 404: no such order
	CodeNoRefund       = "no_refund"       // 404: surely nothing was refunded under this key
	CodeKeyReused      = "key_reused"      // 409: the key belongs to another request
	CodeHandled        = "order_handled"   // 409: the order was settled through another channel
	CodeOtherPayee     = "other_payee"     // 422: not the order's payee
	CodeBadAmount      = "bad_amount"      // 422: not positive, or not in the order's currency
	CodeAboveRemainder = "above_remainder" // 422: more than is left of the captured amount
	CodePolicyVersion  = "policy_version"  // 409: that version of the policy is in force already
)
