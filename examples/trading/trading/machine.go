// Package trading is a desk that holds one instrument for one day, and sells it when, and only when, the price touches the stop that
// its agent has committed to.
package trading

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The states of a book.
const (
	Flat     machine.State = "flat"     // nothing is held
	Entering machine.State = "entering" // a purchase is under way
	Holding  machine.State = "holding"
	Exiting  machine.State = "exiting" // a sale is under way
	Blocked  machine.State = "blocked" // the exchange refused an order, or it was not sent in time
	Closed   machine.State = "closed"  // the day is over
)

// Operators may release a book that is blocked.
const Operators machine.Party = guard.OperatorRole

// Patience is how long an operator is waited for: a trading day.
const Patience = 8 * time.Hour

// Machine is the definition.
var Machine = build()

func build() *machine.Machine[Book] {
	b := machine.New[Book]("trading", Flat)
	b.Final(Closed)
	b.Wait(Blocked, Operators, Patience, Lapsed)

	machine.On(b, EnterPosition).From(Flat).To(Entering).
		By(guard.Model, guard.User).
		Fresh(LastQuote, Position, Rule).
		Require(trading, collar, ruled, above, limit). // nothing is bought without a stop
		Then(machine.Emit(SendOrder, purchase))

	machine.On(b, ExitPosition).From(Holding).To(Exiting).
		By(guard.Model, guard.User).
		Fresh(LastQuote, Position, Rule). // observed again, now
		Require(trading, collar, held, touched).
		Then(machine.Emit(SendOrder, sale))

	machine.On(b, Hold).From(Holding).Stay().
		By(guard.Model, guard.User).
		Fresh(LastQuote, Rule).
		Require(above) // a commitment forbids as well

	// What the broker says goes before what anybody proposes: shares come and go through other channels, too.
	machine.When(b, Position).From(Flat).To(Holding).Require(held).Apply(again[machine.Changed[price.Decimal]])
	machine.When(b, Position).From(Holding).To(Flat).Require(guard.Not(held))

	machine.On(b, SendOrder.Confirmed()).From(Exiting).To(Flat).Require(taken, soldOut)
	machine.On(b, SendOrder.Confirmed()).From(Exiting).To(Holding).Require(taken, guard.Not(soldOut)).Apply(again[machine.Settled])
	machine.On(b, SendOrder.Confirmed()).From(Entering).To(Holding).Require(taken, bought).Apply(again[machine.Settled])
	machine.On(b, SendOrder.Confirmed()).From(Entering).To(Flat).Require(taken, guard.Not(bought))
	// What was rejected, or not sent in time, is for a person to look at: never a loop (field case B015).
	machine.On(b, SendOrder.Confirmed()).From(Entering, Exiting).To(Blocked).Require(guard.Not(taken))
	machine.On(b, SendOrder.Failed()).From(Entering, Exiting).To(Blocked)

	machine.On(b, Release).From(Blocked).To(Holding).By(guard.Operator).Fresh(Position).Require(held).Apply(again[Reason])
	machine.On(b, Release).From(Blocked).To(Flat).By(guard.Operator).Fresh(Position).Require(guard.Not(held))
	machine.On(b, CloseDay).From(Flat, Holding, Blocked).To(Closed).By(guard.User, guard.Operator)
	machine.On(b, Lapsed).From(Blocked).To(Closed)

	invariants(b)
	return b.MustBuild()
}

func again[P any](b *Book, _ Case[P]) { b.Turn = !b.Turn }

// sale is all of what the broker says is held, not below the operator's collar.
func sale(c Case[Exit]) Order {
	o := order(c, Sell)
	o.Quantity, _ = Position.Get(c)
	m, _ := Allowed.Get(c)
	o.Limit = m.Low
	return o
}

// purchase is one lot, not above the operator's collar.
func purchase(c Case[Enter]) Order {
	o := order(c, Buy)
	m, _ := Allowed.Get(c)
	o.Quantity, o.Limit = m.Lot, m.High
	return o
}

func order[P any](c Case[P], side Side) Order {
	q, _ := LastQuote.Get(c)
	r, _ := Rule.Get(c)
	stop, _ := stopAt(r, c.Now()) // the guards have seen that it stands
	return Order{Symbol: c.Data.Symbol, Side: side, Rule: c.Data.Rule, Stop: stop, Last: q.Last, Turn: c.Data.Turn}
}

func invariants(b *machine.Builder[Book]) {
	b.Invariant("an order is under way only while entering or exiting", func(s machine.Snapshot[Book]) error {
		for _, i := range s.Intents {
			if i.Unsettled() && s.State != Entering && s.State != Exiting {
				return fmt.Errorf("%s has no outcome in %s", i.Key, s.State)
			}
		}
		return nil
	})
	// They judge the version that intends: a price that goes on must not keep a receipt out.
	b.InvariantStep("a sale follows a rule that the price has touched", intends(Sell, func(o Order, s machine.Snapshot[Book]) error {
		r, known := Rule.Get(s.Facts)
		stop, v := stopAt(r, s.UpdatedAt)
		q, priced := LastQuote.Get(s.Facts)
		if !known || !priced || !v.Allowed() || q.Last.Cmp(stop) > 0 || o.Stop != stop || o.Last != q.Last {
			return errors.New("a sale was intended without a touched rule")
		}
		return nil
	}))
	b.InvariantStep("a sale is what the broker says is held", intends(Sell, func(o Order, s machine.Snapshot[Book]) error {
		if has, known := Position.Get(s.Facts); !known || o.Quantity != has {
			return fmt.Errorf("a sale of %s was intended where %s are held", o.Quantity, has)
		}
		return nil
	}))
	b.InvariantStep("a purchase stays within the operator's limit", intends(Buy, func(o Order, s machine.Snapshot[Book]) error {
		has, known := Position.Get(s.Facts)
		m, allowed := Allowed.Get(s.Facts)
		sum, err := has.Add(o.Quantity)
		if !known || !allowed || err != nil || sum.Cmp(m.Most) > 0 {
			return fmt.Errorf("a purchase of %s was intended where %s are held and %s are the most", o.Quantity, has, m.Most)
		}
		return nil
	}))
}

// intends judges each order of one side in the version that first has it.
func intends(side Side, judge func(Order, machine.Snapshot[Book]) error) func(old, next machine.Snapshot[Book]) error {
	return func(_, next machine.Snapshot[Book]) error {
		for _, i := range next.Intents {
			if o, ok := i.Args.(Order); ok && i.Since == next.Version && o.Side == side {
				if err := judge(o, next); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
