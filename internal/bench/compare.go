package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"time"
)

const (
	// slicesOfRun is into how many parts the calls of a repetition are cut: the sides take turns after each.
	slicesOfRun = 6
	// longest is how long the sides may take in one repetition, beside setting up. It bounds a run on a slow disk.
	longest = 6 * time.Second
)

// figure is one benchmark's result: the medians of all repetitions. Each ratio is taken within a repetition, where both sides met
// the same machine, and is always ours over floor.
type figure struct {
	name            string
	unit            unit
	ours, floor     float64
	ratio           float64       // of the values
	lowest, highest float64       // ratio of any repetition
	p50Ratio        float64       // of the times that half of the calls did not exceed: below 1 is faster than the floor
	p99Ratio        float64       // the same of 99 in a hundred
	p50             time.Duration // ours
	allocs          float64       // ours, for one call
}

// repetition is what both sides did next to each other.
type repetition struct {
	ours, floor load
}

// compare makes all repetitions of a benchmark.
func compare(b benchmark, reps int, dir string) (figure, error) {
	if b.count != nil {
		return counted(b, dir)
	}
	var done []repetition
	for i := range reps {
		r, err := repeat(b, dir, i%2 == 1)
		if err != nil {
			return figure{}, fmt.Errorf("%s, repetition %d: %w", b.name, i+1, err)
		}
		done = append(done, r)
	}
	return summarize(b, done), nil
}

// counted is the figure of a benchmark that counts.
func counted(b benchmark, dir string) (f figure, err error) {
	if dir, err = os.MkdirTemp(dir, "pawl-bench-"); err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ours, floor, err := b.count(b.place(dir))
	if err != nil {
		return f, fmt.Errorf("%s: %w", b.name, err)
	}
	ratio := ours / floor
	return figure{name: b.name, unit: b.unit, ours: ours, floor: floor, ratio: ratio, lowest: ratio, highest: ratio}, nil
}

// repeat makes one repetition, each side in a directory of its own.
func repeat(b benchmark, dir string, floorFirst bool) (r repetition, err error) {
	sides := []*turn{{name: "ours", prepare: b.ours, load: &r.ours}, {name: "floor", prepare: b.floor, load: &r.floor}}
	if floorFirst {
		slices.Reverse(sides)
	}
	for _, t := range sides {
		defer func() { err = errors.Join(err, t.end()) }()
		if err := t.begin(b, dir); err != nil {
			return r, err
		}
	}
	for i := range slicesOfRun {
		for _, t := range sides {
			if err := t.take(b, b.calls*i/slicesOfRun, b.calls*(i+1)/slicesOfRun); err != nil {
				return r, err
			}
		}
		if r.ours.elapsed+r.floor.elapsed > longest {
			break
		}
	}
	return r, nil
}

// turn is one side in one repetition.
type turn struct {
	name    string
	prepare setup
	load    *load
	dir     string
	side    side
}

func (t *turn) begin(b benchmark, dir string) (err error) {
	if t.dir, err = os.MkdirTemp(dir, "pawl-bench-"); err != nil {
		return err
	}
	t.labelled(b, func() { t.side, err = t.prepare(b.place(t.dir)) })
	return err
}

func (t *turn) take(b benchmark, first, end int) (err error) {
	if first == end {
		return nil
	}
	if t.side.ready != nil {
		if err := t.side.ready(); err != nil {
			return err
		}
	}
	t.labelled(b, func() { err = t.load.run(b, t.side, first, end) })
	return err
}

// labelled marks the samples of a profile with the side that they belong to.
func (t *turn) labelled(b benchmark, f func()) {
	pprof.Do(context.Background(), pprof.Labels("benchmark", b.name, "side", t.name), func(context.Context) { f() })
}

func (t *turn) end() error {
	var err error
	if t.side.close != nil {
		err = t.side.close()
	}
	if t.dir != "" {
		err = errors.Join(err, os.RemoveAll(t.dir))
	}
	return err
}

func summarize(b benchmark, done []repetition) figure {
	of := func(get func(repetition) float64) []float64 {
		var out []float64
		for _, r := range done {
			out = append(out, get(r))
		}
		return out
	}
	at := func(p float64) float64 {
		return median(of(func(r repetition) float64 { return over(r.ours.time(p), r.floor.time(p)) }))
	}
	ratios := of(func(r repetition) float64 { return r.ours.value(b.unit) / r.floor.value(b.unit) })
	return figure{
		name: b.name, unit: b.unit,
		ours:  median(of(func(r repetition) float64 { return r.ours.value(b.unit) })),
		floor: median(of(func(r repetition) float64 { return r.floor.value(b.unit) })),
		ratio: median(ratios), lowest: slices.Min(ratios), highest: slices.Max(ratios),
		p50Ratio: at(50), p99Ratio: at(99),
		p50:    time.Duration(median(of(func(r repetition) float64 { return float64(r.ours.time(50)) }))),
		allocs: median(of(func(r repetition) float64 { return float64(r.ours.allocs) / float64(r.ours.done) })),
	}
}
