package resume

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// takings is what one task took of resources where it was imported from, as its own history tells.
type takings struct {
	parts   []*part // by name of the resource, the same whenever they are read
	missing []Uncounted
	now     machine.Head // as the task is now
	final   bool
}

// part is what the task took of one resource.
type part struct {
	name   string
	used   int64 // by effects that are confirmed; never more than can be counted
	stated int64 // by others, as an operator says
	most   bool  // it was more
	window time.Duration
	taken  []taken // of a velocity limit
	limit  int64   // as the newest effect knew it
	known  time.Time
	reply  bool // no hold: a message that has said yes
}

// gathering reads a history, newest version first.
type gathering struct {
	parts map[string]*part
	seen  map[string]bool    // keys of intents
	came  map[string]bool    // keys of which evidence came: of an effect that failed, its late receipt
	of    map[string]*opSeen // by effect
	first uint64             // the newest version
	head  machine.Head       // of that version
}

// opSeen is what was seen of an effect's operations.
type opSeen struct {
	count     uint64
	resources map[string]bool
}

// takings reads what an imported task took up to the version with which it came.
func (c *Controller) takings(ctx context.Context, task string, mark store.Imported) (takings, error) {
	g := gathering{parts: map[string]*part{}, seen: map[string]bool{}, came: map[string]bool{}, of: map[string]*opSeen{}, first: mark.Tip.Version}
	for r, err := range c.st.History(ctx, task, mark.Tip.Version, 0) {
		if err == nil {
			err = g.record(r)
		}
		if err != nil {
			return takings{}, fmt.Errorf("task %s: %w", task, err)
		}
	}
	t := takings{missing: g.missing(task, c.mayReserve(g.head.Machine))}
	for _, name := range slices.Sorted(maps.Keys(g.parts)) {
		t.parts = append(t.parts, g.parts[name])
	}
	var err error
	t.now, t.final, err = c.standsNow(ctx, task)
	return t, err
}

// standsNow reads the newest version of a task without its definition.
func (c *Controller) standsNow(ctx context.Context, task string) (h machine.Head, final bool, err error) {
	r, _, err := c.st.Load(ctx, task)
	if err != nil {
		return h, false, fmt.Errorf("task %s: %w", task, err)
	}
	if h, err = machine.DecodeHead(r.Snapshot); err != nil {
		return h, false, fmt.Errorf("task %s, version %d: %w", task, r.Tip.Version, err)
	}
	return h, r.Meta.Final, nil
}

// mayReserve tells whether effects of a machine may hold resources: one that is not served here may.
func (c *Controller) mayReserve(name string) bool {
	versions := c.machines[name]
	return len(versions) == 0 || slices.ContainsFunc(versions, (*machine.Machine[any]).Reserves)
}

func (g *gathering) record(r store.Record) error {
	h, err := machine.DecodeHead(r.Snapshot)
	if err != nil {
		return fmt.Errorf("version %d: %w", r.Tip.Version, err)
	}
	if r.Tip.Version == g.first {
		g.head = h
	}
	e, err := machine.DecodeEntry(r.Entry)
	if err != nil {
		return fmt.Errorf("version %d: %w", r.Tip.Version, err)
	}
	for _, x := range e.Evidence {
		g.came[x.Subject] = true
	}
	for _, i := range h.Intents {
		if !g.seen[i.Key] {
			g.seen[i.Key] = true
			g.intent(i, r.Tip.Version)
		}
	}
	changes, err := store.ParseChanges(r.Changes)
	if err != nil {
		return fmt.Errorf("version %d: %w", r.Tip.Version, err)
	}
	for _, s := range changes.Swap {
		if strings.HasPrefix(s.Name, guard.MessageResource) {
			g.part(s.Name).reply = true
		}
	}
	return nil
}

// intent adds an intent as the newest version that holds it tells. One without an outcome that no newer version holds has ended well as
// far as anybody can tell: an edge took it away beside another. One that failed and whose receipt came later has happened.
func (g *gathering) intent(i machine.Intent, version uint64) {
	op := g.of[i.Effect]
	if op == nil {
		op = &opSeen{resources: map[string]bool{}}
		g.of[i.Effect] = op
	}
	op.count++
	confirmed := i.Status == machine.Confirmed || i.Unsettled() && version < g.first || !i.Unsettled() && g.came[i.Key]
	for _, h := range i.Holds {
		op.resources[h.Resource] = true
		p := g.part(h.Resource)
		if !i.At.Before(p.known) {
			p.limit, p.known = h.Limit, i.At
		}
		switch {
		case h.Window > 0:
			at := i.At.UnixMicro()
			p.window, p.taken = max(p.window, h.Window), append(p.taken, taken{at, at, h.Amount})
		case h.Spent && confirmed:
			p.used, p.most = add(p.used, h.Amount, p.most)
		}
	}
}

func (g *gathering) part(name string) *part {
	p := g.parts[name]
	if p == nil {
		p = &part{name: name}
		g.parts[name] = p
	}
	return p
}

// missing are the operations that the history does not tell of, for they were pruned before the task was exported, and that may have
// taken something.
func (g *gathering) missing(task string, may bool) (out []Uncounted) {
	for _, o := range g.head.Operations {
		seen := g.of[o.Effect]
		if seen == nil {
			seen = &opSeen{}
		}
		if seen.count < o.Number && (may || len(seen.resources) > 0) {
			out = append(out, Uncounted{task, o.Effect, o.Number - seen.count, slices.Sorted(maps.Keys(seen.resources))})
		}
	}
	return out
}

// add adds two amounts, and tells whether the sum is more than can be counted.
func add(a, b int64, most bool) (int64, bool) {
	if b > math.MaxInt64-a {
		return math.MaxInt64, true
	}
	return a + b, most
}
