package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/guard"
)

// Rules that may be silenced with Accept, where the author knows better. Every other fault of a definition must be mended.
const (
	LintLossy         = "lossy_type"     // a float where money is, or a type that JSON does not give back
	LintOptional      = "optional_field" // omitempty: what is missing cannot be told from zero
	LintSecret        = "secret"         // a field that looks like a secret: data is stored and shown
	LintUnsettled     = "unsettled"      // a state in which an effect can be under way, and no edge for one of its ends
	LintEndsUnsettled = "ends_unsettled" // an edge ends the task where an effect may have no outcome; it will be refused then
	LintLapse         = "guarded_lapse"  // guards may keep a wait or a timer from ever ending
	LintUnused        = "unused_event"   // an event that is declared with Events, and no edge is for it
	LintUnguarded     = "unguarded"      // an invariant looks at a fact that no guard looks at
	LintWidens        = "widens"         // an event that is judged on the newest version causes effects or asks questions
)

var silenceable = []string{LintLossy, LintOptional, LintSecret, LintUnsettled, LintEndsUnsettled, LintLapse, LintUnused,
	LintUnguarded, LintWidens}

// accepted is one rule silenced at one subject.
type accepted struct {
	code, subject, place string
	used                 bool
}

// Everywhere accepts a rule of the lint for the whole machine.
const Everywhere = "everywhere"

// Accept silences a rule of the lint for one subject, as the fault names it: "edge pay: asking -> paying"; or [Everywhere].
// The reason is for the reader. One without a reason is a fault, and so is one that silences nothing at its subject.
func (b *Builder[D]) Accept(code, subject, reason string) {
	b.c.accept(code, subject, reason, place(1))
}

// Accept silences a rule of the lint for this edge; see [Builder.Accept].
func (e *Edge[D, P]) Accept(code, reason string) *Edge[D, P] {
	at := place(1)
	e.c.later = append(e.c.later, func() { e.c.accept(code, "edge "+e.e.name, reason, at) })
	return e
}

func (c *core) accept(code, subject, reason, place string) {
	switch {
	case strings.TrimSpace(reason) == "":
		c.fault("accepted_silently", place, code+" is accepted without a reason", "say why it is right here")
	case !slices.Contains(silenceable, code):
		c.fault("accepted_fault", place, fmt.Sprintf("%q cannot be accepted", code), "mend it; only these may be accepted: "+strings.Join(silenceable, ", "))
	}
	c.accepts = append(c.accepts, &accepted{code: code, subject: subject, place: place})
}

// rule is a fault that the author may have accepted.
func (c *core) rule(code, subject, place, text, mend string) {
	for _, a := range c.accepts {
		if a.code == code && (a.subject == subject || a.subject == Everywhere) {
			a.used = true
			return
		}
	}
	c.fault(code, place, subject+" "+text, mend+`, or Accept("`+code+`", ...) with a reason`)
}

// unused reports what was accepted and is not there.
func (c *core) unused() {
	for _, a := range c.accepts {
		if !a.used && a.subject != Everywhere && slices.Contains(silenceable, a.code) {
			c.fault("accepted_nothing", a.place, fmt.Sprintf("%s is accepted of %q, and is not there", a.code, a.subject), "remove it")
		}
	}
}

func (c *core) lint() {
	for _, run := range c.later {
		run()
	}
	c.lintNames()
	c.lintTypes()
	c.lintReach()
	c.lintStates()
	for _, e := range c.edges {
		if e.event != nil {
			c.lintEdge(e)
			c.lintRivals(e)
			c.lintGround(e)
			c.lintOutputs(e)
		}
	}
	c.lintEffects()
	c.lintEvents()
	c.lintLooks()
	c.lintInvariants()
}

// lintEvents finds events that were declared for nothing.
func (c *core) lintEvents() {
	for _, name := range sorted(c.declared) {
		if !slices.ContainsFunc(c.edges, func(e *edge) bool { return e.event == c.events[name] }) {
			c.rule(LintUnused, "event "+name, c.declared[name], "is declared, and no edge is for it", "add one, or remove it")
		}
	}
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
			c.fault("invariant_name", i.place, fmt.Sprintf("invariant %q has no name of its own", i.name), "name it")
		}
		seen[i.name] = true
	}
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
			c.fault("unreachable", c.placeOf(s), "no edge leads to state "+string(s), "add an edge to it, or remove it")
		}
	}
	unknown := func(s State, place, what string) {
		if !slices.Contains(known, s) {
			c.fault("unknown_state", place, what+" state "+string(s)+" has no edge", "add one, or remove it")
		}
	}
	for _, s := range sorted(c.final) {
		unknown(s, c.final[s], "final")
	}
	for _, s := range sorted(c.noSend) {
		unknown(s, c.noSend[s], "no-send")
	}
	for _, s := range sorted(c.timers) {
		unknown(s, c.timers[s][0].place, "timed")
	}
	for _, s := range sorted(c.waits) {
		unknown(s, c.waits[s].place, "waiting")
	}
}

// placeOf is where a state is first named.
func (c *core) placeOf(s State) string {
	for _, e := range c.edges {
		if e.to == s && !e.stay || e.leaves(s) {
			return e.place
		}
	}
	return c.place
}

func (c *core) lintStates() {
	for _, s := range c.states() {
		_, final := c.final[s]
		exit := slices.ContainsFunc(c.edges, func(e *edge) bool { return e.leaves(s) && !e.reopens })
		switch {
		case final && exit:
			c.fault("final_exit", c.final[s], "final state "+string(s)+" has an edge", "remove the edge, or let evidence or an operator drive it, with Reopens")
		case !final && !exit && !slices.ContainsFunc(c.edges, func(e *edge) bool { return e.leaves(s) }):
			c.fault("dead_end", c.placeOf(s), "state "+string(s)+" has no way out", "declare it Final, or add an edge")
		case final && (c.waits[s] != nil || len(c.timers[s]) > 0):
			c.fault("final_waits", c.final[s], "final state "+string(s)+" waits", "remove the wait and the timers")
		}
	}
	for _, s := range sorted(c.waits) {
		w := c.waits[s]
		if w.party == "" {
			c.fault("waits_for_nobody", w.place, "waiting state "+string(s)+" names no party", "name one")
		}
		c.lintTimer(s, w.timer, "waiting state ")
	}
	for _, s := range sorted(c.timers) {
		ts := c.timers[s]
		for _, t := range ts {
			c.lintTimer(s, t, "timed state ")
		}
		most := MaxTimers
		if c.waits[s] != nil {
			most--
		}
		if len(ts) > most {
			c.fault("too_many", ts[0].place, fmt.Sprintf("state %s has %d timers", s, len(ts)), fmt.Sprintf("at most %d with the wait's own", MaxTimers))
		}
	}
}

func (c *core) lintTimer(s State, t timer, what string) {
	if t.at == nil && t.after <= 0 {
		c.fault("no_time", t.place, what+string(s)+" has no time", "give it one above zero")
	}
	if t.event == nil {
		return
	}
	if t.at != nil && c.timesOf(s, t.event) > 1 {
		c.fault("timer_twice", t.place, what+string(s)+" has two timers of "+t.event.Name, "give the computed one an event of its own")
	}
	ends := func(e *edge) bool { return e.event == t.event && e.leaves(s) }
	switch {
	case !slices.ContainsFunc(c.edges, ends):
		c.fault("no_lapse", t.place, what+string(s)+" has no edge for "+t.event.Name, "add it")
	case !slices.ContainsFunc(c.edges, func(e *edge) bool { return ends(e) && len(e.guards)+len(e.checks) == 0 }):
		c.rule(LintLapse, "state "+string(s), t.place, "waits for ever when the guards of "+t.event.Name+" are closed", "add an edge without guards")
	}
}

// timesOf counts the timers of a state that fire one event.
func (c *core) timesOf(s State, ev *EventInfo) int {
	n := 0
	for _, t := range c.times(s) {
		if t.event == ev {
			n++
		}
	}
	return n
}

func sorted[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
