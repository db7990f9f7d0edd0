package shop

import (
	"fmt"
	"regexp"
	"time"

	"github.com/pawlgo/pawl/examples/refund/money"
)

// Status is where an order stands.
type Status string

const (
	// Paid says that the order's total was captured and that some of it can be refunded.
	Paid Status = "paid"
	// Refunded says that all of it went back through the payment service.
	Refunded Status = "refunded"
	// Handled says that the order was settled through another channel; no refund is taken for it any more.
	Handled Status = "handled"
)

// Order is what the order service knows of one order.
type Order struct {
	// ID is 1 to 64 bytes of [A-Za-z0-9._:-].
	ID string `json:"id"`
	// Owner is the user that the order belongs to.
	Owner string `json:"owner"`
	// Total is the amount that was captured for it; positive.
	Total money.Money `json:"total"`
	// Payee is the account that refunds of this order go to.
	Payee string `json:"payee"`
	// Status is told by the shop, not configured.
	Status Status `json:"status"`
	// Channel says through which other channel the order was handled; empty unless Status is Handled.
	Channel string `json:"channel,omitempty"`
	// At is when the shop read this, on its clock.
	At time.Time `json:"at,omitzero"`
}

// Eligibility is what the policy service says about a refund of one order.
type Eligibility struct {
	// OrderID is the order that this is about. A caller compares it with what it asked for.
	OrderID string `json:"order_id"`
	// Eligible is the answer.
	Eligible bool `json:"eligible"`
	// PolicyVersion is the version of the policy that was applied, such as "v7".
	PolicyVersion string `json:"policy_version"`
	// EvaluatedAt is the time of the evaluation on the shop's clock.
	EvaluatedAt time.Time `json:"evaluated_at"`
}

// Policy decides eligibility: every order is eligible but those it names.
type Policy struct {
	// Version is 1 to 64 bytes of [A-Za-z0-9._:-]; each change needs a new one.
	Version string `json:"version"`
	// Ineligible are the ids of the orders that may not be refunded under this version.
	Ineligible []string `json:"ineligible,omitempty"`
}

// MaxID is the longest id, key, version, user or account that the shop takes, in bytes.
const MaxID = 64

// MaxKey is the longest idempotency key that the shop takes, in bytes: room for a task, an effect and a number.
const MaxKey = 255

var name = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

func checkName(what, value string) error {
	if len(value) > MaxID || !name.MatchString(value) {
		return fmt.Errorf("shop: %s %.80q is not 1 to %d bytes of [A-Za-z0-9._:-]", what, value, MaxID)
	}
	return nil
}

func checkKey(key string) error {
	if key == "" || len(key) > MaxKey {
		return fmt.Errorf("shop: an idempotency key has 1 to %d bytes, this one has %d", MaxKey, len(key))
	}
	for _, c := range []byte(key) {
		if c <= ' ' || c > '~' {
			return fmt.Errorf("shop: idempotency key %.80q has a byte that is not visible ASCII", key)
		}
	}
	return nil
}

func (o Order) check() error {
	for _, err := range []error{checkName("order", o.ID), checkName("owner", o.Owner), checkName("payee", o.Payee), o.Total.Check()} {
		if err != nil {
			return err
		}
	}
	if o.Total.Minor <= 0 {
		return fmt.Errorf("shop: the total of order %s is not positive", o.ID)
	}
	return nil
}
