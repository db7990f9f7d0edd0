package trading

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// Quote is what the exchange says of an instrument: the last price, and whether it trades now.
type Quote struct {
	Last    price.Decimal `json:"last"`
	Trading bool          `json:"trading"`
}

// String is the quote in words.
func (q Quote) String() string {
	if !q.Trading {
		return q.Last.String() + ", closed"
	}
	return q.Last.String()
}

// Mandate is what the operator allows for an instrument: prices outside the collar are not traded at, no purchase leads to more
// than the most, and a purchase is of one lot.
type Mandate struct {
	Low  price.Decimal `json:"low"`
	High price.Decimal `json:"high"`
	Most price.Decimal `json:"most"`
	Lot  price.Decimal `json:"lot"`
}

// String is the mandate in words.
func (m Mandate) String() string {
	return fmt.Sprintf("between %s and %s, at most %s, in lots of %s", m.Low, m.High, m.Most, m.Lot)
}

// Stop is what the agent's working state holds under the key of a rule. That it is held is a fact, which the working state vouches
// for; what it says is the agent's own word, and says nothing about the world. So it may forbid, and it may permit what this
// machine says that it permits; no amount is ever taken from it.
type Stop = workingstate.Commitment[price.Decimal]

// ParseStop reads the text of a rule: a price above zero. Anything else is an error, and the rule stays unknown: nobody guesses what
// "about 260" may mean.
func ParseStop(text string) (price.Decimal, error) {
	d, err := price.Parse(text)
	if err == nil && d.Sign() <= 0 {
		err = fmt.Errorf("%w: a price is above zero: %.40q", price.ErrDecimal, text)
	}
	return d, err
}

// Execution is a part of an order that was filled.
type Execution struct {
	Quantity price.Decimal `json:"quantity"`
	Price    price.Decimal `json:"price"`
}

// Fill is the exchange's own record of an order: the receipt. What is not filled is cancelled: nothing of it is open any more.
// A rejection is an end, too: it is found under the client order id like any other (field case B015).
type Fill struct {
	ID         string        `json:"id" validate:"required"`
	Symbol     string        `json:"symbol" validate:"required"`
	Side       Side          `json:"side" validate:"oneof=buy sell"`
	Quantity   price.Decimal `json:"quantity"`
	Filled     price.Decimal `json:"filled"`
	Executions []Execution   `json:"executions"`
	Rejected   string        `json:"rejected"` // why; "" when it was taken
}

// String is the receipt in words.
func (f Fill) String() string {
	if f.Rejected != "" {
		return f.ID + ", rejected: " + f.Rejected
	}
	text := fmt.Sprintf("%s, %s %s of %s %s", f.ID, f.Side, f.Filled, f.Quantity, f.Symbol)
	for _, e := range f.Executions {
		text += fmt.Sprintf(", %s at %s", e.Quantity, e.Price)
	}
	return text
}

// Fresh is how old what the market and the working state say may be.
const Fresh = 30 * time.Second

// What the desk may believe, and whom.
var (
	LastQuote  = guard.NewFact[Quote]("quote", guard.From("exchange"), guard.About("instrument"), guard.MaxAge(Fresh))
	Position   = guard.NewFact[price.Decimal]("position", guard.From("broker"), guard.About("instrument"), guard.MaxAge(Fresh))
	Rule       = guard.NewFact[Stop]("rule", guard.From("working_state"), guard.About("rule"), guard.MaxAge(Fresh))
	Allowed    = guard.NewFact[Mandate]("mandate", guard.From("operator"), guard.About("instrument"), guard.MaxAge(24*time.Hour))
	OrderState = guard.NewFact[Fill]("fill", guard.From("exchange"), guard.About(machine.EffectKind), guard.Lasting())
)

// SendWithin is how long after its commit an order may leave: later the price that it stood on is another.
const SendWithin = 5 * time.Minute

// SendOrder sends an order to the exchange, under its key as the client order id. A receipt of another order proves nothing.
var SendOrder = machine.NewEffect("send_order", OrderState, machine.Matching(matches), machine.SendWithin[Order, Fill](SendWithin))

func matches(o Order, f Fill) error {
	if f.Symbol != o.Symbol || f.Side != o.Side || f.Quantity != o.Quantity {
		return fmt.Errorf("the receipt is of %s %s %s, not of %s %s %s", f.Side, f.Quantity, f.Symbol, o.Side, o.Quantity, o.Symbol)
	}
	var sum price.Decimal
	for _, e := range f.Executions {
		var err error
		if sum, err = sum.Add(e.Quantity); err != nil {
			return err
		}
		if e.Quantity.Sign() <= 0 || o.Side == Sell && e.Price.Cmp(o.Limit) < 0 || o.Side == Buy && e.Price.Cmp(o.Limit) > 0 {
			return fmt.Errorf("%s filled at %s is not within the limit of %s", e.Quantity, e.Price, o.Limit)
		}
	}
	if sum != f.Filled || f.Rejected != "" && sum.Sign() != 0 || f.Filled.Cmp(f.Quantity) > 0 {
		return errors.New("the executions do not add up to what was filled, or to more than was ordered")
	}
	return nil
}
