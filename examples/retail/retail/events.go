package retail

import (
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Desk is the task's data: who is signed in, and the shop's one setting. Facts about a user are about this one.
type Desk struct {
	User       string `json:"user" about:"user"`
	SameOption bool   `json:"same_option"` // an item of a pending order may be replaced by the very same option
}

// The payloads are the arguments of the tools, by the names that models know them under.
type (
	// ByEmail looks a customer up.
	ByEmail struct {
		Email string `json:"email" validate:"required,max=200" about:"email"`
	}
	// ByNameZip looks a customer up.
	ByNameZip struct {
		FirstName string `json:"first_name" validate:"required,max=80"`
		LastName  string `json:"last_name" validate:"required,max=80"`
		Zip       string `json:"zip" validate:"required,max=20"`
	}
	// Cancel gives exactly one of the two reasons.
	Cancel struct {
		OrderID string `json:"order_id" validate:"required,max=64" about:"order"`
		Reason  string `json:"reason" validate:"oneof='no longer needed' 'ordered by mistake'"`
	}
	// Address is where something is sent.
	Address struct {
		Address1 string `json:"address1" validate:"max=200"`
		Address2 string `json:"address2" validate:"max=200"`
		City     string `json:"city" validate:"max=100"`
		State    string `json:"state" validate:"max=100"`
		Country  string `json:"country" validate:"max=100"`
		Zip      string `json:"zip" validate:"max=20"`
	}
	// Readdress sends a pending order elsewhere.
	Readdress struct {
		OrderID string `json:"order_id" validate:"required,max=64" about:"order"`
		Address
	}
	// Repay pays a pending order in another way.
	Repay struct {
		OrderID         string `json:"order_id" validate:"required,max=64" about:"order"`
		PaymentMethodID string `json:"payment_method_id" validate:"required,max=64"`
	}
	// Swap replaces items by other options of the same products, all of an order at once.
	Swap struct {
		OrderID         string   `json:"order_id" validate:"required,max=64" about:"order"`
		ItemIDs         []string `json:"item_ids" validate:"min=1,max=20"`
		NewItemIDs      []string `json:"new_item_ids" validate:"min=1,max=20" about:"variant"`
		PaymentMethodID string   `json:"payment_method_id" validate:"required,max=64"`
	}
	// Return gives items back, all of an order at once.
	Return struct {
		OrderID         string   `json:"order_id" validate:"required,max=64" about:"order"`
		ItemIDs         []string `json:"item_ids" validate:"min=1,max=20"`
		PaymentMethodID string   `json:"payment_method_id" validate:"required,max=64"`
	}
	// MoveHouse changes the address in the customer's own profile.
	MoveHouse struct {
		UserID string `json:"user_id" validate:"required,max=64" about:"user"`
		Address
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
	FindByEmail   = machine.NewEvent[ByEmail]("find_user_id_by_email")
	FindByNameZip = machine.NewEvent[ByNameZip]("find_user_id_by_name_zip")
	ListWrites    = machine.NewEvent[Listing]("list_writes")
	CancelOrder   = machine.NewEvent[Cancel]("cancel_pending_order")
	ModifyAddress = machine.NewEvent[Readdress]("modify_pending_order_address")
	ModifyPayment = machine.NewEvent[Repay]("modify_pending_order_payment")
	ModifyItems   = machine.NewEvent[Swap]("modify_pending_order_items")
	ReturnItems   = machine.NewEvent[Return]("return_delivered_order_items")
	ExchangeItems = machine.NewEvent[Swap]("exchange_delivered_order_items")
	ModifyUser    = machine.NewEvent[MoveHouse]("modify_user_address")
	Transfer      = machine.NewEvent[Summary]("transfer_to_human_agents")
)

// subject is what UserByNameZip is about.
func (n ByNameZip) subject() string { return NameZipSubject(n.FirstName, n.LastName, n.Zip) }

// NameZipSubject is what UserByNameZip is about: a name and a zip code.
func NameZipSubject(first, last, zip string) string { return first + "/" + last + "/" + zip }
