package desk

import (
	"context"
	"errors"

	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

// market speaks with the exchange and the broker. What an observation is about is what the answer says that it is about.
type market struct{ client *exchange.Client }

func (m market) quote(ctx context.Context, q guard.Query) (guard.Observed[trading.Quote], error) {
	a, err := m.client.Quote(ctx, q.Subject)
	return guard.Observed[trading.Quote]{Value: trading.Quote{Last: a.Last, Trading: a.Trading}, Subject: a.Symbol, At: a.At}, err
}

func (m market) position(ctx context.Context, q guard.Query) (guard.Observed[price.Decimal], error) {
	a, err := m.client.Position(ctx, q.Subject)
	return guard.Observed[price.Decimal]{Value: a.Quantity, Subject: a.Symbol, At: a.At}, err
}

func (m market) observers() []resume.Observer {
	return []resume.Observer{resume.Pull(trading.LastQuote, m.quote), resume.Pull(trading.Position, m.position)}
}

// send places the order once, under the job's key as the client order id, and says what is known about a failure.
func (m market) send(ctx context.Context, j machine.Job[trading.Order]) (trading.Fill, error) {
	o, err := m.client.Place(ctx, exchange.Request{ClientOrderID: j.Key, Symbol: j.Args.Symbol, Side: exchange.Side(j.Args.Side),
		Quantity: j.Args.Quantity, Limit: j.Args.Limit})
	switch {
	case errors.Is(err, exchange.ErrNotSent):
		return trading.Fill{}, machine.NotSent(err)
	case errors.Is(err, exchange.ErrRefused):
		return trading.Fill{}, machine.Declined(err)
	}
	return fill(o), err
}

// find asks for the order by its client order id. The list of open orders is not asked: an order that was filled at once, or
// rejected, never stood on it, and to be absent from it says nothing (field case B015).
func (m market) find(ctx context.Context, j machine.Job[trading.Order]) (trading.Fill, bool, error) {
	o, found, err := m.client.Find(ctx, j.Key)
	return fill(o), found, err
}

func fill(o exchange.Order) trading.Fill {
	f := trading.Fill{ID: o.ID, Symbol: o.Symbol, Side: trading.Side(o.Side), Quantity: o.Quantity, Filled: o.Filled,
		Executions: make([]trading.Execution, 0, len(o.Fills)), Rejected: o.Reason}
	for _, e := range o.Fills {
		f.Executions = append(f.Executions, trading.Execution(e))
	}
	return f
}
