package main

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

const (
	hotCache  = 2 << 30 // holds a million tasks
	coldTable = 1 << 20 // size of a memtable of ours; the cache takes the room of two
	coldCache = 3 << 20 // holds next to nothing: blocks come from the files, which the operating system may have in memory
)

// storeLoad measures loading the newest version of a random task: "before" as the store was filled, "compacted" after a
// compaction, both with everything in the cache and every tip remembered; "searched" compacted, but with no tip remembered, as the
// first load after an open is; and "cold" with no cache either. The floor gets the same row, whose version it knows; it checks and
// copies nothing and knows nothing of effects. The one of "copied" copies the value, as who keeps it must.
func storeLoad(w *warehouse, how string) benchmark {
	from, cache := "closed", int64(hotCache)
	if how != "before" {
		from = "compacted"
	}
	if how == "cold" {
		cache = coldCache
	}
	b := benchmark{name: "store/load/" + how, unit: nanoseconds, callers: 1, calls: 12_000}
	b.ours = func(at place) (side, error) {
		o := pebblestore.Options{CacheBytes: cache, Tasks: w.tasks}
		switch how {
		case "searched":
			o.Tasks = 1
		case "cold":
			o = pebblestore.Options{CacheBytes: cache - 2*coldTable, MemTableBytes: coldTable, Tasks: 1}
		}
		s, err := w.open(at, from, o)
		if err != nil {
			return side{}, err
		}
		load := func(i int) error {
			_, _, err := s.Load(context.Background(), bigTask(i))
			return err
		}
		return reading(load, s.Close, how == "cold", w.tasks)
	}
	b.floor = func(at place) (side, error) {
		db, err := w.bare(at, from, cache)
		if err != nil {
			return side{}, err
		}
		get := func(i int) error {
			value, closer, err := db.Get(store.AppendKey(nil, bigTask(i), 2))
			if err != nil {
				return err
			}
			if how == "copied" {
				value = bytes.Clone(value)
				kept.Store(&value)
			}
			return closer.Close()
		}
		return reading(get, db.Close, how == "cold", w.tasks)
	}
	return b
}

// kept is where a copy goes, so that the compiler must make it.
var kept atomic.Pointer[[]byte]

// reading is a side that reads random tasks; unless it is to be cold, each was read once before.
func reading(read func(i int) error, end func() error, cold bool, tasks int) (side, error) {
	for i := 0; i < tasks && !cold; i++ {
		if err := read(i); err != nil {
			return side{}, errors.Join(err, end())
		}
	}
	return side{call: func(_, n int) error { return read(scattered(n, tasks)) }, close: end}, nil
}

// scattered is a number below most that looks random, the same for both sides.
func scattered(n, most int) int {
	x := uint64(n+1) * 0x9e3779b97f4a7c15
	return int((x ^ x>>32) % uint64(most))
}
