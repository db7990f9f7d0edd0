package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	values := []float64{9, 1, 5}
	require.Equal(t, 5.0, median(values))
	require.Equal(t, []float64{9, 1, 5}, values, "the caller's values stay in their order")
	require.Equal(t, 3.0, median([]float64{5, 1, 9, 1}))
	require.Equal(t, 7.0, median([]float64{7}))
	require.True(t, math.IsNaN(median(nil)))
}

func TestPercentile(t *testing.T) {
	var times []time.Duration
	for i := range 200 {
		times = append(times, time.Duration(i+1))
	}
	for p, want := range map[float64]time.Duration{0: 1, 0.5: 1, 0.6: 2, 50: 100, 99: 198, 99.9: 200, 100: 200} {
		require.Equal(t, want, percentile(times, p), "p%v", p)
	}
	require.Equal(t, time.Duration(7), percentile([]time.Duration{7}, 50))
	require.Zero(t, percentile(nil, 50))
}

func TestOver(t *testing.T) {
	require.Equal(t, 1.5, over(3*time.Second, 2*time.Second))
	require.True(t, math.IsNaN(over(time.Second, 0)))
}

func TestRounded(t *testing.T) {
	require.Equal(t, 0.667, rounded(2.0/3, 3))
	require.Equal(t, 1235.0, rounded(1234.5, 0))
}

// two repetitions in which ours is half as fast as the floor, whatever the machine did meanwhile.
func halfAsFast() []repetition {
	at := func(calls int, each time.Duration) load {
		l := load{done: calls, elapsed: time.Duration(calls) * each, allocs: uint64(calls * 3)}
		for range calls {
			l.each = append(l.each, each)
		}
		return l
	}
	return []repetition{
		{ours: at(100, 20*time.Millisecond), floor: at(100, 10*time.Millisecond)},
		{ours: at(100, 80*time.Millisecond), floor: at(100, 40*time.Millisecond)},
	}
}

// The ratio is ours over floor in both directions: a rate of half, a time of twice.
func TestRatioOfARate(t *testing.T) {
	f := summarize(benchmark{name: "x/rate", unit: perSecond}, halfAsFast())
	require.InDelta(t, 0.5, f.ratio, 1e-9)
	require.InDelta(t, (50+12.5)/2, f.ours, 1e-9)
	require.InDelta(t, (100+25)/2.0, f.floor, 1e-9)
	require.InDelta(t, 2, f.p50Ratio, 1e-9, "times, whatever the unit")
	require.InDelta(t, 2, f.p99Ratio, 1e-9)
	require.InDelta(t, 3, f.allocs, 1e-9)
}

func TestRatioOfATime(t *testing.T) {
	f := summarize(benchmark{name: "x/time", unit: nanoseconds}, halfAsFast())
	require.InDelta(t, 2, f.ratio, 1e-9)
	require.InDelta(t, 50e6, f.ours, 1e-3)
	require.InDelta(t, 25e6, f.floor, 1e-3)
	require.InDelta(t, 2, f.p50Ratio, 1e-9)
}

// A repetition in which the machine was slow for both sides moves neither ratio nor range.
func TestRatiosAreTakenWithinARepetition(t *testing.T) {
	f := summarize(benchmark{unit: perSecond}, halfAsFast())
	require.InDelta(t, 0.5, f.lowest, 1e-9)
	require.InDelta(t, 0.5, f.highest, 1e-9)
}
