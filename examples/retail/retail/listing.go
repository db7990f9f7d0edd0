package retail

import (
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Listing is what the assistant lists to the customer before anything is written, under the names of the tools. Each write is
// judged as if it were confirmed; when one of them would be refused nothing is offered.
type Listing struct {
	Cancel        []Cancel    `json:"cancel_pending_order" validate:"max=10,dive"`
	ModifyAddress []Readdress `json:"modify_pending_order_address" validate:"max=10,dive"`
	ModifyPayment []Repay     `json:"modify_pending_order_payment" validate:"max=10,dive"`
	ModifyItems   []Swap      `json:"modify_pending_order_items" validate:"max=10,dive"`
	Return        []Return    `json:"return_delivered_order_items" validate:"max=10,dive"`
	Exchange      []Swap      `json:"exchange_delivered_order_items" validate:"max=10,dive"`
	ModifyUser    []MoveHouse `json:"modify_user_address" validate:"max=10,dive"`
}

// Patience is how long a customer may think about what was listed.
const Patience = time.Hour

// offers puts each listed write to the customer, word for word.
func offers() []machine.Output[Desk, Listing] {
	return []machine.Output[Desk, Listing]{
		machine.Offer(CancelOrder, machine.TaskOwner, Patience, func(c Case[Listing]) []Cancel { return c.Payload.Cancel }),
		machine.Offer(ModifyAddress, machine.TaskOwner, Patience, func(c Case[Listing]) []Readdress { return c.Payload.ModifyAddress }),
		machine.Offer(ModifyPayment, machine.TaskOwner, Patience, func(c Case[Listing]) []Repay { return c.Payload.ModifyPayment }),
		machine.Offer(ModifyItems, machine.TaskOwner, Patience, func(c Case[Listing]) []Swap { return c.Payload.ModifyItems }),
		machine.Offer(ReturnItems, machine.TaskOwner, Patience, func(c Case[Listing]) []Return { return c.Payload.Return }),
		machine.Offer(ExchangeItems, machine.TaskOwner, Patience, func(c Case[Listing]) []Swap { return c.Payload.Exchange }),
		machine.Offer(ModifyUser, machine.TaskOwner, Patience, func(c Case[Listing]) []MoveHouse { return c.Payload.ModifyUser }),
	}
}

// grounded looks at everything that the listed writes stand on, so that all of it is asked for at once.
func grounded(c Case[Listing]) guard.Verdict {
	l := c.Payload
	if !l.lists() {
		return guard.Deny("nothing_listed", "no write is listed")
	}
	for _, id := range l.orders() {
		Order.Of(id).Get(c)
	}
	for _, p := range l.Cancel {
		Payments.Of(p.OrderID).Get(c)
	}
	for _, p := range l.Return {
		Payments.Of(p.OrderID).Get(c)
	}
	for _, p := range l.ModifyPayment {
		if paid, known := Payments.Of(p.OrderID).Get(c); known {
			first, _ := paid.first()
			payable(c, c.Data.User, p.PaymentMethodID, first.Amount)
		}
	}
	for _, s := range append(append([]Swap(nil), l.ModifyItems...), l.Exchange...) {
		if due, known := difference(c, s); known {
			payable(c, c.Data.User, s.PaymentMethodID, due)
		}
	}
	if l.needsProfile() {
		Profile.Get(c)
	}
	return guard.Allow()
}

func (l Listing) lists() bool {
	return len(l.Cancel)+len(l.ModifyAddress)+len(l.ModifyPayment)+len(l.ModifyItems)+len(l.Return)+len(l.Exchange)+len(l.ModifyUser) > 0
}

func (l Listing) needsProfile() bool {
	return len(l.ModifyPayment)+len(l.ModifyItems)+len(l.Return)+len(l.Exchange) > 0
}

// orders are the orders that the listing is about.
func (l Listing) orders() []string {
	var ids []string
	for _, p := range l.Cancel {
		ids = append(ids, p.OrderID)
	}
	for _, p := range l.ModifyAddress {
		ids = append(ids, p.OrderID)
	}
	for _, p := range l.ModifyPayment {
		ids = append(ids, p.OrderID)
	}
	for _, p := range l.ModifyItems {
		ids = append(ids, p.OrderID)
	}
	for _, p := range l.Return {
		ids = append(ids, p.OrderID)
	}
	for _, p := range l.Exchange {
		ids = append(ids, p.OrderID)
	}
	return ids
}
