package resume

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/machine"
)

// What is brought from another store counts in every window at least for as long as it should, and at most a sixteenth longer; what was
// here stays; few rows are kept.
func TestVelocityBrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &limited{window: time.Hour, limit: math.MaxInt64}
		window, part := time.Hour.Microseconds(), time.Hour.Microseconds()/velocityParts
		at := int64(1e15)
		for range rapid.IntRange(0, 40).Draw(t, "here") {
			at += rapid.Int64Range(0, 2*part).Draw(t, "later")
			require.NoError(t, l.take(at, rapid.Int64Range(1, 60).Draw(t, "amount")))
		}
		var more []taken
		for range rapid.IntRange(0, 40).Draw(t, "brought") {
			when := at + rapid.Int64Range(-2*window, window).Draw(t, "when")
			amount := rapid.Int64Range(1, 60).Draw(t, "amount")
			more = append(more, taken{when, when, amount})
			l.given = append(l.given, given{min(when, at), amount})
		}
		l.s.velocity.bring(time.Hour, more, time.UnixMicro(at))
		l.s.pass(time.UnixMicro(at))
		if len(l.s.Taken) > 2*(velocityParts+2) {
			t.Fatalf("%d rows", len(l.s.Taken))
		}
		looks := rapid.SliceOfN(rapid.Int64Range(0, 2*window), 1, 8).Draw(t, "looks")
		for _, g := range l.given {
			looks = append(looks, max(g.at+window-1-at, 0)) // right before it leaves
		}
		for _, later := range looks {
			l.last = at + later
			got, _ := l.s.within(time.Hour, time.UnixMicro(l.last))
			if least, most := l.within(window), l.within(window+part); got < least || got > most {
				t.Fatalf("%d counts %d later, and between %d and %d should", got, later, least, most)
			}
		}
	})
}

// Sums that cannot be counted stay apart, and count as the most.
func TestVelocityBringsTooMuch(t *testing.T) {
	now := time.UnixMicro(1e15)
	var s shares
	require.NoError(t, s.take("k", machine.Velocity("r", math.MaxInt64, math.MaxInt64, time.Hour), now))
	b := s.bring(&part{name: "r", window: time.Hour, taken: []taken{{1e15, 1e15, 1}}, limit: math.MaxInt64, known: now}, now)
	require.True(t, b.Over)
	require.EqualValues(t, math.MaxInt64, b.Total)
	require.Len(t, s.Taken, 2)
}
