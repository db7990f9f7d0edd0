package machine

import (
	"fmt"
	"slices"
)

// Legal says what of a stored snapshot no commit of this definition can have written, with an error that wraps [ErrStored]: a state that
// waits, and nobody is named; the other way round; an end with an effect under way. It is damaged then, and no quiet task that lives (case
// B060). It looks at the shape alone: guards and invariants judge the present, never what is stored (law 15).
func (m *Machine[D]) Legal(s Snapshot[D]) error {
	if what := m.c.illegal(&s.Head); what != "" {
		return fmt.Errorf("task %s, version %d: %s: %w", s.Task, s.Version, what, ErrStored)
	}
	return nil
}

func (c *core) illegal(h *Head) string {
	waits, waiting := c.waits[h.State] != nil, h.Waiting != nil
	switch {
	case waits && !waiting:
		return fmt.Sprintf("state %s waits for somebody, and nobody is named", h.State)
	case waiting && !waits:
		return fmt.Sprintf("state %s waits for nobody, and %q is named", h.State, h.Waiting.For)
	case c.isFinal(h.State) && slices.ContainsFunc(h.Intents, Intent.Unsettled):
		return fmt.Sprintf("it ended in state %s while an effect has no outcome", h.State)
	}
	return ""
}
