package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// TestRetain checks that only what is over is pruned: not an open task, not one that ended later, not one with an unsettled
// effect; that the newest version and its chain stay; and that a second call, and an erased task, change nothing.
func TestRetain(t *testing.T) {
	ctx := context.Background()
	now := time.UnixMicro(1000)
	s := store.NewMemory(store.MemoryOptions{Now: func() time.Time { return now }})
	tips := map[string]store.Tip{}
	put := func(task string, change func(*store.Commit)) {
		c := &store.Commit{Base: tips[task], Record: store.Record{Task: task, Meta: store.Meta{Machine: "m", State: "s", Final: true}}}
		if change != nil {
			change(c)
		}
		tip, err := s.Commit(ctx, c)
		require.NoError(t, err)
		tips[task] = tip
	}
	for _, task := range []string{"over", "open", "late", "unsettled", "erased", "bumped"} {
		put(task, nil)
		put(task, nil)
	}
	put("over", nil)
	put("open", func(c *store.Commit) { c.Meta.Final = false })
	put("unsettled", func(c *store.Commit) { c.Emit = []store.Effect{{ID: "pay"}} })
	_, err := s.Erase(ctx, "erased", nil)
	require.NoError(t, err)
	now = now.Add(time.Millisecond)
	put("late", func(c *store.Commit) { c.Meta.Since = 2000 })
	put("bumped", nil) // since long in its state, but changed late

	versions := func(task string) (all []uint64) {
		for r, err := range s.History(ctx, task, 0, 0) {
			require.NoError(t, err)
			all = append(all, r.Tip.Version)
		}
		return all
	}
	for range 2 {
		pruned, err := store.Retain(ctx, s, 2000)
		require.NoError(t, err)
		require.Equal(t, 1, pruned)
		require.Equal(t, []uint64{3}, versions("over"))
		for _, task := range []string{"open", "late", "unsettled", "bumped"} {
			require.Equal(t, []uint64{3, 2, 1}, versions(task), task)
		}
	}
	pruned, err := store.Retain(ctx, s, 2001)
	require.NoError(t, err)
	require.Equal(t, 3, pruned)
	require.Equal(t, []uint64{3}, versions("late"))

	for i := range store.MaxPage + 1 {
		put(fmt.Sprint("many-", i), nil)
	}
	pruned, err = store.Retain(ctx, s, 3000)
	require.NoError(t, err)
	require.Equal(t, 3+store.MaxPage+1, pruned, "every page is looked at")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = store.Retain(ended, s, 3000)
	require.ErrorIs(t, err, context.Canceled)
}
