package resume

import (
	"context"
	"errors"
	"fmt"
	"time"

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
// is never dropped, whatever its age: somebody must find out. Errors are the store's.
func (c *Controller) Unsettled(ctx context.Context, longerThan time.Duration) ([]Unsettled, error) {
	now, err := c.now(ctx)
	if err != nil {
		return nil, fmt.Errorf("list unsettled effects: %w", err)
	}
	var out []Unsettled
	for after := ""; ; {
		rows, next, err := c.st.Effects(ctx, after, 0)
		if err != nil {
			return nil, fmt.Errorf("list unsettled effects: %w", err)
		}
		for _, row := range rows {
			u, err := c.unsettled(ctx, row)
			if err != nil {
				return nil, err
			}
			if u.Key != "" && now.Sub(u.Since) > longerThan {
				out = append(out, u)
			}
		}
		if after = next; next == "" {
			return out, nil
		}
	}
}

// unsettled is empty when the effect was settled while the list was read.
func (c *Controller) unsettled(ctx context.Context, row store.Effect) (Unsettled, error) {
	l, err := c.load(ctx, row.Task)
	if errors.Is(err, store.ErrErased) {
		return Unsettled{}, nil
	}
	if err != nil {
		return Unsettled{}, err
	}
	i, ok := l.snap.Intent(row.ID)
	if !ok || !i.Unsettled() {
		return Unsettled{}, nil
	}
	p, err := decodeProgress(row.Body)
	if err != nil {
		return Unsettled{}, fmt.Errorf("task %s, effect %s: %w: %w", row.Task, row.ID, store.ErrCorrupt, err)
	}
	u := Unsettled{Task: row.Task, Effect: i.Effect, Key: i.Key, Status: row.Status.String(), Since: i.At,
		Attempts: p.Attempts, Lookups: p.Lookups, Last: p.Last, Rev: row.Rev}
	if row.Status == store.Unknown {
		u.AbsentFrom, err = c.absentFrom(ctx, i, p, l.m.EffectNamed(i.Effect).Within)
	}
	return u, err
}
