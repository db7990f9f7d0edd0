package machinetest

import (
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// cell is what a complete table shows: an event in a state, while a fact that its guards read has a status. Fact and status
// are "-" where the event has no edge, or its guards read nothing.
type cell struct {
	state, event, fact, status string
}

const none = "-"

// The statuses beside the names of values.
const (
	unknown = "unknown"
	stale   = "stale"
)

func (c cell) columns() []string { return []string{c.state, c.event, c.fact, c.status} }

// events are all of the machine, its effects' and facts' own included, sorted.
func (tb *table) events() []string {
	var out []string
	for _, e := range tb.about.Events {
		out = append(out, e.Name)
	}
	for _, e := range tb.about.Edges {
		out = append(out, e.Event)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// all are the cells of the machine, in order.
func (tb *table) all() []cell {
	var out []cell
	for _, s := range tb.about.States {
		for _, event := range tb.events() {
			facts := tb.reads(s.Name, event)
			if len(facts) == 0 {
				out = append(out, cell{string(s.Name), event, none, none})
			}
			for _, f := range facts {
				for _, status := range tb.statuses(f, event) {
					out = append(out, cell{string(s.Name), event, f, status})
				}
			}
		}
	}
	return out
}

// edges are those of an event from a state.
func (tb *table) edges(s machine.State, event string) []machine.EdgeDescription {
	var out []machine.EdgeDescription
	for _, e := range tb.about.Edges {
		if e.Event == event && slices.Contains(e.From, s) {
			out = append(out, e)
		}
	}
	return out
}

// reads are the facts that the edges of an event look at, sorted: their own guards, and those of what they offer.
func (tb *table) reads(s machine.State, event string) []string {
	var out []string
	for _, e := range tb.edges(s, event) {
		out = append(append(append(out, guarded(e)...), e.Fresh...), drivenBy(event)...)
		for _, o := range e.Offers {
			offered, _, _ := strings.Cut(o, " to ")
			for _, next := range tb.edges(target(e, s), offered) {
				out = append(out, guarded(next)...)
			}
		}
		if e.Confirm != "" {
			out = append(out, e.Confirm)
		}
		if effect, ok := strings.CutSuffix(event, ".confirmed"); ok {
			if i := tb.m.EffectNamed(effect); i != nil {
				out = append(out, i.Receipt.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func guarded(e machine.EdgeDescription) []string {
	var out []string
	for _, g := range e.Guards {
		out = append(out, g.Reads...)
	}
	return out
}

// target is the state that an edge leads to from a state.
func target(e machine.EdgeDescription, from machine.State) machine.State {
	if e.To == "" {
		return from
	}
	return e.To
}

// drivenBy is the fact whose own event it is.
func drivenBy(event string) []string {
	if fact, ok := strings.CutSuffix(event, ".changed"); ok {
		return []string{fact}
	}
	return nil
}

// statuses are the values that the table names, unknown unless the fact itself drives the event, and stale if it can be.
func (tb *table) statuses(fact, event string) []string {
	var out []string
	for _, f := range tb.valuesOf(fact) {
		out = append(out, f.name)
	}
	if !slices.Contains(drivenBy(event), fact) {
		out = append(out, unknown)
	}
	if tb.m.FactNamed(fact).MaxAge > 0 {
		out = append(out, stale)
	}
	return out
}

// valuesOf are the named values of a fact that make cells: those about the same subject as the first.
func (tb *table) valuesOf(fact string) []*namedFact {
	var out []*namedFact
	for _, f := range tb.facts {
		if f.info.Name == fact && (out == nil || f.subject == out[0].subject) {
			out = append(out, f)
		}
	}
	return out
}

// before are the codes of refusals that look at no fact.
var before = []string{
	machine.CodeNoEvent, machine.CodeUnknownEvent, machine.CodeForm, machine.CodeStaleVersion, machine.CodeActor,
	machine.CodeOtherSubject, machine.CodeTooMany, machine.CodeNotDue, machine.CodeNoIntent,
}

// shown are the cells that a trial shows.
func (tb *table) shown(t *trial) []cell {
	s := t.given.at
	event, _, _ := strings.Cut(t.move.event, " based on ")
	if event == "" {
		return tb.shownByEvidence(t)
	}
	code := t.out.Code()
	facts := tb.reads(s.State, event)
	switch {
	case len(tb.edges(s.State, event)) == 0 && code == machine.CodeNoTransition,
		len(facts) == 0 && !slices.Contains(before, code):
		return []cell{{string(s.State), event, none, none}}
	case slices.Contains(before, code):
		return nil
	}
	var out []cell
	for _, f := range facts {
		if tb.lookedAt(t, event, f) {
			out = append(out, tb.cellsOf(t, event, f)...)
		}
	}
	return out
}

// shownByEvidence are the cells of the events that facts drive by themselves.
func (tb *table) shownByEvidence(t *trial) []cell {
	s := t.given.at
	var out []cell
	for _, ev := range t.input.Evidence {
		event := ev.Entry().Key.Fact + ".changed"
		switch facts := tb.reads(s.State, event); {
		case !slices.Contains(tb.events(), event) || t.out.Kind == machine.Refused:
		case len(facts) == 0:
			out = append(out, cell{string(s.State), event, none, none})
		default:
			for _, f := range facts {
				out = append(out, tb.cellsOf(t, event, f)...)
			}
		}
	}
	return out
}

// lookedAt tells whether a refusal got as far as the fact: replies and receipts are looked at last, and what moves the task
// by itself is looked at first.
func (tb *table) lookedAt(t *trial, event, fact string) bool {
	if t.out.Kind == machine.Committed {
		return true
	}
	found := func(guardName string) bool {
		return slices.ContainsFunc(t.out.Findings, func(f machine.Finding) bool { return f.Guard == guardName })
	}
	switch about := tb.m.FactNamed(fact).About; {
	case t.out.Code() == machine.CodeMovesFirst:
		return len(tb.edges(t.given.at.State, fact+".changed")) > 0
	case about == guard.OfferKind:
		return found("confirm")
	case about == machine.EffectKind && strings.HasSuffix(event, ".confirmed"):
		return found("settle")
	}
	return true
}

// cellsOf are the cells for the status that a fact had when the event was judged: several when the table has several names
// for one value.
func (tb *table) cellsOf(t *trial, event, fact string) []cell {
	c := cell{string(t.given.at.State), event, fact, unknown}
	values := tb.valuesOf(fact)
	if len(values) == 0 {
		return []cell{c}
	}
	subject, err := subjectIn(t.given.at, values[0].subject)
	if err != nil {
		return []cell{c}
	}
	facts, _ := t.given.at.Facts.With(t.input.Evidence...)
	e, ok := facts.Entry(guard.Key{Fact: fact, Subject: subject})
	switch {
	case !ok || e.Disputed:
		return []cell{c}
	case tb.isStale(t, event, e):
		c.status = stale
		return []cell{c}
	}
	var out []cell
	for _, v := range values {
		if v.info.Same(timeless(v.value), timeless(e.Value)) {
			c.status = v.name
			out = append(out, c)
		}
	}
	return out
}

func (tb *table) isStale(t *trial, event string, e guard.Entry) bool {
	info := tb.m.FactNamed(e.Key.Fact)
	if info.MaxAge > 0 && t.input.Now.Sub(e.At) > info.MaxAge {
		return true
	}
	fresh := slices.ContainsFunc(tb.edges(t.given.at.State, event), func(d machine.EdgeDescription) bool {
		return slices.Contains(d.Fresh, e.Key.Fact)
	})
	return (info.Volatile || fresh) && e.Seen.Before(t.input.Received.Truncate(time.Microsecond))
}
