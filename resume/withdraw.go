package resume

import (
	"context"
	"fmt"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// sendable are the revisions of the task's effects that surely were not sent, by key. A worker that claims one raises its revision, so
// that a commit which takes it for unsent is fenced.
type sendable map[string]uint64

// unsent reads which effects of the version were not sent. What has been tried before and may have arrived is not among them.
func (s *Session) unsent(ctx context.Context) (sendable, error) {
	if !s.at.m.Withdraws() || !s.underWay() {
		return nil, nil
	}
	_, rows, err := s.c.st.Load(ctx, s.Task())
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	out := sendable{}
	for _, row := range rows {
		if done, err := decodeProgress(row.Body); err == nil && row.Status == store.Intent && !done.Maybe {
			out[row.ID] = row.Rev
		}
	}
	return out, nil
}

// underWay tells whether an effect has no outcome yet.
func (s *Session) underWay() bool {
	for _, i := range s.at.snap.Intents {
		if i.Unsettled() {
			return true
		}
	}
	return false
}

// keys are those of the effects that were not sent; nil when nobody has looked.
func (u sendable) keys() []string {
	if u == nil {
		return nil
	}
	keys := make([]string, 0, len(u))
	for key := range u {
		keys = append(keys, key)
	}
	return keys
}

// withdrawn are the ends of the effects that a version withdraws, each at the revision at which it had not been sent.
func (u sendable) withdrawn(next machine.Snapshot[any]) []store.Settle {
	var out []store.Settle
	for _, i := range next.Intents {
		if rev, had := u[i.Key]; had && i.Status == machine.Withdrawn && i.Settled == next.Version {
			out = append(out, store.Settle{Effect: i.Key, Rev: rev})
		}
	}
	return out
}
