package pebblestore

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// BenchmarkOpen measures how long opening takes after a clean close and after a kill, with -tasks tasks.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "live")
	s, err := Open(dir, Options{})
	require.NoError(b, err)
	fill(b, s, *benchTasks)
	killed := filepath.Join(b.TempDir(), "killed")
	require.NoError(b, s.db.Checkpoint(killed))
	require.NoError(b, s.Close())
	for _, d := range []string{killed, dir} {
		b.Run(filepath.Base(d), func(b *testing.B) {
			at := time.Now()
			s, err := Open(d, Options{})
			took := time.Since(at)
			require.NoError(b, err)
			require.NoError(b, s.Close())
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took.Milliseconds()), "ms")
		})
	}
}

// BenchmarkDue measures finding what is due after -tasks timers were set and cancelled.
func BenchmarkDue(b *testing.B) {
	s, err := Open(b.TempDir(), Options{})
	require.NoError(b, err)
	defer s.Close()
	fill(b, s, *benchTasks)
	batch := s.db.NewBatch()
	for i := range *benchTasks {
		c := step(fmt.Sprintf("task-%07d", i), 0, store.Tip{})
		w := writer{b: batch}
		cancelled := c.Meta
		cancelled.Wake = 0
		w.meta(&c.Meta, &cancelled, c.Task)
		require.NoError(b, w.err)
	}
	require.NoError(b, s.write(batch))
	due := func() float64 {
		at := time.Now()
		_, err := s.Due(ctx, store.Slots{}, 100)
		require.NoError(b, err)
		return float64(time.Since(at).Microseconds())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(due(), "first-us")
	b.ReportMetric(due(), "next-us")
	require.NoError(b, s.db.Flush())
	s.due.at = 0 // as after opening again
	b.ReportMetric(due(), "flushed-us")
	require.NoError(b, s.db.Compact(ctx, []byte{0}, []byte{0xff}, true))
	s.due.at = 0
	b.ReportMetric(due(), "compacted-us")
}
