package machine

import (
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// keep lets go of evidence that only rode along with a proposal: what is not about the task, and what neither the edge nor
// an offer stands on. Well formed as it is, it is about something else (law 3); a reply to an offer that was not open, or by
// somebody who was not asked, is none (law 9).
func (a *attempt) keep(j *judged) {
	rides := func(ev guard.Evidence) bool { return !a.mine(j, ev.Entry()) }
	if !slices.ContainsFunc(a.evidence, rides) {
		return
	}
	a.evidence = slices.DeleteFunc(slices.Clone(a.evidence), rides)
	a.facts, a.merged = a.s.Facts.With(a.evidence...)
}

// mine tells whether evidence concerns the task: what it is about, what was looked at before, or what this step stands on.
func (a *attempt) mine(j *judged, e guard.Entry) bool {
	if a.c.relevant(&a.s, e) {
		return true
	}
	if _, known := a.s.Facts.Entry(e.Key); known && a.c.facts[e.Key.Fact].About != guard.OfferKind {
		return true
	}
	stands := func(u *guard.Entry) bool { return u.Key == e.Key }
	return slices.ContainsFunc(a.stood, stands) || slices.ContainsFunc(j.scene.Used(), stands)
}
