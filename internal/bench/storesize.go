package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// storeRows counts the rows that the largest transition of the refund desk writes and removes, in one batch. The floor is the one
// row that holds the version.
func storeRows() benchmark {
	return benchmark{name: "store/rows", unit: writtenRows, count: func(place) (ours, floor float64, err error) {
		one := len(life)
		j, err := record(func(at place) (side, error) { return openService(at, 1, one) }, lives(1, one))
		if err != nil {
			return 0, 0, err
		}
		most := 0
		for _, b := range j.moves[0] {
			most = max(most, len(b.rows))
		}
		return float64(most), 1, nil
	}}
}

// versionsOfOrder is how many versions each task of storeBytes has.
const versionsOfOrder = 10

// storeBytes counts the bytes on disk of a version, everything compacted, over a tenth as many tasks as the large stores have, of ten
// versions each. The floor is the bytes of snapshot and entry themselves. Index rows, keys, hashes and filters count for ours.
func storeBytes(w *warehouse) benchmark {
	return benchmark{name: "store/bytes", unit: storedBytes, count: func(at place) (ours, floor float64, err error) {
		from, err := readOrders(w.orders)
		if err != nil {
			return 0, 0, err
		}
		tasks := w.tasks / 10
		raw, err := fillOrders(at.dir, from, tasks)
		if err != nil {
			return 0, 0, err
		}
		if err := compact(at.dir); err != nil {
			return 0, 0, err
		}
		stored, err := tables(at.dir)
		versions := float64(tasks * versionsOfOrder)
		return float64(stored) / versions, float64(raw) / versions, err
	}}
}

// fillOrders writes the tasks and returns the bytes of all snapshots and entries.
func fillOrders(dir string, from orders, tasks int) (raw int, err error) {
	s, err := pebblestore.Open(dir, pebblestore.Options{})
	if err != nil {
		return 0, err
	}
	of := make([]int, fillers)
	err = sideBySide(fillers, func(filler int) error {
		for i := filler; i < tasks; i += fillers {
			n, err := writeOrder(s, from, i)
			if err != nil {
				return err
			}
			of[filler] += n
		}
		return nil
	})
	for _, n := range of {
		raw += n
	}
	return raw, errors.Join(err, s.Close())
}

func writeOrder(s store.Store, from orders, i int) (raw int, err error) {
	commits, err := from.commits(bigTask(i), i, versionsOfOrder)
	if err != nil {
		return 0, err
	}
	tip := store.Tip{}
	for _, c := range commits {
		c.Base = tip
		raw += len(c.Snapshot) + len(c.Entry)
		if tip, err = s.Commit(context.Background(), c); err != nil {
			return 0, err
		}
	}
	return raw, nil
}

// tables is the size of all tables in dir.
func tables(dir string) (size int64, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	for _, name := range names {
		info, e := os.Stat(name)
		if e != nil {
			return 0, e
		}
		size += info.Size()
	}
	return size, err
}
