package main

import (
	"math"
	"slices"
	"time"
)

// median is the middle of the values, or the mean of the two in the middle; NaN of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(values))
	half := len(v) / 2
	if len(v)%2 == 1 {
		return v[half]
	}
	return (v[half-1] + v[half]) / 2
}

// percentile is the smallest of the sorted values that at least p of a hundred do not exceed; 0 of none.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// over is a ratio of two durations; NaN when there is nothing to compare with.
func over(ours, floor time.Duration) float64 {
	if floor == 0 {
		return math.NaN()
	}
	return float64(ours) / float64(floor)
}

// rounded keeps as many digits after the dot as a measurement is worth.
func rounded(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}
