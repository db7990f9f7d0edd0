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

// A task that is imported brings no resources: they belong to many tasks. What it took of them is told by its own history, and is counted
// here before the store is released; until then nothing is intended, so nothing is promised twice. Two kinds of commits count it. What cannot
// change any more, used up, taken of velocity limits, said yes with, and the task among the children of those above it, is counted in the
// history of the store's incarnations, with the task's mark in the same write: so it needs no definition of the task's machine, and counts once.
// What its unsettled effects hold goes with the task's own commit, which their outcome cannot pass by.

const (
	stateCounting = "counting"
	mostCounted   = 16 // resources of one commit: with a task's ancestors within store.MaxRows, with the longest values within store.MaxCommit
)

// MaxStated is how many resources one [Controller.CountImported] may name.
const MaxStated = mostCounted

// Counted is an entry of the history of a store's incarnations: what an imported task took where it came from, counted here.
type Counted struct {
	Task      string    `json:"task"`
	Version   uint64    `json:"state_version"` // with which it was imported
	By        string    `json:"by"`
	Reason    string    `json:"reason"`
	At        time.Time `json:"at"`
	Resources []Brought `json:"resources,omitempty"`
}

// Brought is what imported tasks add to one resource, and how it stands then.
type Brought struct {
	Resource string        `json:"resource"`
	Used     int64         `json:"used,omitempty"`   // added: what confirmed effects used up
	Taken    int64         `json:"taken,omitempty"`  // added: what was taken of a velocity limit and is still within the window
	Stated   int64         `json:"stated,omitempty"` // added: what an operator says that pruned operations used up
	Held     int64         `json:"held,omitempty"`   // added: by effects without an outcome
	Total    int64         `json:"total"`            // all that is used up, held and within the window then
	Limit    int64         `json:"limit"`            // as the newest effect of the task knew it
	Window   time.Duration `json:"window,omitempty"`
	Over     bool          `json:"over,omitempty"` // more than the limit: nothing more is let through, and somebody has to look
}

// text says so in words.
func (b Brought) text() string {
	of := ""
	if b.Window > 0 {
		of = fmt.Sprintf(" within %v", b.Window)
	}
	return fmt.Sprintf("resource %s has %d taken%s of %d, with what imported tasks took: more than there is was promised in two stores", b.Resource, b.Total, of, b.Limit)
}

// counting is one imported task on its way into this store's resources.
type counting struct {
	c      *Controller
	task   string
	by     guard.Principal
	reason string
	stated map[string]int64 // what the operator says that pruned operations used up; nil when nobody has said anything
}

// count counts what the task took, in as many commits as it takes; nothing when that was done. It gives what is over its limit.
func (k *counting) count(ctx context.Context) (over []Brought, err error) {
	for races := 0; races < maxRaces; {
		mark, err := k.c.mark(ctx, k.task)
		if err != nil || !mark.Uncounted() {
			return over, err
		}
		t, err := k.c.takings(ctx, k.task, mark)
		if err != nil {
			return nil, err
		}
		if len(t.missing) > 0 && k.stated == nil {
			return nil, &UncountedError{t.missing}
		}
		brought, err := k.commit(ctx, t, mark)
		switch {
		case errors.Is(err, store.ErrSwap), errors.Is(err, store.ErrConflict):
			races++
			continue
		case err != nil:
			return nil, fmt.Errorf("count what task %s took: %w", k.task, err)
		}
		races = 0
		over = append(over, exceeded(brought)...)
	}
	return nil, fmt.Errorf("count what task %s took: other commits kept coming first: %w", k.task, store.ErrConflict)
}

func exceeded(all []Brought) []Brought {
	return slices.DeleteFunc(slices.Clone(all), func(b Brought) bool { return !b.Over })
}

// commit counts the next resources, and with the last of them what the operator states and the task itself.
func (k *counting) commit(ctx context.Context, t takings, mark store.Imported) ([]Brought, error) {
	now, err := k.c.now(ctx)
	if err != nil {
		return nil, err
	}
	next := mark
	next.Parts = min(mark.Parts+mostCounted, len(t.parts))
	next.Counted = next.Parts == len(t.parts) && (len(k.stated) == 0 || next.Parts == mark.Parts)
	var b basket
	err = b.change(ctx, k.c.st, store.ImportedResource(k.task), func(raw []byte) ([]byte, error) {
		if have, err := store.ReadImported(raw); err != nil || have != mark {
			return nil, errors.Join(err, store.ErrSwap)
		}
		return next.Encode(), nil
	})
	if err != nil {
		return nil, err
	}
	parts := t.parts[mark.Parts:next.Parts]
	if next.Counted {
		parts = append(slices.Clone(parts), k.state()...)
		err = k.c.countKin(ctx, &b, k.task)
	}
	var brought []Brought
	for _, p := range parts {
		err = errors.Join(err, p.bring(ctx, k.c.st, &b, k.task, now, &brought))
	}
	if err == nil {
		err = k.c.recordCounted(ctx, Counted{k.task, mark.Tip.Version, k.by.ID, k.reason, now, brought}, b.resources)
	}
	return brought, err
}

// state is what the operator states.
func (k *counting) state() (parts []*part) {
	for _, name := range slices.Sorted(maps.Keys(k.stated)) {
		parts = append(parts, &part{name: name, stated: k.stated[name]})
	}
	return parts
}

// bring adds a part to its resource.
func (p *part) bring(ctx context.Context, st store.Store, b *basket, task string, now time.Time, brought *[]Brought) error {
	if p.reply {
		return b.change(ctx, st, p.name, func(offer []byte) ([]byte, error) {
			if len(offer) > 0 {
				return offer, nil
			}
			return []byte(task), nil // no offer has such an id: the message answers nothing any more
		})
	}
	return b.hold(ctx, st, machine.Hold{Resource: p.name}, func(s *shares) error {
		*brought = append(*brought, s.bring(p, now))
		return nil
	})
}

// bring adds what a task took elsewhere, whether it fits or not: it has happened.
func (s *shares) bring(p *part, now time.Time) Brought {
	s.pass(now)
	b := Brought{Resource: p.name, Used: p.used, Stated: p.stated, Limit: p.limit, Window: p.window}
	most := p.most
	s.Used, most = add(s.Used, p.used, most)
	s.Used, most = add(s.Used, p.stated, most)
	if p.window > 0 {
		before, _ := s.within(p.window, now)
		s.velocity.bring(p.window, p.taken, now)
		s.pass(now)
		after, _ := s.within(p.window, now)
		b.Taken = after - before
	}
	total, more := s.standing(p.window, now)
	b.Total, b.Over = total, most || more || !p.known.IsZero() && total > p.limit
	return b
}

// standing is all that is used up, held and within the window, and whether it is more than can be counted.
func (s *shares) standing(window time.Duration, now time.Time) (sum int64, most bool) {
	if window > 0 {
		sum, most = s.within(window, now)
	}
	for _, h := range s.Holds {
		sum, most = add(sum, h.Amount, most)
	}
	return add(sum, s.Used, most)
}

// mark is that of a task; zero when it was never imported, or brought nothing.
func (c *Controller) mark(ctx context.Context, task string) (store.Imported, error) {
	rs, can := c.st.(store.Resources)
	if !can {
		return store.Imported{}, nil
	}
	r, err := rs.Resource(ctx, store.ImportedResource(task))
	if err != nil {
		return store.Imported{}, fmt.Errorf("task %s: %w", task, err)
	}
	mark, err := store.ReadImported(r.Value)
	if err != nil {
		return mark, fmt.Errorf("task %s: %w", task, err)
	}
	return mark, nil
}

// recordCounted adds an entry to the history of the store's incarnations, which stays at the release that it has.
func (c *Controller) recordCounted(ctx context.Context, e Counted, swaps []store.Resource) error {
	r, _, err := c.st.Load(ctx, incarnationID)
	if errors.Is(err, store.ErrNotFound) {
		r.Snapshot, err = json.Marshal(Released{})
	}
	if err != nil {
		return err
	}
	entry, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = c.st.Commit(ctx, &store.Commit{Base: r.Tip, Swap: swaps, Record: store.Record{Task: incarnationID, Nonce: newNonce(),
		Meta: store.Meta{Machine: incarnationMachine, State: stateCounting}, Snapshot: r.Snapshot, Entry: entry}})
	return err
}

// countImported counts what all imported tasks took. Those of which something is not known are told all at once, in an UncountedError.
func (c *Controller) countImported(ctx context.Context, by guard.Principal, reason string) (over []Brought, err error) {
	var uncounted UncountedError
	err = c.eachImported(ctx, func(task string) error {
		k := counting{c: c, task: task, by: by, reason: reason}
		more, err := k.count(ctx)
		over = append(over, more...)
		var missing *UncountedError
		if errors.As(err, &missing) {
			uncounted.Missing = append(uncounted.Missing, missing.Missing...)
			return nil
		}
		return err
	})
	return over, errors.Join(err, uncounted.orNil())
}

// eachImported visits the imported tasks that are not counted.
func (c *Controller) eachImported(ctx context.Context, visit func(task string) error) error {
	for q := (store.Query{}); ; {
		rows, next, err := c.st.Find(ctx, q)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if strings.HasPrefix(row.Task, Reserved) {
				continue
			}
			mark, err := c.mark(ctx, row.Task)
			if err == nil && mark.Uncounted() {
				err = visit(row.Task)
			}
			if err != nil && !errors.Is(err, store.ErrErased) {
				return err
			}
		}
		if q.After = next; next == "" {
			return nil
		}
	}
}

// lacksHolds tells whether an unsettled effect of a task holds what its resource does not know of, and what is over its limit with it.
func (c *Controller) lacksHolds(ctx context.Context, s machine.Snapshot[any]) (lacking bool, over []Brought, err error) {
	var b basket
	for _, i := range s.Intents {
		if !i.Unsettled() {
			continue
		}
		for _, h := range i.Holds {
			err := b.hold(ctx, c.st, h, func(s *shares) error {
				if !s.regain(i.Key, h) {
					return nil
				}
				lacking = true
				if sum, most := s.standing(0, time.Time{}); most || sum > h.Limit {
					over = append(over, Brought{Resource: h.Resource, Held: h.Amount, Total: sum, Limit: h.Limit, Over: true})
				}
				return nil
			})
			if err != nil {
				return false, nil, err
			}
		}
	}
	return lacking, over, nil
}

// regain takes a hold of an intent that the resource does not know of, whether it fits or not: it has been promised. It gives whether it
// did. What was taken of a velocity limit is counted apart, since the limit does not tell by whom.
func (s *shares) regain(key string, h machine.Hold) bool {
	if h.Window > 0 || slices.ContainsFunc(s.Holds, func(o share) bool { return o.Key == key }) {
		return false
	}
	s.Holds = append(s.Holds, share{key, h.Amount})
	return true
}
