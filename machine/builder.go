package machine

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/engine"
)

// Builder collects a definition. Nothing is judged before Build. Not safe for concurrent use.
type Builder[D any] struct{ c *core }

// core is a definition with its types erased.
type core struct {
	name        string
	version     int
	digest      string
	place       string
	initial     State
	final       map[State]string // state to place
	noSend      map[State]string // state to place
	waits       map[State]*wait
	timers      map[State][]timer
	edges       []*edge
	invariants  []invariant
	effects     map[string]*EffectInfo
	facts       map[string]*guard.FactInfo
	events      map[string]*EventInfo
	subjects    subjectFields
	dataType    reflect.Type
	clone       func(any) any
	decode      func([]byte) (any, error)
	decodeNew   func([]byte) (any, error)
	ways        map[State]map[string][][]*edge // edges by state and event, the innermost first
	supers      map[State][]State
	superPlaces map[State]string
	faults      []error
	accepts     []*accepted       // rules that the author silenced
	later       []func()          // what Build does first, when the edges have their names
	factPlaces  map[string]string // where each fact is first named
	engine      *engine.Engine
	driven      map[State]map[string][]*edge // edges that a changed fact drives
	timed       map[*EventInfo]bool          // events of waits and timers
	declared    map[string]string            // events named by Events, to place
}

type wait struct {
	party Party
	timer
}

type timer struct {
	event *EventInfo
	after time.Duration
	place string
	at    *deadline // nil when it comes after a delay
}

type invariant struct {
	name  string
	place string
	check func(old, next Snapshot[any]) error
}

func (c *core) fault(code, place, text, mend string) {
	c.faults = append(c.faults, &Fault{code, place, text, mend})
}

// place is the file and line of the declaration that the user wrote.
func place(skip int) string {
	_, file, line, _ := runtime.Caller(skip + 1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// New begins the definition of a machine, version 1. D is stored as JSON; string fields with the tag about:"KIND" name the
// subjects of the task's facts.
func New[D any](name string, initial State) *Builder[D] {
	t := reflect.TypeFor[D]()
	return &Builder[D]{&core{
		name: name, version: 1, initial: initial, place: place(1),
		supers: map[State][]State{}, superPlaces: map[State]string{}, final: map[State]string{}, noSend: map[State]string{}, waits: map[State]*wait{}, timers: map[State][]timer{},
		effects: map[string]*EffectInfo{}, facts: map[string]*guard.FactInfo{}, factPlaces: map[string]string{},
		events: map[string]*EventInfo{}, declared: map[string]string{},
		subjects: findSubjects(t), dataType: t, clone: cloner[D](t),
		decode:    func(raw []byte) (any, error) { return guard.DecodeStored[D](raw) },
		decodeNew: func(raw []byte) (any, error) { return guard.Decode[D](raw) },
	}}
}

// Version of the definition, from 1. It is stored with each snapshot: raise it with every change of meaning.
func (b *Builder[D]) Version(n int) { b.c.version = n }

// Final states end the task: they have no way out.
func (b *Builder[D]) Final(states ...State) {
	for _, s := range states {
		b.c.final[s] = place(1)
	}
}

// Wait marks a state in which the task waits for a party (law 11), and the event that ends the wait when nobody came. The
// time counts from the moment the state was entered.
func (b *Builder[D]) Wait(s State, party Party, after time.Duration, lapsed Event[None]) {
	b.c.wait(s, &wait{party, timer{event: lapsed.info, after: after, place: place(1)}})
}

func (c *core) wait(s State, w *wait) {
	if c.waits[s] != nil {
		c.fault("waits_twice", w.place, "state "+string(s)+" waits twice", "keep one Wait")
	}
	c.waits[s] = w
	c.event(w.event, w.place)
}

// After arms a timer whenever the state is entered. It fires its event once, unless the state was left before.
func (b *Builder[D]) After(s State, after time.Duration, ev Event[None]) {
	b.c.timers[s] = append(b.c.timers[s], timer{event: ev.info, after: after, place: place(1)})
	b.c.event(ev.info, place(1))
}

// Facts declares facts that no guard reads: those of invariants, outputs and views. What guards read is declared by them.
func (b *Builder[D]) Facts(facts ...guard.AnyFact) {
	at := place(1)
	for _, f := range facts {
		b.c.fact(f.Info(), at)
	}
}

// Events declares the events that the machine is meant to take: all of a package, say. One that no edge is for is a fault; without
// Events, an event that nobody uses is unknown to the machine.
func (b *Builder[D]) Events(events ...AnyEvent) {
	at := place(1)
	for _, ev := range events {
		i := ev.Info()
		if b.c.event(i, at); i != nil && b.c.declared[i.Name] == "" {
			b.c.declared[i.Name] = at
		}
	}
}

// Invariant must hold for every new snapshot, or the commit is refused. It judges the record: facts count whatever their
// age. It never keeps evidence out of what has happened (law 15). It must be pure.
func (b *Builder[D]) Invariant(name string, f func(Snapshot[D]) error) {
	b.invariant(name, place(1), func(_, next Snapshot[D]) error { return f(next) })
}

// InvariantStep must hold between each version and the next. Before the first, old is the zero Snapshot.
func (b *Builder[D]) InvariantStep(name string, f func(old, next Snapshot[D]) error) {
	b.invariant(name, place(1), f)
}

func (b *Builder[D]) invariant(name, at string, f func(old, next Snapshot[D]) error) {
	b.c.invariants = append(b.c.invariants, invariant{name, at, func(old, next Snapshot[any]) error {
		o, _ := As[D](old)
		n, _ := As[D](next)
		return f(o, n)
	}})
}

// event registers an event; two of one name are a fault.
func (c *core) event(i *EventInfo, place string) {
	switch {
	case i == nil:
		c.fault("zero_event", place, "the event is the zero Event", "declare it with NewEvent")
	case c.events[i.Name] != nil && c.events[i.Name] != i:
		c.fault("event_twice", place, "two events are called "+i.Name, "declare one, and use it in both places")
	default:
		if !i.internal {
			if err := guard.CheckName(i.Name); err != nil {
				c.fault("name", place, "event: "+err.Error(), "rename it")
			}
		}
		if c.events[i.Name] == nil {
			c.events[i.Name] = i
		}
	}
}

// fact registers a fact; two declarations of one name are a fault (law 3).
func (c *core) fact(i *guard.FactInfo, place string) {
	switch {
	case i == nil:
		c.fault("zero_fact", place, "a fact is the zero Fact", "declare it with guard.NewFact")
	case c.facts[i.Name] == i:
	case c.facts[i.Name] != nil:
		c.fault("fact_twice", place, "two facts are called "+i.Name, "declare one, and use it in both places")
	default:
		c.facts[i.Name], c.factPlaces[i.Name] = i, place
		for _, text := range i.Faults() {
			c.fault("fact", place, "fact "+i.Name+" "+text, "mend the declaration")
		}
	}
}

func (c *core) effect(i *EffectInfo, place string) {
	switch {
	case i == nil:
		c.fault("zero_effect", place, "an effect is the zero Effect", "declare it with NewEffect")
	case c.effects[i.Name] == i:
	case c.effects[i.Name] != nil:
		c.fault("effect_twice", place, "two effects are called "+i.Name, "declare one, and use it in both places")
	default:
		c.effects[i.Name] = i
		if err := guard.CheckName(i.Name); err != nil {
			c.fault("name", place, "effect: "+err.Error(), "rename it")
		}
		c.fact(i.Receipt, place)
		for _, f := range i.whileReads() {
			c.fact(f.Info(), place)
		}
	}
}
