package cumulative

import (
	"context"
	"fmt"

	"github.com/pawlgo/pawl/machine"
)

// Effect says where the arguments E and the receipt R of an effect carry their figures. Both functions are required and must be pure.
// Safe for concurrent use.
type Effect[E, R any] struct {
	Step  func(E) Step   // of the arguments
	Total func(R) Figure // what the provider reports after the operation
}

// Matching makes an effect accept only receipts whose figure differs from the base by the amount (receipt_differs otherwise).
func (e Effect[E, R]) Matching() machine.EffectOption[E, R] {
	return machine.Matching(func(args E, receipt R) error { return e.Step(args).Match(e.Total(receipt)) })
}

// Find makes the find function of resume.Perform from one that reads what the provider reports now. It finds the effect at base and
// amount, gives false at the base, and an error for anything else: then the effect stays unknown, and somebody has to look.
func (e Effect[E, R]) Find(read func(context.Context, machine.Job[E]) (R, error)) func(context.Context, machine.Job[E]) (R, bool, error) {
	return func(ctx context.Context, j machine.Job[E]) (none R, found bool, err error) {
		now, err := read(ctx, j)
		if err != nil {
			return none, false, fmt.Errorf("read the figure: %w", err)
		}
		if found, err = e.Step(j.Args).Happened(e.Total(now)); !found {
			return none, false, err
		}
		return now, true, nil
	}
}

// Send makes the send function of resume.Perform from one that sends, and does not send unless the figure still stands at the base.
// If it does not, the effect is declined: a first attempt fails and says why, and a later one is looked up again, because it may
// have been ours. A figure that cannot be read is not sent, and tried again later.
func (e Effect[E, R]) Send(read, send func(context.Context, machine.Job[E]) (R, error)) func(context.Context, machine.Job[E]) (R, error) {
	return func(ctx context.Context, j machine.Job[E]) (none R, err error) {
		now, err := read(ctx, j)
		if err != nil {
			return none, machine.NotSent(fmt.Errorf("read the figure: %w", err))
		}
		switch happened, err := e.Step(j.Args).Happened(e.Total(now)); {
		case err != nil:
			return none, machine.Declined(err)
		case happened:
			return none, machine.Declined(fmt.Errorf("it says %s before anything was sent: %w", e.Total(now), ErrMoved))
		}
		return send(ctx, j)
	}
}

// Hold keeps the operations of one resource apart, such as those on one payment: the commit that intends a second one is refused
// (resource_short) while the first has no outcome. Take it with [machine.Reserve] in the commit that emits the effect. The name is
// at most [machine.MaxResource] bytes with its prefix "cumulative/".
func Hold(resource string) machine.Hold {
	return machine.Hold{Resource: "cumulative/" + resource, Amount: 1, Limit: 1}
}
