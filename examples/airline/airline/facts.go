package airline

import (
	"slices"
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
	AsOf        time.Time `json:"as_of"` // the reservation system's own clock
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

// ProfileRecord is what the user database says of a customer, as far as a write depends on it.
type ProfileRecord struct {
	Member  string   `json:"member"` // regular, silver or gold
	Methods []Method `json:"methods"`
}

// Method is a payment method of a customer. Its source is credit_card, gift_card or certificate.
type Method struct {
	ID     string `json:"id"`
	Source string `json:"source"`
}

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
	Profile     = guard.NewFact[ProfileRecord]("profile", guard.From("user_database"), guard.About("user"), guard.Volatile())
	Covered     = guard.NewFact[bool]("covered", guard.From("user_database"), guard.About("charge"), guard.Volatile())
	Receipt     = guard.NewFact[Done]("write_receipt", guard.From("reservation_system"), guard.About(machine.EffectKind), guard.Lasting())
)

// FlightSubject is what Flight is about: a flight on a date.
func FlightSubject(number, date string) string { return number + "/" + date }

// ChargeSubject is what Covered is about: an amount to be taken from a gift card or a certificate of a user.
func ChargeSubject(user, method string, amount usd.Amount) string {
	return user + "/" + method + "/" + amount.Decimal()
}

func (p ProfileRecord) method(id string) (Method, bool) {
	i := slices.IndexFunc(p.Methods, func(m Method) bool { return m.ID == id })
	if i < 0 {
		return Method{}, false
	}
	return p.Methods[i], true
}
