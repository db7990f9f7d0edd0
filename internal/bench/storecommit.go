package main

import (
	"context"
	"fmt"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// callsOfStoreCommit is how many commits each caller makes in one repetition.
var callsOfStoreCommit = map[int]int{1: 300, 16: 180, 64: 120, 256: 48}

// storeCommit measures durable commits of ready bytes, by so many callers at once, each to a task of its own. The floor writes the
// batches that this leaves, see [replay]: it judges, seals, hashes and locks nothing.
func storeCommit(callers int) benchmark {
	b := benchmark{name: fmt.Sprintf("store/commit/%d", callers), unit: perSecond, callers: callers, calls: callsOfStoreCommit[callers]}
	b.ours = func(at place) (side, error) { return openStore(at, b.callers, b.calls) }
	b.floor = replayed(b.ours, plan{
		callers: b.callers, calls: b.calls,
		move:   func(caller, n int) (string, uint64) { return bigTask(caller), uint64(1 + n) },
		starts: func(int) bool { return false },
	})
	return b
}

// openStore is a store in an empty directory, and the commits that each caller will make.
func openStore(at place, callers, calls int) (side, error) {
	ready := make([][]*store.Commit, callers)
	for caller := range callers {
		var err error
		if ready[caller], err = (orders{}).commits(bigTask(caller), caller, calls); err != nil {
			return side{}, err
		}
	}
	s, err := pebblestore.Open(at.dir, pebblestore.Options{FS: at.fs})
	if err != nil {
		return side{}, err
	}
	tips := make([]store.Tip, callers)
	return side{
		call: func(caller, n int) (err error) {
			c := ready[caller][n]
			c.Base = tips[caller]
			tips[caller], err = s.Commit(context.Background(), c)
			return err
		},
		close: s.Close,
	}, nil
}
