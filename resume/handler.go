package resume

import (
	"context"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Handler performs one effect. Make it with [Perform].
type Handler struct {
	effect *machine.EffectInfo
	send   func(context.Context, string, machine.Intent, int) (guard.Observation, error)
	find   func(context.Context, string, machine.Intent, int) (guard.Observation, bool, error)
	by     *guard.Authority
}

// Perform sends an effect, and finds out what became of it. send hands the job's key to the provider as the idempotency
// key, and marks its errors with [machine.NotSent] or [machine.Declined] when it knows; any other error means that it may have
// happened; package httpeffect does so for HTTP. An error that was not sent and has a RetryAfter() time.Duration is not tried before
// that. find looks the key up and gives false when the provider surely has nothing under it; package cumulative
// makes one for a provider that only adds up. An outcome that is not known is looked up, never sent again blindly (law 8). Both are
// called under a deadline; a panic counts as not knowing.
func Perform[E, R any](e machine.Effect[E, R],
	send func(context.Context, machine.Job[E]) (R, error),
	find func(context.Context, machine.Job[E]) (R, bool, error),
) Handler {
	if e.Info() == nil || send == nil || find == nil {
		return Handler{}
	}
	by := guard.NewAuthority(e.Info().Receipt.Source)
	job := func(task string, i machine.Intent, attempt int) machine.Job[E] {
		args, _ := i.Args.(E)
		return machine.Job[E]{Task: task, Key: i.Key, Args: args, Attempt: attempt}
	}
	receipt := func(key string, r R) guard.Observation {
		return e.Receipt().Observe(by, guard.Observed[R]{Value: r, Subject: key, Ref: key})
	}
	return Handler{effect: e.Info(), by: by,
		send: func(ctx context.Context, task string, i machine.Intent, attempt int) (guard.Observation, error) {
			r, err := send(ctx, job(task, i, attempt))
			return receipt(i.Key, r), err
		},
		find: func(ctx context.Context, task string, i machine.Intent, attempt int) (guard.Observation, bool, error) {
			r, ok, err := find(ctx, job(task, i, attempt))
			return receipt(i.Key, r), ok, err
		},
	}
}
