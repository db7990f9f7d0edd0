// Package transfer is a treasury's desk: a payment that two of three treasurers must agree to, none of them whoever proposed it, large
// ones by a button; that can be cancelled until the bank may have it; and that is taken back when it was sent all the same.
package transfer

import (
	"errors"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Transfer is what the task knows of itself.
type Transfer struct {
	ID     string `json:"id" about:"transfer" validate:"required"`
	Payee  string `json:"payee" validate:"required,max=140"`
	Amount Money  `json:"amount"`
}

// Approve is the transfer that is agreed to.
type Approve struct {
	ID     string `json:"id" about:"transfer"`
	Payee  string `json:"payee"`
	Amount Money  `json:"amount"`
}

// Reason says why.
type Reason struct {
	Text string `json:"text" validate:"required,max=400"`
}

// The states.
const (
	Drafting   machine.State = "drafting"
	Deciding   machine.State = "deciding"
	Sending    machine.State = "sending"
	Cancelling machine.State = "cancelling" // the bank may have it: its answer is waited for
	Undoing    machine.State = "undoing"
	Done       machine.State = "done"
	Failed     machine.State = "failed"
	Stopped    machine.State = "stopped"
	Undone     machine.State = "undone"
	NotUndone  machine.State = "not_undone" // a person must call the bank
)

// The events.
var (
	Submit    = machine.NewEvent[machine.None]("submit")
	ApproveIt = machine.NewEvent[Approve]("approve")
	AskAgain  = machine.NewEvent[machine.None]("ask_again")
	Cancel    = machine.NewEvent[Reason]("cancel", machine.Narrowing())
	Lapsed    = machine.NewEvent[machine.None]("lapsed")
)

// Who decides, how many of them, for how long, and from which amount on only a button counts.
const (
	Treasurer  machine.Party = "treasurer"
	Need, Of                 = 2, 3
	Patience                 = 48 * time.Hour
	ByButtonAt               = 1_000_000 // 10,000.00
)

// Machine is the definition.
var Machine = build()

// Case is what the checks and outputs of an edge look at.
type Case[P any] = guard.Case[Transfer, P]

func build() *machine.Machine[Transfer] {
	b := machine.New[Transfer]("transfer", Drafting)
	b.Final(Done, Failed, Stopped, Undone, NotUndone)
	b.Wait(Deciding, Treasurer, Patience, Lapsed)
	clear := guard.Is(PayeeStatus, PayeeClear)

	machine.On(b, Submit).From(Drafting).To(Deciding).By(guard.User, guard.Model).
		Require(clear).
		Then(machine.Offer(ApproveIt, Treasurer, Patience, wanted[machine.None]))
	machine.On(b, AskAgain).From(Deciding).Stay().By(guard.User, guard.Model).
		Then(machine.Offer(ApproveIt, Treasurer, Patience, wanted[machine.None]))
	machine.On(b, ApproveIt).From(Deciding).To(Sending).By(guard.Model, guard.User).
		Fresh(PayeeStatus).
		Require(clear).
		Confirm(Reply).Quorum(Need, Of).Separate().
		Structured(func(c Case[Approve]) bool { return c.Payload.Amount.Minor >= ByButtonAt }).
		Then(machine.Emit(Send, func(c Case[Approve]) Order { return Order(c.Payload) }))
	machine.On(b, Lapsed).From(Deciding).To(Stopped)
	machine.When(b, PayeeStatus).From(Deciding).To(Stopped).Require(guard.Not(clear))

	cancelling(b)
	machine.When(b, PayeeStatus).From(Sending).To(Stopped).Require(guard.Not(clear)).Withdraw(Send)
	machine.On(b, Send.Confirmed()).From(Sending).To(Done)
	machine.On(b, Send.Failed()).From(Sending).To(Failed)

	b.Invariant("what is stopped was not sent", func(s machine.Snapshot[Transfer]) error {
		for _, i := range s.Intents {
			if s.State == Stopped && i.Effect == Send.Info().Name && i.Status == machine.Confirmed {
				return errors.New("a payment was made, and the task says that it was stopped")
			}
		}
		return nil
	})
	return b.MustBuild()
}

// cancelling is the way out: nothing happens that can still be helped; what may have happened is waited for, and made up for.
func cancelling(b *machine.Builder[Transfer]) {
	machine.On(b, Cancel).From(Drafting, Deciding).To(Stopped).By(guard.User, guard.Model)
	machine.On(b, Cancel).From(Sending).To(Stopped).By(guard.User, guard.Model).Withdraw(Send)
	machine.On(b, Cancel).From(Sending).To(Cancelling).By(guard.User, guard.Model).Require(Send.Sent())
	b.NoSend(Cancelling)
	machine.On(b, Send.Failed()).From(Cancelling).To(Stopped)
	machine.On(b, Send.Confirmed()).From(Cancelling).To(Undoing).
		Then(machine.Emit(TakeBack, func(c Case[machine.Settled]) Order { return Order(c.Data) }))
	machine.On(b, TakeBack.Confirmed()).From(Undoing).To(Undone)
	machine.On(b, TakeBack.Failed()).From(Undoing).To(NotUndone)
}

// wanted is the one thing that is offered.
func wanted[P any](c Case[P]) []Approve { return []Approve{Approve(c.Data)} }
