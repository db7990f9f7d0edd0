package office

import (
	"errors"
	"fmt"

	"github.com/pawlgo/pawl/examples/airline/airline"
	"github.com/pawlgo/pawl/examples/usd"
)

// ErrNoRecord says that a write names a reservation, a user or a payment method that is not there.
var ErrNoRecord = errors.New("no such record")

// Apply makes a write once for each key, and gives its record again when it is asked for once more. It judges nothing: that
// a write is right was decided before.
func (w *World) Apply(key string, is airline.Write) (airline.Done, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if done, ok := w.recorded[key]; ok {
		return done, nil
	}
	done := airline.Done{Tool: is.Tool, User: is.User, Reservation: is.Reservation, Moves: is.Moves}
	u, known := w.user(is.User)
	if !known {
		return airline.Done{}, fmt.Errorf("user %s: %w", is.User, ErrNoRecord)
	}
	var err error
	switch is.Tool {
	case "book_reservation":
		done.Reservation = w.book(&u, is)
	case "send_certificate":
		w.send(&u, is.Price)
	default:
		err = w.change(&u, is)
	}
	if err != nil {
		return airline.Done{}, err
	}
	w.users[is.User], w.recorded[key] = u, done
	return done, nil
}

// Applied is the record of a write under a key.
func (w *World) Applied(key string) (airline.Done, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done, ok := w.recorded[key]
	return done, ok
}

// book makes a reservation. A certificate is used up, whatever is left of it.
func (w *World) book(u *User, is airline.Write) string {
	id := "HATHA" + string(rune('T'+w.booked))
	r := Reservation{ID: id, UserID: is.User, Origin: is.Origin, Destination: is.Destination, Trip: is.Trip, Cabin: is.Cabin,
		Flights: legs(is.Legs), Passengers: is.Passengers, Payments: is.Moves, CreatedAt: Today.Format(layout), Bags: is.Bags, PaidBags: is.PaidBags, Insurance: is.Insurance}
	for _, p := range is.Moves {
		if u.PaymentMethods[p.PaymentID].Source == airline.Certificate {
			delete(u.PaymentMethods, p.PaymentID)
			continue
		}
		u.take(p)
	}
	u.Reservations = append(u.Reservations, id)
	w.reservations[id] = r
	w.booked++
	return id
}

// send gives a customer a certificate.
func (w *World) send(u *User, worth usd.Amount) {
	id := fmt.Sprintf("certificate_%d", 3221322+w.sent)
	u.PaymentMethods[id] = PaymentMethod{Source: airline.Certificate, Amount: &worth, ID: id}
	w.sent++
}

// change is what a write does to a reservation. Its cabin stays what it was: that is the system's fault.
func (w *World) change(u *User, is airline.Write) error {
	r, known := w.reservation(is.Reservation)
	if !known {
		return fmt.Errorf("reservation %s: %w", is.Reservation, ErrNoRecord)
	}
	switch is.Tool {
	case "update_reservation_flights":
		r.Flights = legs(is.Legs)
	case "update_reservation_baggages":
		r.Bags, r.PaidBags = is.Bags, is.PaidBags
	case "update_reservation_passengers":
		r.Passengers = is.Passengers
	case "cancel_reservation":
		r.Status = cancelled
	}
	for _, p := range is.Moves {
		r.Payments = append(r.Payments, p)
		if is.Tool != "cancel_reservation" { // what a cancelled one gives back takes days
			u.take(p)
		}
	}
	w.reservations[is.Reservation] = r
	return nil
}

// take takes an amount from a gift card, or gives it back when it is below zero. Cards settle elsewhere.
func (u User) take(p airline.Payment) {
	m := u.PaymentMethods[p.PaymentID]
	if m.Source != airline.GiftCard || m.Amount == nil {
		return
	}
	left := *m.Amount - p.Amount
	m.Amount = &left
	u.PaymentMethods[p.PaymentID] = m
}

func legs(of []airline.Leg) []Leg {
	out := make([]Leg, 0, len(of))
	for _, l := range of {
		out = append(out, Leg{Origin: l.Origin, Destination: l.Destination, FlightNumber: l.Flight, Date: l.Date, Price: l.Price})
	}
	return out
}
