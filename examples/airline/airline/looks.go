package airline

import "github.com/pawlgo/pawl/guard"

// What the rules and the writes look up. A look in vain makes whatever looked unknown.

func flightOf(l guard.Looker) func(FlightOn) FlightRecord {
	return func(on FlightOn) FlightRecord {
		f, _ := Flight.Of(on.subject()).Get(l)
		return f
	}
}

// cabin is the one that a reservation is in: the one that the desk changed it to, or else the one that was booked.
func (d Desk) cabin(reservation string, r ReservationRecord) string {
	if changed, ok := d.Cabins[reservation]; ok {
		return changed
	}
	return r.Cabin
}

// allFlights looks at flights, and tells whether all of them are known.
func allFlights(l guard.Looker, flights []FlightOn) bool {
	known := true
	for _, on := range flights {
		_, ok := Flight.Of(on.subject()).Get(l)
		known = known && ok
	}
	return known
}

// legsOf looks at a reservation and at all its flights.
func legsOf(l guard.Looker, id string) (r ReservationRecord, known bool) {
	r, known = Reservation.Of(id).Get(l)
	for _, leg := range r.Legs {
		_, ok := Flight.Of(FlightSubject(leg.Flight, leg.Date)).Get(l)
		known = known && ok
	}
	return r, known
}

func booking(c Case[Book]) Write { return c.Payload.Write(flightOf(c)) }

func changing(c Case[ChangeFlights]) Write {
	r, _ := Reservation.Of(c.Payload.ReservationID).Get(c)
	return c.Payload.Write(r, c.Data.cabin(c.Payload.ReservationID, r), flightOf(c))
}

func bagging(c Case[ChangeBags]) Write {
	r, _ := Reservation.Get(c)
	return c.Payload.Write(r)
}

func renaming(c Case[ChangePassengers]) Write {
	r, _ := Reservation.Get(c)
	return c.Payload.Write(r)
}

func cancelling(c Case[Cancel]) Write {
	r, _ := Reservation.Get(c)
	return c.Payload.Write(r)
}

func compensating(c Case[Compensate]) Write { return c.Payload.Write() }
