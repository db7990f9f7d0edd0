package resume

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Controller commits. Safe for concurrent use; several may serve one store.
type Controller struct {
	st         store.Store
	cfg        Config
	ruled      bool // the configuration says who may
	machines   definitions
	steps      map[machine.Stamp]machine.Migration // by the definition that they leave
	observers  map[string]Observer
	handlers   map[string]Handler
	trusted    map[*guard.Authority]bool
	trusts     func(*guard.Authority) bool // looks there
	cache      *cache
	wake       chan struct{}
	timerWake  chan struct{}
	freezes    freezes
	flights    *flights
	queue      *flights      // updates that wait for their turn, or have it
	worked     atomic.Int64  // when it last looked for what is due, in microseconds
	performing atomic.Int32  // effects
	released   atomic.Uint64 // the incarnation that is known to be released
	turns      *turns
	knocking   *knocking

	taskRate, principalRate *buckets
}

// loaded is the newest version of a task.
type loaded struct {
	tip  store.Tip
	m    *machine.Machine[any]
	snap machine.Snapshot[any]
}

func newNonce() uint64 { return rand.Uint64() }

func (c *Controller) now(ctx context.Context) (time.Time, error) {
	µ, err := c.st.Now(ctx)
	return time.UnixMicro(µ).UTC(), err
}

// load reads the newest version.
func (c *Controller) load(ctx context.Context, task string) (loaded, error) {
	tip, err := c.st.Tip(ctx, task)
	if err != nil {
		return loaded{}, fmt.Errorf("task %s: %w", task, err)
	}
	if l, ok := c.cache.get(task, tip); ok {
		return l, nil
	}
	r, _, err := c.st.Load(ctx, task)
	if err != nil {
		return loaded{}, fmt.Errorf("task %s: %w", task, err)
	}
	l, err := c.decode(r)
	if err != nil {
		return loaded{}, err
	}
	c.cache.put(l)
	return l, nil
}

func (c *Controller) decode(r store.Record) (loaded, error) {
	m, snap, err := c.machines.decode(r)
	if err != nil {
		return loaded{}, err
	}
	if snap.Task != r.Task || snap.Version != r.Tip.Version {
		return loaded{}, fmt.Errorf("record of task %s, version %d holds task %s, version %d: %w",
			r.Task, r.Tip.Version, snap.Task, snap.Version, store.ErrCorrupt)
	}
	return loaded{r.Tip, m, snap}, nil
}

// Start begins a task. [ErrExists] when there is one: it never resumes. A child begins under a task that the principal may act on and
// that has not ended; at most [MaxAncestors] stand above it. That an id is taken is told whoever may begin a task of their own, as it must
// be: a service chooses ids, and does not let strangers. Other errors wrap [ErrMachine], [ErrNoTask],
// [machine.ErrTask], [guard.ErrForm], or are the store's.
func (c *Controller) Start(ctx context.Context, t machine.Task, who guard.Principal) (*Session, error) {
	if t.Definition == nil || machine.Erase(t.Definition) == nil {
		return nil, fmt.Errorf("start an empty task: %w", machine.ErrTask)
	}
	m := c.machines.exact(machine.Erase(t.Definition).Stamp())
	if m == nil {
		return nil, fmt.Errorf("start task %.160q of machine %s: %w", t.ID, t.Definition.Name(), ErrMachine)
	}
	if strings.HasPrefix(t.ID, Reserved) {
		return nil, fmt.Errorf("start task %.160q: the id is reserved: %w", t.ID, machine.ErrTask)
	}
	now, err := c.now(ctx)
	if err != nil {
		return nil, fmt.Errorf("start task %.160q: %w", t.ID, err)
	}
	snap, entry, err := t.First(now)
	if err != nil {
		return nil, err
	}
	if !c.cfg.May(who, snap.Head) {
		return nil, fmt.Errorf("start task %s for %s: %w", t.ID, t.Owner, ErrNoTask)
	}
	if err := c.under(ctx, t, who); err != nil {
		return nil, err
	}
	l, err := c.write(ctx, loaded{m: m}, snap, entry, nil)
	switch {
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrErased):
		return nil, fmt.Errorf("start task %s: %w", t.ID, ErrExists)
	case err != nil:
		return nil, fmt.Errorf("start task %s: %w", t.ID, err)
	}
	return &Session{c: c, who: who, at: l}, nil
}

// Resume reads the newest version of a task, checks the principal, leads it to the newest definition that the configuration has
// migrations to, and observes again what has gone stale. What came out
// different is committed; what was confirmed is held by the session and committed with its next proposal. It never starts.
// Errors wrap [ErrNoTask], [ErrBusy], [ErrMachine], [machine.ErrTask], [machine.ErrStored], [machine.ErrUnmigratable], or are the store's.
func (c *Controller) Resume(ctx context.Context, task string, who guard.Principal) (*Session, error) {
	l, err := c.enter(ctx, task, who)
	if err != nil {
		return nil, err
	}
	if err := c.board(ctx, c.flights, task); err != nil {
		return nil, err
	}
	defer c.flights.leave(task)
	ctx, end := c.begin(ctx, OperationResume, task)
	s, err := c.resume(ctx, l, who)
	if end != nil {
		end(err)
	}
	return s, err
}

func (c *Controller) resume(ctx context.Context, l loaded, who guard.Principal) (*Session, error) {
	l, err := c.advance(ctx, l, guard.Worker, guard.Principal{})
	if err != nil {
		return nil, err
	}
	s := &Session{c: c, who: who, at: l}
	return s, s.refresh(ctx)
}

// enter loads a task for a principal. To a stranger an unknown task and a forbidden one look alike.
func (c *Controller) enter(ctx context.Context, task string, who guard.Principal) (loaded, error) {
	if err := machine.CheckTaskID(task); err != nil {
		return loaded{}, err
	}
	if strings.HasPrefix(task, Reserved) {
		return loaded{}, fmt.Errorf("task %s: %w", task, ErrNoTask)
	}
	stranger := Attempt{Principal: who.ID, Kind: machine.Refused, Findings: []machine.Finding{{Code: machine.CodeForbidden}}}
	l, err := c.load(ctx, task)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrErased):
		c.lookFor(ctx, task, stranger)
		return loaded{}, noTask(task)
	case err != nil && c.hides(ctx, task, who):
		return loaded{}, noTask(task)
	case err != nil:
		return loaded{}, err
	}
	if !c.cfg.May(who, l.snap.Head) {
		c.turnAway(ctx, l, stranger)
		return loaded{}, noTask(task)
	}
	return l, nil
}

// hides tells whether a task that this controller cannot read is none of the principal's, as far as its record says.
func (c *Controller) hides(ctx context.Context, task string, who guard.Principal) bool {
	r, _, err := c.st.Load(ctx, task)
	return err == nil && !c.cfg.May(who, headOf(store.Row{Task: task, Meta: r.Meta}))
}

// meta is what the store must know of a snapshot to find the task again.
func (l loaded) meta(s machine.Snapshot[any]) store.Meta {
	m := store.Meta{Machine: s.Machine, State: string(s.State), Owner: s.Owner, Since: s.Entered.UnixMicro(), Final: l.m.IsFinal(s.State)}
	if w := s.Waiting; w != nil {
		m.WaitsFor = "role/" + string(w.For)
		if w.For == machine.TaskOwner {
			m.WaitsFor = "user/" + s.Owner
		}
	}
	if wake := s.Wake(); !wake.IsZero() {
		m.Wake = wake.UnixMicro()
	}
	return m
}
