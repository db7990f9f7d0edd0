package main

import (
	"context"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// storeScale measures commits to random tasks of a large store by 64 callers; each asks for the task's tip first. The floor is the
// same in a store of [smallTasks] tasks, so a ratio below 1 is what size costs.
func storeScale(w *warehouse) benchmark {
	b := benchmark{name: "store/scale", unit: perSecond, callers: 64, calls: 120}
	b.ours = commitAtRandom(w, "closed", w.tasks, b)
	b.floor = commitAtRandom(w, "small", smallTasks, b)
	return b
}

func commitAtRandom(w *warehouse, name string, tasks int, b benchmark) setup {
	return func(at place) (side, error) {
		ready := make([][]*store.Commit, b.callers)
		for caller := range b.callers {
			for n := range b.calls {
				i := scattered(caller*b.calls+n, tasks/b.callers)*b.callers + caller // no two callers share a task
				commits, err := orders{}.commits(bigTask(i), i, 1)
				if err != nil {
					return side{}, err
				}
				commits[0].Meta.Wake = 0
				ready[caller] = append(ready[caller], commits...)
			}
		}
		s, err := w.open(at, name, pebblestore.Options{})
		if err != nil {
			return side{}, err
		}
		return side{
			call:  func(caller, n int) error { return commitNext(s, ready[caller][n]) },
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
