package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// callsOfCommit is how many commits each caller makes in one repetition: whole lives of tasks.
var callsOfCommit = map[int]int{1: 900, 64: 180}

// commit measures the whole path of a proposal through the controller to the disk: resume the task, ask three observers,
// verify what they say, judge, encode, commit, synced. Each caller works on tasks of its own, which have been started.
//
// The floor writes the batches that this very work leaves, see [replay].
func commit(callers int) benchmark {
	b := benchmark{name: fmt.Sprintf("commit/%d", callers), unit: perSecond, callers: callers, calls: callsOfCommit[callers]}
	b.ours = func(at place) (side, error) { return openService(at, b.callers, b.calls) }
	b.floor = replayed(b.ours, lives(b.callers, b.calls))
	return b
}

// lives is the work of openService.
func lives(callers, calls int) plan {
	return plan{
		callers: callers, calls: calls,
		move:   func(caller, n int) (string, uint64) { return taskID(caller, n), uint64(2 + n%len(life)) },
		starts: func(n int) bool { return n%len(life) == 0 },
	}
}

// replayed is the floor that writes what some work of ours leaves.
func replayed(ours setup, p plan) setup {
	recorded := sync.OnceValues(func() (*journal, error) { return record(ours, p) })
	return func(at place) (side, error) {
		j, err := recorded()
		if err != nil {
			return side{}, err
		}
		return replay(at, j)
	}
}

// taskID names the task that a caller works on in its n-th call.
func taskID(caller, n int) string { return fmt.Sprintf("refund_order_%03d_%05d", caller, n/len(life)) }

// openService is a store in an empty directory, and a controller on it, with all tasks started.
func openService(at place, callers, calls int) (side, error) {
	ctx := context.Background()
	st, err := pebblestore.Open(at.dir, pebblestore.Options{FS: at.fs})
	if err != nil {
		return side{}, err
	}
	ctl, err := openDesk(ctx, st)
	if err == nil {
		err = startAll(ctx, ctl, callers, calls)
	}
	if err != nil {
		return side{}, errors.Join(err, st.Close())
	}
	return side{
		call:  func(caller, n int) error { return move(ctx, ctl, taskID(caller, n), life[n%len(life)]) },
		close: st.Close,
	}, nil
}

func startAll(ctx context.Context, ctl *resume.Controller, callers, calls int) error {
	return sideBySide(callers, func(caller int) error {
		for n := 0; n < calls; n += len(life) {
			if _, err := ctl.Start(ctx, newTask(taskID(caller, n)), customer); err != nil {
				return err
			}
		}
		return nil
	})
}

// sideBySide runs f for each caller in a goroutine of its own.
func sideBySide(callers int, f func(caller int) error) error {
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() { errs[caller] = f(caller) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// record does the same work once in memory, where a sync costs nothing, and keeps what it wrote.
func record(ours setup, p plan) (*journal, error) {
	fs := &keepLogs{FS: vfs.NewMem()}
	const dir = "recorded"
	s, err := ours(place{fs, dir})
	if err != nil {
		return nil, err
	}
	err = sideBySide(p.callers, func(caller int) error {
		for n := range p.calls {
			if err := s.call(caller, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, s.close()); err != nil {
		return nil, err
	}
	return readJournal(fs, dir, p)
}
