// Package office plays the systems of an airline: its user and reservation databases and its flights. Like the system that it
// stands for, it never updates the cabin of a changed reservation.
package office

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/pawlgo/pawl/examples/airline/airline"
)

// Today is when all conversations take place.
var Today = time.Date(2024, 5, 15, 15, 0, 0, 0, time.UTC)

// layout is how the reservation system writes times.
const layout = "2006-01-02T15:04:05"

// Office is the databases as they are before any conversation. Read only, and so safe for concurrent use.
type Office struct {
	users        map[string]User
	reservations map[string]Reservation
	flights      map[string]Flight
}

// Load reads the databases from db/airline_users.json, airline_reservations.json and airline_flights.json.
func Load(fsys fs.FS) (*Office, error) {
	o := &Office{}
	for name, into := range map[string]any{"users": &o.users, "reservations": &o.reservations, "flights": &o.flights} {
		raw, err := fs.ReadFile(fsys, "db/airline_"+name+".json")
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			return nil, fmt.Errorf("the airline's %s: %w", name, err)
		}
	}
	return o, nil
}

// flight is a flight on a date; one that does not exist is the zero record.
func (o *Office) flight(subject string) airline.FlightRecord {
	number, date, _ := strings.Cut(subject, "/")
	f := o.flights[number]
	day, ok := f.Dates[date]
	if !ok {
		return airline.FlightRecord{}
	}
	return airline.FlightRecord{Status: day.Status, Origin: f.Origin, Destination: f.Destination, Seats: day.Seats, Prices: day.Prices}
}
