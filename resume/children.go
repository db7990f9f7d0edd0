package resume

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// MaxAncestors is how many tasks may stand above a child: its parent, the parent's parent and so on.
const MaxAncestors = 8

// errRecount says that tasks began or ended below a parent after they had been counted for its commit.
var errRecount = errors.New("the children have been counted anew")

// errEnded says that a parent has ended: nothing can begin below it.
var errEnded = errors.New("the parent has ended")

// family is the value of the resource that a parent shares with all tasks below it. Each of them adds itself in the commit that
// begins it and takes itself away in the commit that ends it; the parent compares it in the commit that stands on the count (law 16).
type family struct {
	Open  int64  `json:"open"`            // tasks below that have not ended
	Ended bool   `json:"ended,omitempty"` // nothing may begin below any more
	Above string `json:"above,omitempty"` // the task's own parent
}

func familyID(task string) string { return Reserved + "children/" + task }

// counts tells whether a machine looks at how many children are open.
func counts(m *machine.Machine[any]) bool {
	return m.FactNamed(machine.OpenChildren.Info().Name) != nil
}

// children makes the controller the authority of what only it can count. Nobody else may speak for it.
func (r *register) children() {
	counting := false
	for _, m := range r.c.machines.all() {
		if !counts(m) {
			continue
		}
		counting = true
		if _, can := r.c.st.(store.Resources); !can {
			r.fault("machine %s counts children, and the store has no resources", m.Name())
		}
	}
	for name, f := range r.facts {
		if f.Source == machine.ControllerAuthority && f != machine.OpenChildren.Info() {
			r.fault("fact %s claims %q as its authority: only a controller speaks for that", name, f.Source)
		}
	}
	for _, a := range r.c.cfg.Trust {
		if a != nil && a.Name() == machine.ControllerAuthority {
			r.fault("a trusted handle speaks for %q: only a controller does", a.Name())
		}
	}
	if counting {
		o := Pull(machine.OpenChildren, r.c.openChildren)
		r.c.observers[o.fact.Name], r.c.trusted[o.by] = o, true
	}
}

// openChildren counts for [machine.OpenChildren]. While the store is in quarantine nobody knows: imported children are not counted yet.
func (c *Controller) openChildren(ctx context.Context, q guard.Query) (guard.Observed[int64], error) {
	if away, err := c.quarantined(ctx); err != nil || away {
		return guard.Observed[int64]{}, cmp.Or(err, errors.New("children are not counted: "+quarantineText))
	}
	var b basket
	var f family
	if err := b.family(ctx, c.st, q.Subject, func(now *family) error { f = *now; return nil }); err != nil {
		return guard.Observed[int64]{}, err
	}
	return guard.Observed[int64]{Value: f.Open, Subject: q.Subject, At: q.Now}, nil
}

// under loads the parent that a task is to begin under, for a principal.
func (c *Controller) under(ctx context.Context, t machine.Task, who guard.Principal) error {
	if t.Parent == "" {
		return nil
	}
	if _, can := c.st.(store.Resources); !can {
		return fmt.Errorf("start task %s under %s: the store has no resources, so children cannot be counted: %w", t.ID, t.Parent, machine.ErrTask)
	}
	parent, err := c.enter(ctx, t.Parent, who)
	switch {
	case err != nil:
		return fmt.Errorf("start task %s under %s: %w", t.ID, t.Parent, err)
	case parent.m.IsFinal(parent.snap.State):
		return fmt.Errorf("start task %s under %s: %w: %w", t.ID, t.Parent, errEnded, machine.ErrTask)
	}
	return nil
}

// kin are the resources of the families that a version begins, ends or counts.
func (c *Controller) kin(ctx context.Context, b *basket, base loaded, next machine.Snapshot[any], entry *machine.Entry) error {
	if entry.Event == machine.EntryMigrated {
		return nil // neither ends a task nor reopens one
	}
	began := base.snap.Version == 0
	was, is := !began && !base.m.IsFinal(base.snap.State), !base.m.IsFinal(next.State)
	counted, stands := countedBy(entry)
	if stands || !began && was != is && counts(base.m) {
		err := b.family(ctx, c.st, next.Task, func(f *family) error {
			if stands && f.Open != counted {
				return errRecount
			}
			f.Ended, f.Above = !is, next.Parent
			return nil
		})
		if err != nil {
			return err
		}
	}
	if was == is {
		return nil
	}
	if !began {
		if uncounted, err := c.uncounted(ctx, b, next.Task); err != nil || uncounted {
			return err
		}
	}
	by := int64(-1)
	if is {
		by = 1
	}
	return c.ancestors(ctx, b, next.Head, by, began)
}

// uncounted tells whether a task was imported and is not counted among the children of those above it, so that there is nothing to take
// back. The commit swaps its mark, so that nobody counts it meanwhile as what it was before.
func (c *Controller) uncounted(ctx context.Context, b *basket, task string) (bool, error) {
	if c.st.Info().Incarnation <= 1 {
		return false, nil
	}
	mark, err := c.mark(ctx, task)
	if err != nil || !mark.Uncounted() {
		return false, err
	}
	uncounted := true
	err = b.change(ctx, c.st, store.ImportedResource(task), func(raw []byte) ([]byte, error) {
		mark, err := store.ReadImported(raw)
		uncounted = mark.Uncounted()
		return raw, err
	})
	return uncounted, err
}

// countKin counts an imported task, and what has begun below it before it was here, in the families of all that stand above it.
func (c *Controller) countKin(ctx context.Context, b *basket, task string) error {
	h, final, err := c.standsNow(ctx, task)
	if err != nil || h.Parent == "" {
		return err
	}
	n := int64(0)
	err = b.family(ctx, c.st, task, func(f *family) error {
		if f.Above == "" {
			n, f.Above = f.Open, h.Parent
		}
		return nil
	})
	if !final {
		n++
	}
	if err != nil || n == 0 {
		return err
	}
	return c.ancestors(ctx, b, h, n, false)
}

// ancestors counts a task in or out of the families of all that stand above it.
func (c *Controller) ancestors(ctx context.Context, b *basket, s machine.Head, by int64, began bool) error {
	above := s.Parent
	for n := 0; above != ""; n++ {
		if n == MaxAncestors {
			return fmt.Errorf("more than %d tasks above task %s: %w", MaxAncestors, s.Task, machine.ErrTask)
		}
		id := above
		err := b.family(ctx, c.st, id, func(f *family) (err error) {
			switch {
			case began && n == 0 && f.Ended:
				return fmt.Errorf("task %s under %s: %w: %w", s.Task, id, errEnded, machine.ErrTask)
			case f.Open == 0 && f.Above == "":
				f.Above, err = c.parentOf(ctx, id)
			}
			above = f.Above
			f.Open = max(f.Open+by, 0)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// parentOf is the parent of a task, "" when it has none or is gone.
func (c *Controller) parentOf(ctx context.Context, task string) (string, error) {
	h, _, err := c.standsNow(ctx, task)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrErased) {
		return "", nil
	}
	return h.Parent, err
}

// countedBy is the number of open children that a commit stands on, if it does.
func countedBy(e *machine.Entry) (n int64, stands bool) {
	for _, g := range e.Ground {
		stands = stands || g.Fact == machine.OpenChildren.Info().Name
	}
	if !stands {
		return 0, false
	}
	for _, x := range e.Evidence {
		if x.Fact == machine.OpenChildren.Info().Name && x.Merged != guard.Late {
			n, _ = strconv.ParseInt(string(x.Value), 10, 64) // it was decoded as an int64 before
		}
	}
	return n, true
}

func (b *basket) family(ctx context.Context, st store.Store, task string, change func(*family) error) error {
	return b.change(ctx, st, familyID(task), func(raw []byte) ([]byte, error) {
		var f family
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &f); err != nil {
				return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
			}
		}
		if err := change(&f); err != nil {
			return nil, err
		}
		return json.Marshal(f)
	})
}
