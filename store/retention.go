package store

import (
	"context"
	"errors"
)

// Retained is a store whose tasks Retain can list and prune.
type Retained interface {
	Store
	Keeper
}

// Retain prunes the history of every task that is over: final, without an unsettled effect, and last changed before an
// instant. Of such a task the newest version stays, and a base below it that keeps the chain verifiable. It returns how many
// tasks it has looked into and pruned; a task that was pruned before counts again, and one that is imported and not
// counted yet is passed over. It may run while the store serves, and an
// error leaves the tasks before it pruned: call it again.
func Retain(ctx context.Context, s Retained, before Micros) (pruned int, err error) {
	for q := (Query{}); ; {
		rows, next, err := s.Find(ctx, q)
		if err != nil {
			return pruned, err
		}
		for _, row := range rows {
			if !row.Meta.Final || row.Meta.Since >= before {
				continue
			}
			done, err := retain(ctx, s, row.Task, before)
			if err != nil {
				return pruned, err
			}
			if done {
				pruned++
			}
		}
		if next == "" {
			return pruned, nil
		}
		q.After = next
	}
}

// retain prunes one task if it is over; one that was erased meanwhile has nothing left to prune.
func retain(ctx context.Context, s Retained, task string, before Micros) (bool, error) {
	rec, effects, err := s.Load(ctx, task)
	if err != nil || !rec.Meta.Final || rec.At >= before || len(effects) > 0 {
		if errors.Is(err, ErrErased) {
			err = nil
		}
		return false, err
	}
	err = s.Prune(ctx, task, rec.Tip.Version)
	if errors.Is(err, ErrErased) || errors.Is(err, ErrUncounted) {
		return false, nil
	}
	return err == nil, err
}
