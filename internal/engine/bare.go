package engine

import (
	"context"

	"github.com/qmuntal/stateless"
)

// Bare is stateless with nothing of ours around it: one shared machine in immediate mode, one permitted transition with one
// guard. Each call of the func fires it once, from the same state. It is what internal/bench compares a step with. Safe
// for concurrent use.
func Bare() (fire func() error) {
	const from, event, to = "waiting", "confirm", "dispatching"
	m := stateless.NewStateMachineWithExternalStorage(
		func(context.Context) (stateless.State, error) { return from, nil },
		func(context.Context, stateless.State) error { return nil },
		stateless.FiringImmediate)
	m.Configure(from).Permit(event, to, func(ctx context.Context, _ ...any) bool { return ctx.Err() == nil })
	m.Configure(to)
	return func() error { return m.FireCtx(context.Background(), event) }
}
