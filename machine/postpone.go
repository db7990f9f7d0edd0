package machine

import (
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// A timer whose edge is refused is tried again after as long as it is overdue, within these bounds.
const (
	MinTimerRetry = time.Minute
	MaxTimerRetry = 6 * time.Hour
)

// Postpone is the version in which the timers of an event that have come due are put off, because their edge was refused: a
// deadline is not lost, and does not keep a worker busy. The findings of the refusal stand in its entry. False when no timer
// of the event is due.
func (m *Machine[D]) Postpone(s Snapshot[D], refused Outcome, now time.Time) (Snapshot[D], *Entry, bool) {
	next := s
	next.Timers = slices.Clone(s.Timers)
	now = whole(now)
	put := false
	for i := range next.Timers {
		if t := &next.Timers[i]; t.Event == refused.Event && !now.Before(t.Due) {
			first := t.First
			if first.IsZero() {
				first = t.Due
			}
			t.First, t.Due, put = first, now.Add(min(max(now.Sub(first), MinTimerRetry), MaxTimerRetry)), true
		}
	}
	if !put {
		return s, nil, false
	}
	next.Version, next.BasedOn, next.UpdatedAt, next.UpdatedBy = s.Version+1, s.Version, now, string(guard.Timer)
	return next, &Entry{Version: next.Version, BasedOn: s.Version, At: now.UnixMicro(), Event: refused.Event, From: s.State, To: s.State,
		Actor: guard.Timer, Machine: s.Machine, Definition: s.Definition, Digest: s.Digest, Blocked: refused.Findings}, true
}
