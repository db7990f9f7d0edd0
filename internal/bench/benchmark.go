package main

import (
	"regexp"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// benchmark compares something of ours with its floor: the least that any implementation of the same thing must do.
type benchmark struct {
	name    string // GROUP/DETAIL
	unit    unit
	callers int // goroutines that call at the same time
	calls   int // calls of each in one repetition, at most
	batch   int // calls between two readings of the clock, for calls that take no longer than reading it; 0 means 1
	ours    setup
	floor   setup
	count   count  // in place of callers, calls, ours and floor
	disk    vfs.FS // nil means the disk as it is
}

// place is where one side is set up, below a directory.
func (b benchmark) place(dir string) place {
	if b.disk == nil {
		return place{vfs.Default, dir}
	}
	return place{b.disk, dir}
}

// count finds two numbers that are not times, and differ in no repetition.
type count func(place) (ours, floor float64, err error)

// all are the benchmarks, in the order of the table. A new one is a file with a func like these, and a line here.
func all(w *warehouse) []benchmark {
	return []benchmark{
		stepRefund(), stepFewEdges(), stepManyEdges(), viewRefund(), workingStateSet(), workingStateBlock(), mcpStdio(),
		decide(), commit(1), commit(64), oversubscribed(commit(64)),
		storeCommit(1), storeCommit(16), storeCommit(64), storeCommit(256),
		storeLoad(w, "before"), storeLoad(w, "compacted"), storeLoad(w, "copied"), storeLoad(w, "searched"), storeLoad(w, "cold"),
		storeOpen(w, "closed"), storeOpen(w, "killed"),
		storeDue(w, "next"), storeDue(w, "first"),
		storeScale(w, "known"), storeScale(w, "new"), storeScale(w, "cold"), storeScale(w, "raw"),
		storeRows(), storeBytes(w),
	}
}

// unit says what the figures of a benchmark count, and so which way is better.
type unit string

const (
	perSecond   unit = "1/s" // more is better: a ratio of ours to floor below 1 is what we cost
	nanoseconds unit = "ns"  // less is better: a ratio of ours to floor above 1 is what we cost
	storedBytes unit = "B"   // less is better
	writtenRows unit = "rows"
)

// setup makes one side of a benchmark ready. It is called once in each repetition and is not measured.
type setup func(place) (side, error)

// place is an empty directory for one side in one repetition.
type place struct {
	fs  vfs.FS
	dir string
}

// side is what is measured. call is called from several goroutines, with the number of the caller and of its call.
type side struct {
	call  func(caller, n int) error
	ready func() error // before each slice, not measured; nil when there is nothing to make ready
	close func() error // nil when there is nothing to close
}

// chosen are the benchmarks whose names match.
func chosen(from []benchmark, names *regexp.Regexp) []benchmark {
	var out []benchmark
	for _, b := range from {
		if names.MatchString(b.name) {
			out = append(out, b)
		}
	}
	return out
}
