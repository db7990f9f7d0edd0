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

// stopped says why a machine may intend no effect now; when it may, the condition under which that stays so.
func (c *Controller) stopped(ctx context.Context, m *machine.Machine[any]) (*machine.Finding, []store.Revision, error) {
	switch out, err := c.quarantined(ctx); {
	case err != nil:
		return nil, nil, err
	case out:
		return &machine.Finding{Code: codeQuarantined, Text: quarantineText}, nil, nil
	}
	f, err := c.freeze(ctx, m.Name())
	if err != nil || !f.frozen {
		return nil, f.expect, err
	}
	return &machine.Finding{Code: codeFrozen, Text: "an operator has stopped the effects of this machine"}, nil, nil
}

// judge is the step, with what stops effects in mind when it would cause one.
func (s *Session) judge(ctx context.Context, in machine.Input) (machine.Snapshot[any], machine.Outcome, error) {
	next, out := s.at.m.Step(s.at.snap, in)
	if len(out.Intents) == 0 {
		return next, out, nil
	}
	f, _, err := s.c.stopped(ctx, s.at.m)
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
	f, expect, err := c.stopped(ctx, m)
	if f != nil {
		return nil, &stoppedError{*f}
	}
	return expect, err
}
