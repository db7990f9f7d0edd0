package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/guard"
)

// edge is one guarded way from states to a state.
type edge struct {
	index   int
	name    string
	judges  []string // what has to allow it, by name
	place   string
	event   *EventInfo
	named   []State       // the states and groups that it leaves, as declared
	from    []State       // the states among and in them
	depth   map[State]int // how many groups outside a state it was declared
	to      State
	stay    bool
	actors  []guard.Actor
	fresh   []guard.AnyFact
	guards  []guard.Guard // over facts: judged without a payload, to say what is permitted
	checks  []check       // over data and payload
	confirm *guard.Fact[guard.Reply]
	approval
	apply     func(s *guard.Scene, data, payload any) any
	outputs   []output
	withdraws []*EffectInfo
	when      *guard.FactInfo
	change    func(guard.Entry) any

	revision int
	override bool // an operator's
	reopens  bool // may leave a final state
}

type check struct {
	name  string
	reads []guard.AnyFact
	judge func(s *guard.Scene, data, payload any) guard.Verdict
}

func (e *edge) title() string {
	to := string(e.to)
	if e.stay {
		to = "(stay)"
	}
	from := make([]string, len(e.named))
	for i, s := range e.named {
		from[i] = string(s)
	}
	event := "?"
	if e.event != nil {
		event = e.event.Name
	}
	return fmt.Sprintf("%s: %s -> %s", event, strings.Join(from, ","), to)
}

// judgeNames are the names of all that has to allow the edge, in the order in which it is judged.
func (e *edge) judgeNames() []string {
	var names []string
	if e.event != nil && e.event.isSettling() {
		names = append(names, "settle")
	}
	for _, g := range e.guards {
		names = append(names, g.Name())
	}
	for _, k := range e.checks {
		names = append(names, k.name)
	}
	for _, w := range e.withdraws {
		names = append(names, w.Name+unsentSuffix)
	}
	if e.confirm != nil {
		names = append(names, "confirm")
	}
	return names
}

// target is the state that the edge leads to from a state.
func (e *edge) target(from State) State {
	if e.stay {
		return from
	}
	return e.to
}

func (e *edge) leaves(s State) bool { return slices.Contains(e.from, s) }

// Edge is a guarded way in the making. Its methods return the edge, to be chained. Not safe for concurrent use.
type Edge[D, P any] struct {
	c *core
	e *edge
}

// On begins an edge for an event. D and P are inferred.
func On[D, P any](b *Builder[D], ev Event[P]) *Edge[D, P] { return begin[D, P](b, ev.info, place(1)) }

// When begins an edge that evidence drives: it is taken by the commit that changes the fact. It needs no By.
func When[D, T any](b *Builder[D], f guard.Fact[T]) *Edge[D, Changed[T]] {
	at := place(1)
	if f.Info() == nil {
		b.c.fact(nil, at)
		return &Edge[D, Changed[T]]{b.c, &edge{place: at}}
	}
	var ev *EventInfo
	if ev = b.c.events[f.Info().Name+".changed"]; ev == nil {
		ev = changedEvent[T](f.Info())
	}
	e := begin[D, Changed[T]](b, ev, at)
	e.e.when, e.e.actors = f.Info(), []guard.Actor{guard.Observer}
	e.e.change = func(n guard.Entry) any { v, _ := n.Value.(T); return Changed[T]{n.Key.Subject, v} }
	b.c.fact(f.Info(), at)
	return e
}

func begin[D, P any](b *Builder[D], i *EventInfo, at string) *Edge[D, P] {
	e := &edge{index: len(b.c.edges), place: at, event: i}
	b.c.edges = append(b.c.edges, e)
	b.c.event(i, at)
	return &Edge[D, P]{b.c, e}
}

// From names the states that the edge leaves.
func (e *Edge[D, P]) From(s ...State) *Edge[D, P] { e.e.from = append(e.e.from, s...); return e }

// To names the state that it leads to. Going to the state that it came from begins a new stay.
func (e *Edge[D, P]) To(s State) *Edge[D, P] { e.e.to = s; return e }

// Stay keeps the state, with its timers and offers, and makes a new version all the same.
func (e *Edge[D, P]) Stay() *Edge[D, P] { e.e.stay = true; return e }

// By says who may propose it. There is no default: Build refuses an edge that nobody may propose.
func (e *Edge[D, P]) By(a ...guard.Actor) *Edge[D, P] {
	e.e.actors = append(e.e.actors, a...)
	return e
}

// Fresh facts must have been observed since the proposal came in, however young their evidence is.
func (e *Edge[D, P]) Fresh(facts ...guard.AnyFact) *Edge[D, P] {
	e.e.fresh = append(e.e.fresh, facts...)
	e.reads(facts)
	return e
}

// Require adds guards over facts. They also decide what is shown as permitted before there is a payload.
func (e *Edge[D, P]) Require(guards ...guard.Guard) *Edge[D, P] {
	e.e.guards = append(e.e.guards, guards...)
	for _, g := range guards {
		e.reads(g.Reads())
	}
	return e
}

// Check adds a guard over data and payload. It must be pure, and list the facts that it looks at.
func (e *Edge[D, P]) Check(name string, f func(guard.Case[D, P]) guard.Verdict, reads ...guard.AnyFact) *Edge[D, P] {
	e.reads(reads)
	e.e.checks = append(e.e.checks, check{name, reads, func(s *guard.Scene, data, payload any) guard.Verdict {
		return guard.Watch(s, reads, func() guard.Verdict { return f(caseOf[D, P](s, data, payload)) })
	}})
	return e
}

// Confirm demands an open offer of exactly this event and payload, effects that come out the same to the byte, and the
// party's explicit yes to that offer, said right after it was shown to them (law 9). The commit uses the offer up. [Edge.Quorum],
// [Edge.Separate] and [Edge.Structured] demand more.
func (e *Edge[D, P]) Confirm(reply guard.Fact[guard.Reply]) *Edge[D, P] {
	e.e.confirm = &reply
	e.reads([]guard.AnyFact{reply})
	return e
}

// Apply writes the payload into the data: a private copy, so maps and slices may be changed in place. It must be pure.
func (e *Edge[D, P]) Apply(f func(d *D, c guard.Case[D, P])) *Edge[D, P] {
	e.e.apply = func(s *guard.Scene, data, payload any) any {
		d := e.c.clone(data).(D)
		f(&d, caseOf[D, P](s, data, payload))
		return d
	}
	return e
}

// Revised raises the revision of the edge's own functions: do so when a check, or what the edge applies, emits, offers or
// returns, changes its meaning, so that the definition's digest changes with it.
func (e *Edge[D, P]) Revised(n int) *Edge[D, P] { e.e.revision = n; return e }

// Then adds what the commit brings about: [Emit], [EmitEach], [Offer], [Return].
func (e *Edge[D, P]) Then(outputs ...Output[D, P]) *Edge[D, P] {
	for _, o := range outputs {
		e.e.outputs = append(e.e.outputs, o.o)
		switch o.o.kind {
		case emits:
			e.c.effect(o.o.effect, e.e.place)
		case offers:
			e.c.event(o.o.offer, e.e.place)
		}
	}
	return e
}

func (e *Edge[D, P]) reads(facts []guard.AnyFact) {
	for _, f := range facts {
		e.c.fact(f.Info(), e.e.place)
	}
}

// caseOf is the only place where data and payload get their types back.
func caseOf[D, P any](s *guard.Scene, data, payload any) guard.Case[D, P] {
	return guard.Case[D, P]{Scene: s, Data: data.(D), Payload: payload.(P)}
}
