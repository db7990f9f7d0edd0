package resume

import (
	"context"
	"fmt"
	"iter"

	"github.com/pawlgo/pawl/machine"
)

// History yields the task's history, newest first. It holds nothing open: a slow reader costs nothing. Errors wrap [ErrNoTask]
// when the principal may no longer see the task, or [guard.ErrForm] for an entry that cannot be read, or are the store's; one
// ends it.
func (s *Session) History(ctx context.Context) iter.Seq2[machine.Entry, error] {
	return func(yield func(machine.Entry, error) bool) {
		if _, err := s.newest(ctx); err != nil {
			yield(machine.Entry{}, err)
			return
		}
		for r, err := range s.c.st.History(ctx, s.Task(), 0, 0) {
			if err != nil {
				yield(machine.Entry{}, fmt.Errorf("history of task %s: %w", s.Task(), err))
				return
			}
			entry, err := machine.DecodeEntry(r.Entry)
			if err != nil {
				err = fmt.Errorf("history of task %s, version %d: %w", s.Task(), r.Tip.Version, err)
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}
