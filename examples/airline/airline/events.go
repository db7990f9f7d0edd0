package airline

import (
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Desk is the task's data: who is served, and what the desk has changed. Facts about a user are about this one.
type Desk struct {
	User    string            `json:"user" about:"user"`
	Cabins  map[string]string `json:"cabins"`  // reservation to the cabin that it was changed to, which its record does not show
	Touched []string          `json:"touched"` // reservations that were changed or cancelled
	Open    *Change           `json:"open"`    // what is being written, until its receipt comes
}

// Change is what a write changes that is already booked. A booking, a certificate, has no reservation.
type Change struct {
	Reservation string `json:"reservation"`
	Cabin       string `json:"cabin"` // "" when it stays
}

// The payloads are the arguments of the tools, by the names that models know them under.
type (
	// FlightOn is a flight on a date.
	FlightOn struct {
		FlightNumber string `json:"flight_number" validate:"required,max=16"`
		Date         string `json:"date" validate:"datetime=2006-01-02"`
	}
	// Passenger is somebody who flies.
	Passenger struct {
		FirstName string `json:"first_name" validate:"required,max=80"`
		LastName  string `json:"last_name" validate:"required,max=80"`
		Born      string `json:"dob" validate:"required,max=10"`
	}
	// Book makes a reservation.
	Book struct {
		UserID        string      `json:"user_id" validate:"required,max=64" about:"user"`
		Origin        string      `json:"origin" validate:"required,max=8"`
		Destination   string      `json:"destination" validate:"required,max=8"`
		FlightType    string      `json:"flight_type" validate:"oneof=one_way round_trip"`
		Cabin         string      `json:"cabin" validate:"oneof=basic_economy economy business"`
		Flights       []FlightOn  `json:"flights" validate:"min=1,max=10,dive"`
		Passengers    []Passenger `json:"passengers" validate:"min=1,max=20,dive"`
		Payments      []Payment   `json:"payment_methods" validate:"max=10,dive"`
		TotalBaggages int         `json:"total_baggages" validate:"min=0,max=100"`
		PaidBaggages  int         `json:"nonfree_baggages" validate:"min=0,max=100"`
		Insurance     string      `json:"insurance" validate:"oneof=yes no"`
	}
	// ChangeFlights puts other flights, or another cabin, in the place of all flights of a reservation.
	ChangeFlights struct {
		ReservationID string     `json:"reservation_id" validate:"required,max=16" about:"reservation"`
		Cabin         string     `json:"cabin" validate:"oneof=basic_economy economy business"`
		Flights       []FlightOn `json:"flights" validate:"min=1,max=10,dive"`
		PaymentID     string     `json:"payment_id" validate:"required,max=64"`
	}
	// ChangeBags adds baggage.
	ChangeBags struct {
		ReservationID string `json:"reservation_id" validate:"required,max=16" about:"reservation"`
		TotalBaggages int    `json:"total_baggages" validate:"min=0,max=100"`
		PaidBaggages  int    `json:"nonfree_baggages" validate:"min=0,max=100"`
		PaymentID     string `json:"payment_id" validate:"required,max=64"`
	}
	// ChangePassengers corrects who flies.
	ChangePassengers struct {
		ReservationID string      `json:"reservation_id" validate:"required,max=16" about:"reservation"`
		Passengers    []Passenger `json:"passengers" validate:"min=1,max=20,dive"`
	}
	// Cancel gives up a whole reservation.
	Cancel struct {
		ReservationID string `json:"reservation_id" validate:"required,max=16" about:"reservation"`
	}
	// Compensate sends a certificate.
	Compensate struct {
		UserID string `json:"user_id" validate:"required,max=64" about:"user"`
		Amount int    `json:"amount" validate:"min=1,max=100000"` // whole dollars
	}
	// Summary is what a person who takes over should know.
	Summary struct {
		Summary string `json:"summary" validate:"max=16000"`
	}
)

// Case is what the checks of this machine look at.
type Case[P any] = guard.Case[Desk, P]

// What may be proposed: the tools of the assistant, and the listing that comes before every write.
var (
	ListWrites       = machine.NewEvent[Listing]("list_writes")
	BookReservation  = machine.NewEvent[Book]("book_reservation")
	UpdateFlights    = machine.NewEvent[ChangeFlights]("update_reservation_flights")
	UpdateBaggages   = machine.NewEvent[ChangeBags]("update_reservation_baggages")
	UpdatePassengers = machine.NewEvent[ChangePassengers]("update_reservation_passengers")
	CancelTrip       = machine.NewEvent[Cancel]("cancel_reservation")
	SendCertificate  = machine.NewEvent[Compensate]("send_certificate")
	Transfer         = machine.NewEvent[Summary]("transfer_to_human_agents")
)

// subject is what Flight is about.
func (f FlightOn) subject() string { return FlightSubject(f.FlightNumber, f.Date) }
