package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// The case that every benchmark of the refund desk plays.
var (
	customer = guard.Principal{ID: "alice"}
	amount   = money.Money{Minor: 4300, Currency: "EUR"}
	policy   = refund.Eligibility{Eligible: true, Policy: "v7"}
	chat     = guard.NewAuthority("customer_channel")
)

const (
	order = "123"
	yes   = "yes, refund it"
)

// life is what the customer and the model do at one task, from its second version on.
var life = []machine.Proposal{
	refund.RequestRefund.With(machine.None{}).As(guard.User),
	refund.AskAgain.With(refund.Question{Text: "Shall I send the 43.00 EUR back to your card?"}).As(guard.Model),
	refund.ConfirmRefund.With(refund.Confirm{OrderID: order, Amount: amount}).As(guard.Model),
}

// orderOf is the order that a task is about: each has its own, since an order is refunded once.
func orderOf(task string) string { return strings.TrimPrefix(task, "refund_order_") }

func newTask(id string) machine.Task {
	return refund.Machine.Task(id, customer, refund.Refund{OrderID: orderOf(id), Amount: amount, Notes: []string{}})
}

// says is the customer's own answer to an offer.
func says(text string, offer machine.OpenOffer, at time.Time) guard.Observation {
	shown := &guard.Shown{Message: "chat/0", At: offer.OpenedAt}
	return refund.Reply.Observe(chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: customer.ID, Text: text, Shown: shown}, Subject: offer.ID,
		Ref: "chat/1", At: at}).Identified("reply to " + offer.ID) // each a message of its own: it agrees once
}

// openDesk is a controller whose sources answer at once, so that nothing but our own work and the disk is measured. It performs
// no effects: the intents stay.
func openDesk(ctx context.Context, st store.Store, also ...*guard.Authority) (*resume.Controller, error) {
	return resume.Open(ctx, st, resume.Config{
		Machines: []machine.Definition{refund.Machine},
		Observers: []resume.Observer{
			source(refund.OrderOwner, customer.ID, "orders/123"),
			source(refund.OrderStatus, refund.OrderOpen, "orders/123"),
			source(refund.Eligible, policy, "policy/v7"),
		},
		Effects: []resume.Handler{resume.Perform(refund.IssueRefund, neverSent, neverFound)},
		Trust:   append(also, chat),
	})
}

// source is an observer that always sees the same.
func source[T any](f guard.Fact[T], value T, ref string) resume.Observer {
	return resume.Pull(f, func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		return guard.Observed[T]{Value: value, Subject: q.Subject, Ref: ref}, nil
	})
}

var errNoWorker = errors.New("no worker runs here")

func neverSent(context.Context, machine.Job[refund.Payment]) (refund.Record, error) {
	return refund.Record{}, errNoWorker
}

func neverFound(context.Context, machine.Job[refund.Payment]) (refund.Record, bool, error) {
	return refund.Record{}, false, errNoWorker
}

// move makes the next move of a task's life, as a service does in each turn: resume, then propose.
func move(ctx context.Context, ctl *resume.Controller, task string, p machine.Proposal) error {
	s, err := ctl.Resume(ctx, task, customer)
	if err != nil {
		return err
	}
	var heard []guard.Observation
	if p.Event() == refund.ConfirmRefund.Info().Name {
		offers := s.Offers()
		if len(offers) != 1 {
			return fmt.Errorf("task %s: %d offers, want one", task, len(offers))
		}
		heard = append(heard, says(yes, offers[0], time.Now()))
		p = refund.ConfirmRefund.With(refund.Confirm{OrderID: orderOf(task), Amount: amount}).As(p.Actor())
	}
	out, err := s.Propose(ctx, p, heard...)
	if err != nil {
		return err
	}
	return out.Err()
}
