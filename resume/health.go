package resume

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawlgo/pawl/store"
)

// ages are what a Backlog counts by.
var ages = [...]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}

// Ages are the ages that [Backlog.Older] counts by, the lowest first.
func Ages() []time.Duration { return ages[:] }

// Health says how a controller and its store are doing, for a probe and for alerts. It holds no task's id, but for what Err may say of one
// that cannot be read: keep its text apart from a public probe.
type Health struct {
	At          time.Time
	Err         error     // what could not be found out; nil when the store answers. What could is there all the same
	Quarantined bool      // the store is a new incarnation that no operator has released, see [Controller.Release]
	Frozen      []string  // machines whose effects are stopped, sorted
	Worked      time.Time // when this controller last looked for what is due; zero when never
	Due         int       // tasks with a timer that has come due and not fired; at most [store.MaxPage] are counted
	OldestDue   time.Time // the earliest of these timers
	Unsettled   []Backlog // by effect and status
	InFlight    int       // calls that are under way in this controller
	Performing  int       // effects that this controller is sending or looking up
}

// Backlog are the effects of one name and status without an outcome.
type Backlog struct {
	Effect string
	Status string // intent, sent or unknown
	Count  int
	Older  []int // how many are older than each of [Ages]
	Oldest time.Time
}

// Well tells whether nothing is left for an operator to do at once: everything could be found out, nothing is stopped, no timer is late
// by more than a minute, no effect has been unknown for more than a minute, and none without an outcome for more than an hour. Late
// timers and old intents mean that no worker runs, or that it cannot keep up.
func (h Health) Well() bool {
	late := h.Due > 0 && h.At.Sub(h.OldestDue) > ages[0]
	return h.Err == nil && !h.Quarantined && len(h.Frozen) == 0 && !late && !slices.ContainsFunc(h.Unsettled, func(b Backlog) bool {
		return b.Older[2] > 0 || b.Status == store.Unknown.String() && b.Older[0] > 0
	})
}

// Health looks at the store and at this controller. It reads every unsettled effect, so it is for once in a while.
func (c *Controller) Health(ctx context.Context) Health {
	h := Health{InFlight: c.flights.count(), Performing: int(c.performing.Load())}
	if worked := c.worked.Load(); worked != 0 {
		h.Worked = time.UnixMicro(worked).UTC()
	}
	var errs [5]error
	h.At, errs[0] = c.now(ctx)
	h.Quarantined, errs[1] = c.quarantined(ctx)
	h.Frozen, errs[2] = c.frozenMachines(ctx)
	h.Due, h.OldestDue, errs[3] = c.overdue(ctx)
	h.Unsettled, errs[4] = c.backlog(ctx, h.At)
	h.Err = errors.Join(errs[:]...)
	return h
}

func (c *Controller) frozenMachines(ctx context.Context) (names []string, err error) {
	for name := range c.machines {
		frozen, e := c.frozen(ctx, name)
		if err = errors.Join(err, e); frozen {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

func (c *Controller) overdue(ctx context.Context) (n int, oldest time.Time, err error) {
	rows, err := c.st.Due(ctx, store.Slots{}, 0)
	if len(rows) > 0 {
		oldest = time.UnixMicro(rows[0].Meta.Wake).UTC()
	}
	return len(rows), oldest, err
}

func (c *Controller) backlog(ctx context.Context, now time.Time) ([]Backlog, error) {
	list, err := c.Unsettled(ctx, -1)
	by := map[[2]string]*Backlog{}
	for _, u := range list {
		k := [2]string{u.Effect, u.Status}
		if by[k] == nil {
			by[k] = &Backlog{Effect: u.Effect, Status: u.Status, Older: make([]int, len(ages)), Oldest: u.Since}
		}
		by[k].add(u, now)
	}
	out := make([]Backlog, 0, len(by))
	for _, b := range by {
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b Backlog) int {
		return cmp.Or(cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Status, b.Status))
	})
	return out, err
}

func (b *Backlog) add(u Unsettled, now time.Time) {
	b.Count++
	if u.Since.Before(b.Oldest) {
		b.Oldest = u.Since
	}
	for i, age := range ages {
		if now.Sub(u.Since) > age {
			b.Older[i]++
		}
	}
}
