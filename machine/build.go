package machine

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
	"github.com/pawlgo/pawl/internal/engine"
)

// Build checks the definition as a whole and reports every fault at once, joined (law 13). Each is a [*Fault] and wraps
// [ErrDefinition].
func (b *Builder[D]) Build() (*Machine[D], error) {
	c := b.c
	for _, e := range c.edges {
		e.name, e.judges = e.title(), e.judgeNames()
	}
	c.index()
	c.lint()
	if len(c.faults) > 0 {
		return nil, fmt.Errorf("machine %s has %d faults:\n%w", c.name, len(c.faults), errors.Join(c.faults...))
	}
	states, edges := c.table()
	var err error
	if c.engine, err = engine.New(string(c.initial), states, edges); err != nil {
		return nil, fmt.Errorf("machine %s: %w", c.name, err)
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

func (c *core) lint() {
	c.lintNames()
	c.lintData()
	c.lintReach()
	c.lintStates()
	for _, e := range c.edges {
		if e.event != nil {
			c.lintEdge(e)
			c.lintGround(e)
			c.lintOutputs(e)
		}
	}
	c.lintEffects()
}

func (c *core) lintNames() {
	if err := guard.CheckName(c.name); err != nil {
		c.fault("name", c.place, "machine: "+err.Error(), "rename it")
	}
	if c.version < 1 {
		c.fault("version", c.place, fmt.Sprintf("version %d", c.version), "versions begin at 1")
	}
	for _, s := range c.states() {
		if err := guard.CheckName(string(s)); err != nil {
			c.fault("name", c.place, "state: "+err.Error(), "rename it, or give the edge a To or a Stay")
		}
	}
	if len(c.edges) > MaxEdges || len(c.invariants) > MaxInvariants {
		c.fault("too_many", c.place, fmt.Sprintf("%d edges and %d invariants", len(c.edges), len(c.invariants)),
			fmt.Sprintf("at most %d and %d", MaxEdges, MaxInvariants))
	}
	seen := map[string]bool{}
	for _, i := range c.invariants {
		if i.name == "" || seen[i.name] {
			c.fault("invariant_name", c.place, fmt.Sprintf("invariant %q has no name of its own", i.name), "name it")
		}
		seen[i.name] = true
	}
}

// lintData refuses types that would lose money or meaning on the way through JSON.
func (c *core) lintData() {
	check := func(t reflect.Type, what, place string) {
		for _, path := range lossy(t, what, nil) {
			c.fault("lossy_type", place, path, "use int64 minor units, or a pointer for what is optional")
		}
	}
	check(c.dataType, "data "+c.dataType.String(), c.place)
	seen := map[*EventInfo]bool{}
	for _, e := range c.edges {
		if e.event != nil && !e.event.internal && !seen[e.event] {
			seen[e.event] = true
			check(e.event.Payload, "payload of "+e.event.Name, e.place)
		}
	}
}

var moneyWords = []string{"amount", "price", "money", "total", "balance", "minor", "fee", "cost"}

func lossy(t reflect.Type, path string, above []reflect.Type) []string {
	if slices.Contains(above, t) {
		return nil
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return lossy(t.Elem(), path, above)
	case reflect.Float32, reflect.Float64:
		low := strings.ToLower(path)
		if slices.ContainsFunc(moneyWords, func(w string) bool { return strings.Contains(low, w) }) {
			return []string{path + " is a float"}
		}
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return []string{path + " has type " + t.String() + ", which is not data"}
	case reflect.Struct:
		var out []string
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				out = append(out, lossy(f.Type, path+"."+f.Name, above)...)
			}
		}
		return out
	}
	return nil
}

func (c *core) lintReach() {
	reached := map[State]bool{c.initial: true}
	for range c.edges {
		for _, e := range c.edges {
			if !e.stay && slices.ContainsFunc(e.from, func(s State) bool { return reached[s] }) {
				reached[e.to] = true
			}
		}
	}
	known := c.states()
	for _, s := range known {
		if !reached[s] {
			c.fault("unreachable", c.place, "no edge leads to state "+string(s), "add an edge to it, or remove it")
		}
	}
	for _, s := range sorted(c.final) {
		if !slices.Contains(known, s) {
			c.fault("unknown_state", c.final[s], "final state "+string(s)+" has no edge to it", "add one, or remove it")
		}
	}
	for _, s := range sorted(c.timers) {
		if !slices.Contains(known, s) {
			c.fault("unknown_state", c.timers[s][0].place, "timed state "+string(s)+" has no edge", "add one, or remove it")
		}
	}
	for _, s := range sorted(c.waits) {
		if !slices.Contains(known, s) {
			c.fault("unknown_state", c.waits[s].place, "waiting state "+string(s)+" has no edge", "add one, or remove it")
		}
	}
}

func (c *core) lintStates() {
	for _, s := range c.states() {
		_, final := c.final[s]
		exit := slices.ContainsFunc(c.edges, func(e *edge) bool { return e.leaves(s) })
		switch {
		case final && exit:
			c.fault("final_exit", c.final[s], "final state "+string(s)+" has an edge", "remove the edge")
		case !final && !exit:
			c.fault("dead_end", c.place, "state "+string(s)+" has no way out", "declare it Final, or add an edge")
		}
	}
	for _, s := range sorted(c.waits) {
		w := c.waits[s]
		if w.party == "" {
			c.fault("waits_for_nobody", w.place, "waiting state "+string(s)+" names no party", "name one")
		}
		c.lintTimer(s, timer{w.event, w.after, w.place}, "waiting state ")
	}
	for _, s := range sorted(c.timers) {
		ts := c.timers[s]
		for _, t := range ts {
			c.lintTimer(s, t, "timed state ")
		}
		if n := len(ts); n >= MaxTimers {
			c.fault("too_many", ts[0].place, fmt.Sprintf("state %s has %d timers", s, n), fmt.Sprintf("at most %d", MaxTimers-1))
		}
	}
}

func (c *core) lintTimer(s State, t timer, what string) {
	if t.after <= 0 {
		c.fault("no_time", t.place, what+string(s)+" has no time", "give it one above zero")
	}
	if t.event != nil && !slices.ContainsFunc(c.edges, func(e *edge) bool { return e.event == t.event && e.leaves(s) }) {
		c.fault("no_lapse", t.place, what+string(s)+" has no edge for "+t.event.Name, "add it")
	}
}

func (c *core) lintEdge(e *edge) {
	if len(e.from) == 0 || e.stay == (e.to != "") {
		c.fault("no_way", e.place, e.name+" needs From, and either To or Stay", "add them")
	}
	switch own := e.event.internal || c.timed[e.event]; {
	case !own && len(e.actors) == 0:
		c.fault("nobody", e.place, "nobody may propose "+e.name, "add By")
	case e.event.isSettling() && len(e.actors) > 0:
		c.fault("settled_by_hand", e.place, e.name+" is proposed by hand", "remove By: only a receipt settles an effect")
	}
	for _, actor := range e.actors {
		if !actor.Outside() && e.when == nil {
			c.fault("actor", e.place, fmt.Sprintf("%q cannot propose %s", actor, e.name), "use guard.Model, guard.User or guard.Operator")
		}
	}
	for _, g := range e.guards {
		if g.Name() == "" {
			c.fault("zero_guard", e.place, e.name+" requires the zero Guard", "declare it with guard.New")
		}
	}
	for i, o := range c.edges[:e.index] {
		if o.event == e.event && o.bare() && e.bare() && slices.ContainsFunc(e.from, o.leaves) {
			c.fault("ambiguous", e.place, fmt.Sprintf("%s and edge %d, %s, are both always open", e.name, i, o.name), "guard them, or keep one")
		}
	}
}

// bare edges have nothing that could close them.
func (e *edge) bare() bool {
	return len(e.guards)+len(e.checks) == 0 && e.confirm == nil && e.when == nil
}

// lintGround checks that each fact an edge looks at is about something that payload or data name.
func (c *core) lintGround(e *edge) {
	var reads []guard.AnyFact
	for _, g := range e.guards {
		reads = append(reads, g.Reads()...)
	}
	for _, f := range append(reads, e.fresh...) {
		if f.Info() == nil || f.Subject() != "" {
			continue
		}
		about := f.Info().About
		named := e.event.subjects.names(about) || c.subjects.names(about) || e.when != nil && e.when.About == about
		if about != "" && !named {
			c.fault("about_nothing", e.place, fmt.Sprintf("%s looks at %s, which is about %q, and neither %v nor the data names one",
				e.name, f.Info().Name, about, e.event.Payload), `tag a field about:"`+about+`"`)
		}
	}
}

func (c *core) lintOutputs(e *edge) {
	for _, o := range e.outputs {
		for _, s := range e.from {
			to := e.target(s)
			switch o.kind {
			case emits:
				if o.effect != nil {
					c.lintSettles(e, o.effect, to)
				}
			case offers:
				c.lintOffer(e, o, to)
			}
		}
	}
	if info := confirmInfo(e); info != nil && info.About != guard.OfferKind {
		c.fault("confirm", e.place, e.name+" confirms with a fact that is no reply", "declare it with guard.NewReply")
	}
	if e.confirm != nil && !slices.ContainsFunc(c.edges, func(x *edge) bool {
		return slices.ContainsFunc(x.outputs, func(o output) bool { return o.kind == offers && o.offer == e.event })
	}) {
		c.fault("never_offered", e.place, e.name+" wants a confirmation, and nothing offers "+e.event.Name, "add machine.Offer to the edge before it")
	}
}

func confirmInfo(e *edge) *guard.FactInfo {
	if e.confirm == nil {
		return nil
	}
	return e.confirm.Info()
}

func (c *core) lintSettles(e *edge, i *EffectInfo, to State) {
	for _, ev := range []*EventInfo{i.confirmed, i.failed} {
		if !slices.ContainsFunc(c.edges, func(x *edge) bool { return x.event == ev && x.leaves(to) }) {
			c.fault("unsettled", e.place, fmt.Sprintf("%s intends %s, and %s has no edge for %s", e.name, i.Name, to, ev.Name), "add it")
		}
	}
}

func (c *core) lintOffer(e *edge, o output, to State) {
	if o.offer == nil {
		return
	}
	if o.expires <= 0 {
		c.fault("no_time", e.place, e.name+" offers "+o.offer.Name+" for no time", "give the offer a time above zero")
	}
	if !slices.ContainsFunc(c.edges, func(x *edge) bool { return x.event == o.offer && x.leaves(to) && x.confirm != nil }) {
		c.fault("never_confirmed", e.place, fmt.Sprintf("%s offers %s, and %s has no edge that confirms it", e.name, o.offer.Name, to), "add an edge with Confirm")
	}
}

func (c *core) lintEffects() {
	for _, name := range sorted(c.effects) {
		i := c.effects[name]
		if i.Receipt == nil || i.Receipt.About != EffectKind {
			c.fault("receipt", "-", "the receipt of "+name+" is not about the effect", "declare it with guard.About(machine.EffectKind)")
			continue
		}
		if i.Receipt.MaxAge > 0 || i.Receipt.Volatile {
			c.fault("receipt", "-", "the receipt of "+name+" goes stale", "declare it guard.Lasting")
		}
	}
}

func sorted[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
