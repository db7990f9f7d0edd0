package resume

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/store"
)

// MaxWatching is how many tasks one watch of a search remembers: those that it has told of.
const MaxWatching = 100_000

// ErrWatching ends a watch that has met more than [MaxWatching] tasks. Begin another one with what has been told.
var ErrWatching = errors.New("one watch remembers no more tasks")

// Watched is what a watch of a search tells of one task. The versions after Before up to Version are new; [Session.Watch] has each.
type Watched struct {
	Found          // only Task when it left
	Before  uint64 // the version that was told before, 0 for none
	Version uint64 // the newest; 0 when the task is not there, or the principal may not see it
	Left    bool   // the search does not find it any more
}

// Watch tells of each task that a search finds, and then of each that comes into it, changes within it or leaves it, until the context
// ends. told are versions that were told before, by a watch that this one goes on from: no change after them is left out, also of tasks
// that have left since; changes of one task that come at once are told as one. It may be nil, and is not changed. Whoever may not search
// so is told nothing, as with Find. The page's limit and where it begins are not looked at. Errors wrap [ErrWatching] or are the store's;
// one ends it.
func (c *Controller) Watch(ctx context.Context, who guard.Principal, q Search, told map[string]uint64) iter.Seq2[Watched, error] {
	return func(yield func(Watched, error) bool) {
		if !maySearch(who, q) {
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w := &watch{c: c, who: who, q: q, known: make(map[string]mark, len(told))}
		for task, version := range told {
			w.known[task] = mark{version, true}
		}
		hints := c.hinted(ctx)
		tick := time.NewTicker(c.cfg.Poll) // a hint can be lost; a version cannot
		defer tick.Stop()
		for err := w.scan(ctx); w.tell(ctx, err, yield); {
			select {
			case <-ctx.Done():
			case <-hints.wake:
				if rows, lost := hints.take(); lost {
					err = w.scan(ctx)
				} else {
					err = w.look(ctx, rows)
				}
			case <-tick.C:
				err = w.scan(ctx)
			}
		}
	}
}

// watch is one watch of a search.
type watch struct {
	c     *Controller
	who   guard.Principal
	q     Search
	known map[string]mark
	news  []Watched
}

// mark is what was told of a task.
type mark struct {
	version uint64
	in      bool // the search found it
}

// tell hands over what is new; false when that was all.
func (w *watch) tell(ctx context.Context, err error, yield func(Watched, error) bool) bool {
	for _, n := range w.news {
		if ctx.Err() != nil || !yield(n, nil) {
			return false
		}
	}
	w.news = w.news[:0]
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		yield(Watched{}, fmt.Errorf("watch tasks: %w", err))
	}
	return err == nil
}

// scan looks at all that the search finds, and at what it found before and does not any more.
func (w *watch) scan(ctx context.Context) error {
	now, err := w.c.st.Now(ctx)
	if err != nil {
		return err
	}
	found, q := map[string]bool{}, w.q
	q.After, q.Limit = "", MaxFound
	for more := true; more; more = q.After != "" {
		var page []Found
		if page, q.After, err = w.c.Find(ctx, w.who, q); err != nil {
			return err
		}
		for _, f := range page {
			found[f.Task] = true
			if err := w.see(ctx, f.Task, now, true); err != nil {
				return err
			}
		}
	}
	for _, task := range slices.Sorted(maps.Keys(w.known)) {
		if !found[task] && w.known[task].in {
			if err := w.see(ctx, task, now, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// look looks at tasks that may have changed.
func (w *watch) look(ctx context.Context, rows map[string]store.Meta) error {
	now, err := w.c.st.Now(ctx)
	if err != nil {
		return err
	}
	for _, task := range slices.Sorted(maps.Keys(rows)) {
		if _, known := w.known[task]; known || w.q.finds(task, rows[task], now) {
			if err := w.see(ctx, task, now, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// see notes what is new of one task, as of its newest version: what the search said of it may be older. What a watch was only told to
// know, and has not found, it looks at whole: the watcher may never have seen it.
func (w *watch) see(ctx context.Context, task string, now store.Micros, found bool) error {
	was := w.known[task]
	tip, err := w.c.st.Tip(ctx, task)
	if err == nil && found && was.in && tip.Version == was.version {
		return nil
	}
	var r store.Record
	if err == nil {
		r, _, err = w.c.st.Load(ctx, task)
	}
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrErased):
		if was.in {
			w.news = append(w.news, Watched{Found: Found{Task: task}, Before: was.version, Left: true})
		}
		delete(w.known, task)
		return nil
	case err != nil:
		return fmt.Errorf("task %s: %w", task, err)
	}
	row := store.Row{Task: task, Meta: r.Meta}
	may, err := w.may(ctx, row)
	if err != nil {
		return err
	}
	in := may && w.q.finds(task, r.Meta, now)
	switch {
	case !in && !was.in:
		return nil
	case may && was.in && r.Tip.Version == was.version: // they have been told, when it left too
		w.known[task] = mark{was.version, in}
		return nil
	}
	change, version := Watched{Found: Found{Task: task}, Before: was.version, Left: !in}, was.version
	if may {
		change.Version, version = r.Tip.Version, r.Tip.Version
	}
	if in {
		change.Found = foundOf(row)
	}
	w.known[task], w.news = mark{version, in}, append(w.news, change)
	if len(w.known) > MaxWatching {
		return fmt.Errorf("%d: %w", MaxWatching, ErrWatching)
	}
	return nil
}

// may tells whether the watcher may see a task. It may be one that they only say they were told of.
func (w *watch) may(ctx context.Context, r store.Row) (bool, error) {
	if strings.HasPrefix(r.Task, Reserved) {
		return false, nil
	}
	return w.c.maySee(ctx, w.who, r)
}

// maxHinted is how many tasks a watch gathers while its watcher is busy; when more have changed it looks at all that it finds instead.
const maxHinted = 1000

// hinted gathers the tasks that the store says have changed, and the newest row of each.
type hinted struct {
	mu   sync.Mutex
	rows map[string]store.Meta
	lost bool // more than could be gathered
	wake chan struct{}
}

// hinted begins to listen; a store that tells nothing wakes nobody.
func (c *Controller) hinted(ctx context.Context) *hinted {
	h := &hinted{rows: map[string]store.Meta{}, wake: make(chan struct{}, 1)}
	w, ok := c.st.(store.Watcher)
	if !ok {
		return h
	}
	go func() {
		for r, err := range w.Watch(ctx) {
			if err != nil {
				return // the next scan says what is wrong
			}
			h.add(r)
			select {
			case h.wake <- struct{}{}:
			default:
			}
		}
	}()
	return h
}

func (h *hinted) add(r store.Row) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost {
		return
	}
	if h.rows[r.Task] = r.Meta; len(h.rows) > maxHinted {
		h.rows, h.lost = nil, true
	}
}

func (h *hinted) take() (rows map[string]store.Meta, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	rows, lost = h.rows, h.lost
	h.rows, h.lost = map[string]store.Meta{}, false
	return rows, lost
}
