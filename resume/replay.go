package resume

import (
	"context"
	"fmt"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

const codeKeyReused = "key_reused" // an idempotency key came again with another proposal

// replayed finds out whether this very proposal was committed before, and gives its first outcome again. A proposal that was
// based on version v can only have become v+1, so that record is compared; one with a key of its own is found by the key.
// The zero Outcome says that it was not.
func (s *Session) replayed(ctx context.Context, p machine.Proposal) (machine.Outcome, error) {
	if p.Event() == "" {
		return machine.Outcome{}, nil
	}
	version := p.Base() + 1
	if p.Key() != "" {
		if store.CheckName(s.Task(), "key", oncePrefix+p.Key()) != nil {
			return machine.Outcome{}, nil // refused as any other form that does not fit
		}
		var err error
		if version, err = s.c.st.Once(ctx, s.Task(), oncePrefix+p.Key()); err != nil {
			return machine.Outcome{}, fmt.Errorf("task %s, key %q: %w", s.Task(), p.Key(), err)
		}
	}
	if version < 2 || version > s.Version() {
		return machine.Outcome{}, nil
	}
	entry, l, err := s.c.version(ctx, s.Task(), version)
	if err != nil {
		return machine.Outcome{}, err
	}
	mine, err := p.Fingerprint(s.who)
	switch {
	case err == nil && entry.Fingerprint == mine:
		return outcomeOf(entry, l), nil
	case p.Key() != "":
		return s.conclude(ctx, p, nil, s.refused(machine.Finding{Code: codeKeyReused,
			Text: fmt.Sprintf("the key belongs to another proposal, committed as version %d", version)}))
	}
	return machine.Outcome{}, nil
}

// version reads one version of the history.
func (c *Controller) version(ctx context.Context, task string, version uint64) (machine.Entry, loaded, error) {
	for r, err := range c.st.History(ctx, task, version, version) {
		if err != nil {
			return machine.Entry{}, loaded{}, fmt.Errorf("task %s, version %d: %w", task, version, err)
		}
		entry, err := machine.DecodeEntry(r.Entry)
		if err != nil {
			return entry, loaded{}, fmt.Errorf("task %s, version %d: %w", task, version, err)
		}
		l, err := c.decode(r)
		return entry, l, err
	}
	return machine.Entry{}, loaded{}, fmt.Errorf("task %s, version %d: %w", task, version, store.ErrNotFound)
}

// outcomeOf is the first outcome of a commit, told again.
func outcomeOf(e machine.Entry, l loaded) machine.Outcome {
	out := machine.Outcome{Kind: machine.Committed, Replayed: true, Task: l.snap.Task, Version: e.Version, State: e.To,
		Before: e.BasedOn, Event: e.Event, Edge: e.Edge, Returned: e.Returned}
	for _, o := range l.snap.Offers {
		if o.Opened == e.Version {
			out.Offers = append(out.Offers, o)
		}
	}
	for _, i := range l.snap.Intents {
		if i.Since == e.Version {
			out.Intents = append(out.Intents, i)
		}
	}
	return out
}
