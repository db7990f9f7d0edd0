// Package retail is the assistant of a shop: one task for each conversation, many orders in it. It knows who is signed in, lists
// each write before it is made, and writes what the customer said yes to.
package retail

import (
	"fmt"

	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The states of a conversation.
const (
	Unidentified machine.State = "unidentified" // nobody knows yet who is writing
	Serving      machine.State = "serving"
	Transferred  machine.State = "transferred" // a person has taken over
)

// Machine is the definition.
var Machine = build()

func build() *machine.Machine[Desk] {
	b := machine.New[Desk]("retail", Unidentified)
	b.Final(Transferred)
	identification(b)

	machine.On(b, ListWrites).From(Serving).Stay().By(guard.Model).
		Check("grounded", grounded, Order, Payments, Variant, Profile, Covered).
		Then(offers()...)

	write(b, CancelOrder, cancelling).Require(exists, pending, unchanged).
		Check("own_order", ownOrder[Cancel], Order)
	write(b, ModifyAddress, readdressing).Require(exists, pending, unchanged).
		Check("own_order", ownOrder[Readdress], Order)
	write(b, ModifyPayment, repaying).Require(exists, pending, unchanged).
		Check("own_order", ownOrder[Repay], Order).
		Check("payable", repayable, Payments, Profile, Covered)
	write(b, ModifyItems, modifying).Require(exists, pending, unchanged, available).
		Check("own_order", ownOrder[Swap], Order).
		Check("items_in_order", itemsInOrder[Swap], Order).
		Check("same_products", sameProducts, Order, Variant).
		Check("other_options", otherOptions).
		Check("payable", swapPayable, Order, Variant, Profile, Covered)
	write(b, ReturnItems, returning).Require(exists, delivered).
		Check("own_order", ownOrder[Return], Order).
		Check("items_in_order", itemsInOrder[Return], Order).
		Check("refundable", refundable, Payments, Profile, Covered)
	write(b, ExchangeItems, exchanging).Require(exists, delivered, available).
		Check("own_order", ownOrder[Swap], Order).
		Check("items_in_order", itemsInOrder[Swap], Order).
		Check("same_products", sameProducts, Order, Variant).
		Check("payable", swapPayable, Order, Variant, Profile, Covered)
	write(b, ModifyUser, moving) // its user_id must be the one who is signed in: other_subject

	machine.On(b, Record.Confirmed()).From(Serving).Stay()
	machine.On(b, Record.Failed()).From(Serving).Stay()
	machine.On(b, Transfer).From(Unidentified, Serving).To(Transferred).By(guard.Model).Require(Record.Idle())
	invariants(b)
	return b.MustBuild()
}

// identification is by email, or by name and zip code. A user id that somebody types is no identification. Who has been
// identified may be looked up again, and nobody else.
func identification(b *machine.Builder[Desk]) {
	byEmail := func(d *Desk, c Case[ByEmail]) { d.User, _ = UserByEmail.Get(c) }
	byNameZip := func(d *Desk, c Case[ByNameZip]) { d.User, _ = UserByNameZip.Of(c.Payload.subject()).Get(c) }
	machine.On(b, FindByEmail).From(Unidentified).To(Serving).By(guard.Model).Check("found", foundByEmail, UserByEmail).Apply(byEmail)
	machine.On(b, FindByNameZip).From(Unidentified).To(Serving).By(guard.Model).Check("found", foundByNameZip, UserByNameZip).Apply(byNameZip)
	machine.On(b, FindByEmail).From(Serving).Stay().By(guard.Model).Check("found", foundByEmail, UserByEmail)
	machine.On(b, FindByNameZip).From(Serving).Stay().By(guard.Model).Check("found", foundByNameZip, UserByNameZip)
}

// write is what all write tools have in common: one at a time, exactly as it was listed, on the customer's yes to that.
func write[P any](b *machine.Builder[Desk], ev machine.Event[P], as func(Case[P]) Write) *machine.Edge[Desk, P] {
	return machine.On(b, ev).From(Serving).Stay().By(guard.Model).
		Require(Record.Idle()).
		Confirm(Reply).
		Then(machine.Emit(Record, as))
}

func invariants(b *machine.Builder[Desk]) {
	b.InvariantStep("one customer for one conversation", func(old, next machine.Snapshot[Desk]) error {
		if old.Data.User != "" && next.Data.User != old.Data.User {
			return fmt.Errorf("%s was served, and now %s", old.Data.User, next.Data.User)
		}
		return nil
	})
	eachNew(b, "nothing is written for somebody else", func(d Desk, w Write) error {
		if w.User == "" || w.User != d.User {
			return fmt.Errorf("a write for %q while %q is served", w.User, d.User)
		}
		return nil
	})
	eachNew(b, "a cancelled order gives back what was paid, once", func(_ Desk, w Write) error {
		if charged, refunded := w.sums(); w.Tool == CancelOrder.Info().Name && (charged != 0 || refunded != w.Paid) {
			return fmt.Errorf("%s was paid and %s is given back", w.Paid, refunded)
		}
		return nil
	})
	eachNew(b, "another payment method pays the same", func(_ Desk, w Write) error {
		if charged, refunded := w.sums(); w.Tool == ModifyPayment.Info().Name && (charged != refunded || charged <= 0) {
			return fmt.Errorf("%s is charged and %s given back", charged, refunded)
		}
		return nil
	})
}

// eachNew is an invariant over each write that a version intends.
func eachNew(b *machine.Builder[Desk], name string, holds func(Desk, Write) error) {
	b.Invariant(name, func(s machine.Snapshot[Desk]) error {
		for _, i := range s.Intents {
			w, ok := i.Args.(Write)
			if !ok || i.Since != s.Version {
				continue
			}
			if err := holds(s.Data, w); err != nil {
				return err
			}
		}
		return nil
	})
}

// sums are all that is charged and all that is given back.
func (w Write) sums() (charged, refunded usd.Amount) {
	for _, m := range w.Moves {
		if m.Kind == Charge {
			charged += m.Amount
			continue
		}
		refunded += m.Amount
	}
	return charged, refunded
}
