package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// Both sides run on the processors that the name promises, and nothing is left behind.
func TestOversubscribed(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	var seen []int
	setup := func(place) (side, error) {
		return side{call: func(int, int) error { seen = append(seen, runtime.GOMAXPROCS(0)); return nil }}, nil
	}
	b := oversubscribed(benchmark{name: "commit/64", ours: setup, floor: setup})
	require.Equal(t, "commit/64/oversubscribed", b.name)
	for _, s := range []func(place) (side, error){b.ours, b.floor} {
		out, err := s(place{})
		require.NoError(t, err)
		require.NoError(t, out.ready())
		require.NoError(t, out.call(0, 0))
		require.NoError(t, out.close())
	}
	require.Equal(t, []int{2 * runtime.NumCPU(), 2 * runtime.NumCPU()}, seen)
	require.Equal(t, before, runtime.GOMAXPROCS(0))
}
