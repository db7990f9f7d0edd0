package airline

import (
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Listing is what the assistant lists to the customer before anything is written, under the names of the tools. Each write is
// judged as if it were confirmed; when one of them would be refused nothing is offered.
type Listing struct {
	Book       []Book             `json:"book_reservation" validate:"max=5,dive"`
	Flights    []ChangeFlights    `json:"update_reservation_flights" validate:"max=10,dive"`
	Bags       []ChangeBags       `json:"update_reservation_baggages" validate:"max=10,dive"`
	Passengers []ChangePassengers `json:"update_reservation_passengers" validate:"max=10,dive"`
	Cancel     []Cancel           `json:"cancel_reservation" validate:"max=10,dive"`
	Compensate []Compensate       `json:"send_certificate" validate:"max=5,dive"`
}

// Patience is how long a customer may think about what was listed.
const Patience = time.Hour

// offers puts each listed write to the customer, word for word.
func offers() []machine.Output[Desk, Listing] {
	return []machine.Output[Desk, Listing]{
		machine.Offer(BookReservation, machine.TaskOwner, Patience, func(c Case[Listing]) []Book { return c.Payload.Book }),
		machine.Offer(UpdateFlights, machine.TaskOwner, Patience, func(c Case[Listing]) []ChangeFlights { return c.Payload.Flights }),
		machine.Offer(UpdateBaggages, machine.TaskOwner, Patience, func(c Case[Listing]) []ChangeBags { return c.Payload.Bags }),
		machine.Offer(UpdatePassengers, machine.TaskOwner, Patience, func(c Case[Listing]) []ChangePassengers { return c.Payload.Passengers }),
		machine.Offer(CancelTrip, machine.TaskOwner, Patience, func(c Case[Listing]) []Cancel { return c.Payload.Cancel }),
		machine.Offer(SendCertificate, machine.TaskOwner, Patience, func(c Case[Listing]) []Compensate { return c.Payload.Compensate }),
	}
}

// grounded looks at everything that the listed writes stand on, so that all of it is asked for at once.
func grounded(c Case[Listing]) guard.Verdict {
	l := c.Payload
	if len(l.Book)+len(l.Flights)+len(l.Bags)+len(l.Passengers)+len(l.Cancel)+len(l.Compensate) == 0 {
		return guard.Deny("nothing_listed", "no write is listed")
	}
	Member.Get(c)
	if len(l.Compensate) > 0 {
		Troubles.Get(c)
	}
	for _, b := range l.Book {
		b.Write(flightOf(c))
		for _, p := range b.Payments {
			payable(c, p.PaymentID, p.Amount)
		}
	}
	for _, p := range l.Flights {
		payable(c, p.PaymentID, 0)
		if r, known := legsOf(c, p.ReservationID); allFlights(c, p.Flights) && known {
			changePayable(c, p.PaymentID, p.Write(r, c.Data.cabin(p.ReservationID, r), flightOf(c)).Price)
		}
	}
	for _, p := range l.Bags {
		payable(c, p.PaymentID, 0)
		if r, known := Reservation.Of(p.ReservationID).Get(c); known {
			changePayable(c, p.PaymentID, p.Write(r).Price)
		}
	}
	for _, p := range l.Passengers {
		Reservation.Of(p.ReservationID).Get(c)
	}
	for _, p := range l.Cancel {
		legsOf(c, p.ReservationID)
	}
	return guard.Allow()
}
