package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

func TestAnchors(t *testing.T) {
	ctx := context.Background()
	write := func(upTo int, spoil string) *store.Memory {
		m := store.NewMemory(store.MemoryOptions{})
		for i := range 3 {
			tip := store.Tip{}
			for n := range upTo {
				var err error
				tip, err = m.Commit(ctx, &store.Commit{Base: tip, Record: store.Record{
					Task: fmt.Sprint("t", i), At: 1, Meta: store.Meta{Machine: "m", State: "s"}, Snapshot: fmt.Append(nil, spoil, n),
				}})
				require.NoError(t, err)
			}
		}
		return m
	}
	m := write(4, "")
	var anchors []store.Anchor
	for a, err := range store.Anchors(ctx, m) {
		require.NoError(t, err)
		anchors = append(anchors, a)
	}
	require.Len(t, anchors, 3)
	for _, a := range anchors {
		require.NoError(t, a.Check(ctx, m))
		require.NoError(t, a.Check(ctx, write(7, "")), "a longer history")
		require.ErrorIs(t, a.Check(ctx, write(3, "")), store.ErrCorrupt, "a cut history")
		require.ErrorIs(t, a.Check(ctx, write(5, "x")), store.ErrCorrupt, "a rewritten history")
		require.ErrorIs(t, a.Check(ctx, write(0, "")), store.ErrNotFound)
	}
	require.NoError(t, m.Prune(ctx, "t0", 4))
	_, err := m.Erase(ctx, "t1", nil)
	require.NoError(t, err)
	require.NoError(t, anchors[0].Check(ctx, m))
	require.ErrorIs(t, anchors[1].Check(ctx, m), store.ErrErased)
}
