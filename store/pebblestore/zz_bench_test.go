package pebblestore

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

func BenchmarkZZLoad(b *testing.B) {
	s, err := Open(b.TempDir(), Options{CacheBytes: 1 << 30, Tasks: *benchTasks})
	require.NoError(b, err)
	defer s.Close()
	fill(b, s, *benchTasks)
	require.NoError(b, s.db.Compact(ctx, []byte{0}, []byte{0xff}, true))
	names := make([]string, *benchTasks)
	for i := range names {
		names[i] = fmt.Sprintf("task-%07d", i)
	}
	at := func(i int) string { return names[(uint64(i+1)*0x9e3779b97f4a7c15>>20)%uint64(len(names))] }
	for _, n := range names {
		s.Load(ctx, n)
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			_, c, err := s.db.Get(store.AppendKey(nil, at(i), 1))
			if err != nil {
				b.Fatal(err)
			}
			c.Close()
		}
	})
	b.Run("load", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			if _, _, err := s.Load(ctx, at(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("search", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			if _, _, _, err := s.newest(at(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
