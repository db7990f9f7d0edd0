package pebblestore

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// Full memtables leave the cache what it was given.
func TestMemTablesLeaveTheCache(t *testing.T) {
	const tasks, cache, table = 1500, 256 << 10, 1 << 20
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", Options{FS: vfs.NewMem(), Now: c.now, CacheBytes: cache, MemTableBytes: table, Tasks: 1})
	require.NoError(t, err)
	defer s.Close()
	for i := range tasks {
		k := step(fmt.Sprint("task-", i), 0, store.Tip{})
		k.Snapshot = make([]byte, 3<<10)
		_, err := s.Commit(ctx, k)
		require.NoError(t, err)
	}
	require.Greater(t, s.db.Metrics().MemTable.Size, uint64(table-1), "the memtable has grown to its full size")
	for range 2 {
		for i := range tasks {
			_, _, err := s.Load(ctx, fmt.Sprint("task-", i))
			require.NoError(t, err)
		}
	}
	require.Greater(t, s.db.Metrics().BlockCache.Size, int64(cache/2))
}
