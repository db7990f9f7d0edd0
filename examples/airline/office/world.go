package office

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/pawlgo/pawl/examples/airline/airline"
	"github.com/pawlgo/pawl/examples/usd"
)

// World is the airline as one conversation changes it: the databases, and copies of the records that are no longer as they were.
// Safe for concurrent use.
type World struct {
	office *Office

	mu           sync.Mutex
	users        map[string]User
	reservations map[string]Reservation
	recorded     map[string]airline.Done
	booked, sent int // reservations and certificates that were made
}

// Begin is the airline before a conversation.
func (o *Office) Begin() *World {
	return &World{office: o, users: map[string]User{}, reservations: map[string]Reservation{}, recorded: map[string]airline.Done{}}
}

// user is a copy of a customer's record.
func (w *World) user(id string) (User, bool) {
	u, ok := w.users[id]
	if !ok {
		u, ok = w.office.users[id]
	}
	u.PaymentMethods, u.Reservations = maps.Clone(u.PaymentMethods), slices.Clone(u.Reservations)
	return u, ok
}

// reservation is a copy of a reservation's record, whose payments may be changed.
func (w *World) reservation(id string) (Reservation, bool) {
	r, ok := w.reservations[id]
	if !ok {
		r, ok = w.office.reservations[id]
	}
	r.Payments = slices.Clone(r.Payments)
	return r, ok
}

// covers tells whether a gift card or a certificate has an amount.
func (w *World) covers(user, id string, amount usd.Amount) bool {
	u, _ := w.user(user)
	m := u.PaymentMethods[id]
	return m.Amount != nil && *m.Amount >= amount
}

// record is what the reservation system says of a reservation.
func (w *World) record(id string) (airline.ReservationRecord, error) {
	r, known := w.reservation(id)
	if !known {
		return airline.ReservationRecord{}, nil
	}
	booked, err := time.Parse(layout, r.CreatedAt)
	if err != nil {
		return airline.ReservationRecord{}, fmt.Errorf("reservation %s: %w", id, err)
	}
	out := airline.ReservationRecord{Owner: r.UserID, Cabin: r.Cabin, Trip: r.Trip, Origin: r.Origin, Destination: r.Destination,
		Passengers: len(r.Passengers), Bags: r.Bags, PaidBags: r.PaidBags, Insured: r.Insurance == "yes", Cancelled: r.Status == cancelled,
		Paid: r.Payments, BookedAt: booked}
	for _, l := range r.Flights {
		out.Legs = append(out.Legs, airline.Leg{Flight: l.FlightNumber, Date: l.Date, Origin: l.Origin, Destination: l.Destination, Price: l.Price})
	}
	return out, nil
}

// Changes are the records that are no longer as they were before the conversation.
func (w *World) Changes() map[string]map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]map[string]any{}
	add := func(kind, id string, was, is any) {
		if reflect.DeepEqual(was, is) {
			return
		}
		if out[kind] == nil {
			out[kind] = map[string]any{}
		}
		out[kind][id] = is
	}
	for id, r := range w.reservations {
		add("reservations", id, w.office.reservations[id], r)
	}
	for id, u := range w.users {
		add("users", id, w.office.users[id], u)
	}
	return out
}
