package desk

import (
	"context"
	"errors"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/examples/refund/shop"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

// payee is where refunds go: the payment that the order was paid with.
const payee = "original_payment"

// shopside speaks with the shop. What an observation is about is what the shop says that it looked at.
type shopside struct{ client *shop.Client }

func (s shopside) owner(ctx context.Context, q guard.Query) (guard.Observed[string], error) {
	o, err := s.client.Order(ctx, q.Subject)
	return guard.Observed[string]{Value: o.Owner, Subject: o.ID, Ref: "order_service/" + o.ID, At: o.At}, err
}

func (s shopside) status(ctx context.Context, q guard.Query) (guard.Observed[string], error) {
	o, err := s.client.Order(ctx, q.Subject)
	return guard.Observed[string]{Value: string(o.Status), Subject: o.ID, Ref: "order_service/" + o.ID, At: o.At}, err
}

func (s shopside) eligibility(ctx context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
	e, err := s.client.Eligibility(ctx, q.Subject)
	return guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Eligible: e.Eligible, Policy: e.PolicyVersion},
		Subject: e.OrderID, Ref: "policy/" + e.PolicyVersion, At: e.EvaluatedAt}, err
}

// send pays once under the job's key, and says what is known about a failure.
func (s shopside) send(ctx context.Context, j machine.Job[refund.Payment]) (refund.Record, error) {
	r, err := s.client.Refund(ctx, j.Key, shop.RefundRequest{OrderID: j.Args.OrderID, Amount: j.Args.Amount, Payee: payee})
	switch {
	case errors.Is(err, shop.ErrNotSent):
		return refund.Record{}, machine.NotSent(err)
	case errors.Is(err, shop.ErrDeclined):
		return refund.Record{}, machine.Declined(err)
	}
	return record(r), err
}

func (s shopside) find(ctx context.Context, j machine.Job[refund.Payment]) (refund.Record, bool, error) {
	r, found, err := s.client.FindRefund(ctx, j.Key)
	return record(r), found, err
}

func record(r shop.Refund) refund.Record {
	return refund.Record{ID: r.ID, OrderID: r.OrderID, Amount: r.Amount}
}

func (s shopside) observers() []resume.Observer {
	return []resume.Observer{
		resume.Pull(refund.OrderOwner, s.owner),
		resume.Pull(refund.OrderStatus, s.status),
		resume.Pull(refund.Eligible, s.eligibility),
	}
}
