package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/store"
)

// orders are the records that the benchmarks of the store write: versions of retail orders, as JSON, with the entry of a history
// beside each. They come from a file of real ones, or are drawn at random with the same fields.
type orders struct{ real []map[string]any }

// readOrders reads an object of orders by their ids; an empty name means drawn ones.
func readOrders(name string) (orders, error) {
	if name == "" {
		return orders{}, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return orders{}, err
	}
	var byID map[string]map[string]any
	if err := json.Unmarshal(data, &byID); err != nil {
		return orders{}, fmt.Errorf("orders %s: %w", name, err)
	}
	var o orders
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		o.real = append(o.real, byID[id])
	}
	if len(o.real) == 0 {
		return orders{}, fmt.Errorf("orders %s: it holds none", name)
	}
	return o, nil
}

// statuses are what an order goes through, again and again.
var statuses = []string{"pending", "address_changed", "awaiting_confirmation", "processed", "delivered"}

// commits are the first versions of the task of the i-th order, ready to be written one on the other.
func (o orders) commits(task string, i, versions int) ([]*store.Commit, error) {
	order := o.order(i)
	user, _ := order["user_id"].(string)
	var payments []any
	var out []*store.Commit
	random := rand.New(rand.NewPCG(uint64(i), 1))
	for n := range versions {
		status := statuses[n%len(statuses)]
		order["status"] = status
		if n%len(statuses) == 3 && len(payments) < 4 {
			payments = append(payments, map[string]any{"transaction_type": "payment", "amount_minor": 1 + random.IntN(100_000), "payment_method_id": digits(random, "credit_card_")})
			order["payment_history"] = payments
		}
		snapshot, err := json.Marshal(order)
		if err != nil {
			return nil, err
		}
		entry, err := json.Marshal(map[string]any{
			"event": "change_to_" + status, "actor": "model", "principal": user, "nonce": fmt.Sprintf("%016x", random.Uint64()),
			"evidence": []any{
				map[string]any{"fact": "order_owner", "value": user, "source": "order_service", "at": 1_767_600_000_000_000 + int64(n)},
				map[string]any{"fact": "order_status", "value": status, "source": "order_service", "at": 1_767_600_000_000_100 + int64(n)},
			},
		})
		if err != nil {
			return nil, err
		}
		out = append(out, &store.Commit{Record: store.Record{
			Task: task, Nonce: random.Uint64(), Snapshot: snapshot, Entry: entry,
			Meta: store.Meta{Machine: "order", State: status, Owner: user, WaitsFor: user, Since: store.Micros(1 + n), Wake: store.Micros(1e15 + n)},
		}})
	}
	return out, nil
}

// order is a copy of the i-th order.
func (o orders) order(i int) map[string]any {
	random := rand.New(rand.NewPCG(uint64(i), 0))
	order := map[string]any{}
	if len(o.real) > 0 {
		for k, v := range o.real[i%len(o.real)] {
			order[k] = v
		}
	} else {
		order["user_id"] = strings.ToLower(pick(random, firstNames)+"_"+pick(random, lastNames)) + digits(random, "_")
		order["address"] = map[string]any{
			"address1": fmt.Sprintf("%d %s Street", 1+random.IntN(999), pick(random, lastNames)), "address2": fmt.Sprint("Suite ", 100+random.IntN(900)),
			"city": pick(random, cities), "country": "USA", "zip": fmt.Sprintf("%05d", random.IntN(100_000)),
		}
		var items []any
		for range 1 + random.IntN(4) {
			items = append(items, map[string]any{
				"name": pick(random, products), "product_id": digits(random, ""), "item_id": digits(random, ""), "price_minor": 500 + random.IntN(100_000),
				"options": map[string]any{"color": pick(random, colors), "material": pick(random, materials)},
			})
		}
		order["items"] = items
	}
	order["order_id"] = digits(random, "#W") // no two tasks are about one order
	order["tracking_id"] = digits(random, "")
	return order
}

var (
	firstNames = []string{"James", "Olivia", "Mei", "Yusuf", "Sofia", "Ethan", "Fatima", "Liam", "Aarav", "Noah"}
	lastNames  = []string{"Li", "Rossi", "Johnson", "Kovacs", "Patel", "Silva", "Nguyen", "Brown", "Moore", "Garcia"}
	cities     = []string{"New York", "San Diego", "Chicago", "Austin", "Denver", "Seattle", "Houston", "Columbus"}
	products   = []string{"Water Bottle", "Office Chair", "Mechanical Keyboard", "Desk Lamp", "Hiking Boots", "Wristwatch", "Jigsaw Puzzle", "Smart Thermostat"}
	colors     = []string{"black", "white", "blue", "red", "silver", "green"}
	materials  = []string{"glass", "fabric", "leather", "plastic", "stainless steel", "wood"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func digits(r *rand.Rand, prefix string) string {
	return fmt.Sprintf("%s%010d", prefix, r.Int64N(1e10))
}
