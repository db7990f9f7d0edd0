package airline

import (
	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
)

// whyHidden is why no record of the airline is in the view.
const whyHidden = "the assistant reads records with tools of its own; the desk looks them up again for each write"

// NextTool is the model call that serves the customer: its tools are what is legal now. A write is among them only when it
// was listed and found legal, with exactly the arguments that were listed.
var NextTool = projection.MustDefine(Machine, projection.Spec[Desk]{
	Name: "next_tool",
	In:   []machine.State{Unidentified, Serving},
	Goal: func(Desk) string { return "Serve one customer of the airline" },
	Stages: map[machine.State]string{
		Unidentified: "the customer has not said who they are",
		Serving:      "the customer has said who they are",
	},
	Question: "Which tool comes next?",
	Allow: []projection.Answer{
		{Event: ListWrites, Means: "list every write to the customer before it is made"},
		{Event: BookReservation, Means: "book as listed, after the customer's yes"},
		{Event: UpdateFlights, Means: "change flights or cabin as listed, after the customer's yes"},
		{Event: UpdateBaggages, Means: "add bags as listed, after the customer's yes"},
		{Event: UpdatePassengers, Means: "correct passengers as listed, after the customer's yes"},
		{Event: CancelTrip, Means: "cancel a reservation as listed, after the customer's yes"},
		{Event: SendCertificate, Means: "send a certificate as listed, after the customer's yes"},
		{Event: Transfer, Means: "hand over to a person; nothing follows"},
	},
	Hidden: []projection.Hidden{
		{Fact: Reservation, Reason: whyHidden}, {Fact: Flight, Reason: whyHidden}, {Fact: Member, Reason: whyHidden}, {Fact: Method, Reason: whyHidden},
		{Fact: Covered, Reason: whyHidden}, {Fact: Troubles, Reason: whyHidden},
		{Fact: Reason, Reason: "what the customer said is in the conversation"},
		{Fact: Reply, Reason: "what the customer said is in the conversation; whether it counts, the desk judges"},
	},
	Budget: 32 << 10,
})
