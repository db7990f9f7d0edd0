package resume

import (
	"fmt"
	"sync"
)

// asks are the tasks whose timers must ask a source first: they are asked about beside the rest, so that a slow source holds up no other
// task's timers.
type asks struct {
	waits bool // for a place, and does not leave the task for the next time
	fail  func(error)
	ended func()
	room  chan struct{}
	wg    sync.WaitGroup
	mu    sync.Mutex
	tasks map[string]bool
}

// newAsks has MaxHandlers places. fail hears each error, one at a time; ended is called when a place is free
// again for another task, and not when it was for an error: it would come at once again.
func newAsks(waits bool, fail func(error), ended func()) *asks {
	return &asks{waits: waits, fail: fail, ended: ended, room: make(chan struct{}, MaxHandlers), tasks: map[string]bool{}}
}

// about tells whether a task is being asked about.
func (a *asks) about(task string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tasks[task]
}

// begin asks about a task, if there is a place.
func (a *asks) begin(task string, ask func() error) {
	if a.waits {
		a.room <- struct{}{}
	} else {
		select {
		case a.room <- struct{}{}:
		default:
			return
		}
	}
	a.mu.Lock()
	a.tasks[task] = true
	a.mu.Unlock()
	a.wg.Go(func() {
		err := ask()
		a.over(task, err)
		if <-a.room; err == nil {
			a.ended()
		}
	})
}

func (a *asks) over(task string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if delete(a.tasks, task); err != nil {
		a.fail(fmt.Errorf("timers of task %s: %w", task, err))
	}
}

func (a *asks) wait() { a.wg.Wait() }
