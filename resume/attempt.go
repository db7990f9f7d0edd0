package resume

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// maxAttemptPayload is how much of a refused payload is kept, in bytes.
const maxAttemptPayload = 4 << 10

// Attempt is a proposal or an observation that was not committed; see [machine.Attempt].
type Attempt = machine.Attempt

func attemptOf(p machine.Proposal, who guard.Principal, out machine.Outcome) Attempt {
	a := Attempt{BasedOn: p.Base(), Event: out.Event, Actor: p.Actor(), Principal: who.ID, View: p.View(), Kind: out.Kind, Findings: out.Findings}
	if b, err := canon.Append(nil, p.Payload()); err == nil && p.Payload() != nil && len(b) <= maxAttemptPayload {
		a.Payload = b
	}
	return a
}

// note keeps an attempt. That it could not be kept must not turn a refusal into an error: it goes to Config.Problem.
func (c *Controller) note(ctx context.Context, l loaded, a Attempt) {
	a.Version = l.snap.Version
	if err := c.keep(ctx, l.snap.Task, a); err != nil {
		c.trouble(ctx, fmt.Errorf("task %s: keep a refused attempt: %w", l.snap.Task, err))
	}
}

func (c *Controller) keep(ctx context.Context, task string, a Attempt) error {
	a.Principal, a.View, a.Event = cut(a.Principal, machine.MaxPrincipal), cut(a.View, machine.MaxShown), cut(a.Event, 2*guard.MaxName)
	body, err := json.Marshal(a)
	if err != nil || len(body) > store.MaxBody {
		a.Payload, a.Findings = nil, []machine.Finding{{Code: a.Findings[0].Code}}
		body, err = json.Marshal(a)
	}
	if err != nil {
		return err
	}
	now, err := c.st.Now(ctx)
	if err != nil {
		return err
	}
	return c.st.Note(ctx, task, store.Attempt{At: now, Count: max(a.Count, 1), Body: body})
}

// cut keeps what fits of a text that nobody has judged yet: an attempt must not escape the record by its size.
func cut(text string, most int) string { return strings.ToValidUTF8(text[:min(len(text), most)], "") }

// Attempts are the newest refused attempts of the session's task, newest first. Errors wrap [ErrNoTask], or are the store's.
func (s *Session) Attempts(ctx context.Context) ([]Attempt, error) {
	if _, err := s.newest(ctx); err != nil {
		return nil, err
	}
	rows, err := s.c.st.Attempts(ctx, s.Task())
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	out := make([]Attempt, 0, len(rows))
	for _, r := range rows {
		var a Attempt
		if err := json.Unmarshal(r.Body, &a); err != nil {
			return nil, fmt.Errorf("task %s: an attempt: %w: %w", s.Task(), store.ErrCorrupt, err)
		}
		a.At, a.Count = time.UnixMicro(r.At).UTC(), r.Count
		out = append(out, a)
	}
	return out, nil
}
