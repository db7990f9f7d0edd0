package office

import (
	"github.com/pawlgo/pawl/examples/airline/airline"
	"github.com/pawlgo/pawl/examples/usd"
)

// User is a customer as the user database holds them.
type User struct {
	Name            Name                     `json:"name"`
	Address         map[string]string        `json:"address"`
	Email           string                   `json:"email"`
	Born            string                   `json:"dob"`
	PaymentMethods  map[string]PaymentMethod `json:"payment_methods"`
	SavedPassengers []airline.Passenger      `json:"saved_passengers"`
	Membership      string                   `json:"membership"`
	Reservations    []string                 `json:"reservations"`
}

// Name is a customer's name.
type Name struct {
	First string `json:"first_name"`
	Last  string `json:"last_name"`
}

// PaymentMethod is one way in which a customer pays.
type PaymentMethod struct {
	Source   string      `json:"source"`
	Brand    string      `json:"brand,omitempty"`
	LastFour string      `json:"last_four,omitempty"`
	Amount   *usd.Amount `json:"amount,omitempty"` // left on a gift card, or worth of a certificate
	ID       string      `json:"id"`
}

// Reservation is a reservation as the reservation system holds it.
type Reservation struct {
	ID          string              `json:"reservation_id"`
	UserID      string              `json:"user_id"`
	Origin      string              `json:"origin"`
	Destination string              `json:"destination"`
	Trip        string              `json:"flight_type"`
	Cabin       string              `json:"cabin"`
	Flights     []Leg               `json:"flights"`
	Passengers  []airline.Passenger `json:"passengers"`
	Payments    []airline.Payment   `json:"payment_history"`
	CreatedAt   string              `json:"created_at"`
	Bags        int                 `json:"total_baggages"`
	PaidBags    int                 `json:"nonfree_baggages"`
	Insurance   string              `json:"insurance"`
	Status      string              `json:"status,omitempty"` // cancelled, or nothing
}

// Leg is one flight of a reservation.
type Leg struct {
	Origin       string     `json:"origin"`
	Destination  string     `json:"destination"`
	FlightNumber string     `json:"flight_number"`
	Date         string     `json:"date"`
	Price        usd.Amount `json:"price"`
}

// Flight is a flight with what is known of it on each date.
type Flight struct {
	FlightNumber string         `json:"flight_number"`
	Origin       string         `json:"origin"`
	Destination  string         `json:"destination"`
	Dates        map[string]Day `json:"dates"`
}

// Day is a flight on a date.
type Day struct {
	Status string                `json:"status"`
	Seats  map[string]int        `json:"available_seats"`
	Prices map[string]usd.Amount `json:"prices"`
}

const cancelled = "cancelled"
