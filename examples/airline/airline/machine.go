// Package airline is the assistant of an airline: one task for each conversation, many reservations in it. It holds to what the
// policy says and the reservation system does not check, and remembers what that system forgets: the cabin of a changed reservation.
package airline

import (
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The states of a conversation.
const (
	Unidentified machine.State = "unidentified" // the customer has not said who they are
	Serving      machine.State = "serving"
	Transferred  machine.State = "transferred" // a person has taken over
)

// Machine is the definition.
var Machine = build()

func build() *machine.Machine[Desk] {
	b := machine.New[Desk]("airline", Unidentified)
	b.Final(Transferred)

	// The customer says who they are, on their own channel; a user id that the model names is no identification.
	machine.When(b, Named).From(Unidentified).To(Serving).
		Apply(func(d *Desk, c Case[machine.Changed[string]]) { d.User = c.Payload.Is })
	machine.On(b, ListWrites).From(Serving).Stay().By(guard.Model).
		Check("grounded", grounded, Reservation, Flight, Member, Method, Covered, Troubles).
		Then(offers()...)

	write(b, BookReservation, booking).
		Check("seats", bookedSeats, Flight).
		Check("route", bookedRoute, Flight).
		Check("party", smallParty).
		Check("payment_mix", paymentMix, Method).
		Check("payments", paysUp, Method, Covered, Flight).
		Check("bags", bookedBags, Member)
	write(b, UpdateFlights, changing).Require(exists, active).
		Check("own", own[ChangeFlights], Reservation).
		Check("not_flown", notFlown[ChangeFlights], Reservation, Flight).
		Check("basic_economy", fixedInBasic, Reservation).
		Check("seats", changedSeats, Reservation, Flight).
		Check("route", sameRoute, Reservation, Flight).
		Check("payable", flightsPayable, Reservation, Flight, Method, Covered)
	write(b, UpdateBaggages, bagging).Require(exists, active).
		Check("own", own[ChangeBags], Reservation).
		Check("bags", moreBags, Reservation, Member).
		Check("payable", bagsPayable, Reservation, Method, Covered)
	write(b, UpdatePassengers, renaming).Require(exists, active).
		Check("own", own[ChangePassengers], Reservation).
		Check("count", sameCount, Reservation)
	write(b, CancelTrip, cancelling).Require(exists, active).
		Check("own", own[Cancel], Reservation).
		Check("not_flown", notFlown[Cancel], Reservation, Flight).
		Check("cancellable", cancellable, Reservation, Flight, Reason)
	write(b, SendCertificate, compensating).
		Check("entitled", entitled, Member, Troubles)

	machine.On(b, Record.Confirmed()).From(Serving).Stay().Apply(remember)
	machine.On(b, Record.Failed()).From(Serving).Stay().
		Apply(func(d *Desk, _ Case[machine.Settled]) { d.Open = nil })
	machine.On(b, Transfer).From(Unidentified, Serving).To(Transferred).By(guard.Model).Require(Record.Idle())
	invariants(b)
	return b.MustBuild()
}

// write is what all write tools have in common: one at a time, exactly as it was listed, on the customer's yes to that.
func write[P any](b *machine.Builder[Desk], ev machine.Event[P], as func(Case[P]) Write) *machine.Edge[Desk, P] {
	return machine.On(b, ev).From(Serving).Stay().By(guard.Model).
		Require(Record.Idle()).
		Confirm(Reply).
		Then(machine.Emit(Record, as)).
		Apply(func(d *Desk, c Case[P]) { w := as(c); d.Open = &Change{w.Reservation, w.Cabin} })
}

// remember keeps what a write has changed, once it has happened.
func remember(d *Desk, _ Case[machine.Settled]) {
	w := d.Open
	d.Open = nil
	if w == nil || w.Reservation == "" {
		return
	}
	if !slices.Contains(d.Touched, w.Reservation) {
		d.Touched = append(d.Touched, w.Reservation)
	}
	if w.Cabin != "" {
		d.Cabins[w.Reservation] = w.Cabin
	}
}

func invariants(b *machine.Builder[Desk]) {
	b.InvariantStep("one customer for one conversation", func(old, next machine.Snapshot[Desk]) error {
		if old.Data.User != "" && next.Data.User != old.Data.User {
			return fmt.Errorf("%s was served, and now %s", old.Data.User, next.Data.User)
		}
		return nil
	})
	eachIntent(b, "nothing is written for somebody else", func(d Desk, i machine.Intent, w Write) error {
		if i.Unsettled() && (w.User == "" || w.User != d.User) {
			return fmt.Errorf("a write for %q while %q is served", w.User, d.User)
		}
		return nil
	})
	eachIntent(b, "the cabin that was paid for is the cabin that counts", func(d Desk, i machine.Intent, w Write) error {
		if i.Status == machine.Confirmed && w.Tool == UpdateFlights.Info().Name && d.Cabins[w.Reservation] != w.Cabin {
			return fmt.Errorf("%s was changed to %s and is kept as %q", w.Reservation, w.Cabin, d.Cabins[w.Reservation])
		}
		return nil
	})
	eachIntent(b, "a cancelled reservation gives back what was paid", func(_ Desk, _ machine.Intent, w Write) error {
		if sum := total(w.Moves); w.Tool == CancelTrip.Info().Name && sum != -w.Price {
			return fmt.Errorf("%s was paid and %s is given back", w.Price, -sum)
		}
		return nil
	})
	eachIntent(b, "what is bought is paid for", func(_ Desk, _ machine.Intent, w Write) error {
		buys := w.Tool == BookReservation.Info().Name || w.Tool == UpdateFlights.Info().Name || w.Tool == UpdateBaggages.Info().Name
		if sum := total(w.Moves); buys && sum != w.Price {
			return fmt.Errorf("%s is the price and %s is paid", w.Price, sum)
		}
		return nil
	})
}

// eachIntent is an invariant over each write that the task knows of: the newest one of each version.
func eachIntent(b *machine.Builder[Desk], name string, holds func(Desk, machine.Intent, Write) error) {
	b.Invariant(name, func(s machine.Snapshot[Desk]) error {
		for _, i := range s.Intents {
			if w, ok := i.Args.(Write); ok && (i.Since == s.Version || i.Settled == s.Version) {
				if err := holds(s.Data, i, w); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func total(moves []Payment) usd.Amount {
	var sum usd.Amount
	for _, m := range moves {
		sum += m.Amount
	}
	return sum
}
