package pebblestore

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// BenchmarkCommitCPU is the processor time of one commit where a sync costs nothing, and of its floor.
func BenchmarkCommitCPU(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		s, err := Open("db", Options{FS: vfs.NewMem()})
		require.NoError(b, err)
		defer s.Close()
		b.ReportAllocs()
		tip := store.Tip{}
		steps := make([]*store.Commit, 1000)
		for i := range steps {
			steps[i] = step("task", i, tip)
		}
		for i := 0; b.Loop(); i++ {
			c := steps[i%1000]
			c.Base, c.Tip, c.At = tip, store.Tip{}, 0
			tip, err = s.Commit(context.Background(), c)
			require.NoError(b, err)
		}
	})
	b.Run("floor", func(b *testing.B) {
		s, err := Open("db", Options{FS: vfs.NewMem()})
		require.NoError(b, err)
		defer s.Close()
		ready := rows(b, s, "task", 1000)
		require.NoError(b, s.Close())
		db, err := pebble.Open("db2", (&Options{}).pebble(vfs.NewMem(), &gate{}))
		require.NoError(b, err)
		defer db.Close()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			require.NoError(b, raw(db, ready[i%1000]))
		}
	})
}
