package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Mermaid draws the definition as a Mermaid state diagram: groups, guards, actors and timers; the current state, when given, is
// marked. Deterministic.
func (m *Machine[D]) Mermaid(current State) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, name := range sorted(m.c.supers) {
		fmt.Fprintf(&b, "    state %s {\n", name)
		for _, s := range slices.Sorted(slices.Values(m.c.supers[name])) {
			fmt.Fprintf(&b, "        %s\n", s)
		}
		b.WriteString("    }\n")
	}
	fmt.Fprintf(&b, "    [*] --> %s\n", m.c.initial)
	m.c.arrows(func(from, to State, e *edge) {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", from, to, strings.ReplaceAll(m.c.label(from, e), ":", ""))
	})
	for _, s := range sorted(m.c.final) {
		fmt.Fprintf(&b, "    %s --> [*]\n", s)
	}
	for _, s := range sorted(m.c.waits) {
		w := m.c.waits[s]
		fmt.Fprintf(&b, "    note right of %s: %s\n", s, strings.ReplaceAll(w.words(), ":", ""))
	}
	if m.c.engine.Knows(string(current)) {
		fmt.Fprintf(&b, "    classDef current stroke-width:4px\n    class %s current\n", current)
	}
	return b.String()
}

// DOT draws the definition in Graphviz's language; the current state, when given, is marked. Deterministic.
func (m *Machine[D]) DOT(current State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n    rankdir=LR\n    compound=true\n    node [shape=box, style=rounded]\n", m.c.name)
	fmt.Fprintf(&b, "    start [shape=point]\n    start -> %q\n", m.c.initial)
	for _, s := range m.c.states() {
		fmt.Fprintf(&b, "    %q [%s]\n", s, m.c.dotStyle(s, current))
	}
	inside := map[State]bool{}
	for _, of := range m.c.supers {
		for _, s := range of {
			inside[s] = true
		}
	}
	for _, name := range sorted(m.c.supers) {
		if !inside[name] {
			m.c.cluster(&b, name, "    ")
		}
	}
	m.c.arrows(func(from, to State, e *edge) {
		fmt.Fprintf(&b, "    %q -> %q [label=%q%s]\n", m.c.first(from), m.c.first(to), m.c.label(from, e), m.c.tail(from))
	})
	b.WriteString("}\n")
	return b.String()
}

// cluster draws a group and the groups in it.
func (c *core) cluster(b *strings.Builder, name State, indent string) {
	fmt.Fprintf(b, "%ssubgraph \"cluster_%s\" {\n%s    label=%q\n", indent, name, indent, name)
	for _, s := range slices.Sorted(slices.Values(c.supers[name])) {
		if _, group := c.supers[s]; group {
			c.cluster(b, s, indent+"    ")
			continue
		}
		fmt.Fprintf(b, "%s    %q\n", indent, s)
	}
	fmt.Fprintf(b, "%s}\n", indent)
}

// first is the state by which Graphviz draws an edge of a group; a state is its own.
func (c *core) first(s State) State {
	if _, group := c.supers[s]; !group {
		return s
	}
	return sorted(c.leaves(s, 0, nil))[0]
}

func (c *core) tail(from State) string {
	if _, group := c.supers[from]; !group {
		return ""
	}
	return fmt.Sprintf(", ltail=\"cluster_%s\"", from)
}

func (c *core) dotStyle(s, current State) string {
	var attrs []string
	if c.isFinal(s) {
		attrs = append(attrs, "peripheries=2")
	}
	if w := c.waits[s]; w != nil {
		attrs = append(attrs, fmt.Sprintf("label=%q", string(s)+"\n"+w.words()))
	}
	if s == current {
		attrs = append(attrs, "penwidth=3")
	}
	return strings.Join(attrs, ", ")
}

// arrows visits every way from a state or a group to a state, in sorted order.
func (c *core) arrows(visit func(from, to State, e *edge)) {
	for _, s := range slices.Sorted(slices.Values(slices.Concat(c.states(), sorted(c.supers)))) {
		var out []*edge
		for _, e := range c.edges {
			if slices.Contains(e.named, s) {
				out = append(out, e)
			}
		}
		slices.SortStableFunc(out, func(a, b *edge) int { return strings.Compare(a.event.Name, b.event.Name) })
		for _, e := range out {
			visit(s, e.target(s), e)
		}
	}
}

// label is the event with when it comes by itself, who may propose it, and what guards it.
func (c *core) label(from State, e *edge) string {
	label := e.event.Name
	for _, t := range c.times(from) {
		if t.event == e.event {
			label += t.when(short)
		}
	}
	if len(e.actors) > 0 && e.when == nil {
		by := make([]string, len(e.actors))
		for i, a := range e.actors {
			by[i] = string(a)
		}
		label += " by " + strings.Join(by, ", ")
	}
	if e.override {
		label += ", overriding"
	}
	if guards := e.guardNames(); len(guards) > 0 {
		label += " [" + strings.Join(guards, ", ") + "]"
	}
	return label
}

// guardNames are the guards and checks of an edge, and the confirmation.
func (e *edge) guardNames() []string {
	names := slices.Clone(e.judges)
	switch {
	case e.event.isSettling():
		names = names[1:] // the receipt goes without saying
	case e.confirm != nil:
		names[len(names)-1] = "confirmed"
		if e.of > 1 {
			names[len(names)-1] = fmt.Sprintf("confirmed by %d of %d", e.need, e.of)
		}
	}
	return names
}

// times are the timers of a state, its wait's own among them.
func (c *core) times(s State) []timer {
	out := c.timers[s]
	if w := c.waits[s]; w != nil {
		out = append([]timer{w.timer}, out...)
	}
	return out
}

// words say for whom a state waits, and until when.
func (w *wait) words() string {
	if w.at != nil {
		return fmt.Sprintf("waits for %s, until %s (%s)", w.party, w.at.rule, w.at.zone)
	}
	return fmt.Sprintf("waits for %s, %s", w.party, short(w.after))
}

// short writes 72h0m0s as 72h.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
