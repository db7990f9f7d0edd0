package airline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/machine"
)

// Write is one change of the reservation or user database, with the money that it moves: computed from facts, never by a model.
// Fields that a tool has no use for are empty.
type Write struct {
	Tool        string      `json:"tool"`
	User        string      `json:"user"`
	Reservation string      `json:"reservation,omitempty"` // "" for a new one
	Cabin       string      `json:"cabin,omitempty"`
	Trip        string      `json:"trip,omitempty"`
	Origin      string      `json:"origin,omitempty"`
	Destination string      `json:"destination,omitempty"`
	Legs        []Leg       `json:"legs,omitempty"`
	Passengers  []Passenger `json:"passengers,omitempty"`
	Bags        int         `json:"bags,omitempty"`
	PaidBags    int         `json:"paid_bags,omitempty"`
	Insurance   string      `json:"insurance,omitempty"`
	Moves       []Payment   `json:"moves,omitempty"`
	Price       usd.Amount  `json:"price"` // of what is bought; of a cancelled reservation what was paid and is given back
}

// Done is the reservation system's own record of a write.
type Done struct {
	Tool        string    `json:"tool"`
	User        string    `json:"user"`
	Reservation string    `json:"reservation,omitempty"` // also of a new one
	Moves       []Payment `json:"moves,omitempty"`
}

// Record is the effect that changes a database. A receipt of another reservation, user or sum proves nothing.
var Record = machine.NewEffect("record_write", Receipt, machine.Matching(func(w Write, d Done) error {
	other := w.Reservation != "" && d.Reservation != w.Reservation
	if other || d.Tool != w.Tool || d.User != w.User || !slices.Equal(d.Moves, w.Moves) {
		return fmt.Errorf("the receipt is of %s %s for %s, not of this write", d.Tool, d.Reservation, d.User)
	}
	return nil
}))

// String is the write in words: they are put to the customer.
func (w Write) String() string {
	parts := []string{strings.ReplaceAll(w.Tool, "_", " ")}
	if w.Reservation != "" {
		parts = append(parts, w.Reservation)
	}
	for _, m := range w.Moves {
		parts = append(parts, m.String())
	}
	return strings.Join(parts, ", ")
}

// What things cost beside the seats.
const (
	bagPrice       usd.Amount = 50_00
	insurancePrice usd.Amount = 30_00 // for each passenger
)

// The writes that the tools stand for. Each is made of records alone, and so the same wherever it is made.

// Write is the booking, at the flights' prices.
func (b Book) Write(flight func(FlightOn) FlightRecord) Write {
	w := Write{Tool: BookReservation.Info().Name, User: b.UserID, Cabin: b.Cabin, Trip: b.FlightType, Origin: b.Origin, Destination: b.Destination,
		Passengers: b.Passengers, Bags: b.TotalBaggages, PaidBags: b.PaidBaggages, Insurance: b.Insurance, Moves: b.Payments}
	for _, on := range b.Flights {
		w.Legs = append(w.Legs, flight(on).leg(on, b.Cabin))
	}
	people := usd.Amount(len(b.Passengers))
	w.Price = fare(w.Legs)*people + bagPrice*usd.Amount(b.PaidBaggages)
	if b.Insurance == "yes" {
		w.Price += insurancePrice * people
	}
	return w
}

// Write is the change, at the price of what is new. Cabin is the one that the reservation really is in.
func (p ChangeFlights) Write(r ReservationRecord, cabin string, flight func(FlightOn) FlightRecord) Write {
	w := Write{Tool: UpdateFlights.Info().Name, User: r.Owner, Reservation: p.ReservationID, Cabin: p.Cabin}
	for _, on := range p.Flights {
		leg, kept := p.kept(r, cabin, on)
		if !kept {
			leg = flight(on).leg(on, p.Cabin)
		}
		w.Legs = append(w.Legs, leg)
	}
	w.Price = (fare(w.Legs) - fare(r.Legs)) * usd.Amount(r.Passengers)
	w.Moves = moved(p.PaymentID, w.Price)
	return w
}

// kept is a leg that the reservation has already, in the same cabin: it keeps its price and its seat.
func (p ChangeFlights) kept(r ReservationRecord, cabin string, on FlightOn) (Leg, bool) {
	i := slices.IndexFunc(r.Legs, func(l Leg) bool { return l.Flight == on.FlightNumber && l.Date == on.Date })
	if i < 0 || p.Cabin != cabin {
		return Leg{}, false
	}
	return r.Legs[i], true
}

// Write is the baggage, at the price of what is more than was paid for.
func (p ChangeBags) Write(r ReservationRecord) Write {
	price := bagPrice * usd.Amount(max(0, p.PaidBaggages-r.PaidBags))
	return Write{Tool: UpdateBaggages.Info().Name, User: r.Owner, Reservation: p.ReservationID, Bags: p.TotalBaggages, PaidBags: p.PaidBaggages,
		Price: price, Moves: moved(p.PaymentID, price)}
}

// Write is the correction, which costs nothing.
func (p ChangePassengers) Write(r ReservationRecord) Write {
	return Write{Tool: UpdatePassengers.Info().Name, User: r.Owner, Reservation: p.ReservationID, Passengers: p.Passengers}
}

// Write gives back each payment the way it came.
func (p Cancel) Write(r ReservationRecord) Write {
	w := Write{Tool: CancelTrip.Info().Name, User: r.Owner, Reservation: p.ReservationID}
	for _, paid := range r.Paid {
		w.Moves = append(w.Moves, Payment{paid.PaymentID, -paid.Amount})
		w.Price += paid.Amount
	}
	return w
}

// Write is the certificate.
func (p Compensate) Write() Write {
	return Write{Tool: SendCertificate.Info().Name, User: p.UserID, Price: usd.Amount(p.Amount) * 100}
}

func fare(legs []Leg) usd.Amount {
	var sum usd.Amount
	for _, l := range legs {
		sum += l.Price
	}
	return sum
}

func moved(method string, amount usd.Amount) []Payment {
	if amount == 0 {
		return nil
	}
	return []Payment{{method, amount}}
}

func (f FlightRecord) leg(on FlightOn, cabin string) Leg {
	return Leg{Flight: on.FlightNumber, Date: on.Date, Origin: f.Origin, Destination: f.Destination, Price: f.Prices[cabin]}
}
