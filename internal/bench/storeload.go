package main

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

const (
	hotCache  = 2 << 30 // holds a million tasks
	coldCache = 1 << 20 // holds next to nothing: blocks come from the files, which the operating system may have in memory
)

// storeLoad measures loading the newest version of a random task: "before" as the store was filled, "compacted" after a
// compaction, both with everything in the cache, and "cold" compacted with no cache. The floor gets the same row, whose version it
// knows; it checks and copies nothing and knows nothing of effects.
func storeLoad(w *warehouse, how string) benchmark {
	from, cache := "closed", int64(hotCache)
	if how != "before" {
		from = "compacted"
	}
	if how == "cold" {
		cache = coldCache
	}
	open := func(at place) (*pebblestore.Store, *pebble.DB, error) {
		dir, err := w.store(from)
		if err != nil {
			return nil, nil, err
		}
		return openCopies(at, dir, pebblestore.Options{CacheBytes: cache})
	}
	b := benchmark{name: "store/load/" + how, unit: nanoseconds, callers: 1, calls: 12_000}
	b.ours = func(at place) (side, error) {
		s, db, err := open(at)
		if err != nil {
			return side{}, err
		}
		load := func(i int) error {
			_, _, err := s.Load(context.Background(), bigTask(i))
			return err
		}
		return warm(side{
			call:  func(_, n int) error { return load(scattered(n, w.tasks)) },
			close: s.Close,
		}, db.Close, load, how, w.tasks)
	}
	b.floor = func(at place) (side, error) {
		s, db, err := open(at)
		if err != nil {
			return side{}, err
		}
		get := func(i int) error {
			_, closer, err := db.Get(store.AppendKey(nil, bigTask(i), 2))
			if err != nil {
				return err
			}
			return closer.Close()
		}
		return warm(side{
			call:  func(_, n int) error { return get(scattered(n, w.tasks)) },
			close: db.Close,
		}, s.Close, get, how, w.tasks)
	}
	return b
}

// warm closes the database that a side does not need, and reads each task once if it is to be hot.
func warm(s side, other func() error, read func(i int) error, how string, tasks int) (side, error) {
	err := other()
	for i := 0; i < tasks && how != "cold" && err == nil; i++ {
		err = read(i)
	}
	if err != nil {
		return side{}, errors.Join(err, s.close())
	}
	return s, nil
}

// scattered is a number below most that looks random, the same for both sides.
func scattered(n, most int) int {
	x := uint64(n+1) * 0x9e3779b97f4a7c15
	return int((x ^ x>>32) % uint64(most))
}
