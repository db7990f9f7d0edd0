package refund

import (
	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Refund is the task's data: what is asked for. What is true stands in the facts.
type Refund struct {
	OrderID string      `json:"order_id" validate:"required,max=64" about:"order"`
	Amount  money.Money `json:"amount"`
	Asked   int         `json:"asked" validate:"min=0,max=3"`
	Notes   []string    `json:"notes" validate:"max=20"`
}

// Confirm repeats the offer word for word.
type Confirm struct {
	OrderID string      `json:"order_id" validate:"required,max=64" about:"order"`
	Amount  money.Money `json:"amount"`
}

// Question is what the model adds to the framework's own question.
type Question struct {
	Text string `json:"text" validate:"required,max=400"`
}

// Reason says why the owner no longer wants the refund.
type Reason struct {
	Text string `json:"text" validate:"required,max=400"`
}

// Note is something that a colleague should know.
type Note struct {
	Text string `json:"text" validate:"required,max=400"`
}

// Payment is what the payment service is told.
type Payment struct {
	OrderID string      `json:"order_id"`
	Amount  money.Money `json:"amount"`
}

// Case is what the checks of this machine look at.
type Case[P any] = guard.Case[Refund, P]

// What may be proposed.
var (
	RequestRefund = machine.NewEvent[machine.None]("request_refund")
	ConfirmRefund = machine.NewEvent[Confirm]("confirm_refund")
	AskAgain      = machine.NewEvent[Question]("ask_again")
	CancelRefund  = machine.NewEvent[Reason]("cancel_refund", machine.Narrowing())
	LeaveNote     = machine.NewEvent[Note]("leave_note")
	Lapsed        = machine.NewEvent[machine.None]("lapsed")
)
