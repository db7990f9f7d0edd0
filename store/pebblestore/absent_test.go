package pebblestore

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// To create a task in a large store, or to look for a name that nobody has used, reads no block: the filters say that it is not there.
// What is there is found by the same search.
func TestAbsenceIsAnsweredByFilters(t *testing.T) {
	const tasks = 500
	fs := vfs.NewMem()
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(fs, c.now))
	require.NoError(t, err)
	for i := range tasks {
		k := step(fmt.Sprintf("task-%05d", i), 0, store.Tip{})
		k.Once = []string{"reply"}
		k.Swap = []store.Resource{{Name: fmt.Sprintf("cap-%05d", i), Value: []byte("10 EUR")}}
		_, err := s.Commit(ctx, k)
		require.NoError(t, err)
	}
	require.NoError(t, s.db.Compact(ctx, []byte{0}, []byte{0xff}, false))
	require.NoError(t, s.Close())

	s, err = Open("db", small(fs, c.now))
	require.NoError(t, err)
	defer s.Close()
	require.NotZero(t, s.db.Metrics().Levels[6].TablesCount)
	before := s.db.Metrics().Filter.Hits
	for i := range tasks {
		r, err := s.Resource(ctx, fmt.Sprintf("cap-%05d-new", i))
		require.NoError(t, err)
		require.Zero(t, r.Rev)
		v, err := s.Once(ctx, fmt.Sprintf("task-%05d", i), "reply-new")
		require.NoError(t, err)
		require.Zero(t, v)
	}
	spared := s.db.Metrics().Filter.Hits - before
	require.Greater(t, spared, int64(2*tasks*9/10), "one filter in a hundred errs")
	before = s.db.Metrics().Filter.Hits
	for i := range tasks {
		_, err := s.Commit(ctx, step(fmt.Sprintf("task-%05d-new", i), 0, store.Tip{}))
		require.NoError(t, err)
	}
	spared = s.db.Metrics().Filter.Hits - before
	require.Greater(t, spared, int64(tasks*9/10), "of tasks, too")
	for i := range tasks {
		r, err := s.Resource(ctx, fmt.Sprintf("cap-%05d", i))
		require.NoError(t, err)
		require.Equal(t, uint64(1), r.Rev)
		v, err := s.Once(ctx, fmt.Sprintf("task-%05d", i), "reply")
		require.NoError(t, err)
		require.Equal(t, uint64(1), v)
	}
	for i := range tasks {
		_, err := s.Commit(ctx, step(fmt.Sprintf("task-%05d", i), 0, store.Tip{}))
		require.ErrorIs(t, err, store.ErrConflict)
	}
}
