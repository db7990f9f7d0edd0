package office

import (
	"encoding/json"
	"fmt"

	"github.com/pawlgo/pawl/examples/airline/airline"
)

// Force makes the write of a call without judging it, as the bare tool does: for recorded writes that the desk refuses.
func (w *World) Force(tool string, args json.RawMessage) error {
	is, err := w.written(tool, args)
	if err != nil {
		return fmt.Errorf("force %s: %w", tool, err)
	}
	w.mu.Lock()
	key := fmt.Sprintf("forced/%d", len(w.recorded))
	w.mu.Unlock()
	_, err = w.Apply(key, is)
	return err
}

// written is the write that a call stands for.
func (w *World) written(tool string, args json.RawMessage) (airline.Write, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	flight := func(on airline.FlightOn) airline.FlightRecord {
		return w.office.flight(airline.FlightSubject(on.FlightNumber, on.Date))
	}
	switch tool {
	case "book_reservation":
		p, err := decoded[airline.Book](args)
		return p.Write(flight), err
	case "update_reservation_flights":
		p, err := decoded[airline.ChangeFlights](args)
		r, e := w.known(p.ReservationID, err)
		return p.Write(r, r.Cabin, flight), e
	case "update_reservation_baggages":
		p, err := decoded[airline.ChangeBags](args)
		r, e := w.known(p.ReservationID, err)
		return p.Write(r), e
	case "update_reservation_passengers":
		p, err := decoded[airline.ChangePassengers](args)
		r, e := w.known(p.ReservationID, err)
		return p.Write(r), e
	case "cancel_reservation":
		p, err := decoded[airline.Cancel](args)
		r, e := w.known(p.ReservationID, err)
		return p.Write(r), e
	}
	p, err := decoded[airline.Compensate](args)
	return p.Write(), err
}

func decoded[P any](args json.RawMessage) (P, error) {
	var p P
	err := json.Unmarshal(args, &p)
	return p, err
}

// known is a reservation's record, unless something went wrong before.
func (w *World) known(id string, err error) (airline.ReservationRecord, error) {
	if err != nil {
		return airline.ReservationRecord{}, err
	}
	return w.record(id)
}
