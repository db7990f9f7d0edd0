package airline

import (
	"time"

	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The cabins, and what a reservation's trip can be.
const (
	BasicEconomy = "basic_economy"
	Economy      = "economy"
	Business     = "business"
	OneWay       = "one_way"
	RoundTrip    = "round_trip"
)

// ReservationRecord is a reservation as the reservation system holds it. One that it does not hold has no owner. Its cabin is the
// one that was booked: the system does not follow later changes, and the desk remembers those itself.
type ReservationRecord struct {
	Owner       string    `json:"owner"`
	Cabin       string    `json:"cabin"`
	Trip        string    `json:"trip"`
	Origin      string    `json:"origin"`
	Destination string    `json:"destination"`
	Legs        []Leg     `json:"legs"`
	Passengers  int       `json:"passengers"`
	Bags        int       `json:"bags"`
	PaidBags    int       `json:"paid_bags"`
	Insured     bool      `json:"insured"`
	Cancelled   bool      `json:"cancelled"`
	Paid        []Payment `json:"paid"`
	BookedAt    time.Time `json:"booked_at"`
}

// Leg is one flight of a reservation, at the price of one seat.
type Leg struct {
	Flight      string     `json:"flight"`
	Date        string     `json:"date"`
	Origin      string     `json:"origin"`
	Destination string     `json:"destination"`
	Price       usd.Amount `json:"price"`
}

// Payment is money of a reservation: a negative amount was given back.
type Payment struct {
	PaymentID string     `json:"payment_id" validate:"required,max=64"`
	Amount    usd.Amount `json:"amount"`
}

// String is the payment in words.
func (p Payment) String() string {
	if p.Amount < 0 {
		return "give back " + (-p.Amount).String() + " to " + p.PaymentID
	}
	return "charge " + p.Amount.String() + " to " + p.PaymentID
}

// FlightRecord is a flight on a date. One that does not exist has no status.
type FlightRecord struct {
	Status      string                `json:"status"`
	Origin      string                `json:"origin"`
	Destination string                `json:"destination"`
	Seats       map[string]int        `json:"seats"`
	Prices      map[string]usd.Amount `json:"prices"`
}

// The statuses of flights that rules are about.
const (
	FlightAvailable = "available"
	FlightCancelled = "cancelled"
	FlightDelayed   = "delayed"
	FlightFlying    = "flying"
	FlightLanded    = "landed"
)

// The memberships.
const (
	Regular = "regular"
	Silver  = "silver"
	Gold    = "gold"
)

// The sources of payment methods.
const (
	CreditCard  = "credit_card"
	GiftCard    = "gift_card"
	Certificate = "certificate"
)

// Trouble is a reservation of the customer with a flight that did not go as planned.
type Trouble struct {
	Reservation string `json:"reservation"`
	Passengers  int    `json:"passengers"`
	Entitled    bool   `json:"entitled"` // insured, or in business
	Cancelled   bool   `json:"cancelled"`
	Delayed     bool   `json:"delayed"`
	UnderWay    bool   `json:"under_way"` // a flight has left: the reservation can no longer be changed
}

// What the desk may believe, and whom. What the systems say is volatile: asked anew for each commit that stands on it, and never
// kept. What the customer says is kept, and only the customer's own channel can say it.
var (
	Named       = guard.NewFact[string]("user_named", guard.From("customer_channel"), guard.Lasting())
	Reason      = guard.NewFact[bool]("covered_reason", guard.From("customer_channel"), guard.About("reservation"), guard.Lasting())
	Reply       = guard.NewReply("customer_reply", guard.From("customer_channel"))
	Reservation = guard.NewFact[ReservationRecord]("reservation", guard.From("reservation_system"), guard.About("reservation"), guard.Volatile())
	Troubles    = guard.NewFact[[]Trouble]("troubles", guard.From("reservation_system"), guard.About("user"), guard.Volatile())
	Flight      = guard.NewFact[FlightRecord]("flight", guard.From("flight_system"), guard.About("flight"), guard.Volatile())
	Member      = guard.NewFact[string]("member", guard.From("user_database"), guard.About("user"), guard.Volatile())
	Method      = guard.NewFact[string]("method", guard.From("user_database"), guard.About("method"), guard.Volatile())
	Covered     = guard.NewFact[bool]("covered", guard.From("user_database"), guard.About("charge"), guard.Volatile())
	Receipt     = guard.NewFact[Done]("write_receipt", guard.From("reservation_system"), guard.About(machine.EffectKind), guard.Lasting())
)

// FlightSubject is what Flight is about: a flight on a date.
func FlightSubject(number, date string) string { return number + "/" + date }

// MethodSubject is what Method is about: a payment method of a user. Its value is the source of the method, "" when the user has no such
// one. Each method is a fact of its own, so that one that a booking has used up voids no offer that does without it.
func MethodSubject(user, id string) string { return user + "/" + id }

// ChargeSubject is what Covered is about: an amount to be taken from a gift card or a certificate of a user.
func ChargeSubject(user, method string, amount usd.Amount) string {
	return user + "/" + method + "/" + amount.Decimal()
}
