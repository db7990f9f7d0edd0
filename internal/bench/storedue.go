package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// storeDue measures finding that nothing is due in a store where each of many tasks has set a wake-up and cancelled it. "first" is the
// first time after the store was killed and opened again, "next" any later time. The floor looks into an empty range of keys.
func storeDue(w *warehouse, when string) benchmark {
	b := benchmark{name: "store/due/" + when, unit: nanoseconds, callers: 1, calls: 6000, ours: dueNext(w), floor: dueFloor(w)}
	if when == "first" {
		b.calls, b.ours = opensOfRun, dueFirst(w)
	}
	return b
}

func nothingDue(s *pebblestore.Store) error {
	rows, err := s.Due(context.Background(), store.Slots{}, 0)
	if err == nil && len(rows) > 0 {
		err = fmt.Errorf("%d tasks are due, want none", len(rows))
	}
	return err
}

func dueNext(w *warehouse) setup {
	return func(at place) (side, error) {
		s, err := w.open(at, "killed", pebblestore.Options{})
		if err != nil {
			return side{}, err
		}
		if err := nothingDue(s); err != nil {
			return side{}, errors.Join(err, s.Close())
		}
		return side{call: func(_, _ int) error { return nothingDue(s) }, close: s.Close}, nil
	}
}

// dueFirst opens a fresh copy before each call.
func dueFirst(w *warehouse) setup {
	return func(at place) (side, error) {
		from, err := w.store("killed")
		if err != nil {
			return side{}, err
		}
		var s *pebblestore.Store
		o := &opening{from: from, dir: filepath.Join(at.dir, "store"), open: func(dir string) (func() error, error) {
			var err error
			if s, err = pebblestore.Open(dir, pebblestore.Options{}); err != nil {
				return nil, err
			}
			return s.Close, nil
		}}
		return side{
			call:  func(_, _ int) error { return nothingDue(s) },
			ready: func() error { return errors.Join(o.ready(), o.call(0, 0)) },
			close: o.end,
		}, nil
	}
}

func dueFloor(w *warehouse) setup {
	return func(at place) (side, error) {
		db, err := w.bare(at, "killed", 0)
		if err != nil {
			return side{}, err
		}
		look := func(_, _ int) error {
			it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{'e'}, UpperBound: []byte{'f'}})
			if err != nil {
				return err
			}
			if it.First() {
				err = errors.New("the range is not empty")
			}
			return errors.Join(err, it.Close())
		}
		return side{call: look, close: db.Close}, nil
	}
}
