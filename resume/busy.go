package resume

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Limits of what is under way at once, unless the configuration says otherwise.
const (
	DefaultInFlight     = 4096 // calls of a controller
	DefaultTaskInFlight = 256  // calls about one task
)

// ErrBusy says that so much is under way that a call was turned away before anything was done about it: come again. The error is a
// [*BusyError].
var ErrBusy = errors.New("too much is under way")

// BusyError says which limit a call met. It wraps ErrBusy.
type BusyError struct {
	Task  string // the task of the call
	Whole bool   // the controller's limit, and not the task's
	Most  int
}

// Error says so in words.
func (e *BusyError) Error() string {
	what := "its calls"
	if e.Whole {
		what = "calls"
	}
	return fmt.Sprintf("task %s: %d of %s are under way: %v", e.Task, e.Most, what, ErrBusy)
}

// Unwrap is ErrBusy.
func (e *BusyError) Unwrap() error { return ErrBusy }

// flights counts the calls under way, so that neither a crowd nor one hot task, whose sources hang, takes all of the room.
type flights struct {
	most, mostTask int // less than 0: no limit
	mu             sync.Mutex
	all            int
	tasks          map[string]int
}

func newFlights(most, mostTask int) *flights {
	return &flights{most: most, mostTask: mostTask, tasks: map[string]int{}}
}

// board counts a call in, or turns it away; who is in leaves.
func (f *flights) board(task string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.most >= 0 && f.all >= f.most:
		return &BusyError{Task: task, Whole: true, Most: f.most}
	case f.mostTask >= 0 && f.tasks[task] >= f.mostTask:
		return &BusyError{Task: task, Most: f.mostTask}
	}
	f.all++
	f.tasks[task]++
	return nil
}

// board counts a call in, or turns it away and tells so; who is in leaves.
func (c *Controller) board(ctx context.Context, f *flights, task string) error {
	err := f.board(task)
	if busy, is := errors.AsType[*BusyError](err); is && c.heard() {
		s := Signal{Kind: SignalBusy, Task: task, Result: "task"}
		if busy.Whole {
			s.Result = "controller"
		}
		c.tell(ctx, s)
	}
	return err
}

func (f *flights) leave(task string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all--
	if f.tasks[task]--; f.tasks[task] == 0 {
		delete(f.tasks, task)
	}
}

func (f *flights) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all
}
