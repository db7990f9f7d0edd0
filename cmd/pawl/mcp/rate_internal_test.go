package mcp

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/resume"
)

// TestBuckets gives each agent its burst at once, and one call more for each part of the time.
func TestBuckets(t *testing.T) {
	b := newBuckets(resume.Rate{Burst: 3, Per: 3 * time.Second})
	now := time.Unix(1000, 0)
	for range 3 {
		require.Zero(t, b.take("a", now))
	}
	require.Equal(t, time.Second, b.take("a", now))
	require.Zero(t, b.take("b", now), "agents do not share")
	require.Equal(t, time.Millisecond, b.take("a", now.Add(999*time.Millisecond)))
	require.Zero(t, b.take("a", now.Add(time.Second)))
	require.Equal(t, time.Second, b.take("a", now.Add(time.Second)))
	require.Equal(t, 2*time.Second, b.take("a", now), "a clock that goes back gives nothing")
	for range 3 {
		require.Zero(t, b.take("a", now.Add(time.Hour)))
	}
	require.NotZero(t, b.take("a", now.Add(time.Hour)), "what was not used is not saved up")
}

// TestMaxBuckets keeps the count of agents bounded.
func TestMaxBuckets(t *testing.T) {
	b := newBuckets(resume.Rate{Burst: 1, Per: time.Second})
	now := time.Unix(1000, 0)
	for n := range MaxBuckets {
		require.Zero(t, b.take(fmt.Sprint(n), now))
	}
	require.Len(t, b.m, MaxBuckets)
	require.NotZero(t, b.take("0", now))
	require.Zero(t, b.take("one more", now.Add(time.Second)))
	require.Len(t, b.m, 1, "who has a whole burst again is forgotten")
	for n := range MaxBuckets {
		b.take(fmt.Sprint(n), now.Add(time.Second))
	}
	require.LessOrEqual(t, len(b.m), MaxBuckets)
}
