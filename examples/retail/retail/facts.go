package retail

import (
	"slices"

	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// OrderRecord is an order as the order database holds it. An order that it does not hold has no status.
type OrderRecord struct {
	Owner  string `json:"owner"`
	Status string `json:"status"`
	Lines  []Line `json:"lines"`
}

// Line is one item of an order.
type Line struct {
	Item    string     `json:"item"`
	Product string     `json:"product"`
	Price   usd.Amount `json:"price"`
}

// The statuses of an order that writes are allowed in.
const (
	StatusPending   = "pending"
	StatusModified  = "pending (item modified)" // nothing but its delivery follows
	StatusDelivered = "delivered"
)

// PaymentRecord is what was paid for an order and given back, in the order in which it happened.
type PaymentRecord struct {
	Moves []Move `json:"moves"`
}

// Move is money on its way: a charge takes it from a payment method of the customer, a refund gives it back.
type Move struct {
	Kind   string     `json:"kind"`
	Method string     `json:"method"`
	Amount usd.Amount `json:"amount"`
}

// The kinds of moves.
const (
	Charge = "charge"
	Refund = "refund"
)

// String is the move in words.
func (m Move) String() string {
	if m.Kind == Charge {
		return "charge " + m.Amount.String() + " to " + m.Method
	}
	return "refund " + m.Amount.String() + " to " + m.Method
}

// VariantRecord is one option of a product as the catalogue holds it. One that it does not hold belongs to no product.
type VariantRecord struct {
	Product   string     `json:"product"`
	Available bool       `json:"available"`
	Price     usd.Amount `json:"price"`
}

// ProfileRecord is what the user database says of a customer, as far as a write depends on it.
type ProfileRecord struct {
	Methods []Method `json:"methods"`
}

// Method is a payment method of a customer.
type Method struct {
	ID       string `json:"id"`
	GiftCard bool   `json:"gift_card"`
}

// method finds a payment method by its id.
func (p ProfileRecord) method(id string) (Method, bool) {
	i := slices.IndexFunc(p.Methods, func(m Method) bool { return m.ID == id })
	if i < 0 {
		return Method{}, false
	}
	return p.Methods[i], true
}

// What the desk may believe, and whom. Everything about orders, stock and money is volatile: asked anew for each commit that
// stands on it, and never kept, so that no write rests on what was true a moment ago.
var (
	UserByEmail   = guard.NewFact[string]("user_by_email", guard.From("identity_service"), guard.About("email"), guard.Volatile())
	UserByNameZip = guard.NewFact[string]("user_by_name_zip", guard.From("identity_service"), guard.About("name_zip"), guard.Volatile())
	Order         = guard.NewFact[OrderRecord]("order", guard.From("order_database"), guard.About("order"), guard.Volatile())
	Payments      = guard.NewFact[PaymentRecord]("payments", guard.From("order_database"), guard.About("order"), guard.Volatile())
	Variant       = guard.NewFact[VariantRecord]("variant", guard.From("product_catalogue"), guard.About("variant"), guard.Volatile())
	Profile       = guard.NewFact[ProfileRecord]("profile", guard.From("user_database"), guard.About("user"), guard.Volatile())
	Covered       = guard.NewFact[bool]("covered", guard.From("user_database"), guard.About("charge"), guard.Volatile())
	Reply         = guard.NewReply("customer_reply", guard.From("customer_channel"))
	Receipt       = guard.NewFact[Done]("write_receipt", guard.From("order_database"), guard.About(machine.EffectKind), guard.Lasting())
)

// ChargeSubject is what Covered is about: an amount to be taken from a gift card of a user. The answer is a yes or a no and
// not a balance, so that a card that is topped up voids no offer that it covers in any case.
func ChargeSubject(user, card string, amount usd.Amount) string {
	return user + "/" + card + "/" + amount.Decimal()
}

// Guards over the order and the catalogue. The payload says which order and which variants they are about.
var (
	exists    = guard.Holds("order_exists", "there is no such order", Order, func(o OrderRecord) bool { return o.Status != "" })
	pending   = guard.Holds("pending", "the order is not pending", Order, hasStatus(StatusPending, StatusModified))
	unchanged = guard.New("unchanged", itemsUnchanged, Order)
	delivered = guard.Holds("delivered", "the order is not delivered, or was returned or exchanged before", Order, hasStatus(StatusDelivered))
	available = guard.Holds("available", "an option does not exist or is not available", Variant, func(v VariantRecord) bool { return v.Available })
)

func hasStatus(any ...string) func(OrderRecord) bool {
	return func(o OrderRecord) bool { return slices.Contains(any, o.Status) }
}

// itemsUnchanged holds as long as the items of an order were not modified: that is done once, for all items together.
func itemsUnchanged(s *guard.Scene) guard.Verdict {
	if o, _ := Order.Get(s); o.Status == StatusModified {
		return guard.Deny("items_modified", "the items of the order have been modified; nothing else of it can be")
	}
	return guard.Allow()
}
