package resume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// MaxUpdates is how often [Controller.Update] proposes when other commits keep coming first. Of two controllers that keep updating
// the same task one may lose every second race by chance: eight in a row happen, thirty-two hardly do.
const MaxUpdates = 32

// turns lets one Update of a task in at a time, so that those of one controller never get in each other's way.
type turns struct {
	mu   sync.Mutex
	next map[string]*turn
}

// turn is a task that somebody updates; want counts who does and who waits to.
type turn struct {
	free chan struct{}
	want int
}

func newTurns() *turns { return &turns{next: map[string]*turn{}} }

// take waits for the task's turn; the function that it gives ends it.
func (t *turns) take(ctx context.Context, task string) (func(), error) {
	t.mu.Lock()
	mine := t.next[task]
	if mine == nil {
		mine = &turn{free: make(chan struct{}, 1)}
		t.next[task] = mine
	}
	mine.want++
	t.mu.Unlock()
	select {
	case mine.free <- struct{}{}:
		return func() { <-mine.free; t.leave(task, mine) }, nil
	case <-ctx.Done():
		t.leave(task, mine)
		return nil, fmt.Errorf("task %s: wait for a turn: %w", task, ctx.Err())
	}
}

// leave forgets a task that nobody wants.
func (t *turns) leave(task string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.want--; mine.want == 0 {
		delete(t.next, task)
	}
}

// Update proposes to the newest version of a task, whichever that is: propose sees a copy of it and says what is to be
// done. When another commit came first, propose is asked again, at most [MaxUpdates] times; after that the outcome is the
// last conflict. Only a proposal with a key is recognised as one that was committed before. Updates of one task by one
// controller take turns: neither propose nor an observer may update the same task.
// It is for short calls without a session of their own: a tool, a command. When too many wait already it is turned away with [ErrBusy].
// Errors are those of [Controller.Resume] and [Session.Propose].
func (c *Controller) Update(ctx context.Context, task string, who guard.Principal, propose func(machine.Snapshot[any]) machine.Proposal) (machine.Outcome, error) {
	return c.update(ctx, task, who, func(s *Session) (out machine.Outcome, keyed bool, err error) {
		p := propose(s.Snapshot())
		out, err = s.Propose(ctx, p)
		return out, p.Key() != "", err
	})
}

// UpdateRaw is Update for an event by name and its payload as raw bytes, as a model wrote them; bytes that are not in the
// required form are a refusal. dress adds what the caller knows and the bytes may not say: the idempotency key, who
// proposes, the revision. Nil adds nothing.
func (c *Controller) UpdateRaw(ctx context.Context, task string, who guard.Principal, event string, payload []byte, dress func(machine.Proposal) machine.Proposal) (machine.Outcome, error) {
	return c.update(ctx, task, who, func(s *Session) (out machine.Outcome, keyed bool, err error) {
		info := s.at.m.EventNamed(event)
		if info == nil || dress == nil {
			out, err = s.ProposeRaw(ctx, event, payload)
			return out, false, err
		}
		p, err := info.Decode(payload)
		if err != nil {
			out, err = s.malformed(ctx, event, formFinding(err), nil)
			return out, false, err
		}
		p = dress(p)
		out, err = s.Propose(ctx, p)
		return out, p.Key() != "", err
	})
}

// update proposes until no other commit comes first. A proposal without a key that counts as replayed is another caller's
// with the same words, since this one is new: it was overtaken, too.
func (c *Controller) update(ctx context.Context, task string, who guard.Principal, propose func(*Session) (out machine.Outcome, keyed bool, err error)) (machine.Outcome, error) {
	if _, err := c.enter(ctx, task, who); err != nil {
		return machine.Outcome{}, err // a stranger neither waits for a turn, which would tell that there is a task, nor takes one
	}
	if err := c.board(ctx, c.queue, task); err != nil {
		return machine.Outcome{}, err
	}
	defer c.queue.leave(task)
	done, err := c.turns.take(ctx, task)
	if err != nil {
		return machine.Outcome{}, err
	}
	defer done()
	for n := 1; ; n++ {
		s, err := c.newest(ctx, task, who)
		if err != nil {
			return machine.Outcome{}, err
		}
		base := s.Version()
		out, keyed, err := propose(s)
		overtaken := out.Kind == machine.Conflict || out.Replayed && !keyed || out.Code() == machine.CodeLapsed && out.Version > base
		if err != nil || !overtaken {
			return out, err
		}
		if n == MaxUpdates {
			out.Kind, out.Replayed = machine.Conflict, false
			return out, nil
		}
	}
}

// newest is a session at the newest version, of which nothing was observed again.
func (c *Controller) newest(ctx context.Context, task string, who guard.Principal) (*Session, error) {
	l, err := c.enter(ctx, task, who)
	if err != nil {
		return nil, err
	}
	if l, err = c.advance(ctx, l, guard.Worker, guard.Principal{}); err != nil {
		return nil, err
	}
	return &Session{c: c, who: who, at: l}, nil
}

// Latest is a copy of the newest version of a task, and the instant on the store's clock at which it was read. Nothing is
// observed again. Errors are those of [Controller.Resume].
func (c *Controller) Latest(ctx context.Context, task string, who guard.Principal) (machine.Snapshot[any], time.Time, error) {
	s, err := c.newest(ctx, task, who)
	if err != nil {
		return machine.Snapshot[any]{}, time.Time{}, err
	}
	now, err := c.now(ctx)
	if err != nil {
		return machine.Snapshot[any]{}, time.Time{}, fmt.Errorf("task %s: %w", task, err)
	}
	return s.Snapshot(), now, nil
}

// Recent are the newest entries of a task's history, at most n, newest first: those of the named events, or of any when none
// is named. Errors are those of [Controller.Resume] and [Session.History].
func (c *Controller) Recent(ctx context.Context, task string, who guard.Principal, n int, events ...string) ([]machine.Entry, error) {
	s, err := c.newest(ctx, task, who)
	if err != nil {
		return nil, err
	}
	var out []machine.Entry
	for e, err := range s.History(ctx) {
		if err != nil {
			return nil, err
		}
		if len(out) >= n {
			break
		}
		if len(events) == 0 || slices.Contains(events, e.Event) {
			out = append(out, e)
		}
	}
	return out, nil
}

// Attempts are the newest refused attempts of a task, newest first. Errors are those of [Controller.Resume] and
// [Session.Attempts].
func (c *Controller) Attempts(ctx context.Context, task string, who guard.Principal) ([]machine.Attempt, error) {
	s, err := c.newest(ctx, task, who)
	if err != nil {
		return nil, err
	}
	return s.Attempts(ctx)
}

// Ensure starts a task unless it exists, and tells whether it did. What exists keeps its data, and may be another's. Errors are those of
// [Controller.Start], but for [ErrExists].
func (c *Controller) Ensure(ctx context.Context, t machine.Task, who guard.Principal) (started bool, err error) {
	_, err = c.Start(ctx, t, who)
	if errors.Is(err, ErrExists) {
		return false, nil
	}
	return err == nil, err
}
