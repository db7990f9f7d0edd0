package trading

import (
	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Book is the task's data: one agent, one instrument, one day. What is true stands in the facts.
type Book struct {
	Symbol string `json:"symbol" validate:"required,max=32" about:"instrument"`
	Rule   string `json:"rule" validate:"required,max=64" about:"rule"` // the key of the stop in the agent's working state
	// Turn changes whenever the book comes to hold something, so that an exit is not taken for a repetition of the one before.
	Turn bool `json:"turn"`
}

// Exit names the rule that the proposer goes by. It has no price and no quantity: there is no field in which a model could choose one.
type Exit struct {
	Rule string `json:"rule" validate:"required,max=64" about:"rule"`
}

// Enter names the rule that would end the position again. The quantity is the operator's lot.
type Enter struct {
	Rule string `json:"rule" validate:"required,max=64" about:"rule"`
}

// Reason says why.
type Reason struct {
	Text string `json:"text" validate:"required,max=400"`
}

// Side of an order.
type Side string

// The sides.
const (
	Buy  Side = "buy"
	Sell Side = "sell"
)

// Order is what the exchange is told. Each part has its source: the quantity of a sale is the broker's position, that of a purchase
// the operator's lot, the limit the operator's collar. Stop and Last are for the reader.
type Order struct {
	Symbol   string        `json:"symbol"`
	Side     Side          `json:"side"`
	Quantity price.Decimal `json:"quantity"`
	Limit    price.Decimal `json:"limit"`
	Rule     string        `json:"rule"`
	Stop     price.Decimal `json:"stop"`
	Last     price.Decimal `json:"last"`
	Turn     bool          `json:"turn"`
}

// Case is what the outputs of this machine look at.
type Case[P any] = guard.Case[Book, P]

// What may be proposed.
var (
	EnterPosition = machine.NewEvent[Enter]("enter_position")
	ExitPosition  = machine.NewEvent[Exit]("exit_position")
	Hold          = machine.NewEvent[Reason]("hold")
	Release       = machine.NewEvent[Reason]("release")
	CloseDay      = machine.NewEvent[Reason]("close_day")
	Lapsed        = machine.NewEvent[machine.None]("lapsed")
)
