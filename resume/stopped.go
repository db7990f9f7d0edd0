package resume

import (
	"context"
	"fmt"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// stoppedError says that nothing may be intended now: it became so after the step was judged.
type stoppedError struct{ finding machine.Finding }

// Error says why.
func (e *stoppedError) Error() string { return e.finding.Code + ": " + e.finding.Text }

// stopped says why a machine may intend no effect now; nil when it may.
func (c *Controller) stopped(ctx context.Context, m *machine.Machine[any]) (*machine.Finding, error) {
	switch out, err := c.quarantined(ctx); {
	case err != nil:
		return nil, err
	case out:
		return &machine.Finding{Code: codeQuarantined, Text: quarantineText}, nil
	}
	f, err := c.freeze(ctx, m.Name())
	if err != nil || !f.frozen {
		return nil, err
	}
	return &machine.Finding{Code: codeFrozen, Text: "an operator has stopped the effects of this machine"}, nil
}

// judge is the step, with what stops effects in mind when it would cause one.
func (s *Session) judge(ctx context.Context, in machine.Input) (machine.Snapshot[any], machine.Outcome, error) {
	next, out := s.at.m.Step(s.at.snap, in)
	if len(out.Intents) == 0 {
		return next, out, nil
	}
	f, err := s.c.stopped(ctx, s.at.m)
	if err != nil {
		return next, out, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	if in.Stopped = f; f != nil {
		next, out = s.at.m.Step(s.at.snap, in)
	}
	return next, out, nil
}

// unstopped are the conditions under which a commit may cause effects: nobody freezes them before it lands. Where the store cannot
// compare, it is only looked at.
func (c *Controller) unstopped(ctx context.Context, m *machine.Machine[any]) ([]store.Revision, error) {
	switch f, err := c.stopped(ctx, m); {
	case err != nil:
		return nil, err
	case f != nil:
		return nil, &stoppedError{*f}
	}
	f, err := c.freeze(ctx, m.Name())
	if err != nil || !c.st.Info().Swap {
		return nil, err
	}
	return []store.Revision{{Name: freezeID(m.Name()), Rev: f.rev}}, nil
}
