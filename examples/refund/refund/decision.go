package refund

import (
	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
)

// InterpretReply is the model call that reads what the customer said while the desk waits for their word.
var InterpretReply = projection.MustDefine(Machine, projection.Spec[Refund]{
	Name:   "interpret_reply",
	In:     []machine.State{AwaitingUserConfirmation},
	Goal:   func(r Refund) string { return "Refund order " + r.OrderID + " after confirmation" },
	Stages: map[machine.State]string{AwaitingUserConfirmation: "waiting for the customer's confirmation"},
	Fields: []projection.Field[Refund]{
		{Label: "amount", Value: func(r Refund) any { return r.Amount }},
		{Label: "questions asked so far", Value: func(r Refund) any { return r.Asked }},
	},
	Facts: []projection.Fact{
		projection.ShowOwned("the order belongs to the customer who is signed in", OrderOwner),
		{Label: "status of the order", Fact: OrderStatus},
		projection.Show("the policy allows a refund", Eligible, func(e Eligibility) any { return e.Eligible }),
	},
	NotYet:   []projection.Undone[Refund]{{Label: "the refund has not been sent", Effect: IssueRefund}},
	Question: "Does this message amount to explicit confirmation?",
	Allow: []projection.Answer{
		{Event: ConfirmRefund, Means: "the customer explicitly confirmed exactly this refund"},
		{Event: AskAgain, Means: "it is not clear; text is put before the question that is asked once more"},
		{Event: CancelRefund, Means: "the customer does not want the refund; text says why"},
	},
	Drop: []string{"questions asked so far"},
})
