package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// DifferenceKind says which way a difference goes. The zero kind is none.
type DifferenceKind string

// The kinds.
const (
	Added     DifferenceKind = "added"     // only the new definition has it
	Removed   DifferenceKind = "removed"   // only the old one had it
	Loosened  DifferenceKind = "loosened"  // something that was refused before may be allowed now
	Tightened DifferenceKind = "tightened" // something that was allowed before is refused now
	Altered   DifferenceKind = "altered"   // it means something else, which may be more or less
)

// Difference is one difference of two definitions.
type Difference struct {
	Kind DifferenceKind `json:"kind"`
	Part string         `json:"part"` // machine, state, group, event, edge, fact, effect or invariant
	Name string         `json:"name"`
	Text string         `json:"text,omitempty"`
	// Review is set where a guard, or something that stands for one, is loosened or may be: a person should look at it.
	Review bool `json:"review,omitempty"`
}

// String is the difference in one line.
func (d Difference) String() string {
	text := strings.TrimSuffix(fmt.Sprintf("%s %s %s: %s", d.Kind, d.Part, d.Name, d.Text), ": ")
	if d.Review {
		text += " (review)"
	}
	return text
}

// Diff lists how a definition differs from an older one, in a stable order. Edges are compared from each state that they leave:
// a new way out of a state that was there before is loosened, one that is gone is tightened. Functions cannot be compared: they
// are told by their revisions alone.
func Diff(old, new Description) []Difference {
	d := &diff{}
	d.whole(old, new)
	compare(d, "state", old.States, new.States, func(s StateDescription) string { return string(s.Name) }, d.state)
	compare(d, "group", old.Groups, new.Groups, func(g GroupDescription) string { return string(g.Name) }, d.group)
	compare(d, "event", old.Events, new.Events, func(e EventDescription) string { return e.Name }, d.event)
	compare(d, "fact", old.Facts, new.Facts, func(f FactDescription) string { return f.Name }, d.fact)
	compare(d, "effect", old.Effects, new.Effects, func(e EffectDescription) string { return e.Name }, d.effect)
	d.invariants(old.Invariants, new.Invariants)
	d.edges(old, new)
	slices.SortStableFunc(d.out, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
	})
	return d.out
}

type diff struct{ out []Difference }

func (d *diff) add(kind DifferenceKind, part, name, text string) {
	d.out = append(d.out, Difference{Kind: kind, Part: part, Name: name, Text: text})
}

// review is add for what a person should look at.
func (d *diff) review(kind DifferenceKind, part, name, text string) {
	d.out = append(d.out, Difference{kind, part, name, text, true})
}

// altered adds a value that is another one, if it is.
func (d *diff) altered(part, name, what, was, is string) {
	if was != is {
		d.add(Altered, part, name, fmt.Sprintf("%s was %q, is %q", what, was, is))
	}
}

// doubtful is altered for values that may let more through.
func (d *diff) doubtful(part, name, what, was, is string) {
	if was != is {
		d.review(Altered, part, name, fmt.Sprintf("%s was %q, is %q", what, was, is))
	}
}

// flag adds a property that was gained or lost; loosens says whether gaining it lets more through.
func (d *diff) flag(part, name, what string, was, is, loosens bool) {
	switch {
	case was == is:
	case is == loosens:
		d.review(Loosened, part, name, fmt.Sprintf("%s: %t", what, is))
	default:
		d.add(Tightened, part, name, fmt.Sprintf("%s: %t", what, is))
	}
}

// compare pairs the parts of two definitions by name.
func compare[T any](d *diff, part string, old, new []T, name func(T) string, both func(was, is T)) {
	for _, o := range old {
		i := slices.IndexFunc(new, func(n T) bool { return name(n) == name(o) })
		if i < 0 {
			d.add(Removed, part, name(o), "")
			continue
		}
		both(o, new[i])
	}
	for _, n := range new {
		if !slices.ContainsFunc(old, func(o T) bool { return name(o) == name(n) }) {
			d.add(Added, part, name(n), "")
		}
	}
}

func (d *diff) whole(old, new Description) {
	d.altered("machine", new.Machine, "name", old.Machine, new.Machine)
	d.altered("machine", new.Machine, "initial state", string(old.Initial), string(new.Initial))
	d.altered("machine", new.Machine, "data", old.DataShape, new.DataShape)
}

func (d *diff) state(was, is StateDescription) {
	name := string(is.Name)
	if was.Final != is.Final {
		d.review(Altered, "state", name, fmt.Sprintf("final: %t", is.Final))
	}
	d.flag("state", name, "effects are sent", !was.NoSend, !is.NoSend, true)
	d.altered("state", name, "waits for", string(was.WaitsFor), string(is.WaitsFor))
	d.altered("state", name, "timers", strings.Join(was.Timers, ", "), strings.Join(is.Timers, ", "))
}

func (d *diff) group(was, is GroupDescription) {
	d.altered("group", string(is.Name), "states", joinStates(was.Of), joinStates(is.Of))
}

func (d *diff) event(was, is EventDescription) {
	d.doubtful("event", is.Name, "payload", was.Shape, is.Shape)
	d.flag("event", is.Name, "judged on the newest version", was.Narrows, is.Narrows, true)
}

func (d *diff) fact(was, is FactDescription) {
	d.doubtful("fact", is.Name, "authority", was.Authority, is.Authority)
	d.doubtful("fact", is.Name, "about", was.About, is.About)
	d.doubtful("fact", is.Name, "value", was.Shape, is.Shape)
	d.doubtful("fact", is.Name, "order", was.Order, is.Order)
	d.flag("fact", is.Name, "hidden", was.Hidden, is.Hidden, false)
	d.flag("fact", is.Name, "must be dated", was.Dated, is.Dated, false)
	a, b := ageOf(was), ageOf(is)
	switch {
	case a < b:
		d.review(Loosened, "fact", is.Name, "counts for "+ageText(is)+", before "+ageText(was))
	case a > b:
		d.add(Tightened, "fact", is.Name, "counts for "+ageText(is)+", before "+ageText(was))
	}
}

// ageOf is how long evidence counts; a volatile fact is looked at anew each time.
func ageOf(f FactDescription) time.Duration {
	if f.Lasting {
		return 1<<63 - 1
	}
	age, _ := time.ParseDuration(f.MaxAge)
	return age
}

func ageText(f FactDescription) string {
	switch {
	case f.Lasting:
		return "ever"
	case f.Volatile:
		return "one commit"
	}
	return f.MaxAge
}

func (d *diff) effect(was, is EffectDescription) {
	d.doubtful("effect", is.Name, "arguments", was.Shape, is.Shape)
	d.doubtful("effect", is.Name, "receipt", was.Receipt, is.Receipt)
	d.flag("effect", is.Name, "its receipt must match", was.Matches, is.Matches, false)
	d.doubtful("effect", is.Name, "send within", was.Within, is.Within)
	d.doubtful("effect", is.Name, "keys honoured", was.Keys, is.Keys)
	d.guards("effect", is.Name, was.While, is.While)
}

func (d *diff) invariants(old, new []string) {
	for _, name := range old {
		if !slices.Contains(new, name) {
			d.review(Loosened, "invariant", name, "it is gone")
		}
	}
	for _, name := range new {
		if !slices.Contains(old, name) {
			d.add(Tightened, "invariant", name, "it is new")
		}
	}
}

func joinStates(states []State) string {
	text := make([]string, len(states))
	for i, s := range states {
		text[i] = string(s)
	}
	return strings.Join(text, ", ")
}
