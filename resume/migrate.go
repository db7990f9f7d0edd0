package resume

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// migrations registers the steps, and sees that they leave no gap below the newest version.
func (r *register) migrations() {
	first := map[string]int{}
	for i, step := range r.c.cfg.Migrations {
		if step.From() == nil {
			r.fault("Migrations[%d]: a migration is the zero Migration: make it with machine.Migrate", i)
			continue
		}
		from, to := step.From().Stamp(), step.To().Stamp()
		switch _, twice := r.c.steps[from]; {
		case r.c.machines.exact(from) == nil || r.c.machines.exact(to) == nil:
			r.fault("Migrations[%d]: a migration leads from %s to %s: register both in Machines", i, from, to)
			continue
		case twice:
			r.fault("Migrations[%d]: two migrations leave version %d of machine %s", i, from.Version, from.Machine)
			continue
		}
		r.c.steps[from] = step
		if v, had := first[from.Machine]; !had || from.Version < v {
			first[from.Machine] = from.Version
		}
	}
	for _, name := range slices.Sorted(maps.Keys(first)) {
		r.gapless(r.c.machines[name], first[name])
	}
}

// gapless sees that each version from the first that is left has a step to the next one.
func (r *register) gapless(newestFirst []*machine.Machine[any], first int) {
	for i, m := range newestFirst[1:] {
		if m.Version() < first {
			return
		}
		next := newestFirst[i]
		switch step, has := r.c.steps[m.Stamp()]; {
		case !has:
			r.fault("no migration leads from version %d of machine %s to version %d", m.Version(), m.Name(), next.Version())
		case step.To().Version() != next.Version():
			r.fault("the migration from version %d of machine %s leads to version %d, past version %d: migrate step by step",
				m.Version(), m.Name(), step.To().Version(), next.Version())
		}
	}
}

// advance leads a task to the newest definition, one commit for each step.
func (c *Controller) advance(ctx context.Context, l loaded, by guard.Actor, who guard.Principal) (loaded, error) {
	for races := 0; races < maxRaces; {
		step, older := c.steps[l.m.Stamp()]
		if !older {
			return l, nil
		}
		now, err := c.now(ctx)
		if err != nil {
			return l, fmt.Errorf("task %s: %w", l.snap.Task, err)
		}
		next, entry, err := step.Apply(l.snap, by, who, now)
		if err != nil {
			return l, err
		}
		switch moved, err := c.write(ctx, loaded{l.tip, c.machines.exact(next.Stamp()), l.snap}, next, entry, nil); {
		case err == nil:
			l = moved
		case !errors.Is(err, store.ErrConflict):
			return l, fmt.Errorf("migrate task %s: %w", l.snap.Task, err)
		default:
			races++
			if l, err = c.load(ctx, l.snap.Task); err != nil {
				return l, err
			}
		}
	}
	return l, fmt.Errorf("migrate task %s: other commits kept coming first: %w", l.snap.Task, store.ErrConflict)
}

// tryAdvance is advance where nobody can be told no: evidence and deadlines count under the old definition when the task cannot
// go over (law 15).
func (c *Controller) tryAdvance(ctx context.Context, l loaded) (loaded, error) {
	moved, err := c.advance(ctx, l, guard.Worker, guard.Principal{})
	if errors.Is(err, machine.ErrUnmigratable) {
		c.cfg.Problem(err)
		return moved, nil
	}
	return moved, err
}

// Migrate leads one task to the newest definition that Config.Migrations lead to, one commit for each step, and says which one it
// is of now. Errors wrap [ErrNoTask], [ErrMachine], [ErrOperator], [machine.ErrUnmigratable], or are the store's; steps that were
// committed before stay.
func (c *Controller) Migrate(ctx context.Context, task string, by guard.Principal) (machine.Stamp, error) {
	l, err := c.enter(ctx, task, by)
	switch {
	case err != nil:
		return machine.Stamp{}, err
	case !by.Has(guard.OperatorRole):
		return l.m.Stamp(), fmt.Errorf("migrate task %s: %w", task, ErrOperator)
	}
	l, err = c.advance(ctx, l, guard.Operator, by)
	return l.snap.Stamp(), err
}
