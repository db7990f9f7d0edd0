package machine

import (
	"fmt"
	"slices"
	"strings"
)

// Mermaid draws the definition as a Mermaid state diagram; the current state, when given, is marked. Deterministic.
func (m *Machine[D]) Mermaid(current State) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	fmt.Fprintf(&b, "    [*] --> %s\n", m.c.initial)
	m.c.arrows(func(from, to State, e *edge) {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", from, to, strings.ReplaceAll(e.label(), ":", ""))
	})
	for _, s := range sorted(m.c.final) {
		fmt.Fprintf(&b, "    %s --> [*]\n", s)
	}
	for _, s := range sorted(m.c.waits) {
		w := m.c.waits[s]
		fmt.Fprintf(&b, "    note right of %s: waits for %s, %s\n", s, w.party, w.after)
	}
	if m.c.engine.Knows(string(current)) {
		fmt.Fprintf(&b, "    classDef current stroke-width:4px\n    class %s current\n", current)
	}
	return b.String()
}

// DOT draws the definition in Graphviz's language; the current state, when given, is marked. Deterministic.
func (m *Machine[D]) DOT(current State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n    rankdir=LR\n    node [shape=box, style=rounded]\n", m.c.name)
	fmt.Fprintf(&b, "    start [shape=point]\n    start -> %q\n", m.c.initial)
	for _, s := range m.c.states() {
		fmt.Fprintf(&b, "    %q [%s]\n", s, m.c.dotStyle(s, current))
	}
	m.c.arrows(func(from, to State, e *edge) {
		fmt.Fprintf(&b, "    %q -> %q [label=%q]\n", from, to, e.label())
	})
	b.WriteString("}\n")
	return b.String()
}

func (c *core) dotStyle(s, current State) string {
	var attrs []string
	if _, final := c.final[s]; final {
		attrs = append(attrs, "peripheries=2")
	}
	if w := c.waits[s]; w != nil {
		attrs = append(attrs, fmt.Sprintf("label=%q", fmt.Sprintf("%s\nwaits for %s, %s", s, w.party, w.after)))
	}
	if s == current {
		attrs = append(attrs, "penwidth=3")
	}
	return strings.Join(attrs, ", ")
}

// arrows visits every way from a state to a state, in sorted order.
func (c *core) arrows(visit func(from, to State, e *edge)) {
	for _, s := range c.states() {
		var out []*edge
		for _, e := range c.edges {
			if e.leaves(s) {
				out = append(out, e)
			}
		}
		slices.SortStableFunc(out, func(a, b *edge) int { return strings.Compare(a.event.Name, b.event.Name) })
		for _, e := range out {
			visit(s, e.target(s), e)
		}
	}
}

// label is the event with who may propose it and what guards it.
func (e *edge) label() string {
	var guards []string
	for _, g := range e.guards {
		guards = append(guards, g.Name())
	}
	for _, k := range e.checks {
		guards = append(guards, k.name)
	}
	if e.confirm != nil {
		guards = append(guards, "confirmed")
	}
	label := e.event.Name
	if len(e.actors) > 0 {
		by := make([]string, len(e.actors))
		for i, a := range e.actors {
			by[i] = string(a)
		}
		label += " by " + strings.Join(by, ", ")
	}
	if len(guards) > 0 {
		label += " [" + strings.Join(guards, ", ") + "]"
	}
	return label
}
