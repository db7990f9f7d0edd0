package crash

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/pawlgo/pawl/store"
)

// seam is told of every point that is reached, by name and how often it was reached before. Observers reach theirs side by side.
type seam struct {
	mu    sync.Mutex
	reach func(point string)
	seen  map[string]int
}

func newSeam(reach func(string)) *seam { return &seam{reach: reach, seen: map[string]int{}} }

func (s *seam) at(point string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[point]++
	s.reach(fmt.Sprintf("%s/%d", point, s.seen[point]))
}

// around calls f between two points.
func around[T any](s *seam, name string, f func() (T, error)) (T, error) {
	s.at(name + "/before")
	v, err := f()
	s.at(name + "/after")
	return v, err
}

// seamedStore is a store with a point before and after each call.
type seamedStore struct {
	store.Store
	s *seam
}

func (st seamedStore) Now(ctx context.Context) (store.Micros, error) { return st.Store.Now(ctx) }

func (st seamedStore) Tip(ctx context.Context, task string) (store.Tip, error) {
	return around(st.s, "tip", func() (store.Tip, error) { return st.Store.Tip(ctx, task) })
}

func (st seamedStore) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	st.s.at("load/before")
	defer st.s.at("load/after")
	return st.Store.Load(ctx, task)
}

func (st seamedStore) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	return around(st.s, "commit", func() (store.Tip, error) { return st.Store.Commit(ctx, c) })
}

func (st seamedStore) History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[store.Record, error] {
	st.s.at("history/before")
	return st.Store.History(ctx, task, newest, oldest)
}

func (st seamedStore) Due(ctx context.Context, s store.Slots, limit int) ([]store.Row, error) {
	return around(st.s, "due", func() ([]store.Row, error) { return st.Store.Due(ctx, s, limit) })
}

func (st seamedStore) Claim(ctx context.Context, s store.Slots, limit int, holder string, hold store.Micros) ([]store.Effect, error) {
	return around(st.s, "claim", func() ([]store.Effect, error) { return st.Store.Claim(ctx, s, limit, holder, hold) })
}

func (st seamedStore) Update(ctx context.Context, e store.Effect) (uint64, error) {
	return around(st.s, "update", func() (uint64, error) { return st.Store.Update(ctx, e) })
}

func (st seamedStore) Note(ctx context.Context, task string, a store.Attempt) error {
	_, err := around(st.s, "note", func() (struct{}, error) { return struct{}{}, st.Store.Note(ctx, task, a) })
	return err
}

func (st seamedStore) Resource(ctx context.Context, name string) (store.Resource, error) {
	return around(st.s, "resource", func() (store.Resource, error) { return st.Store.(store.Resources).Resource(ctx, name) })
}
