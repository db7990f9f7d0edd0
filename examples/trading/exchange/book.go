package exchange

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawlgo/pawl/examples/trading/price"
)

// book is the state of the exchange and of the account. Safe for concurrent use.
type book struct {
	mu        sync.Mutex
	day       Config
	now       time.Time
	cash      price.Decimal
	positions map[string]price.Decimal
	depth     map[string]price.Decimal // how much can be traded at once, by instrument; absent: any quantity
	orders    []Order                  // oldest first
}

func newBook(day Config) *book {
	b := &book{day: day, now: day.Now, cash: day.Cash, positions: map[string]price.Decimal{}, depth: map[string]price.Decimal{}}
	maps.Copy(b.positions, day.Positions)
	return b
}

func (b *book) trading() bool { return !b.now.Before(b.day.Opens) && b.now.Before(b.day.Closes) }

func (b *book) last(symbol string) (price.Decimal, bool) {
	var last price.Decimal
	for _, t := range b.day.Prices {
		if t.Symbol == symbol && !t.At.After(b.now) {
			last = t.Last
		}
	}
	return last, last.Sign() > 0
}

func (b *book) quote(symbol string) (Quote, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, known := b.last(symbol)
	if !known {
		return Quote{}, refuse(CodeNoSymbol, "there is no price of %.80q yet", symbol)
	}
	return Quote{symbol, last, b.trading(), b.now}, nil
}

func (b *book) position(symbol string) Position {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Position{symbol, b.positions[symbol], b.now}
}

// place takes an order, once for each client order id. What is rejected is kept as well.
func (b *book) place(r Request) (o Order, replayed bool, err error) {
	if err := r.check(); err != nil {
		return Order{}, false, refuse(CodeMalformed, "%v", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.index(r.ClientOrderID); i >= 0 {
		o = b.orders[i]
		if o.Request != r {
			return Order{}, false, refuse(CodeReused, "client order id %s belongs to another order", r.ClientOrderID)
		}
		return o, true, o.rejection()
	}
	last, known := b.last(r.Symbol)
	if !known {
		return Order{}, false, refuse(CodeNoSymbol, "there is no price of %.80q yet", r.Symbol)
	}
	o = b.match(r, last)
	b.orders = append(b.orders, o)
	return o, false, o.rejection()
}

// match fills an order at the last price, as far as it can be.
func (b *book) match(r Request, last price.Decimal) Order {
	o := Order{Request: r, ID: fmt.Sprintf("x_%d", len(b.orders)+1), Status: Cancelled, Fills: []Fill{}, At: b.now}
	if !b.trading() {
		o.Status, o.Reason = Rejected, CodeClosed
		return o
	}
	within := r.Side == Sell && last.Cmp(r.Limit) >= 0 || r.Side == Buy && last.Cmp(r.Limit) <= 0
	fill := Fill{r.Quantity, last}
	if most, bounded := b.depth[r.Symbol]; bounded && most.Cmp(r.Quantity) < 0 {
		fill.Quantity = most
	}
	if why := b.settle(r, fill, within && fill.Quantity.Sign() > 0); why != "" {
		o.Status, o.Reason = Rejected, why
		return o
	}
	if within && fill.Quantity.Sign() > 0 {
		o.Status, o.Filled, o.Fills = Filled, fill.Quantity, []Fill{fill}
		if fill.Quantity != r.Quantity {
			o.Status = PartFilled
		}
	}
	return o
}

// settle moves cash and shares, if the whole order is covered; else it says why not.
func (b *book) settle(r Request, f Fill, executed bool) (why string) {
	worth, err := r.Quantity.Mul(f.Price)
	switch {
	case r.Side == Sell && b.positions[r.Symbol].Cmp(r.Quantity) < 0:
		return CodeShares
	case err != nil, r.Side == Buy && b.cash.Cmp(worth) < 0:
		return CodeFunds
	case !executed:
		return ""
	}
	paid, err := f.Quantity.Mul(f.Price)
	if err != nil {
		return CodeFunds
	}
	come, gone := price.Decimal.Add, price.Decimal.Sub
	if r.Side == Buy {
		come, gone = gone, come
	}
	cash, err := come(b.cash, paid)
	if err != nil {
		return CodeFunds
	}
	shares, err := gone(b.positions[r.Symbol], f.Quantity)
	if err != nil {
		return CodeShares
	}
	b.cash, b.positions[r.Symbol] = cash, shares
	return ""
}

func (o Order) rejection() error {
	if o.Status != Rejected {
		return nil
	}
	return refuse(o.Reason, "order %s was rejected", o.ID)
}

func (b *book) index(clientOrderID string) int {
	return slices.IndexFunc(b.orders, func(o Order) bool { return o.ClientOrderID == clientOrderID })
}

func (b *book) find(clientOrderID string) (Order, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.index(clientOrderID)
	if i < 0 {
		return Order{}, refuse(CodeNoOrder, "there is no order under %.80q", clientOrderID)
	}
	return b.orders[i], nil
}

func (b *book) all() []Order {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Order{}, b.orders...)
}

func (b *book) setNow(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = now
}

func (b *book) setDepth(symbol string, most price.Decimal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.depth[symbol] = most
}

func (b *book) setCash(cash price.Decimal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cash = cash
}

// transfer brings shares in from elsewhere, without an order.
func (b *book) transfer(symbol string, quantity price.Decimal) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum, err := b.positions[symbol].Add(quantity)
	if err != nil {
		return refuse(CodeMalformed, "%v", err)
	}
	b.positions[symbol] = sum
	return nil
}
