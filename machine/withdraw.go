package machine

import (
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// Codes of what stands in the way of a withdrawal.
const (
	CodeMaybeSent = "maybe_sent" // an effect may have been sent: its outcome has to be waited for
	CodeNotSent   = "not_sent"   // no effect of the kind can have been sent
)

const (
	unsentSuffix = "_unsent"
	sentSuffix   = "_sent"
)

// Withdraw ends every intent of the effect that has no outcome, in the commit of the edge: it is taken only while none of them can have
// been sent. Beside it stands an edge of the same event that requires [Effect.Sent], and leads to where the truth is waited for.
func (e *Edge[D, P]) Withdraw(eff AnyEffect) *Edge[D, P] {
	if eff.Info() == nil {
		e.c.effect(nil, e.e.place)
		return e
	}
	e.e.withdraws = append(e.e.withdraws, eff.Info())
	return e
}

// Sent is a guard: an intent of this effect without an outcome may have been sent. What is not known to be unsent may have been.
func (e Effect[E, R]) Sent() guard.Guard {
	name := e.info.Name
	return guard.New(name+sentSuffix, func(s *guard.Scene) guard.Verdict {
		if s.MaySent(name) > 0 {
			return guard.Allow()
		}
		return guard.Deny(CodeNotSent, "no "+name+" can have been sent")
	})
}

// Withdraws tells whether the machine has to know which of its effects were sent.
func (m *Machine[D]) Withdraws() bool {
	return slices.ContainsFunc(m.c.edges, func(e *edge) bool { return len(e.withdraws) > 0 })
}

// MaySent implements [guard.Effects]; it counts the intents of an effect that have no outcome and may have been sent. The one that the edge
// itself ends does not count.
func (j *judged) MaySent(effect string) int {
	n := 0
	for _, i := range j.at.Intents {
		if i.Effect == effect && i.Unsettled() && i.Key != j.settled && !slices.Contains(j.unsent, i.Key) {
			n++
		}
	}
	return n
}

// withdrawable denies an edge whose withdrawal would come too late.
func (j *judged) withdrawable() {
	for _, w := range j.edge.withdraws {
		if j.MaySent(w.Name) > 0 {
			j.deny(w.Name+unsentSuffix, CodeMaybeSent, "the "+w.Name+" may have been sent: its outcome is waited for")
		}
	}
}

// withdraw ends the intents. Of an effect the last settled one is kept, and those that end now.
func (a *attempt) withdraw(j *judged, next *Snapshot[any]) {
	for _, w := range j.edge.withdraws {
		if next.unsettled(w.Name, "") == 0 {
			continue
		}
		var kept []Intent
		for _, i := range next.Intents {
			switch {
			case i.Effect == w.Name && i.Unsettled():
				i.Status, i.Settled = Withdrawn, next.Version
			case i.Effect == w.Name && i.Settled != next.Version:
				continue
			}
			kept = append(kept, i)
		}
		next.Intents = kept
	}
}

func (c *core) lintWithdraw(e *edge) {
	if len(e.withdraws) > 0 && e.override {
		c.fault("override", e.place, e.name+" overrides, and withdraws an effect", "leave that to an edge of its own")
	}
	for _, w := range e.withdraws {
		under := c.underWay(w)
		if !slices.ContainsFunc(e.from, func(s State) bool { return under[s] }) {
			c.fault("withdraws_nothing", e.place, e.name+" withdraws "+w.Name+", which cannot be under way there", "remove it")
		}
	}
}
