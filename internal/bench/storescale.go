package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// storeScale measures commits to random tasks of a large store by 64 callers: of tasks that were loaded before, as every
// service does before it commits ("known"), of tasks that are created ("new"), or of tasks that the process has never seen, each
// looked up first ("cold"). The
// floor is the same in a store of [smallTasks] tasks, so a ratio below 1 is what size costs. "raw" is what size costs a bare
// database with the same options that looks the same record up, by its key, and writes the same bytes.
func storeScale(w *warehouse, how string) benchmark {
	b := benchmark{name: "store/scale/" + how, unit: perSecond, callers: 64, calls: 120}
	at := commitAtRandom
	switch how {
	case "new":
		at = createAtRandom
	case "raw":
		at = writeAtRandom
	}
	b.ours = at(w, "closed", w.tasks, b, how == "known")
	b.floor = at(w, "small", smallTasks, b, how == "known")
	return b
}

// randomTask is the number of the task of a caller's n-th call; no two callers share a task.
func randomTask(caller, n, tasks int, b benchmark) int {
	return scattered(caller*b.calls+n, tasks/b.callers)*b.callers + caller
}

// nextVersions are the commits of all callers, without their bases.
func nextVersions(tasks int, b benchmark) ([][]*store.Commit, error) {
	ready := make([][]*store.Commit, b.callers)
	for caller := range b.callers {
		for n := range b.calls {
			i := randomTask(caller, n, tasks, b)
			commits, err := orders{}.commits(bigTask(i), i, 1)
			if err != nil {
				return nil, err
			}
			commits[0].Meta.Wake = 0
			ready[caller] = append(ready[caller], commits...)
		}
	}
	return ready, nil
}

func commitAtRandom(w *warehouse, name string, tasks int, b benchmark, known bool) setup {
	return func(at place) (side, error) {
		ready, err := nextVersions(tasks, b)
		if err != nil {
			return side{}, err
		}
		s, err := w.open(at, name, pebblestore.Options{})
		if err != nil {
			return side{}, err
		}
		for caller := 0; known && caller < b.callers && err == nil; caller++ {
			for n := 0; n < b.calls && err == nil; n++ {
				_, _, err = s.Load(context.Background(), ready[caller][n].Task)
			}
		}
		if err != nil {
			return side{}, errors.Join(err, s.Close())
		}
		return side{
			call:  func(caller, n int) error { return commitNext(s, ready[caller][n]) },
			close: s.Close,
		}, nil
	}
}

// createAtRandom creates tasks whose ids lie between those that are there.
func createAtRandom(w *warehouse, name string, tasks int, b benchmark, _ bool) setup {
	return func(at place) (side, error) {
		ready, err := nextVersions(tasks, b)
		if err != nil {
			return side{}, err
		}
		for caller := range ready {
			for n, c := range ready[caller] {
				c.Task = fmt.Sprintf("%s-%d", c.Task, n)
			}
		}
		s, err := w.open(at, name, pebblestore.Options{})
		if err != nil {
			return side{}, err
		}
		return side{
			call: func(caller, n int) error {
				_, err := s.Commit(context.Background(), ready[caller][n])
				return err
			},
			close: s.Close,
		}, nil
	}
}

// commitNext makes a commit the next version of its task.
func commitNext(s store.Store, c *store.Commit) (err error) {
	if c.Base, err = s.Tip(context.Background(), c.Task); err == nil {
		_, err = s.Commit(context.Background(), c)
	}
	return err
}

// writeAtRandom gets the second version of each task and writes a third one beside it, as large as ours.
func writeAtRandom(w *warehouse, name string, tasks int, b benchmark, _ bool) setup {
	return func(at place) (side, error) {
		ready, err := nextVersions(tasks, b)
		if err != nil {
			return side{}, err
		}
		db, err := w.bare(at, name, 0)
		if err != nil {
			return side{}, err
		}
		seal := store.Sealer{}
		rows := make([][]batch, b.callers)
		for caller := range b.callers {
			for _, c := range ready[caller] {
				c.Base.Version = 2
				out, key := c.Prepare(&seal, nil)
				rows[caller] = append(rows[caller], batch{size: len(out), rows: []row{{pebble.InternalKeyKindSet, out[:key], out[key:]}}})
			}
		}
		call := func(caller, n int) error {
			_, closer, err := db.Get(store.AppendKey(nil, ready[caller][n].Task, 2))
			if err != nil {
				return err
			}
			if err := closer.Close(); err != nil {
				return err
			}
			return write(db, rows[caller][n])
		}
		return side{call: call, close: db.Close}, nil
	}
}
