package shop

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/examples/retail/retail"
)

// ErrNoRecord says that a write names an order, a user or a payment method that is not there.
var ErrNoRecord = errors.New("no such record")

// Apply makes a write once for each key, and gives its record again when it is asked for once more. It judges nothing: that
// a write is right was decided before.
func (w *World) Apply(key string, is retail.Write) (retail.Done, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if done, ok := w.recorded[key]; ok {
		return done, nil
	}
	done := retail.Done{Tool: is.Tool, Order: is.Order, User: is.User, Moves: is.Moves}
	if err := w.apply(is); err != nil {
		return retail.Done{}, err
	}
	w.recorded[key] = done
	return done, nil
}

// Applied is the record of a write under a key.
func (w *World) Applied(key string) (retail.Done, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done, ok := w.recorded[key]
	return done, ok
}

func (w *World) apply(is retail.Write) error {
	u, known := w.user(is.User)
	if !known {
		return fmt.Errorf("user %s: %w", is.User, ErrNoRecord)
	}
	if is.Order == "" {
		u.Address = *is.Address
		w.users[is.User] = u
		return nil
	}
	o, known := w.order(is.Order)
	if !known {
		return fmt.Errorf("order %s: %w", is.Order, ErrNoRecord)
	}
	if err := w.change(&o, is); err != nil {
		return err
	}
	for _, m := range is.Moves {
		if err := u.move(m); err != nil {
			return err
		}
		o.Payments = append(o.Payments, row(m))
	}
	w.orders[is.Order], w.users[is.User] = o, u
	return nil
}

// change is what a write does to the order itself.
func (w *World) change(o *Order, is retail.Write) error {
	switch is.Tool {
	case "cancel_pending_order":
		o.Status, o.CancelReason = "cancelled", is.Reason
	case "modify_pending_order_address":
		o.Address = *is.Address
	case "modify_pending_order_items":
		o.Status = "pending (item modified)"
		return w.replace(o, is)
	case "return_delivered_order_items":
		o.Status, o.ReturnItems, o.ReturnMethod = "return requested", sorted(is.Items), is.Method
	case "exchange_delivered_order_items":
		due := is.Difference
		o.Status, o.ExchangeItems, o.ExchangeNewItems = "exchange requested", sorted(is.Items), sorted(is.NewItems)
		o.ExchangeMethod, o.ExchangeDifference = is.Method, &due
	}
	return nil
}

// replace puts other options in the place of items.
func (w *World) replace(o *Order, is retail.Write) error {
	for n, id := range is.Items {
		i := slices.IndexFunc(o.Items, func(it Item) bool { return it.ItemID == id })
		_, v, known := w.variant(is.NewItems[n])
		if i < 0 || !known {
			return fmt.Errorf("item %s or %s: %w", id, is.NewItems[n], ErrNoRecord)
		}
		o.Items[i].ItemID, o.Items[i].Price, o.Items[i].Options = v.ItemID, v.Price, v.Options
	}
	return nil
}

// move takes money from a gift card, or puts it back at once. Other methods settle elsewhere.
func (u User) move(m retail.Move) error {
	method, known := u.PaymentMethods[m.Method]
	switch {
	case !known:
		return fmt.Errorf("payment method %s: %w", m.Method, ErrNoRecord)
	case method.Source != giftCard || method.Balance == nil:
		return nil
	}
	balance := *method.Balance + m.Amount
	if m.Kind == retail.Charge {
		balance = *method.Balance - m.Amount
	}
	method.Balance = &balance
	u.PaymentMethods[m.Method] = method
	return nil
}

func row(m retail.Move) Payment {
	if m.Kind == retail.Charge {
		return Payment{payment, m.Amount, m.Method}
	}
	return Payment{refund, m.Amount, m.Method}
}

func sorted(ids []string) []string { return slices.Sorted(slices.Values(ids)) }
