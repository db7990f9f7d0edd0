package resume

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Unsettled is an effect without an outcome, for an operator.
type Unsettled struct {
	Task     string
	Effect   string
	Key      string
	Status   string    // intent, sent or unknown
	Since    time.Time // when it was intended
	Attempts int
	Lookups  int
	Last     string // why it is not settled yet
	Rev      uint64 // the fencing token of [Controller.SettleByHand]: it rises whenever a worker takes it up
	// AbsentFrom is from when on an operator may say that an unknown effect has not happened; zero while that is not known.
	AbsentFrom time.Time
}

// Unsettled lists the effects that have been without an outcome for longer than some time, in order of task and key. An effect
// is never dropped, whatever its age: somebody must find out. Those of tasks whose machine is not served here are listed too. One task
// that cannot be read does not keep the others from the list: errors of single tasks are joined and come beside it. Other errors are
// the store's.
func (c *Controller) Unsettled(ctx context.Context, longerThan time.Duration) ([]Unsettled, error) {
	now, err := c.now(ctx)
	if err != nil {
		return nil, fmt.Errorf("list unsettled effects: %w", err)
	}
	var out []Unsettled
	var faults []error
	for after := ""; ; {
		rows, next, err := c.st.Effects(ctx, after, 0)
		if err != nil {
			return nil, fmt.Errorf("list unsettled effects: %w", err)
		}
		for _, row := range rows {
			u, err := c.unsettled(ctx, row)
			switch {
			case errors.Is(err, store.ErrCorrupt), errors.Is(err, machine.ErrStored):
				faults = append(faults, err)
			case err != nil:
				return nil, err
			case u.Key != "" && now.Sub(u.Since) > longerThan:
				out = append(out, u)
			}
		}
		if after = next; next == "" {
			return out, errors.Join(faults...)
		}
	}
}

// unsettled is empty when the effect was settled while the list was read.
func (c *Controller) unsettled(ctx context.Context, row store.Effect) (Unsettled, error) {
	h, m, err := c.head(ctx, row.Task)
	if errors.Is(err, store.ErrErased) {
		return Unsettled{}, nil
	}
	if err != nil {
		return Unsettled{}, err
	}
	i, ok := h.Intent(row.ID)
	if !ok || !i.Unsettled() {
		return Unsettled{}, nil
	}
	p, err := decodeProgress(row.Body)
	if err != nil {
		return Unsettled{}, fmt.Errorf("task %s, effect %s: %w: %w", row.Task, row.ID, store.ErrCorrupt, err)
	}
	u := Unsettled{Task: row.Task, Effect: i.Effect, Key: i.Key, Status: row.Status.String(), Since: i.At,
		Attempts: p.Attempts, Lookups: p.Lookups, Last: p.Last, Rev: row.Rev}
	if row.Status == store.Unknown && m != nil {
		u.AbsentFrom, err = c.absentFrom(ctx, i, p, m.EffectNamed(i.Effect).Within)
	}
	return u, err
}

// head is a task as it stands, and its machine; nil when that is not served here.
func (c *Controller) head(ctx context.Context, task string) (machine.Head, *machine.Machine[any], error) {
	l, err := c.load(ctx, task)
	if errors.Is(err, ErrMachine) {
		h, _, err := c.standsNow(ctx, task)
		return h, nil, err
	}
	return l.snap.Head, l.m, err
}
