package retail

import (
	"slices"

	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/guard"
)

// The rules that need the payload. Each denies with a code of its own; what they look at and do not find makes them unknown.

func sameUser(user string, c string) guard.Verdict {
	switch {
	case user == "":
		return guard.Deny("no_such_user", "no customer is known by that")
	case c != "" && c != user:
		return guard.Deny("another_user", "one conversation serves one customer")
	}
	return guard.Allow()
}

func foundByEmail(c Case[ByEmail]) guard.Verdict {
	user, _ := UserByEmail.Get(c)
	return sameUser(user, c.Data.User)
}

func foundByNameZip(c Case[ByNameZip]) guard.Verdict {
	user, _ := UserByNameZip.Of(c.Payload.subject()).Get(c)
	return sameUser(user, c.Data.User)
}

func ownOrder[P any](c Case[P]) guard.Verdict {
	if o, _ := Order.Get(c); o.Owner != c.Data.User {
		return guard.Deny("not_own_order", "the order belongs to somebody else")
	}
	return guard.Allow()
}

// itemised payloads name items of an order.
type itemised interface{ items() []string }

func (s Swap) items() []string   { return s.ItemIDs }
func (r Return) items() []string { return r.ItemIDs }

// itemsInOrder holds when the order has each item as often as it is named.
func itemsInOrder[P itemised](c Case[P]) guard.Verdict {
	o, _ := Order.Get(c)
	left := slices.Clone(o.Lines)
	for _, id := range c.Payload.items() {
		i := slices.IndexFunc(left, func(l Line) bool { return l.Item == id })
		if i < 0 {
			return guard.Deny("not_in_order", "an item is not in the order, or not as often").With("item", id)
		}
		left = slices.Delete(left, i, i+1)
	}
	return guard.Allow()
}

// sameProducts holds when each item is replaced by an option of its own product.
func sameProducts(c Case[Swap]) guard.Verdict {
	p := c.Payload
	if len(p.ItemIDs) != len(p.NewItemIDs) {
		return guard.Deny("counts_differ", "there must be as many new items as old ones")
	}
	o, _ := Order.Get(c)
	for i, id := range p.NewItemIDs {
		old, _ := o.line(p.ItemIDs[i])
		if v, _ := Variant.Of(id).Get(c); v.Product != old.Product {
			return guard.Deny("other_product", "an item can only be replaced by another option of the same product").With("item", id)
		}
	}
	return guard.Allow()
}

// otherOptions holds when no item of a pending order is replaced by itself, unless the shop does not mind. (A delivered one can be
// exchanged for the same: a broken chair for a whole one.)
func otherOptions(c Case[Swap]) guard.Verdict {
	for i, id := range c.Payload.NewItemIDs {
		if !c.Data.SameOption && i < len(c.Payload.ItemIDs) && c.Payload.ItemIDs[i] == id {
			return guard.Deny("same_option", "the new option is the old one").With("item", id)
		}
	}
	return guard.Allow()
}

func (o OrderRecord) line(item string) (Line, bool) {
	i := slices.IndexFunc(o.Lines, func(l Line) bool { return l.Item == item })
	if i < 0 {
		return Line{}, false
	}
	return o.Lines[i], true
}

// difference is what the new items cost more than the old ones; false as long as that is not known.
func difference(l guard.Looker, s Swap) (due usd.Amount, known bool) {
	o, known := Order.Of(s.OrderID).Get(l)
	for i, id := range s.NewItemIDs {
		v, ok := Variant.Of(id).Get(l)
		known = known && ok
		if i < len(s.ItemIDs) {
			old, _ := o.line(s.ItemIDs[i])
			due += v.Price - old.Price
		}
	}
	return due, known
}

// payable holds when the method is the customer's own and, being a gift card, covers the amount.
func payable(c guard.Looker, user, id string, amount usd.Amount) guard.Verdict {
	p, known := Profile.Of(user).Get(c)
	m, own := p.method(id)
	switch {
	case known && !own:
		return guard.Deny("not_in_profile", "it is no payment method of the customer")
	case known && m.GiftCard && amount > 0:
		if covered, known := Covered.Of(ChargeSubject(user, id, amount)).Get(c); known && !covered {
			return guard.Deny("not_covered", "the gift card does not cover it")
		}
	}
	return guard.Allow()
}

func swapPayable(c Case[Swap]) guard.Verdict {
	due, known := difference(c, c.Payload)
	if !known {
		return guard.Verdict{}
	}
	return payable(c, c.Data.User, c.Payload.PaymentMethodID, due)
}

// repayable holds when the order was paid once, and the new method is another one that can pay all of it.
func repayable(c Case[Repay]) guard.Verdict {
	p, known := Payments.Get(c)
	if !known {
		return guard.Verdict{}
	}
	first, _ := p.first()
	switch {
	case len(p.Moves) != 1 || first.Kind != Charge:
		return guard.Deny("paid_otherwise", "the payment of this order was changed before")
	case first.Method == c.Payload.PaymentMethodID:
		return guard.Deny("same_method", "the order is paid with that method already")
	}
	return payable(c, c.Data.User, c.Payload.PaymentMethodID, first.Amount)
}

// refundable holds when the money goes back to where it came from, or to a gift card of the customer.
func refundable(c Case[Return]) guard.Verdict {
	id := c.Payload.PaymentMethodID
	p, known := Payments.Get(c)
	profile, _ := Profile.Get(c)
	first, _ := p.first()
	if m, _ := profile.method(id); known && !m.GiftCard && first.Method != id {
		return guard.Deny("refund_elsewhere", "a refund goes to the original payment method or to a gift card")
	}
	return payable(c, c.Data.User, id, 0)
}
