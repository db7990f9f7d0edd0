package shop

import (
	"github.com/pawlgo/pawl/examples/retail/retail"
	"github.com/pawlgo/pawl/examples/usd"
)

// User is a customer as the user database holds them.
type User struct {
	Name           Name                     `json:"name"`
	Address        retail.Address           `json:"address"`
	Email          string                   `json:"email"`
	PaymentMethods map[string]PaymentMethod `json:"payment_methods"`
	Orders         []string                 `json:"orders"`
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
	Balance  *usd.Amount `json:"balance,omitempty"` // of a gift card
	ID       string      `json:"id"`
}

// Order is an order as the order database holds it. What is left out has not happened.
type Order struct {
	OrderID      string         `json:"order_id"`
	UserID       string         `json:"user_id"`
	Address      retail.Address `json:"address"`
	Items        []Item         `json:"items"`
	Fulfillments []Fulfillment  `json:"fulfillments"`
	Status       string         `json:"status"`
	Payments     []Payment      `json:"payment_history"`

	CancelReason       string      `json:"cancel_reason,omitempty"`
	ReturnItems        []string    `json:"return_items,omitempty"`
	ReturnMethod       string      `json:"return_payment_method_id,omitempty"`
	ExchangeItems      []string    `json:"exchange_items,omitempty"`
	ExchangeNewItems   []string    `json:"exchange_new_items,omitempty"`
	ExchangeMethod     string      `json:"exchange_payment_method_id,omitempty"`
	ExchangeDifference *usd.Amount `json:"exchange_price_difference,omitempty"`
}

// Item is one item of an order.
type Item struct {
	Name      string            `json:"name"`
	ProductID string            `json:"product_id"`
	ItemID    string            `json:"item_id"`
	Price     usd.Amount        `json:"price"`
	Options   map[string]string `json:"options"`
}

// Fulfillment is a parcel.
type Fulfillment struct {
	TrackingID []string `json:"tracking_id"`
	ItemIDs    []string `json:"item_ids"`
}

// Payment is one row of an order's payments.
type Payment struct {
	Type     string     `json:"transaction_type"` // payment or refund
	Amount   usd.Amount `json:"amount"`
	MethodID string     `json:"payment_method_id"`
}

// Product is a product of the catalogue with its options.
type Product struct {
	Name      string             `json:"name"`
	ProductID string             `json:"product_id"`
	Variants  map[string]Variant `json:"variants"`
}

// Variant is one option of a product.
type Variant struct {
	ItemID    string            `json:"item_id"`
	Options   map[string]string `json:"options"`
	Available bool              `json:"available"`
	Price     usd.Amount        `json:"price"`
}

const (
	payment  = "payment"
	refund   = "refund"
	giftCard = "gift_card"
)
