package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkDecide is decide/refund for a profiler: a confirmation through the whole controller, with the store in memory.
func BenchmarkDecide(b *testing.B) {
	b.ReportAllocs()
	var waiting []*undecidedTask
	for n := 0; b.Loop(); n++ {
		if n%decisions == 0 {
			b.StopTimer()
			var err error
			waiting, err = undecided()
			require.NoError(b, err)
			b.StartTimer()
		}
		require.NoError(b, waiting[n%decisions].decide())
	}
}
