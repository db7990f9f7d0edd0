package retail

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/machine"
)

// Write is one change of the order or user database, with the money that it moves: computed from facts, never by a model.
// Fields that a tool has no use for are empty.
type Write struct {
	Tool       string     `json:"tool"`
	User       string     `json:"user"`
	Order      string     `json:"order,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	Address    *Address   `json:"address,omitempty"`
	Items      []string   `json:"items,omitempty"`
	NewItems   []string   `json:"new_items,omitempty"`
	Method     string     `json:"method,omitempty"`
	Moves      []Move     `json:"moves,omitempty"`
	Paid       usd.Amount `json:"paid"`       // of a cancelled order: what the customer has paid for it and not got back
	Difference usd.Amount `json:"difference"` // of other options: what they cost more; negative when they cost less
}

// Done is the database's own record of a write.
type Done struct {
	Tool  string `json:"tool"`
	Order string `json:"order,omitempty"`
	User  string `json:"user,omitempty"`
	Moves []Move `json:"moves,omitempty"`
}

// Record is the effect that changes a database. A receipt of another order, user or sum proves nothing.
var Record = machine.NewEffect("record_write", Receipt, machine.Matching(func(w Write, d Done) error {
	if d.Tool != w.Tool || d.Order != w.Order || d.User != w.User || !slices.Equal(d.Moves, w.Moves) {
		return fmt.Errorf("the receipt is of %s %s%s, not of this write", d.Tool, d.Order, d.User)
	}
	return nil
}))

// String is the write in words: they are put to the customer.
func (w Write) String() string {
	parts := []string{strings.ReplaceAll(w.Tool, "_", " ")}
	if w.Order != "" {
		parts = append(parts, w.Order)
	}
	for _, m := range w.Moves {
		parts = append(parts, m.String())
	}
	if w.Tool == ExchangeItems.Info().Name {
		parts = append(parts, "price difference "+w.Difference.String())
	}
	return strings.Join(parts, ", ")
}

// The writes that the tools stand for. Their money comes from the payments and the catalogue.

func cancelling(c Case[Cancel]) Write {
	p, _ := Payments.Get(c)
	refunds, paid := p.giveBack()
	return Write{Tool: CancelOrder.Info().Name, User: c.Data.User, Order: c.Payload.OrderID, Reason: c.Payload.Reason, Moves: refunds, Paid: paid}
}

func readdressing(c Case[Readdress]) Write {
	to := c.Payload.Address
	return Write{Tool: ModifyAddress.Info().Name, User: c.Data.User, Order: c.Payload.OrderID, Address: &to}
}

func repaying(c Case[Repay]) Write {
	p, _ := Payments.Get(c)
	w := Write{Tool: ModifyPayment.Info().Name, User: c.Data.User, Order: c.Payload.OrderID, Method: c.Payload.PaymentMethodID}
	if first, ok := p.first(); ok {
		w.Moves = []Move{{Charge, w.Method, first.Amount}, {Refund, first.Method, first.Amount}}
	}
	return w
}

func modifying(c Case[Swap]) Write {
	w := swapping(ModifyItems.Info().Name, c)
	w.Moves = []Move{{Refund, w.Method, -w.Difference}}
	if w.Difference > 0 {
		w.Moves = []Move{{Charge, w.Method, w.Difference}}
	}
	return w
}

// exchanging moves no money yet: the difference is settled when the items have come back.
func exchanging(c Case[Swap]) Write { return swapping(ExchangeItems.Info().Name, c) }

func swapping(tool string, c Case[Swap]) Write {
	due, _ := difference(c, c.Payload)
	return Write{Tool: tool, User: c.Data.User, Order: c.Payload.OrderID, Items: c.Payload.ItemIDs, NewItems: c.Payload.NewItemIDs,
		Method: c.Payload.PaymentMethodID, Difference: due}
}

func returning(c Case[Return]) Write {
	return Write{Tool: ReturnItems.Info().Name, User: c.Data.User, Order: c.Payload.OrderID, Items: c.Payload.ItemIDs, Method: c.Payload.PaymentMethodID}
}

func moving(c Case[MoveHouse]) Write {
	to := c.Payload.Address
	return Write{Tool: ModifyUser.Info().Name, User: c.Payload.UserID, Address: &to}
}

// first is the payment that the order was placed with.
func (p PaymentRecord) first() (Move, bool) {
	if len(p.Moves) == 0 {
		return Move{}, false
	}
	return p.Moves[0], true
}

// giveBack is what has been paid with each method and not been given back, and the sum. A refund for every payment, also for
// those that were given back before, would pay the customer twice after a change of the payment method.
func (p PaymentRecord) giveBack() (refunds []Move, paid usd.Amount) {
	for _, m := range p.Moves {
		amount := m.Amount
		if m.Kind == Refund {
			amount = -amount
		}
		paid += amount
		if i := slices.IndexFunc(refunds, func(r Move) bool { return r.Method == m.Method }); i >= 0 {
			refunds[i].Amount += amount
			continue
		}
		refunds = append(refunds, Move{Refund, m.Method, amount})
	}
	return slices.DeleteFunc(refunds, func(r Move) bool { return r.Amount <= 0 }), paid
}
