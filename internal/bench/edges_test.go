package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A step costs no more memory where there are many edges: it looks at those of its event alone. How long it takes is for step/64edges.
func TestStepLooksAtTheEdgesOfItsEvent(t *testing.T) {
	allocs := map[int]float64{}
	for _, n := range []int{fewEdges, manyEdges} {
		m, s, in, err := crossroads(n)
		require.NoError(t, err)
		require.Len(t, m.Describe().Edges, n)
		allocs[n] = testing.AllocsPerRun(100, func() { m.Step(s, in) })
	}
	require.Equal(t, allocs[fewEdges], allocs[manyEdges])
}

func TestEdgeBenchmarks(t *testing.T) {
	for _, b := range []benchmark{stepFewEdges(), stepManyEdges()} {
		for _, make := range []setup{b.ours, b.floor} {
			s, err := make(place{})
			require.NoError(t, err)
			require.NoError(t, s.call(0, 0))
		}
	}
	require.Equal(t, "step/64edges", stepManyEdges().name)
}
