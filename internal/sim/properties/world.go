package properties

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The moods of the provider and of the sources.
const (
	well     = "well"
	refusing = "refusing" // the provider declines
	unsent   = "unsent"   // the provider cannot be reached
	losing   = "losing"   // the provider does it, and the answer is lost
	blind    = "blind"    // it does it, the answer is lost, and it cannot be looked up
	silent   = "silent"   // the sources do not answer
)

// world is what is outside: a clock, a shop, a policy, and a provider that knows no idempotency: what arrives is done.
type world struct {
	mu       sync.Mutex
	now      time.Time
	mood     string
	eligible map[string]bool    // by order; what is not there is eligible
	done     map[string]payment // by the effect's key
	arrived  []arrival
}

// arrival is one payment that the provider made.
type arrival struct {
	task, key string
	payment   payment
}

func newWorld(at time.Time) *world {
	return &world{now: at, mood: well, eligible: map[string]bool{}, done: map[string]payment{}}
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) sleep(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(by)
}

var errLost = errors.New("the answer was lost")

func (w *world) send(_ context.Context, j machine.Job[payment]) (payment, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.mood {
	case refusing:
		return payment{}, machine.Declined(errors.New("declined"))
	case unsent:
		return payment{}, machine.NotSent(errors.New("no connection"))
	}
	w.arrived = append(w.arrived, arrival{j.Task, j.Key, j.Args})
	w.done[j.Key] = j.Args
	if w.mood != well {
		return payment{}, errLost
	}
	return j.Args, nil
}

func (w *world) find(_ context.Context, j machine.Job[payment]) (payment, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mood == blind {
		return payment{}, false, errLost
	}
	p, ok := w.done[j.Key]
	return p, ok, nil
}

func (w *world) whose(_ context.Context, q guard.Query) (guard.Observed[string], error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mood == silent {
		return guard.Observed[string]{}, errLost
	}
	return guard.Observed[string]{Value: "alice", Subject: q.Subject, At: w.now}, nil
}

func (w *world) allows(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mood == silent {
		return guard.Observed[bool]{}, errLost
	}
	is, said := w.eligible[q.Subject]
	return guard.Observed[bool]{Value: is || !said, Subject: q.Subject, At: w.now}, nil
}
