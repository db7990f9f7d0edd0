package retail

import (
	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
)

// whyHidden is why no record of the shop is in the view.
const whyHidden = "the assistant reads records with tools of its own; the desk looks them up again for each write"

// NextTool is the model call that serves the customer: its tools are what is legal now. A write is among them only when it
// was listed and found legal, with exactly the arguments that were listed.
var NextTool = projection.MustDefine(Machine, projection.Spec[Desk]{
	Name: "next_tool",
	In:   []machine.State{Unidentified, Serving},
	Goal: func(Desk) string { return "Serve one customer of the shop" },
	Stages: map[machine.State]string{
		Unidentified: "the customer is not identified",
		Serving:      "the customer is identified",
	},
	Question: "Which tool comes next?",
	Allow: []projection.Answer{
		{Event: FindByEmail, Means: "identify the customer by email"},
		{Event: FindByNameZip, Means: "identify the customer by name and zip code"},
		{Event: ListWrites, Means: "list every write to the customer before it is made, all items of an order at once"},
		{Event: CancelOrder, Means: "cancel a pending order as listed, after the customer's yes"},
		{Event: ModifyAddress, Means: "send a pending order elsewhere as listed, after the customer's yes"},
		{Event: ModifyPayment, Means: "pay a pending order otherwise as listed, after the customer's yes"},
		{Event: ModifyItems, Means: "change items of a pending order as listed, after the customer's yes"},
		{Event: ReturnItems, Means: "return items of a delivered order as listed, after the customer's yes"},
		{Event: ExchangeItems, Means: "exchange items of a delivered order as listed, after the customer's yes"},
		{Event: ModifyUser, Means: "change the customer's own address as listed, after the customer's yes"},
		{Event: Transfer, Means: "hand over to a person; nothing follows"},
	},
	Hidden: []projection.Hidden{
		{Fact: UserByEmail, Reason: whyHidden}, {Fact: UserByNameZip, Reason: whyHidden},
		{Fact: Order, Reason: whyHidden}, {Fact: Payments, Reason: whyHidden}, {Fact: Variant, Reason: whyHidden},
		{Fact: Profile, Reason: whyHidden}, {Fact: Covered, Reason: whyHidden},
		{Fact: Reply, Reason: "what the customer said is in the conversation; whether it counts, the desk judges"},
	},
	Budget: 32 << 10,
})
