package shop

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pawlgo/pawl/examples/retail/retail"
	"github.com/pawlgo/pawl/examples/usd"
)

// World is the shop as one conversation changes it: the databases, and copies of the records that are no longer as they were.
// Safe for concurrent use.
type World struct {
	shop *Shop

	mu       sync.Mutex
	users    map[string]User
	orders   map[string]Order
	stock    map[string]bool // options whose availability has changed
	recorded map[string]retail.Done
}

// Begin is the shop before a conversation.
func (s *Shop) Begin() *World {
	return &World{shop: s, users: map[string]User{}, orders: map[string]Order{}, stock: map[string]bool{}, recorded: map[string]retail.Done{}}
}

// user is a copy of a customer's record.
func (w *World) user(id string) (User, bool) {
	u, ok := w.users[id]
	if !ok {
		u, ok = w.shop.users[id]
	}
	u.PaymentMethods = maps.Clone(u.PaymentMethods)
	return u, ok
}

// order is a copy of an order's record, whose items and payments may be changed.
func (w *World) order(id string) (Order, bool) {
	o, ok := w.orders[id]
	if !ok {
		o, ok = w.shop.orders[id]
	}
	o.Items, o.Payments = slices.Clone(o.Items), slices.Clone(o.Payments)
	return o, ok
}

func (w *World) variant(id string) (string, Variant, bool) {
	product, ok := w.shop.variants[id]
	v := w.shop.products[product].Variants[id]
	if now, changed := w.stock[id]; changed {
		v.Available = now
	}
	return product, v, ok
}

// covers tells whether a gift card has an amount. Of anything but a gift card it knows nothing.
func (w *World) covers(user, card string, amount usd.Amount) bool {
	u, _ := w.user(user)
	m := u.PaymentMethods[card]
	return m.Source == giftCard && m.Balance != nil && *m.Balance >= amount
}

// Set changes a record behind the conversation's back: the status of an order, the balance of a gift card, the availability
// of an option.
func (w *World) Set(path []string, value json.RawMessage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	switch p := strings.Join(path, "/"); {
	case len(path) == 3 && path[0] == "orders" && path[2] == "status":
		o, _ := w.order(path[1])
		err = json.Unmarshal(value, &o.Status)
		w.orders[path[1]] = o
	case len(path) == 5 && path[0] == "users" && path[4] == "balance":
		u, _ := w.user(path[1])
		m := u.PaymentMethods[path[3]]
		m.Balance = new(usd.Amount)
		err = json.Unmarshal(value, m.Balance)
		u.PaymentMethods[path[3]], w.users[path[1]] = m, u
	case len(path) == 5 && path[0] == "products" && path[4] == "available":
		var now bool
		err = json.Unmarshal(value, &now)
		w.stock[path[3]] = now
	default:
		return fmt.Errorf("nothing that can change is called %s", p)
	}
	return err
}

// Changes are the records that are no longer as they were before the conversation.
func (w *World) Changes() map[string]map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]map[string]any{}
	add := func(kind, id string, was, is any) {
		if reflect.DeepEqual(was, is) {
			return
		}
		if out[kind] == nil {
			out[kind] = map[string]any{}
		}
		out[kind][id] = is
	}
	for id, o := range w.orders {
		add("orders", id, w.shop.orders[id], o)
	}
	for id, u := range w.users {
		add("users", id, w.shop.users[id], u)
	}
	return out
}
