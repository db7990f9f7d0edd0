package machinetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/machine"
)

// Limits bound an exploration.
type Limits struct {
	States int      // situations that are told apart; 0 means [DefaultStates]
	Depth  int      // steps from a start; 0 means [DefaultDepth]
	Ignore []string // fields of the task's data, by JSON name, that make no difference to what is possible
}

// The limits of an exploration that names none.
const (
	DefaultStates = 10_000
	DefaultDepth  = 24
)

// Flaw is what is wrong with a definition. Kind is stable:
//
//	invariant  guards let a step pass, and an invariant refused it or was broken by evidence
//	ambiguous  two edges of one event are open at once
//	fault      a guard or an edge panicked, or looked at what it had not declared
//	trapped    nothing leads from a situation to a final state
//	unreached  nothing that the table names reaches a state, or takes an edge
//	idle       the table names values of a fact, and no step that passed stood on it
//
// Path is the shortest way there, a situation and a row that can be pasted into the table; "" for what was not reached.
type Flaw struct {
	Kind, Text, Path string
}

// String is the flaw with its path.
func (f Flaw) String() string {
	if f.Path == "" {
		return f.Kind + ": " + f.Text
	}
	return f.Kind + ": " + f.Text + "\n" + f.Path
}

// Exploration is what an exploration saw. It is complete when Cut is empty: then every situation that the moves lead to was
// visited, and the flaws trapped, unreached and idle are told, too.
type Exploration struct {
	Situations int // told apart
	Steps      int // taken
	Depth      int // of the deepest situation
	Flaws      []Flaw
	Cut        string   // which limit cut it off, and what was left
	Unnamed    []string // facts that edges are judged by, and of which the table names no value: they stayed unknown
}

// String is the exploration in one line, and each flaw.
func (x Exploration) String() string {
	out := fmt.Sprintf("%d situations, %d steps, depth %d, %d flaws", x.Situations, x.Steps, x.Depth, len(x.Flaws))
	if x.Cut != "" {
		out += "; not all: " + x.Cut
	}
	if len(x.Unnamed) > 0 {
		out += "; unknown all the way: " + strings.Join(x.Unnamed, ", ")
	}
	for _, f := range x.Flaws {
		out += "\n" + f.String()
	}
	return out
}

// Explore takes, breadth first and in a fixed order, every move that the names of a table allow from the tasks that it starts.
// Moves are each fact by itself, fresh, too old, and after every maximum age has passed; each event by everybody whom the
// table names, with each payload, at once and when the next timer is due, with each value of the facts that must be
// fresh; timers that are due; and both ends of an effect.
//
// Situations are one when they agree in state, data, offers, effects, timers due, and the facts that later guards read, by
// value and by age. What it cannot see: moments between those, several facts that come in at once, what two situations that
// count as one differ in, and what the table does not name. Errors name file and line; that a situation of the table is not
// reached is none of them.
func Explore(d machine.Definition, path string, l Limits) (Exploration, error) {
	tb, err := readTable(d, path)
	if tb != nil {
		err = joined(tb.faults)
	}
	if err != nil {
		return Exploration{}, err
	}
	if l.States == 0 {
		l.States = DefaultStates
	}
	if l.Depth == 0 {
		l.Depth = DefaultDepth
	}
	x := &explorer{tb: tb, limits: l, known: map[string]*node{}, told: map[string]bool{}, taken: map[way]bool{}, used: map[string]bool{}}
	x.matters = tb.matters()
	x.people, x.Unnamed = tb.people(), tb.unnamed()
	if err := x.run(); err != nil {
		return Exploration{}, err
	}
	return x.Exploration, nil
}

// node is a situation that was reached, and the first way to it.
type node struct {
	at     machine.Snapshot[any]
	from   *node
	move   move
	start  string
	depth  int
	before []*node
	good   bool // a final state can be reached
}

// way is an edge that was taken.
type way struct {
	event    string
	from, to machine.State
}

type explorer struct {
	Exploration
	tb      *table
	limits  Limits
	matters map[machine.State]map[string]bool
	people  []string
	nodes   []*node // in the order in which they were reached
	known   map[string]*node
	told    map[string]bool
	taken   map[way]bool
	used    map[string]bool // facts that a step stood on
}

func (x *explorer) run() error {
	for _, s := range x.tb.starts {
		key, err := x.key(s.at)
		if err != nil {
			return err
		}
		x.keep(key, &node{at: s.at, start: s.text})
	}
	for done := 0; done < len(x.nodes); {
		batch := x.nodes[done:min(done+batchSize, len(x.nodes))]
		all := x.expand(batch)
		for i, n := range batch {
			if all[i].err != nil {
				return all[i].err
			}
			x.merge(n, all[i])
		}
		done += len(batch)
	}
	x.Situations = len(x.nodes)
	if x.Cut == "" {
		x.trapped()
		x.unreached()
		x.idle()
	}
	return nil
}

func (x *explorer) cut(why string) {
	if x.Cut == "" {
		x.Cut = why
	}
}

// reach keeps the situation that a step led to, unless it was known.
func (x *explorer) reach(s taken, from *node) {
	if old := x.known[s.key]; old != nil {
		if last := len(old.before) - 1; last < 0 || old.before[last] != from {
			old.before = append(old.before, from)
		}
		return
	}
	x.keep(s.key, &node{at: *s.next, from: from, move: s.move, depth: from.depth + 1, before: []*node{from}})
}

func (x *explorer) keep(key string, n *node) {
	if len(x.nodes) >= x.limits.States {
		x.cut(fmt.Sprintf("no more than %d situations", x.limits.States))
		return
	}
	x.known[key], x.nodes, x.Depth = n, append(x.nodes, n), max(x.Depth, n.depth)
}

// merge takes over what the moves from a node led to, in their order: so the result does not depend on who was faster.
func (x *explorer) merge(n *node, e expansion) {
	if n.depth >= x.limits.Depth {
		x.cut(fmt.Sprintf("nothing beyond %d steps", x.limits.Depth))
	}
	x.Steps += e.steps
	for _, s := range e.kept {
		x.look(n, s.move, s.out)
		if s.out.Kind == machine.Committed {
			x.taken[way{s.out.Event, n.at.State, s.to}] = true
			x.ground(s.out)
			x.reach(s, n)
		}
	}
}

// look finds the flaws of one step.
func (x *explorer) look(n *node, mv move, out machine.Outcome) {
	findings := out.Findings
	e := out.Entry()
	if e != nil {
		findings = e.Blocked
	}
	for _, f := range findings {
		if kind := kindOf(f); kind != "" {
			x.tell(kind, strings.TrimSpace(f.Guard+" "+f.Text), n, mv)
		}
	}
	if e == nil {
		return
	}
	for _, b := range e.Broken {
		x.tell("invariant", b, n, mv)
	}
}

// tell keeps the first flaw of each text: the way to it is the shortest.
func (x *explorer) tell(kind, text string, n *node, mv move) {
	if x.told[kind+text] {
		return
	}
	x.told[kind+text] = true
	next, out, err := x.tb.step(n.at, mv)
	if err != nil {
		return // it was taken a moment ago
	}
	got := x.tb.expectation(n.at, next, out)
	x.Flaws = append(x.Flaws, Flaw{kind, text, x.path(n, mv, got[:len(columns)-done])})
}

// path is the way to a node as a situation, and a move from there as a row.
func (x *explorer) path(n *node, mv move, got []string) string {
	row := append([]string{"found", mv.after, mv.facts, mv.by, mv.event, mv.payload}, got...)
	return situationTo(n) + "-- table found --\n" + strings.Join(columnsOf([][]string{columns, row}), "\n") + "\n"
}

func situationTo(n *node) string {
	var lines []string
	for ; n.from != nil; n = n.from {
		lines = append(lines, n.move.String())
	}
	slices.Reverse(lines)
	return "-- situation found --\n" + strings.Join(append([]string{n.start}, lines...), "\n") + "\n"
}

// trapped tells, of each state, the first situation from which no final state can be reached.
func (x *explorer) trapped() {
	var work []*node
	for _, n := range x.nodes {
		if x.tb.m.IsFinal(n.at.State) {
			n.good = true
			work = append(work, n)
		}
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, b := range n.before {
			if !b.good {
				b.good = true
				work = append(work, b)
			}
		}
	}
	told := map[machine.State]bool{}
	for _, n := range x.nodes {
		if !n.good && !told[n.at.State] {
			told[n.at.State] = true
			x.Flaws = append(x.Flaws, Flaw{"trapped", fmt.Sprintf("from %s no final state can be reached", n.at.State), situationTo(n)})
		}
	}
}

// ground notes the facts that a commit stood on, or that drove it.
func (x *explorer) ground(out machine.Outcome) {
	for _, g := range out.Entry().Ground {
		x.used[g.Fact] = true
	}
	for _, f := range drivenBy(out.Event) {
		x.used[f] = true
	}
}

// idle tells the facts that never let anything pass, in the order of the table.
func (x *explorer) idle() {
	for _, f := range x.tb.facts {
		if !x.used[f.info.Name] {
			x.used[f.info.Name] = true // told once
			x.Flaws = append(x.Flaws, Flaw{Kind: "idle", Text: fmt.Sprintf("fact %s never lets anything pass", f.info.Name)})
		}
	}
}

// unreached tells the states and edges that no move led to.
func (x *explorer) unreached() {
	seen := map[machine.State]bool{}
	for _, n := range x.nodes {
		seen[n.at.State] = true
	}
	for _, s := range x.tb.about.States {
		if !seen[s.Name] {
			x.Flaws = append(x.Flaws, Flaw{Kind: "unreached", Text: fmt.Sprintf("state %s", s.Name)})
		}
	}
	for _, e := range x.tb.about.Edges {
		for _, from := range e.From {
			if to := target(e, from); seen[from] && !x.taken[way{e.Event, from, to}] {
				x.Flaws = append(x.Flaws, Flaw{Kind: "unreached", Text: fmt.Sprintf("edge %s from %s to %s", e.Event, from, to)})
			}
		}
	}
}
