package machine

import (
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// keep lets go of evidence that only rode along with a proposal: what is not about the task, and what neither the edge nor
// an offer stands on. Well formed as it is, it is about something else (law 3); a reply to an offer that was not open, or by
// somebody who was not asked, is none (law 9).
func (a *attempt) keep(j *judged) {
	stands := append(slices.Clone(a.stood), j.scene.Used()...)
	mine := func(k guard.Key, e *guard.Entry) bool {
		if _, known := a.s.Facts.Entry(k); known && a.c.facts[k.Fact].About != guard.OfferKind {
			return true
		}
		return a.c.relevant(&a.s, e) || slices.ContainsFunc(stands, func(u guard.Entry) bool { return u.Key == k })
	}
	kept := make([]guard.Evidence, 0, len(a.evidence))
	for _, ev := range a.evidence {
		if e := ev.Entry(); mine(e.Key, &e) {
			kept = append(kept, ev)
		}
	}
	if len(kept) < len(a.evidence) {
		a.evidence = kept
		a.facts, a.merged = a.s.Facts.With(kept...)
	}
}
