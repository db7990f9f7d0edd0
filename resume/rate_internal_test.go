package resume

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// As many names are counted as there is room for. One more makes those forgotten who have not been seen for a whole Per, and if
// there are none, anybody: who is forgotten has the whole burst again, and who is counted does not.
func TestMaxBuckets(t *testing.T) {
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	b := newBuckets(Rate{Burst: 1, Per: time.Minute})
	for i := range maxBuckets - 1 {
		b.m[strconv.Itoa(i)] = bucket{0, now} // as take leaves them
	}
	now = now.Add(59 * time.Second)
	require.Zero(t, b.take("late", now))
	require.Len(t, b.m, maxBuckets)
	require.Equal(t, time.Second, b.take("0", now), "all are counted")
	require.Len(t, b.m, maxBuckets)

	require.Zero(t, b.take("one more", now))
	require.Len(t, b.m, maxBuckets, "anybody made room")
	now = now.Add(time.Second)
	require.Zero(t, b.take("and another", now))
	require.Less(t, len(b.m), 5, "a minute after they were seen, the first are forgotten")
	if _, kept := b.m["late"]; kept { // unless it was the one that made room
		require.Equal(t, 59*time.Second, b.take("late", now))
	}
}

// More in a while than it has nanoseconds, instants that come out of order, and a wait that is told as some time.
func TestRateEdges(t *testing.T) {
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	b := newBuckets(Rate{Burst: 10, Per: 5})
	for range 10 {
		require.Zero(t, b.take("a", now))
	}
	require.Equal(t, time.Duration(1), b.take("a", now))
	require.Zero(t, b.take("a", now.Add(1)))
	require.Zero(t, b.take("a", now.Add(1)))
	require.Positive(t, b.take("a", now.Add(1)))

	b = newBuckets(Rate{Burst: 1, Per: time.Minute})
	require.Zero(t, b.take("a", now.Add(time.Minute)))
	require.Positive(t, b.take("a", now), "it came late")
	require.Positive(t, b.take("a", now.Add(time.Minute)), "and gives nothing back twice")
	b.giveBack("a")
	b.giveBack("a")
	require.Zero(t, b.take("a", now.Add(time.Minute)))
	require.Positive(t, b.take("a", now.Add(time.Minute)), "never more than the burst")
	b.giveBack("nobody")
	require.Len(t, b.m, 1)
}
