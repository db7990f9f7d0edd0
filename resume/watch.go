package resume

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// ErrPruned says that versions which a watch must not leave out are not kept any more. Begin after them, from [Session.Report].
var ErrPruned = errors.New("versions are not kept any more")

// Watch yields the entries of the session's task after a version, oldest first and none left out, and then each new one as it is
// committed, until the context ends. It holds nothing open between entries. Errors wrap [ErrNoTask] once the principal may no
// longer see the task, [ErrPruned] when its history does not reach back that far, or are the store's; one ends it.
func (s *Session) Watch(ctx context.Context, after uint64) iter.Seq2[machine.Entry, error] {
	return func(yield func(machine.Entry, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		hints := s.c.hints(ctx, s.Task())
		tick := time.NewTicker(s.c.cfg.Poll) // a hint can be lost; a version cannot
		defer tick.Stop()
		for {
			entries, err := s.entries(ctx, after)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(machine.Entry{}, err)
				return
			}
			for _, e := range entries {
				if after = e.Version; !yield(e, nil) {
					return
				}
			}
			if len(entries) > 0 {
				continue
			}
			select {
			case <-ctx.Done():
				return
			case <-hints:
			case <-tick.C:
			}
		}
	}
}

// maxWatched is how many entries are read at once.
const maxWatched = 100

// entries are those after a version, oldest first, at most maxWatched.
func (s *Session) entries(ctx context.Context, after uint64) ([]machine.Entry, error) {
	l, err := s.newest(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	newest := min(l.tip.Version, after+maxWatched)
	if newest <= after {
		return nil, nil
	}
	var out []machine.Entry
	for r, err := range s.c.st.History(ctx, s.Task(), newest, after+1) {
		if err != nil {
			return nil, fmt.Errorf("watch task %s: %w", s.Task(), err)
		}
		e, err := machine.DecodeEntry(r.Entry)
		if err != nil {
			return nil, fmt.Errorf("watch task %s, version %d: %w", s.Task(), r.Tip.Version, err)
		}
		out = append(out, e)
	}
	if slices.Reverse(out); len(out) == 0 || out[0].Version != after+1 {
		return nil, fmt.Errorf("watch task %s: versions after %d: %w", s.Task(), after, ErrPruned)
	}
	return out, nil
}

// hints tells that the task may have changed, until the context ends.
func (c *Controller) hints(ctx context.Context, task string) <-chan struct{} {
	w, ok := c.st.(store.Watcher)
	if !ok {
		return nil
	}
	hints := make(chan struct{}, 1)
	go func() {
		for r, err := range w.Watch(ctx) {
			if err != nil {
				return // the entries are read on the tick, and say what is wrong
			}
			if r.Task == task {
				select {
				case hints <- struct{}{}:
				default:
				}
			}
		}
	}()
	return hints
}
