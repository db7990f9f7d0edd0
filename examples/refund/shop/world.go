package shop

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pawlgo/pawl/examples/refund/money"
)

// world is the state of the three services: what was configured, changed by the entries of the ledger.
type world struct {
	clock *clock

	mu        sync.Mutex
	ledger    *ledger
	orders    map[string]Order
	channels  map[string]string      // order to the channel that handled it
	refunded  map[string]money.Money // by order
	byKey     map[string]Refund
	refunds   []Refund // oldest first
	delivered map[string]bool
	policy    Policy
}

// openWorld reads the ledger in dir. Entries are applied, not judged again, but must fit the orders.
func openWorld(dir string, orders []Order, policy Policy, c *clock) (*world, error) {
	w := &world{clock: c, orders: map[string]Order{}, channels: map[string]string{}, refunded: map[string]money.Money{},
		byKey: map[string]Refund{}, delivered: map[string]bool{}, policy: policy}
	for _, o := range orders {
		if err := o.check(); err != nil {
			return nil, err
		}
		if _, twice := w.orders[o.ID]; twice {
			return nil, fmt.Errorf("shop: order %s is configured twice", o.ID)
		}
		w.orders[o.ID] = Order{ID: o.ID, Owner: o.Owner, Total: o.Total, Payee: o.Payee}
		w.refunded[o.ID] = money.Money{Currency: o.Total.Currency}
	}
	if err := w.checkPolicy(policy); err != nil {
		return nil, err
	}
	l, entries, err := openLedger(dir)
	if err != nil {
		return nil, err
	}
	w.ledger = l
	for _, e := range entries {
		if err := w.apply(e); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: line %d: %w", ErrCorrupt, e.Seq, err), l.close())
		}
	}
	return w, nil
}

// commit makes e durable and then true.
func (w *world) commit(e entry) error {
	if err := w.ledger.append(e); err != nil {
		return err
	}
	return w.apply(e)
}

func (w *world) apply(e entry) error {
	switch {
	case e.Refund != nil:
		return w.applyRefund(*e.Refund)
	case e.Handled != nil:
		if _, ok := w.orders[e.Handled.OrderID]; !ok {
			return fmt.Errorf("order %q is not configured", e.Handled.OrderID)
		}
		w.channels[e.Handled.OrderID] = e.Handled.Channel
	case e.Policy != nil:
		w.policy = *e.Policy
	case e.Delivered != nil:
		w.delivered[*e.Delivered] = true
	default:
		return errors.New("an entry that says nothing")
	}
	return nil
}

func (w *world) applyRefund(r Refund) error {
	order, ok := w.orders[r.OrderID]
	if !ok {
		return fmt.Errorf("order %q is not configured", r.OrderID)
	}
	if _, twice := w.byKey[r.Key]; twice {
		return fmt.Errorf("key %q was used twice", r.Key)
	}
	sum, err := w.refunded[r.OrderID].Add(r.Amount)
	if err != nil {
		return err
	}
	if sum.Minor > order.Total.Minor {
		return fmt.Errorf("%s of order %s were refunded, and %s captured", sum, order.ID, order.Total)
	}
	w.refunded[r.OrderID] = sum
	w.byKey[r.Key] = r
	w.refunds = append(w.refunds, r)
	return nil
}

func (w *world) order(id string) (Order, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o, ok := w.orders[id]
	if !ok {
		return Order{}, refuse(CodeNoOrder, "there is no order %.80q", id)
	}
	o.At, o.Status, o.Channel = w.clock.now(), Paid, w.channels[id]
	switch {
	case o.Channel != "":
		o.Status = Handled
	case w.refunded[id] == o.Total:
		o.Status = Refunded
	}
	return o, nil
}

// handle settles an order through another channel. To say so twice changes nothing.
func (w *world) handle(id, channel string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.orders[id]; !ok {
		return refuse(CodeNoOrder, "there is no order %.80q", id)
	}
	if err := checkName("channel", channel); err != nil {
		return refuse(CodeMalformed, "%v", err)
	}
	if before := w.channels[id]; before != "" {
		return nil
	}
	return w.commit(entry{Handled: &handled{OrderID: id, Channel: channel}})
}

// eligibility applies the policy. What was handled elsewhere is not eligible under any version.
func (w *world) eligibility(id string) (Eligibility, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.orders[id]; !ok {
		return Eligibility{}, refuse(CodeNoOrder, "there is no order %.80q", id)
	}
	return Eligibility{
		OrderID:       id,
		Eligible:      w.channels[id] == "" && !slices.Contains(w.policy.Ineligible, id),
		PolicyVersion: w.policy.Version,
		EvaluatedAt:   w.clock.now(),
	}, nil
}

func (w *world) movePolicy(p Policy) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.checkPolicy(p); err != nil {
		return refuse(CodeMalformed, "%v", err)
	}
	if p.Version == w.policy.Version {
		return refuse(CodePolicyVersion, "version %s is in force already", p.Version)
	}
	return w.commit(entry{Policy: &p})
}

func (w *world) checkPolicy(p Policy) error {
	if err := checkName("policy version", p.Version); err != nil {
		return err
	}
	for _, id := range p.Ineligible {
		if _, ok := w.orders[id]; !ok {
			return fmt.Errorf("shop: policy %s names order %.80q, which does not exist", p.Version, id)
		}
	}
	return nil
}

// refund gives money back once per key; replayed tells that it had done so before. A refusal stores nothing
// and leaves the key free.
func (w *world) refund(key string, req RefundRequest) (r Refund, replayed bool, err error) {
	if err := checkKey(key); err != nil {
		return Refund{}, false, refuse(CodeMalformed, "%v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, ok := w.byKey[key]; ok {
		if before.RefundRequest != req {
			return Refund{}, false, refuse(CodeKeyReused, "this key belongs to another request, about order %s", before.OrderID)
		}
		return before, true, nil
	}
	if err := w.judge(req); err != nil {
		return Refund{}, false, err
	}
	r = Refund{ID: fmt.Sprintf("re_%d", len(w.refunds)+1), Key: key, RefundRequest: req, At: w.clock.now()}
	return r, false, w.commit(entry{Refund: &r})
}

func (w *world) judge(req RefundRequest) error {
	order, ok := w.orders[req.OrderID]
	if !ok {
		return refuse(CodeNoOrder, "there is no order %.80q", req.OrderID)
	}
	if channel := w.channels[order.ID]; channel != "" {
		return refuse(CodeHandled, "order %s was settled through %s", order.ID, channel)
	}
	if req.Payee != order.Payee {
		return refuse(CodeOtherPayee, "order %s is not paid back to %.80q", order.ID, req.Payee)
	}
	if req.Amount.Minor <= 0 || req.Amount.Currency != order.Total.Currency {
		return refuse(CodeBadAmount, "%s is not a positive amount in %s", req.Amount, order.Total.Currency)
	}
	left, err := order.Total.Sub(w.refunded[order.ID])
	if err != nil {
		return err
	}
	if req.Amount.Minor > left.Minor {
		return refuse(CodeAboveRemainder, "%s is more than the %s that are left of order %s", req.Amount, left, order.ID)
	}
	return nil
}

func (w *world) find(key string) (Refund, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, ok := w.byKey[key]
	if !ok {
		return Refund{}, refuse(CodeNoRefund, "nothing was refunded under this key")
	}
	return r, nil
}

func (w *world) all() []Refund {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Refund{}, w.refunds...)
}

// pending lists the events that nobody has acknowledged, oldest first.
func (w *world) pending() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	var events []Event
	for _, r := range w.refunds {
		if e := (Event{ID: "evt_" + r.ID, Type: RefundSucceeded, Refund: r}); !w.delivered[e.ID] {
			events = append(events, e)
		}
	}
	return events
}

func (w *world) acknowledge(event string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.commit(entry{Delivered: &event})
}

func (w *world) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ledger.close()
}
