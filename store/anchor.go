package store

import (
	"context"
	"iter"
)

// Anchor is a tip that was noted outside the store. Each hash covers everything before it, so whoever keeps anchors finds
// out if a history was cut or rewritten below them, even by somebody who can recompute every checksum.
type Anchor struct {
	Task string
	Tip  Tip
}

// Anchors yields the tip of every task but the erased ones, in the order of Find.
func Anchors(ctx context.Context, s Store) iter.Seq2[Anchor, error] {
	return func(yield func(Anchor, error) bool) {
		q := Query{}
		for {
			rows, next, err := s.Find(ctx, q)
			for i := range rows {
				tip, tipErr := s.Tip(ctx, rows[i].Task)
				if !yield(Anchor{Task: rows[i].Task, Tip: tip}, tipErr) || tipErr != nil {
					return
				}
			}
			if err != nil {
				yield(Anchor{}, err)
				return
			}
			if q.After = next; next == "" {
				return
			}
		}
	}
}

// Check holds the store against the anchor: ErrCorrupt if the task's history no longer has that version with that hash.
// A version that was pruned cannot be held against anything and passes if the task went on; ErrErased if the task was erased.
func (a Anchor) Check(ctx context.Context, s Store) error {
	tip, err := s.Tip(ctx, a.Task)
	if err != nil {
		return err
	}
	if tip.Version < a.Tip.Version {
		return &CorruptError{Task: a.Task, Version: tip.Version, What: "history is shorter than its anchor"}
	}
	for r, err := range s.History(ctx, a.Task, a.Tip.Version, a.Tip.Version) {
		if err != nil {
			return err
		}
		if r.Tip != a.Tip {
			return &CorruptError{Task: a.Task, Version: a.Tip.Version, What: "hash is not the one of its anchor"}
		}
	}
	return nil
}
