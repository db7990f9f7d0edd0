package store

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// Feed tells watchers which tasks changed. Telling costs one atomic load while nobody watches. The zero value is
// ready to use.
type Feed struct {
	watchers atomic.Int32
	mu       sync.Mutex
	closed   bool
	subs     map[*subscription]struct{}
}

// subscription holds what one watcher has not seen yet: the newest row per task, so it is bounded by the tasks.
type subscription struct {
	rows map[string]Row
	wake chan struct{} // holds one token while rows is not empty
}

// Tell hands the row to everybody who watches. It never waits for them.
func (f *Feed) Tell(r Row) {
	if f.watchers.Load() == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		s.rows[r.Task] = r
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// Watch yields rows from the moment it is ranged over until the context ends or the feed is closed (ErrClosed).
func (f *Feed) Watch(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		s := f.join()
		if s == nil {
			yield(Row{}, ErrClosed)
			return
		}
		defer f.leave(s)
		for {
			select {
			case <-ctx.Done():
				return
			case _, open := <-s.wake:
				for _, r := range f.take(s) {
					if !yield(r, nil) {
						return
					}
				}
				if !open {
					yield(Row{}, ErrClosed)
					return
				}
			}
		}
	}
}

func (f *Feed) join() *subscription {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	if f.subs == nil {
		f.subs = map[*subscription]struct{}{}
	}
	s := &subscription{rows: map[string]Row{}, wake: make(chan struct{}, 1)}
	f.subs[s] = struct{}{}
	f.watchers.Add(1)
	return s
}

func (f *Feed) leave(s *subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subs, s)
	f.watchers.Add(-1)
}

func (f *Feed) take(s *subscription) []Row {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]Row, 0, len(s.rows))
	for task, r := range s.rows {
		out = append(out, r)
		delete(s.rows, task)
	}
	return out
}

// Close ends every Watch with ErrClosed.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	for s := range f.subs {
		close(s.wake)
	}
	f.subs = nil
}
