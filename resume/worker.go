package resume

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Run does what is due, again and again, until the context ends. Then it claims nothing more, sees through what it has begun, for
// at most Config.PerformWithin a step, and returns. Its error is the context's, or the store's when the store has failed or is
// closed; everything else goes to Config.Problem and is tried again.
func (c *Controller) Run(ctx context.Context) error {
	tick := time.NewTicker(c.cfg.Poll)
	defer tick.Stop()
	for {
		switch err := c.Work(ctx); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrFailed):
			return err
		case err != nil:
			c.cfg.Problem(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case <-c.wake:
		}
	}
}

// Work does once what is due on all tasks: timers, then effects. Several controllers may work on one store: a timer fires by a
// commit, an effect is claimed. Errors of single tasks are joined.
func (c *Controller) Work(ctx context.Context) error {
	return errors.Join(c.fireTimers(ctx), c.performEffects(ctx))
}

func (c *Controller) fireTimers(ctx context.Context) error {
	rows, err := c.st.Due(ctx, store.Slots{}, 0)
	if err != nil {
		return fmt.Errorf("find timers that are due: %w", err)
	}
	var errs []error
	for _, r := range rows {
		if err := c.fire(ctx, r.Task); err != nil {
			errs = append(errs, fmt.Errorf("timers of task %s: %w", r.Task, err))
		}
	}
	return errors.Join(errs...)
}

// fire takes the edge of each timer that has come due, earliest first. One whose edge is refused is put off, with the reason in
// the history: a deadline is not lost, and does not keep others waiting.
func (c *Controller) fire(ctx context.Context, task string) error {
	l, err := c.load(ctx, task)
	if err != nil {
		return err
	}
	if l, err = c.tryAdvance(ctx, l); err != nil {
		return err
	}
	now, err := c.now(ctx)
	if err != nil {
		return err
	}
	s := &Session{c: c, own: true, at: l}
	for _, p := range l.m.Due(l.snap, now) {
		out, err := s.propose(ctx, p, nil, nil)
		switch {
		case err != nil:
			return err
		case out.Kind == machine.Committed:
			return nil // what else is due is judged where the task stands now
		}
		if err := s.postpone(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) postpone(ctx context.Context, refused machine.Outcome) error {
	now, err := s.c.now(ctx)
	if err != nil {
		return err
	}
	next, entry, due := s.at.m.Postpone(s.at.snap, refused, now)
	if !due {
		return nil
	}
	l, err := s.c.write(ctx, s.at, next, entry, nil)
	if errors.Is(err, store.ErrConflict) {
		return s.reload(ctx) // somebody moved the task: the timer is judged again when it is found due
	}
	if err == nil {
		s.at = l
	}
	return err
}

// hold is how long a claim lasts: an attempt, and what comes after it.
func (c *Controller) hold() store.Micros { return (2 * c.cfg.PerformWithin).Microseconds() }

// performEffects claims what is ready and works on it side by side.
func (c *Controller) performEffects(ctx context.Context) error {
	hold := c.hold()
	var errs []error
	for {
		claimed, err := c.st.Claim(ctx, store.Slots{}, MaxHandlers, c.cfg.Holder, hold)
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("claim effects: %w", err))...)
		}
		if len(claimed) == 0 {
			return errors.Join(errs...)
		}
		results := make([]error, len(claimed))
		var wg sync.WaitGroup
		for i, e := range claimed {
			wg.Go(func() {
				// What may have been sent is seen through when the controller is told to stop: PerformWithin bounds it.
				if err := c.perform(context.WithoutCancel(ctx), e); err != nil {
					results[i] = fmt.Errorf("task %s, effect %s: %w", e.Task, e.ID, err)
				}
			})
		}
		wg.Wait()
		errs = append(errs, results...)
		if ctx.Err() != nil {
			return errors.Join(errs...)
		}
	}
}
