package resume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Imports is what imported tasks bring that are not counted yet.
type Imports struct {
	Tasks     []string    // in the order of the store
	Resources []Brought   // as they would stand with it, by name
	Missing   []Uncounted // what keeps the store in quarantine, unless somebody says it: see CountImported
}

// Imported says what [Controller.Release] would count, and changes nothing: what the imported tasks took where they came from, how each
// resource would stand, and which would be over its limit. Errors are the store's.
func (c *Controller) Imported(ctx context.Context) (Imports, error) {
	now, err := c.now(ctx)
	if err != nil {
		return Imports{}, fmt.Errorf("what imported tasks bring: %w", err)
	}
	d := dryCount{c: c, now: now, as: map[string]*dryShares{}}
	if err := c.eachImported(ctx, func(task string) error { return d.task(ctx, task) }); err != nil {
		return Imports{}, fmt.Errorf("what imported tasks bring: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(d.as)) {
		d.out.Resources = append(d.out.Resources, d.as[name].sum)
	}
	return d.out, nil
}

// dryCount counts without writing.
type dryCount struct {
	c   *Controller
	now time.Time
	as  map[string]*dryShares
	out Imports
}

// dryShares is a resource as it would be.
type dryShares struct {
	shares
	sum   Brought
	known time.Time
}

func (d *dryCount) task(ctx context.Context, task string) error {
	mark, err := d.c.mark(ctx, task)
	if err != nil {
		return err
	}
	t, err := d.c.takings(ctx, task, mark)
	if err != nil {
		return err
	}
	d.out.Tasks = append(d.out.Tasks, task)
	d.out.Missing = append(d.out.Missing, t.missing...)
	for _, p := range t.parts[mark.Parts:] {
		if p.reply {
			continue
		}
		s, err := d.shares(ctx, p.name)
		if err != nil {
			return err
		}
		s.add(p, t.now, d.now)
	}
	return nil
}

func (d *dryCount) shares(ctx context.Context, name string) (*dryShares, error) {
	if s := d.as[name]; s != nil {
		return s, nil
	}
	r, err := d.c.st.(store.Resources).Resource(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", name, err)
	}
	s := &dryShares{}
	if len(r.Value) > 0 {
		if err := json.Unmarshal(r.Value, &s.shares); err != nil {
			return nil, fmt.Errorf("resource %s: %w: %w", name, store.ErrCorrupt, err)
		}
	}
	d.as[name] = s
	return s, nil
}

// add adds what a task took, and what it holds now.
func (s *dryShares) add(p *part, now machine.Head, at time.Time) {
	b := s.bring(p, at)
	for _, i := range now.Intents {
		for _, h := range i.Holds {
			if i.Unsettled() && h.Resource == p.name && s.regain(i.Key, h) {
				b.Held += h.Amount
			}
		}
	}
	if p.known.Before(s.known) {
		b.Limit = s.sum.Limit
	} else {
		s.known = p.known
	}
	var most, more, mine bool
	b.Used, most = add(b.Used, s.sum.Used, most)
	b.Taken, more = add(b.Taken, s.sum.Taken, more)
	b.Held, mine = add(b.Held, s.sum.Held, mine)
	b.Window = max(b.Window, s.sum.Window)
	total, past := s.standing(b.Window, at)
	b.Total, b.Over = total, most || more || mine || past || total > b.Limit
	s.sum = b
}

// CountImported counts what one imported task took where its history does not tell all of it: used is what its pruned operations used up, by
// resource, as an operator has found out; none when that is nothing. The history of the store's incarnations
// keeps who said so and why. The rest of what the task took is counted as [Controller.Release] does, and is not counted again by it.
// Errors wrap [ErrOperator], [ErrNoTask] when there is no such task or it is counted already, [machine.ErrTask] for amounts or names that
// cannot be, or are the store's.
func (c *Controller) CountImported(ctx context.Context, task string, by guard.Principal, reason string, used map[string]int64) error {
	if !mayRelease(by, reason) {
		return fmt.Errorf("count what task %.160q took: %w", task, ErrOperator)
	}
	if err := checkStated(task, used); err != nil {
		return fmt.Errorf("count what task %.160q took: %w", task, err)
	}
	mark, err := c.mark(ctx, task)
	switch {
	case err != nil:
		return fmt.Errorf("count what task %s took: %w", task, err)
	case !mark.Uncounted():
		return fmt.Errorf("count what task %s took: it was not imported with anything, or is counted: %w", task, ErrNoTask)
	}
	if used == nil {
		used = map[string]int64{}
	}
	k := counting{c: c, task: task, by: by, reason: reason, stated: used}
	over, err := k.count(ctx)
	for _, o := range over {
		c.cfg.Problem(errors.New(o.text()))
	}
	return err
}

func checkStated(task string, used map[string]int64) error {
	if err := machine.CheckTaskID(task); err != nil {
		return err
	}
	if len(used) > MaxStated {
		return fmt.Errorf("%d resources, at most %d: %w", len(used), MaxStated, machine.ErrTask)
	}
	for name, amount := range used {
		switch {
		case amount <= 0:
			return fmt.Errorf("resource %.200q: %d used up, leave out what is nothing: %w", name, amount, machine.ErrTask)
		case name == "" || len(name) > machine.MaxResource || strings.ContainsRune(name, 0) || strings.HasPrefix(name, machine.ReservedResource):
			return fmt.Errorf("resource %.200q: no hold can take from it: %w", name, machine.ErrTask)
		}
	}
	return nil
}
