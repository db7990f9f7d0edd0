package days_test

import (
	"flag"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/sim/days"
	"github.com/stretchr/testify/require"
)

var (
	soak   = flag.Bool("soak", false, "run ten times as many worlds")
	seed   = flag.Uint64("seed", 0, "run the world of this seed alone")
	worlds = flag.Uint64("worlds", 60, "how many worlds to run")
	length = flag.Int("days", 60, "how many days each of them goes on before it comes to rest")
)

// TestDays runs world after world. A failure prints its last steps and the command that runs its world alone.
func TestDays(t *testing.T) {
	first, last := uint64(1), *worlds
	switch {
	case *seed != 0:
		first, last = *seed, *seed
	case *soak:
		last *= 10
	}
	var all days.Result
	began := time.Now()
	for s := first; s <= last; s++ {
		w, err := days.New(t.Context(), s)
		require.NoError(t, err)
		r, err := w.Run(*length)
		if err != nil {
			t.Fatalf("%v\n\n%s\n\ngo test ./internal/sim/days -run TestDays -days %d -seed %d", err, w.Trace(), *length, s)
		}
		all = all.Plus(r)
	}
	t.Logf("%s; %.0f simulated days a second", all, float64(all.Days)/time.Since(began).Seconds())
	if *seed == 0 {
		require.Positive(t, all.Payments)
		require.Positive(t, all.Deaths)
	}
}

// TestOneSeedOneWorld: a seed gives the same world again, to the last step.
func TestOneSeedOneWorld(t *testing.T) {
	run := func() (days.Result, string) {
		w, err := days.New(t.Context(), 3)
		require.NoError(t, err)
		r, err := w.Run(20)
		require.NoError(t, err)
		return r, w.Trace()
	}
	one, steps := run()
	two, again := run()
	require.Equal(t, one, two)
	require.Equal(t, steps, again)
}
