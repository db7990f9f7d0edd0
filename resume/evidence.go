package resume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// verify turns observations into evidence, or says which is none. What came in before, by its source's own id, is let go.
func (c *Controller) verify(ctx context.Context, l loaded, observations []guard.Observation, now time.Time) ([]guard.Evidence, error) {
	if len(observations) == 0 {
		return nil, nil
	}
	out, accept := make([]guard.Evidence, 0, len(observations)), c.acceptance(l, now)
	for _, o := range observations {
		e, err := guard.Verify(o, accept)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return c.unseenOf(ctx, l, out, out[:0])
}

// unseen is the evidence without what the task has committed before, as it counts at the version that is loaded. A message that has
// answered another question is no evidence.
func (c *Controller) unseen(ctx context.Context, l loaded, evidence []guard.Evidence) ([]guard.Evidence, error) {
	return c.unseenOf(ctx, l, evidence, make([]guard.Evidence, 0, len(evidence)))
}

// unseenOf appends the evidence that is unseen to out, which may begin where evidence begins.
func (c *Controller) unseenOf(ctx context.Context, l loaded, evidence, out []guard.Evidence) ([]guard.Evidence, error) {
	for _, e := range evidence {
		e = e.AsOf(l.snap.Version)
		if err := c.unused(ctx, l.snap.Task, e); err != nil {
			return nil, err
		}
		if name := machine.SeenName(e); name != "" {
			switch version, err := c.st.Once(ctx, l.snap.Task, name); {
			case err != nil:
				return nil, fmt.Errorf("task %s, observation %q: %w", l.snap.Task, e.ID(), err)
			case version > 0 && version <= l.snap.Version: // a newer one makes this a conflict, which the write notices
				continue
			}
		}
		out = append(out, e)
	}
	return out, nil
}

func (c *Controller) acceptance(l loaded, now time.Time) guard.Acceptance {
	return guard.Acceptance{Fact: l.m.FactNamed, Trusts: c.trusts, Now: now, BasedOn: l.snap.Version}
}

// notEvidence says why an observation is none, without its subject: that may be an id that no model is shown.
func notEvidence(err error) machine.Finding {
	f := machine.Finding{Code: machine.CodeNotEvidence, Text: "an observation is no evidence"}
	if e, ok := errors.AsType[*guard.EvidenceError](err); ok {
		f.Text = "an observation of " + e.Key.Fact + " is no evidence: " + e.Text
		f.Details = map[string]any{"reason": e.Code}
	}
	return f
}

// inWords says why nothing came of a question, without what a source may have written into its error.
func inWords(err error) string {
	var evidence *guard.EvidenceError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "its source did not answer in time"
	case errors.Is(err, errOtherSubject):
		return "its source answered about something else"
	case errors.As(err, &evidence):
		return "its source's answer is no evidence (" + evidence.Code + ")"
	}
	return "its source failed"
}

func compareKeys(a, b guard.Key) int {
	return cmp.Or(cmp.Compare(a.Fact, b.Fact), cmp.Compare(a.Subject, b.Subject))
}
