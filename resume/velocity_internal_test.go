package resume

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/machine"
)

// limited takes from one velocity limit and remembers what it was given.
type limited struct {
	s      shares
	window time.Duration
	limit  int64
	last   int64
	given  []given
}

type given struct{ at, amount int64 }

func (l *limited) take(at, amount int64) error {
	before := l.s
	before.Taken = slices.Clone(l.s.Taken)
	err := l.s.take("k", machine.Velocity("r", amount, l.limit, l.window), time.UnixMicro(at))
	if l.last = at; len(l.given) > 0 {
		l.last = max(at, l.given[len(l.given)-1].at)
	}
	if err != nil {
		l.s = before // what is refused is not written
	} else {
		l.given = append(l.given, given{l.last, amount})
	}
	return err
}

// within is what was given in a window that ends when the last was asked for.
func (l *limited) within(window int64) (sum int64) {
	for _, g := range l.given {
		if g.at > l.last-window {
			sum += g.amount
		}
	}
	return sum
}

// Whatever is asked for and whenever, no window ever holds more than the limit; what is refused would not have fitted into a window
// that is a sixteenth longer; and few rows are kept. A clock that steps back frees nothing.
func TestVelocityNeverExceeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.Bool().Draw(t, "clock steps back")
		l := &limited{window: time.Duration(rapid.Int64Range(int64(machine.MinWindow), int64(time.Hour)).Draw(t, "window")), limit: rapid.Int64Range(0, 100).Draw(t, "limit")}
		window := l.window.Microseconds()
		part := window / velocityParts
		at := int64(1e15)
		for range rapid.IntRange(1, 80).Draw(t, "asked") {
			from := int64(0)
			if steps {
				from = -window
			}
			at += rapid.OneOf(rapid.Int64Range(from, window), rapid.Int64Range(0, part)).Draw(t, "later")
			amount := rapid.Int64Range(1, 60).Draw(t, "amount")
			if l.take(at, amount) != nil && l.within(window+part)+amount <= l.limit {
				t.Fatalf("refused %d although %d of %d are taken", amount, l.within(window+part), l.limit)
			}
			if l.within(window) > l.limit {
				t.Fatalf("%d of %d are taken", l.within(window), l.limit)
			}
			if len(l.s.Taken) > velocityParts+2 {
				t.Fatalf("%d rows", len(l.s.Taken))
			}
		}
	})
}

// To the microsecond: a window is open at its beginning.
func TestVelocityEdges(t *testing.T) {
	l := &limited{window: time.Minute, limit: 10}
	minute := time.Minute.Microseconds()
	require.NoError(t, l.take(1e15, 10))
	var short *shortError
	require.ErrorAs(t, l.take(1e15+minute-1, 1), &short)
	require.Equal(t, time.UnixMicro(1e15+minute), short.fits)
	require.EqualError(t, short, "resource r has 0 left of 10, and 1 is wanted within 1m0s; it fits from 2001-09-09T01:47:40Z on")
	require.NoError(t, l.take(1e15+minute, 10))
	require.ErrorAs(t, l.take(1e15, 1), &short, "the clock stepped back")
	require.ErrorAs(t, l.take(1e15+3*minute, 11), &short)
	require.Zero(t, short.fits, "it never fits")
}

// What lies closer together than a sixteenth of the window counts as one, and leaves when the last of it does.
func TestVelocityParts(t *testing.T) {
	l := &limited{window: 16 * time.Second, limit: 10}
	require.NoError(t, l.take(1e15, 5))
	require.NoError(t, l.take(1e15+999_999, 5))
	require.Len(t, l.s.Taken, 1)
	require.Error(t, l.take(1e15+16_999_998, 1))
	require.NoError(t, l.take(1e15+16_999_999, 1))
	require.NoError(t, l.take(1e15+17_999_999, 1))
	require.Len(t, l.s.Taken, 2)
}

// Sums that no integer holds are too much, and never wrap.
func TestVelocityOverflow(t *testing.T) {
	l := &limited{window: time.Minute, limit: math.MaxInt64}
	require.NoError(t, l.take(1e15, math.MaxInt64))
	require.Error(t, l.take(1e15+1, 1))
	later := 1e15 + time.Minute.Microseconds()
	require.NoError(t, l.take(later, math.MaxInt64-1))
	require.NoError(t, l.take(later+1, 1))
	require.Error(t, l.take(later+2, 1))
}

// One resource is of one kind; when all windows have passed it may become of the other.
func TestVelocityIsNotMixed(t *testing.T) {
	plain := machine.Hold{Resource: "r", Amount: 1, Limit: 10}
	l := &limited{window: time.Minute, limit: 10}
	require.NoError(t, l.take(1e15, 1))
	require.EqualError(t, l.s.take("k", plain, time.UnixMicro(1e15+1)),
		"resource r is for holds with a window, and one of holds without a window is asked for: give them names of their own")
	after := time.UnixMicro(1e15).Add(time.Minute)
	require.NoError(t, l.s.take("k", plain, after))
	require.ErrorAs(t, l.take(after.UnixMicro(), 1), new(*mixedError))
	l.s.settle("k", plain, true)
	require.NoError(t, l.take(after.UnixMicro(), 1), "it was given back")
}

// A shorter window beside a longer one looks no further back than its own, and takes nothing away from the longer.
func TestVelocityOfTwoWindows(t *testing.T) {
	var s shares
	day, minute := machine.Velocity("r", 5, 10, 24*time.Hour), machine.Velocity("r", 5, 5, time.Minute)
	at := time.UnixMicro(1e15)
	require.NoError(t, s.take("a", day, at))
	require.Error(t, s.take("b", minute, at.Add(time.Second)))
	require.NoError(t, s.take("b", minute, at.Add(2*time.Minute)))
	require.Error(t, s.take("c", day, at.Add(23*time.Hour)))
}
