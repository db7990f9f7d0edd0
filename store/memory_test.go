package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

func TestMemoryCommitsAndLoads(t *testing.T) {
	ctx := context.Background()
	at := time.UnixMicro(1000)
	m := store.NewMemory(store.MemoryOptions{Now: func() time.Time { return at }})
	c := &store.Commit{Record: store.Record{
		Task: "a", Meta: store.Meta{Machine: "refund", State: "open", Owner: "kim"}, Snapshot: []byte("one"),
	}, Emit: []store.Effect{{ID: "pay", Body: []byte("b")}}}
	tip, err := m.Commit(ctx, c)
	require.NoError(t, err)
	require.EqualValues(t, 1, tip.Version)
	rec, es, err := m.Load(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, tip, rec.Tip)
	require.Equal(t, "one", string(rec.Snapshot))
	require.EqualValues(t, 1000, rec.At)
	require.Len(t, es, 1)
	_, err = m.Commit(ctx, c)
	require.ErrorIs(t, err, store.ErrConflict)
}
