package workingstate

import (
	"context"
	"time"
)

// Report is what working_state_get answers: all that is stored, what has expired included.
type Report struct {
	Version uint64          `json:"version"` // of the record
	States  map[string]Held `json:"states"`
	Handoff *HeldNote       `json:"handoff"`
	History []Change        `json:"history"` // oldest first
}

// Held is an entry, and whether it has expired.
type Held struct {
	Entry
	Expired bool `json:"expired"`
}

// HeldNote is a handoff, and whether it has expired.
type HeldNote struct {
	Note
	Expired bool `json:"expired"`
}

// Get reads everything, with the newest changes: at most [MaxHistory], at least one. It is never refused for what is set or
// not; an agent that was never started is an error of the [Committer].
func (a Agent) Get(ctx context.Context, history int) (Report, error) {
	t, now, err := a.Table(ctx)
	if err != nil {
		return Report{}, err
	}
	r := report(t, now)
	r.History, err = a.Changes(ctx, min(max(history, 1), MaxHistory))
	return r, err
}

// Changes are the newest n changes, oldest first; for what keeps them elsewhere.
func (a Agent) Changes(ctx context.Context, n int) ([]Change, error) {
	entries, err := a.c.Recent(ctx, a.task, a.who, n, events()...)
	if err != nil {
		return nil, err
	}
	return changes(a.id, entries)
}

func report(t Table, now time.Time) Report {
	r := Report{Version: t.Version, States: make(map[string]Held, len(t.States))}
	for k, e := range t.States {
		r.States[k] = Held{e, !e.Live(now)}
	}
	if t.Handoff != nil {
		r.Handoff = &HeldNote{*t.Handoff, !t.Handoff.Live(now)}
	}
	return r
}
