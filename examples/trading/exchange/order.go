package exchange

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/examples/trading/price"
)

// Side is which way an order goes.
type Side string

// The sides.
const (
	Buy  Side = "buy"
	Sell Side = "sell"
)

// Status is what became of an order. None is open: what cannot be filled at once is cancelled.
type Status string

// The statuses.
const (
	Filled     Status = "filled"           // all of it
	PartFilled Status = "partially_filled" // the rest is cancelled
	Cancelled  Status = "cancelled"        // nothing could be filled within the limit
	Rejected   Status = "rejected"         // never taken; Reason says why
)

// Request is an order as it is placed.
type Request struct {
	// ClientOrderID is the caller's own name for the order, 1 to MaxClientOrderID visible ASCII characters: one order for each.
	ClientOrderID string        `json:"client_order_id"`
	Symbol        string        `json:"symbol"`
	Side          Side          `json:"side"`
	Quantity      price.Decimal `json:"quantity"` // above zero
	Limit         price.Decimal `json:"limit"`    // above zero
}

// Order is an order as the exchange keeps it.
type Order struct {
	Request
	ID     string        `json:"id"` // the exchange's own, such as "x_1"
	Status Status        `json:"status"`
	Filled price.Decimal `json:"filled"`
	Fills  []Fill        `json:"fills"`
	Reason string        `json:"reason,omitempty"` // a code, of a rejected one
	At     time.Time     `json:"at"`
}

// Fill is one execution.
type Fill struct {
	Quantity price.Decimal `json:"quantity"`
	Price    price.Decimal `json:"price"`
}

// Quote is the last price of an instrument, and whether it trades.
type Quote struct {
	Symbol  string        `json:"symbol"`
	Last    price.Decimal `json:"last"`
	Trading bool          `json:"trading"`
	At      time.Time     `json:"at"` // when the exchange looked
}

// Position is what the broker holds for the account.
type Position struct {
	Symbol   string        `json:"symbol"`
	Quantity price.Decimal `json:"quantity"`
	At       time.Time     `json:"at"`
}

// MaxClientOrderID is the longest client order id, in bytes.
const MaxClientOrderID = 128

func checkClientOrderID(id string) error {
	if id == "" || len(id) > MaxClientOrderID {
		return fmt.Errorf("a client order id has 1 to %d bytes, this one has %d", MaxClientOrderID, len(id))
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' {
			return fmt.Errorf("client order id %.80q has a byte that is not visible ASCII", id)
		}
	}
	return nil
}

func (r Request) check() error {
	switch {
	case r.Side != Buy && r.Side != Sell:
		return fmt.Errorf("side %.20q is neither %s nor %s", r.Side, Buy, Sell)
	case r.Quantity.Sign() <= 0 || r.Limit.Sign() <= 0:
		return errors.New("quantity and limit must be above zero")
	}
	return checkClientOrderID(r.ClientOrderID)
}
