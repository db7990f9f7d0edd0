package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRunCountsEveryCall(t *testing.T) {
	b := benchmark{callers: 3, batch: 4}
	s := side{call: func(int, int) error { return nil }}
	var l load
	require.NoError(t, l.run(b, s, 0, 10))
	require.NoError(t, l.run(b, s, 10, 20))
	require.Equal(t, 3*20, l.done)
	require.Len(t, l.each, 3*(3+3), "batches of 4, 4 and 2 calls in each slice")
	require.Positive(t, l.elapsed)
}

func TestValue(t *testing.T) {
	l := load{done: 30, elapsed: 2 * time.Second, each: []time.Duration{9, 1, 5}}
	require.InDelta(t, 15, l.value(perSecond), 1e-9)
	require.InDelta(t, 5, l.value(nanoseconds), 1e-9, "the call in the middle")
}
