package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/guard"
)

// Overridden is the payload of an operator's override: why.
type Overridden struct {
	Reason string `json:"reason" validate:"required,max=400"`
}

// Override begins an edge that an operator may take where no guard would let anybody (law 17): with a reason, which the
// history keeps. It obeys invariants, causes no effect, asks and satisfies no question, and settles nothing: Build refuses
// one that would.
func Override[D any](b *Builder[D], ev Event[Overridden]) *Edge[D, Overridden] {
	e := begin[D, Overridden](b, ev.info, place(1))
	e.e.override, e.e.actors = true, []guard.Actor{guard.Operator}
	return e.Check("reason", func(c guard.Case[D, Overridden]) guard.Verdict {
		if strings.TrimSpace(c.Payload.Reason) == "" {
			return guard.Deny("no_reason", "an override needs a reason")
		}
		return guard.Allow()
	})
}

// Reopens lets the edge leave final states (law 1). Only evidence (When) or an operator (Override) can drive it.
func (e *Edge[D, P]) Reopens() *Edge[D, P] { e.e.reopens = true; return e }

func (c *core) lintOverride(e *edge) {
	if e.override {
		brings := slices.ContainsFunc(e.outputs, func(o output) bool { return o.kind != returns })
		if brings || e.confirm != nil {
			c.fault("override", e.place, e.name+" overrides, and causes effects, offers or confirms", "leave that to an edge of its own")
		}
		if slices.ContainsFunc(e.actors, func(a guard.Actor) bool { return a != guard.Operator }) {
			c.fault("override", e.place, e.name+" overrides in the name of "+fmt.Sprint(e.actors), "remove By: only an operator overrides")
		}
	}
	final := slices.ContainsFunc(e.from, c.isFinal)
	switch {
	case e.reopens && !e.override && e.when == nil:
		c.fault("reopen", e.place, e.name+" would let a proposal leave a final state", "drive it by evidence (When) or by an operator (Override)")
	case e.reopens && !final:
		c.fault("reopen", e.place, e.name+" reopens, and leaves no final state", "remove Reopens")
	}
}
