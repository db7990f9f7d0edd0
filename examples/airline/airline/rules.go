package airline

import (
	"slices"
	"time"

	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/guard"
)

// Guards over the reservation. The payload says which one they are about.
var (
	exists = guard.Holds("reservation_exists", "there is no such reservation", Reservation, func(r ReservationRecord) bool { return r.Owner != "" })
	active = guard.Holds("reservation_active", "the reservation was cancelled", Reservation, func(r ReservationRecord) bool { return !r.Cancelled })
)

func own[P any](c Case[P]) guard.Verdict {
	if r, _ := Reservation.Get(c); r.Owner != c.Data.User {
		return guard.Deny("not_own_reservation", "the reservation belongs to somebody else")
	}
	return guard.Allow()
}

// seats holds when each flight exists, can be booked and has enough seats in the cabin.
func seats(l guard.Looker, flights []FlightOn, cabin string, people int) guard.Verdict {
	for _, on := range flights {
		f, known := Flight.Of(on.subject()).Get(l)
		switch {
		case !known:
			continue
		case f.Status == "":
			return guard.Deny("no_such_flight", "a flight does not exist on that date").With("flight", on.subject())
		case f.Status != FlightAvailable:
			return guard.Deny("not_bookable", "a flight cannot be booked on that date").With("flight", on.subject())
		case f.Seats[cabin] < people:
			return guard.Deny("no_seats", "a flight has not enough seats in the cabin").With("flight", on.subject())
		}
	}
	return guard.Allow()
}

func bookedSeats(c Case[Book]) guard.Verdict {
	return seats(c, c.Payload.Flights, c.Payload.Cabin, len(c.Payload.Passengers))
}

// changedSeats looks at what is new only: a flight that is kept in its cabin keeps its seats.
func changedSeats(c Case[ChangeFlights]) guard.Verdict {
	r, _ := Reservation.Get(c)
	cabin := c.Data.cabin(c.Payload.ReservationID, r)
	fresh := slices.DeleteFunc(slices.Clone(c.Payload.Flights), func(on FlightOn) bool {
		_, kept := c.Payload.kept(r, cabin, on)
		return kept
	})
	return seats(c, fresh, c.Payload.Cabin, r.Passengers)
}

// connected holds when each leg begins where the one before ended, and not before it.
func connected(legs []Leg) bool {
	for i := range legs[1:] {
		if legs[i].Destination != legs[i+1].Origin || legs[i+1].Date < legs[i].Date {
			return false
		}
	}
	return true
}

func visits(legs []Leg, airport string) bool {
	return slices.ContainsFunc(legs, func(l Leg) bool { return l.Destination == airport })
}

func bookedRoute(c Case[Book]) guard.Verdict {
	p, legs := c.Payload, booking(c).Legs
	end := p.Destination
	if p.FlightType == RoundTrip {
		end = p.Origin
	}
	switch {
	case !connected(legs):
		return guard.Deny("route_broken", "the flights do not connect")
	case legs[0].Origin != p.Origin || legs[len(legs)-1].Destination != end || !visits(legs, p.Destination):
		return guard.Deny("route_differs", "the flights do not lead where they should")
	}
	return guard.Allow()
}

// sameRoute holds when the new flights begin and end where the old ones did, and pass the destination if those did.
func sameRoute(c Case[ChangeFlights]) guard.Verdict {
	r, known := Reservation.Get(c)
	if !known || len(r.Legs) == 0 {
		return guard.Allow()
	}
	old, legs := r.Legs, changing(c).Legs
	switch {
	case !connected(legs):
		return guard.Deny("route_broken", "the flights do not connect")
	case legs[0].Origin != old[0].Origin || legs[len(legs)-1].Destination != old[len(old)-1].Destination,
		visits(old, r.Destination) && !visits(legs, r.Destination):
		return guard.Deny("route_changed", "origin, destination and kind of trip stay what they are")
	}
	return guard.Allow()
}

// fixedInBasic holds unless flights of a basic economy reservation are changed. Its cabin may be.
func fixedInBasic(c Case[ChangeFlights]) guard.Verdict {
	r, known := Reservation.Get(c)
	if !known || c.Data.cabin(c.Payload.ReservationID, r) != BasicEconomy {
		return guard.Allow()
	}
	same := len(r.Legs) == len(c.Payload.Flights)
	for i := 0; same && i < len(r.Legs); i++ {
		same = r.Legs[i].Flight == c.Payload.Flights[i].FlightNumber && r.Legs[i].Date == c.Payload.Flights[i].Date
	}
	if !same {
		return guard.Deny("basic_economy_fixed", "flights of a basic economy reservation cannot be changed")
	}
	return guard.Allow()
}

// notFlown holds when none of the reservation's flights has left yet. One that is partly used is a person's business.
func notFlown[P any](c Case[P]) guard.Verdict {
	r, _ := Reservation.Get(c)
	for _, l := range r.Legs {
		if f, _ := Flight.Of(FlightSubject(l.Flight, l.Date)).Get(c); f.Status == FlightFlying || f.Status == FlightLanded {
			return guard.Deny("flown", "a flight of the reservation has been used").With("flight", l.Flight)
		}
	}
	return guard.Allow()
}

// MaxParty is how many passengers one reservation has at most.
const MaxParty = 5

func smallParty(c Case[Book]) guard.Verdict {
	if len(c.Payload.Passengers) > MaxParty {
		return guard.Deny("party_too_large", "at most five passengers fly on one reservation")
	}
	return guard.Allow()
}

// The most payment methods of each kind for one booking.
var mostOf = map[string]int{Certificate: 1, CreditCard: 1, GiftCard: 3}

func paymentMix(c Case[Book]) guard.Verdict {
	count := map[string]int{}
	for _, p := range c.Payload.Payments {
		source, _ := Method.Of(MethodSubject(c.Data.User, p.PaymentID)).Get(c)
		count[source]++
	}
	for source, most := range mostOf {
		if count[source] > most {
			return guard.Deny("payment_mix", "one certificate, one credit card and three gift cards are the most").With("kind", source)
		}
	}
	return guard.Allow()
}

// paysUp holds when the customer's own methods have the amounts, and those add up to the price.
func paysUp(c Case[Book]) guard.Verdict {
	var sum usd.Amount
	verdict := guard.Allow()
	for _, p := range c.Payload.Payments {
		sum += p.Amount
		verdict = guard.Both(verdict, payable(c, p.PaymentID, p.Amount))
	}
	if w := booking(c); sum != w.Price {
		return guard.Both(verdict, guard.Deny("does_not_add_up", "the payments are not the price").With("price", w.Price.String()))
	}
	return verdict
}

// payable holds when the method is the customer's own and has the amount.
func payable[P any](c Case[P], id string, amount usd.Amount) guard.Verdict {
	source, known := Method.Of(MethodSubject(c.Data.User, id)).Get(c)
	switch {
	case !known:
		return guard.Verdict{}
	case source == "":
		return guard.Deny("not_in_profile", "it is no payment method of the customer")
	case amount < 0:
		return guard.Deny("negative_payment", "an amount is below zero")
	case source == CreditCard || amount == 0:
		return guard.Allow()
	}
	if covered, known := Covered.Of(ChargeSubject(c.Data.User, id, amount)).Get(c); known && !covered {
		return guard.Deny("not_covered", "the balance is not enough")
	}
	return guard.Allow()
}

// changePayable holds for what a change costs, or gives back. A certificate is for bookings only.
func changePayable[P any](c Case[P], id string, price usd.Amount) guard.Verdict {
	if source, _ := Method.Of(MethodSubject(c.Data.User, id)).Get(c); source == Certificate {
		return guard.Deny("certificate", "a certificate pays for bookings only")
	}
	return payable(c, id, max(0, price))
}

func flightsPayable(c Case[ChangeFlights]) guard.Verdict {
	_, known := Reservation.Get(c)
	if !allFlights(c, c.Payload.Flights) || !known {
		return payable(c, c.Payload.PaymentID, 0) // there is no price yet
	}
	return changePayable(c, c.Payload.PaymentID, changing(c).Price)
}

func bagsPayable(c Case[ChangeBags]) guard.Verdict {
	return changePayable(c, c.Payload.PaymentID, bagging(c).Price)
}

// freeBags are how many bags of each passenger fly free, by membership and cabin.
var freeBags = map[string]map[string]int{
	Regular: {BasicEconomy: 0, Economy: 1, Business: 2},
	Silver:  {BasicEconomy: 1, Economy: 2, Business: 3},
	Gold:    {BasicEconomy: 2, Economy: 3, Business: 3},
}

// bagsPriced holds when what is paid for is what exceeds the free bags.
func bagsPriced(member, cabin string, people, total, paid int) guard.Verdict {
	if excess := max(0, total-freeBags[member][cabin]*people); paid != excess {
		return guard.Deny("bags_mispriced", "the bags to pay for are those above the free ones").With("bags to pay for", excess)
	}
	return guard.Allow()
}

func bookedBags(c Case[Book]) guard.Verdict {
	p := c.Payload
	member, _ := Member.Get(c)
	return bagsPriced(member, p.Cabin, len(p.Passengers), p.TotalBaggages, p.PaidBaggages)
}

func moreBags(c Case[ChangeBags]) guard.Verdict {
	p := c.Payload
	member, _ := Member.Get(c)
	r, _ := Reservation.Get(c)
	if p.TotalBaggages < r.Bags || p.PaidBaggages < r.PaidBags {
		return guard.Deny("bags_removed", "bags can only be added")
	}
	return bagsPriced(member, c.Data.cabin(p.ReservationID, r), r.Passengers, p.TotalBaggages, p.PaidBaggages)
}

func sameCount(c Case[ChangePassengers]) guard.Verdict {
	if r, _ := Reservation.Get(c); len(c.Payload.Passengers) != r.Passengers {
		return guard.Deny("counts_differ", "names can be corrected, and nobody added or left out")
	}
	return guard.Allow()
}

// graceTime is how long every reservation can be cancelled.
const graceTime = 24 * time.Hour

// cancellable holds within a day of the booking, in business, when the airline has cancelled a flight, and with an insurance for a
// reason that it covers: health or weather, as the customer says.
func cancellable(c Case[Cancel]) guard.Verdict {
	r, known := Reservation.Get(c)
	switch {
	case !known:
		return guard.Verdict{}
	case c.Now().Sub(r.BookedAt) <= graceTime, c.Data.cabin(c.Payload.ReservationID, r) == Business:
		return guard.Allow()
	}
	for _, l := range r.Legs {
		if f, _ := Flight.Of(FlightSubject(l.Flight, l.Date)).Get(c); f.Status == FlightCancelled {
			return guard.Allow()
		}
	}
	if !r.Insured {
		return guard.Deny("not_cancellable", "neither time, cabin, airline nor insurance allow it")
	}
	if covered, known := Reason.Get(c); known && !covered {
		return guard.Deny("reason_not_covered", "the insurance covers health and weather only")
	}
	return guard.Allow()
}

// The amounts of a certificate for each passenger, in dollars.
const (
	forCancelled = 100
	forDelayed   = 50
)

// entitled holds when a flight of the customer was cancelled, or delayed and the reservation then changed or cancelled, unless it is
// too late for that; and when the amount is what that is worth. Regular members need insurance or business.
func entitled(c Case[Compensate]) guard.Verdict {
	member, _ := Member.Get(c)
	troubles, _ := Troubles.Get(c)
	why := guard.Deny("no_trouble", "no flight of the customer was cancelled, or delayed and then changed")
	for _, t := range troubles {
		delayed := t.Delayed && (t.UnderWay || slices.Contains(c.Data.Touched, t.Reservation))
		switch {
		case !t.Cancelled && !delayed:
		case member == Regular && !t.Entitled:
			why = guard.Deny("not_entitled", "a regular member without insurance gets none")
		case t.Cancelled && c.Payload.Amount == forCancelled*t.Passengers, delayed && c.Payload.Amount == forDelayed*t.Passengers:
			return guard.Allow()
		default:
			why = guard.Deny("amount_differs", "the amount is not what the trouble is worth")
		}
	}
	return why
}
