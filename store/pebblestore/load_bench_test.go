package pebblestore

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var benchTasks = flag.Int("tasks", 100_000, "how many tasks the load benchmarks hold")

// fill writes tasks of one version each, unsynced, by the rows that commits would write.
func fill(b *testing.B, s *Store, n int) {
	batch := s.db.NewBatch()
	for i := range n {
		c := step(fmt.Sprintf("task-%07d", i), 0, store.Tip{})
		c.Snapshot = c.Snapshot[:700]
		c.Entry = c.Entry[:300]
		out, key := c.Prepare(s.sealer, nil)
		w := writer{b: batch}
		w.set(out[:key], out[key:])
		w.meta(&store.Meta{}, &c.Meta, c.Task)
		require.NoError(b, w.err)
		if batch.Len() > 4<<20 || i == n-1 {
			require.NoError(b, batch.Commit(pebble.NoSync))
			batch = s.db.NewBatch()
		}
	}
	require.NoError(b, batch.Close())
	require.NoError(b, s.db.LogData(nil, pebble.Sync))
}

// BenchmarkLoad compares the load of a random task with a raw get of its record.
func BenchmarkLoad(b *testing.B) {
	s, err := Open(b.TempDir(), Options{CacheBytes: 1 << 30})
	require.NoError(b, err)
	defer s.Close()
	fill(b, s, *benchTasks)
	b.Run("before", func(b *testing.B) { compareLoad(b, s) })
	require.NoError(b, s.db.Compact(ctx, []byte{0}, []byte{0xff}, true))
	b.Run("compacted", func(b *testing.B) { compareLoad(b, s) })
}

func compareLoad(b *testing.B, s *Store) {
	const n = 20_000
	rng := rand.New(rand.NewPCG(1, 1))
	measure := func(f func(task string)) float64 {
		each := make([]float64, n)
		for i := range each {
			task := fmt.Sprintf("task-%07d", rng.IntN(*benchTasks))
			at := time.Now()
			f(task)
			each[i] = float64(time.Since(at).Nanoseconds())
		}
		return median(each)
	}
	load := func(task string) {
		if _, _, err := s.Load(ctx, task); err != nil {
			b.Fatal(err)
		}
	}
	get := func(task string) {
		_, closer, err := s.db.Get(store.AppendKey(nil, task, 1))
		if err != nil {
			b.Fatal(err)
		}
		closer.Close()
	}
	measure(load)
	var ours, floor, ratios []float64
	for range 5 {
		o, f := measure(load), measure(get)
		ours, floor, ratios = append(ours, o), append(floor, f), append(ratios, o/f)
	}
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), "ours-ns")
	b.ReportMetric(median(floor), "get-ns")
	b.ReportMetric(median(ratios), "ratio")
}
