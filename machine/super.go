package machine

import (
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// Super groups states, and other groups, under a name of which edges may leave: such an edge leaves each of them. A task is
// never in a group itself. Where edges of a state and of a group around it are open at once, the inner one is taken; while
// an inner one is unknown, no outer one is.
func (b *Builder[D]) Super(name State, of ...State) {
	at := place(1)
	if b.c.supers[name] != nil {
		b.c.fault("super_twice", at, "group "+string(name)+" is declared twice", "keep one Super")
	}
	b.c.supers[name], b.c.superPlaces[name] = of, at
}

// expand replaces the groups that edges leave by their states, and notes how far outside each edge was declared.
func (c *core) expand() {
	for _, name := range sorted(c.supers) {
		c.lintSuper(name)
	}
	for _, e := range c.edges {
		e.named, e.from = e.from, nil
		e.depth = map[State]int{}
		for _, s := range e.named {
			for leaf, depth := range c.leaves(s, 0, nil) {
				old, had := e.depth[leaf]
				if !had {
					e.from = append(e.from, leaf)
				}
				if !had || depth < old {
					e.depth[leaf] = depth
				}
			}
		}
		slices.Sort(e.from)
	}
}

// leaves are the states in a group, by how many groups are around each; a state is its own.
func (c *core) leaves(s State, depth int, above []State) map[State]int {
	of, group := c.supers[s]
	if !group {
		return map[State]int{s: depth}
	}
	out := map[State]int{}
	if slices.Contains(above, s) {
		return out
	}
	for _, sub := range of {
		for leaf, d := range c.leaves(sub, depth+1, append(slices.Clone(above), s)) {
			if old, had := out[leaf]; !had || d < old {
				out[leaf] = d
			}
		}
	}
	return out
}

func (c *core) lintSuper(name State) {
	place := c.superPlaces[name]
	if err := guard.CheckName(string(name)); err != nil {
		c.fault("name", place, "group: "+err.Error(), "rename it")
	}
	if len(c.leaves(name, 0, nil)) == 0 {
		c.fault("super_empty", place, "group "+string(name)+" has no states, or holds itself", "name states")
	}
	_, final := c.final[name]
	entered := slices.ContainsFunc(c.edges, func(e *edge) bool { return e.to == name && !e.stay })
	if final || entered || c.initial == name || c.waits[name] != nil || c.timers[name] != nil {
		c.fault("super_state", place, "group "+string(name)+" is used like a state", "enter, end, wait and time the states in it")
	}
	known := map[State]bool{c.initial: true}
	for _, e := range c.edges {
		known[e.to] = true
		for _, s := range e.from {
			known[s] = true
		}
	}
	for _, s := range c.supers[name] {
		if _, group := c.supers[s]; !group && !known[s] {
			c.fault("unknown_state", place, "group "+string(name)+" holds "+string(s)+", which no edge names", "add an edge, or remove it")
		}
	}
}

// levels are the edges of an event from a state, the innermost first.
func (c *core) levels(s State, event string) [][]*edge {
	var out [][]*edge
	var depths []int
	for _, i := range c.engine.Candidates(string(s), event) {
		e := c.edges[i]
		at, had := slices.BinarySearch(depths, e.depth[s])
		if !had {
			depths, out = slices.Insert(depths, at, e.depth[s]), slices.Insert(out, at, nil)
		}
		out[at] = append(out[at], e)
	}
	return out
}
