package shop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/examples/retail/retail"
	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

// Finder gives the world of a task's conversation, nil when there is none.
type Finder func(task string) *World

// errNoWorld says that the shop knows no such conversation.
var errNoWorld = errors.New("no such conversation")

// Observers are the shop's systems, as far as the retail desk asks them.
func Observers(find Finder) []resume.Observer {
	return []resume.Observer{
		resume.Pull(retail.UserByEmail, ask(find, (*World).userByEmail)),
		resume.Pull(retail.UserByNameZip, ask(find, (*World).userByNameZip)),
		resume.Pull(retail.Order, ask(find, (*World).orderRecord)),
		resume.Pull(retail.Payments, ask(find, (*World).paymentRecord)),
		resume.Pull(retail.Variant, ask(find, (*World).variantRecord)),
		resume.Pull(retail.Profile, ask(find, (*World).profileRecord)),
		resume.Pull(retail.Covered, ask(find, (*World).covered)),
	}
}

// Handler performs writes whose outcome is still open, under their own keys.
func Handler(find Finder) resume.Handler {
	return resume.Perform(retail.Record,
		func(_ context.Context, j machine.Job[retail.Write]) (retail.Done, error) {
			w := find(j.Task)
			if w == nil {
				return retail.Done{}, machine.Declined(errNoWorld)
			}
			done, err := w.Apply(j.Key, j.Args)
			if err != nil {
				err = machine.Declined(err)
			}
			return done, err
		},
		func(_ context.Context, j machine.Job[retail.Write]) (retail.Done, bool, error) {
			w := find(j.Task)
			if w == nil {
				return retail.Done{}, false, nil
			}
			done, found := w.Applied(j.Key)
			return done, found, nil
		})
}

// ask turns a look at the world into an observer's answer.
func ask[T any](find Finder, look func(w *World, subject string) (T, error)) func(context.Context, guard.Query) (guard.Observed[T], error) {
	return func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		w := find(q.Task)
		if w == nil {
			return guard.Observed[T]{}, errNoWorld
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		v, err := look(w, q.Subject)
		return guard.Observed[T]{Value: v, Subject: q.Subject, Ref: q.Fact + "/" + q.Subject}, err
	}
}

func (w *World) userByEmail(email string) (string, error) {
	return w.shop.emails[strings.ToLower(email)], nil
}

func (w *World) userByNameZip(subject string) (string, error) {
	return w.shop.names[strings.ToLower(subject)], nil
}

func (w *World) orderRecord(id string) (retail.OrderRecord, error) {
	o, _ := w.order(id)
	r := retail.OrderRecord{Owner: o.UserID, Status: o.Status, Lines: make([]retail.Line, 0, len(o.Items))}
	for _, it := range o.Items {
		r.Lines = append(r.Lines, retail.Line{Item: it.ItemID, Product: it.ProductID, Price: it.Price})
	}
	return r, nil
}

func (w *World) paymentRecord(order string) (retail.PaymentRecord, error) {
	o, _ := w.order(order)
	r := retail.PaymentRecord{Moves: make([]retail.Move, 0, len(o.Payments))}
	for _, p := range o.Payments {
		kind := retail.Refund
		if p.Type == payment {
			kind = retail.Charge
		}
		r.Moves = append(r.Moves, retail.Move{Kind: kind, Method: p.MethodID, Amount: p.Amount})
	}
	return r, nil
}

func (w *World) variantRecord(id string) (retail.VariantRecord, error) {
	product, v, _ := w.variant(id)
	return retail.VariantRecord{Product: product, Available: v.Available, Price: v.Price}, nil
}

func (w *World) profileRecord(id string) (retail.ProfileRecord, error) {
	u, known := w.user(id)
	if !known {
		return retail.ProfileRecord{}, fmt.Errorf("user %s: %w", id, ErrNoRecord)
	}
	r := retail.ProfileRecord{Methods: make([]retail.Method, 0, len(u.PaymentMethods))}
	for id, m := range u.PaymentMethods {
		r.Methods = append(r.Methods, retail.Method{ID: id, GiftCard: m.Source == giftCard})
	}
	slices.SortFunc(r.Methods, func(a, b retail.Method) int { return strings.Compare(a.ID, b.ID) })
	return r, nil
}

func (w *World) covered(subject string) (bool, error) {
	parts := strings.Split(subject, "/")
	if len(parts) != 3 {
		return false, fmt.Errorf("charge %s: %w", subject, ErrNoRecord)
	}
	amount, err := usd.Parse(parts[2])
	return err == nil && w.covers(parts[0], parts[1], amount), err
}
