package resume

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// handled is what a handler gave.
type handled struct {
	receipt guard.Observation
	found   bool
	err     error
}

// call runs a function of a handler for at most Config.PerformWithin, and then waits a quarter of that for what it has to say.
// One that does not heed its context is left to itself: the outcome is unknown, and nobody else waits for it.
func (j *job) call(ctx context.Context, f func(context.Context) (guard.Observation, bool, error)) handled {
	ctx, cancel := context.WithTimeout(ctx, j.c.cfg.PerformWithin)
	defer cancel()
	done := make(chan handled, 1)
	go func() {
		h := handled{err: errPanicked} // and so it stays when the handler ends its goroutine
		defer func() {
			if p := recover(); p != nil {
				h = handled{err: fmt.Errorf("%w: %v", errPanicked, p)}
			}
			done <- h
		}()
		h.receipt, h.found, h.err = f(ctx)
	}()
	select {
	case h := <-done:
		return h
	case <-ctx.Done():
	}
	grace := time.NewTimer(j.c.cfg.PerformWithin / 4)
	defer grace.Stop()
	select {
	case h := <-done:
		return h
	case <-grace.C:
		return handled{err: fmt.Errorf("the handler goes on after its deadline: %w", ctx.Err())}
	}
}
