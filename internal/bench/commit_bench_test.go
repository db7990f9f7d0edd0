package main

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// BenchmarkMove is the processor time of one proposal through the controller, where a sync costs nothing: one caller, one move
// after the other through the lives of many tasks.
func BenchmarkMove(b *testing.B) {
	const calls = 300 * 3
	b.ReportAllocs()
	var s side
	for n := 0; b.Loop(); n++ {
		if n%calls == 0 {
			b.StopTimer()
			var err error
			s, err = openService(place{vfs.NewMem(), "db"}, 1, calls)
			require.NoError(b, err)
			b.StartTimer()
		}
		if err := s.call(0, n%calls); err != nil {
			b.Fatal(err)
		}
		if n%calls == calls-1 {
			b.StopTimer()
			require.NoError(b, s.close())
			b.StartTimer()
		}
	}
}
