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

// Run does what is due, again and again, until the context ends. Then it claims nothing more, gives back what it has claimed and
// not begun to send, sees through what it has, for at most Config.PerformWithin a step, and returns: there is nothing else to
// close, and the controller can be used, and run, again. With a context that has ended it does nothing. Its error is the
// context's, or the store's when the store has failed or is closed; everything else goes to Config.Problem and is tried again.
func (c *Controller) Run(ctx context.Context) error {
	callers := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	asks := newAsks(false, func(err error) { c.trouble(ctx, err) }, func() { stir(c.timerWake) })
	var wg sync.WaitGroup
	for _, loop := range []func(){
		func() {
			cancel(c.again(ctx, c.timerWake, func(ctx context.Context) error { return c.fireTimers(ctx, asks) }))
		},
		func() { cancel(c.again(ctx, c.wake, c.performAll)) },
	} {
		wg.Go(loop)
	}
	wg.Wait()
	asks.wait()
	if err := callers.Err(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// again does a part of the work on every tick and whenever it is woken. Timers and effects go on by themselves: neither a slow
// provider nor a slow source holds up the other.
func (c *Controller) again(ctx context.Context, wake <-chan struct{}, work func(context.Context) error) error {
	tick := time.NewTicker(c.cfg.Poll)
	defer tick.Stop()
	for {
		switch err := work(ctx); {
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
		case <-wake:
		}
	}
}

// Work does once what is due on all tasks: timers, then effects. Several controllers may work on one store: a timer fires by a
// commit, an effect is claimed. Errors of single tasks are joined.
func (c *Controller) Work(ctx context.Context) error {
	var errs []error
	asks := newAsks(true, func(err error) { errs = append(errs, err) }, func() {})
	fired := c.fireTimers(ctx, asks)
	asks.wait()
	errs = append(errs, fired)
	c.performEffects(ctx, untilDone, func(err error) { errs = append(errs, err) })
	return errors.Join(errs...)
}

// errAsks says that a timer's edge needs what a source must be asked for.
var errAsks = errors.New("a source must be asked first")

// fireTimers fires what is due in the order in which it came due; what must ask a source first comes after that, beside the rest.
func (c *Controller) fireTimers(ctx context.Context, asks *asks) error {
	now, err := c.st.Now(ctx)
	if err != nil {
		return fmt.Errorf("find timers that are due: %w", err)
	}
	c.worked.Store(now)
	return c.fireIn(ctx, asks, store.Slots{})
}

// fireIn fires what is due in some slots. A whole page of what can only be put off, for its tasks cannot be read here or their sources
// are silent, must not keep the rest from its turn: that is then looked for by halves.
func (c *Controller) fireIn(ctx context.Context, asks *asks, in store.Slots) error {
	rows, err := c.st.Due(ctx, in, 0)
	if err != nil {
		return fmt.Errorf("find timers that are due: %w", err)
	}
	var errs []error
	var must []string
	fired := false
	for _, r := range rows {
		if asks.about(r.Task) {
			continue
		}
		switch err := c.fire(ctx, r.Task, false); {
		case err == nil:
			fired = true
		case errors.Is(err, errAsks):
			must = append(must, r.Task)
		default:
			errs = append(errs, fmt.Errorf("timers of task %s: %w", r.Task, err))
		}
	}
	if low, high := halves(in); !fired && len(rows) == store.MaxPage && ctx.Err() == nil && low != high {
		return errors.Join(c.fireIn(ctx, asks, low), c.fireIn(ctx, asks, high))
	}
	for _, task := range must {
		asks.begin(task, func() error { return c.fire(ctx, task, true) })
	}
	return errors.Join(errs...)
}

// halves splits slots in two; both are the same when they cannot be split.
func halves(s store.Slots) (low, high store.Slots) {
	if s == (store.Slots{}) {
		s.To = store.MaxSlot
	}
	middle := (s.From + s.To) / 2
	if middle == s.From {
		return s, s
	}
	return store.Slots{From: s.From, To: middle}, store.Slots{From: middle, To: s.To}
}

// fire is takeDue, measured.
func (c *Controller) fire(ctx context.Context, task string, ask bool) error {
	ctx, end := c.begin(ctx, OperationTimer, task)
	err := c.takeDue(ctx, task, ask)
	switch {
	case end == nil:
	case errors.Is(err, errAsks):
		end(nil) // its turn comes later
	default:
		end(err)
	}
	return err
}

// takeDue takes the edge of each timer that has come due, earliest first. One whose edge is refused is put off, with the reason in
// the history: a deadline is not lost, and does not keep others waiting. Unless it may ask, it is errAsks when it must.
func (c *Controller) takeDue(ctx context.Context, task string, ask bool) error {
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
	s := &Session{c: c, own: true, quiet: !ask, at: l}
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

// performAll is performEffects for as long as something is under way: what becomes ready meanwhile is claimed as soon as there is room.
// There may always be something, so what goes wrong is told at once; only a store that has failed or is closed is its error.
func (c *Controller) performAll(ctx context.Context) (broken error) {
	tick := time.NewTicker(c.cfg.Poll)
	defer tick.Stop()
	wait := func(done <-chan error) (over bool, err error) {
		select {
		case err = <-done:
			return true, err
		case <-c.wake:
		case <-tick.C:
		}
		return false, nil
	}
	c.performEffects(ctx, wait, func(err error) {
		if errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrFailed) {
			broken = err
			return
		}
		c.trouble(ctx, err)
	})
	return broken
}

// trouble tells Config.Problem, but not that the controller was told to stop.
func (c *Controller) trouble(ctx context.Context, err error) {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		c.cfg.Problem(err)
	}
}

// untilDone waits for nothing but what is under way.
func untilDone(done <-chan error) (over bool, err error) { return true, <-done }

// performEffects claims what is ready and works on it side by side, until nothing is left. One that takes its time holds up only its own
// place: whenever another is done, or more is told of, the free places are filled again. fail hears each error.
func (c *Controller) performEffects(ctx context.Context, wait func(<-chan error) (over bool, err error), fail func(error)) {
	done := make(chan error, MaxHandlers)
	for running := 0; ; {
		claimed, err := c.claim(ctx, MaxHandlers-running)
		if err != nil {
			fail(err)
		}
		for _, e := range claimed {
			c.performing.Add(1)
			go func() { done <- c.performClaimed(ctx, e) }()
		}
		if running += len(claimed); running == 0 {
			return
		}
		over, err := wait(done)
		if over {
			running--
		}
		if err != nil {
			fail(err)
		}
	}
}

// claim takes effects that are ready; none any more when the controller is told to stop.
func (c *Controller) claim(ctx context.Context, most int) ([]store.Effect, error) {
	if most == 0 || ctx.Err() != nil {
		return nil, nil
	}
	claimed, err := c.st.Claim(ctx, store.Slots{}, most, c.cfg.Holder, c.hold())
	if err != nil {
		return nil, fmt.Errorf("claim effects: %w", err)
	}
	return claimed, nil
}

// performClaimed sees through what may have been sent, also when the controller is told to stop: PerformWithin bounds it.
func (c *Controller) performClaimed(stop context.Context, e store.Effect) error {
	defer c.performing.Add(-1)
	ctx, end := c.begin(context.WithoutCancel(stop), OperationPerform, e.Task)
	err := c.perform(ctx, stop, e)
	if end != nil {
		end(err)
	}
	if err != nil {
		return fmt.Errorf("task %s, effect %s: %w", e.Task, e.ID, err)
	}
	return nil
}
