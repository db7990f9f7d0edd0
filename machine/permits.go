package machine

import (
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// Permits says what may be proposed now, as far as that can be said without a payload. Sorted by event.
func (m *Machine[D]) Permits(s Snapshot[D], in Input) []Permit {
	return m.c.permits(Snapshot[any]{s.Head, s.Data}, in)
}

func (c *core) permits(s Snapshot[any], in Input) []Permit {
	a := &attempt{c: c, s: s, in: in}
	a.spare = a.first.ready()
	a.facts, _ = s.Facts.With(in.Evidence...)
	return a.permits()
}

func (a *attempt) permits() []Permit {
	events, ways := a.c.engine.Events(string(a.s.State)), a.c.ways[a.s.State]
	out := make([]Permit, 0, len(events))
	actors := make([]guard.Actor, 0, 3*len(events)) // as many kinds as may propose from outside
	for _, event := range events {
		p := Permit{Event: event, By: actors[len(actors):]}
		for _, level := range ways[event] {
			for _, e := range level {
				if e.when == nil && len(e.actors) > 0 {
					a.permit(e, &p)
				}
			}
		}
		actors = actors[:min(len(actors)+len(p.By), cap(actors))]
		p.By = slices.Clip(p.By)
		if p.Open {
			p.Blocked = nil // another edge of the event is the way
		}
		if len(p.By) > 0 {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// permit adds what one edge says.
func (a *attempt) permit(e *edge, p *Permit) {
	for _, actor := range e.actors {
		if !slices.Contains(p.By, actor) {
			p.By = append(p.By, actor)
		}
	}
	j := a.begin(e, &a.s, nil, nil)
	for _, g := range e.guards {
		if !a.dependsOnPayload(e, g, j.scene) {
			j.add(g.Name(), g.Judge(j.scene))
		}
	}
	if a.in.Unsent != nil { // else the runtime does not know, and the event may turn out to be possible
		j.withdrawable()
	}
	if e.confirm != nil && !slices.ContainsFunc(a.s.Offers, func(o OpenOffer) bool {
		return o.Event == e.event.Name && a.in.Now.Before(o.Expires)
	}) {
		j.deny("confirm", CodeNotOffered, "nothing of the kind is offered")
	}
	a.spare = j
	if j.verdict.Denied() {
		p.Blocked = j.tell(p.Blocked)
		return
	}
	p.Open = true
	p.Needs = slices.Grow(p.Needs, len(j.verdict.Missing()))
	for _, k := range j.verdict.Missing() {
		if !slices.Contains(p.Needs, k) {
			p.Needs = append(p.Needs, k)
		}
	}
}

// dependsOnPayload tells whether a guard looks at facts about something that only the payload names.
func (a *attempt) dependsOnPayload(e *edge, g guard.Guard, sc *guard.Scene) bool {
	return slices.ContainsFunc(g.Reads(), func(f guard.AnyFact) bool {
		about := f.Info().About
		return f.Subject() == "" && e.event.subjects.names(about) && len(sc.Subjects(about)) == 0
	})
}
