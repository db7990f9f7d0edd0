package machine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pawlgo/pawl/internal/canon"
	"github.com/pawlgo/pawl/internal/engine"
)

// Build checks the definition as a whole and reports every fault at once, joined (law 13). Each is a [*Fault] and wraps
// [ErrDefinition].
func (b *Builder[D]) Build() (*Machine[D], error) {
	c := b.c
	c.expand()
	for _, e := range c.edges {
		e.name, e.judges = e.title(), e.judgeNames()
	}
	c.index()
	c.lint()
	c.unused()
	if len(c.faults) > 0 {
		return nil, fmt.Errorf("machine %s has %d faults:\n%w", c.name, len(c.faults), errors.Join(c.faults...))
	}
	states, edges := c.table()
	var err error
	if c.engine, err = engine.New(string(c.initial), states, edges); err != nil {
		return nil, fmt.Errorf("machine %s: %w", c.name, err)
	}
	c.ways = map[State]map[string][][]*edge{}
	for _, s := range c.states() {
		c.ways[s] = map[string][][]*edge{}
		for _, event := range c.engine.Events(string(s)) {
			c.ways[s][event] = c.levels(s, event)
		}
	}
	m := &Machine[D]{c}
	if c.digest, err = canon.Digest(c.describe()); err != nil {
		return nil, fmt.Errorf("machine %s: %w", c.name, err)
	}
	return m, nil
}

// MustBuild is Build for package variables; it panics with all faults.
func (b *Builder[D]) MustBuild() *Machine[D] {
	m, err := b.Build()
	if err != nil {
		panic(err)
	}
	return m
}

// index groups the edges that evidence drives, and the events of waits and timers.
func (c *core) index() {
	c.driven, c.timed = map[State]map[string][]*edge{}, map[*EventInfo]bool{}
	for _, w := range c.waits {
		c.timed[w.event] = true
	}
	for _, ts := range c.timers {
		for _, t := range ts {
			c.timed[t.event] = true
		}
	}
	for _, e := range c.edges {
		if e.when == nil {
			continue
		}
		for _, s := range e.from {
			if c.driven[s] == nil {
				c.driven[s] = map[string][]*edge{}
			}
			c.driven[s][e.when.Name] = append(c.driven[s][e.when.Name], e)
		}
	}
}

func (c *core) table() (states []string, edges []engine.Edge) {
	for _, s := range c.states() {
		states = append(states, string(s))
	}
	for _, e := range c.edges {
		from := make([]string, len(e.from))
		for i, s := range e.from {
			from[i] = string(s)
		}
		edges = append(edges, engine.Edge{Event: e.event.Name, From: from, To: string(e.to), Stay: e.stay})
	}
	return states, edges
}

// states are all that the edges name, sorted.
func (c *core) states() []State {
	set := map[State]bool{c.initial: true}
	for _, e := range c.edges {
		for _, f := range e.from {
			set[f] = true
		}
		if !e.stay {
			set[e.to] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}
