package machinetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// columns of a table: what is done, then what is expected.
var columns = []string{"given", "after", "facts", "by", "event", "payload", "outcome", "state", "brings", "why"}

const done = 6 // columns that say what is done

// row is a line of a table.
type row struct {
	line
	cells  []string
	given  []string
	events []string
}

// expectation is what a row says, or what came of it: outcome, state, brings, why, and leaves where the row has that column.
type expectation [5]string

func (r *row) want() (e expectation) {
	copy(e[:], r.cells[done:])
	return e
}

// leaves tells whether the row has a column for the facts after the step.
func (r *row) leaves() bool { return r != nil && len(r.cells) == len(allColumns) }

// cells are those of a row with its columns.
func (e expectation) cells(r *row) []string { return e[:len(r.cells)-done] }

func (tb *table) header(s section) {
	var head []string
	if len(s.body) > 0 {
		head = cells(s.body[0].text)
	}
	if !slices.Equal(head, columns) && !slices.Equal(head, allColumns) {
		tb.fault(s.number, "a table begins with the columns %s, and may go on with %s", strings.Join(columns, " | "), leavesColumn)
		return
	}
	tb.leaving = tb.leaving || len(head) == len(allColumns)
	for _, l := range s.body[1:] {
		c := cells(l.text)
		if len(c) != len(head) {
			tb.fault(l.number, "a row has %d columns: %s; this one has %d", len(head), strings.Join(head, " | "), len(c))
			continue
		}
		r := &row{line: l, cells: c, given: list(c[0]), events: list(c[4])}
		if len(r.events) == 0 {
			r.events = []string{""}
		}
		if len(r.given) == 0 {
			tb.fault(l.number, "the row names no situation")
			continue
		}
		tb.rows = append(tb.rows, r)
	}
}

// trial is one step of a row: a row has one for each situation and event that it names.
type trial struct {
	row   *row
	given *situation
	move  move
	input machine.Input
	next  machine.Snapshot[any]
	out   machine.Outcome
	got   expectation
}

// title names the trial within its row.
func (t *trial) title() string {
	if t.move.event == "" {
		return t.given.name
	}
	return t.given.name + ", " + t.move.event
}

// try takes every step of a row. The error is a fault of the row.
func (tb *table) try(r *row) ([]*trial, error) {
	var out []*trial
	for _, name := range r.given {
		given := tb.situationNamed(name)
		if given == nil {
			return nil, &fault{tb.path, r.number, tb.unknownSituation(name)}
		}
		for _, event := range r.events {
			t := &trial{row: r, given: given, move: move{r.cells[1], r.cells[2], r.cells[3], event, r.cells[5]}}
			if err := tb.take(t); err != nil {
				return nil, &fault{tb.path, r.number, err.Error()}
			}
			out = append(out, t)
		}
	}
	return out, nil
}

func (tb *table) take(t *trial) error {
	var err error
	if t.next, t.out, err = tb.step(t.given.at, t.move); err != nil {
		return err
	}
	if t.input, err = tb.input(t.given.at, t.move); err != nil {
		return err
	}
	if t.got = tb.expectation(t.given.at, t.next, t.out); t.row.leaves() {
		t.got[len(t.got)-1] = tb.leaves(t.given.at, t.next, t.input.Now)
	}
	return nil
}

// expectation is what came of a step, as a table writes it, without the facts that it leaves.
func (tb *table) expectation(s, next machine.Snapshot[any], out machine.Outcome) expectation {
	state := string(next.State)
	if next.State == s.State {
		state = "="
	}
	return expectation{string(out.Kind), state, strings.Join(brings(s, next, out), ", "), strings.Join(why(out), ", "), ""}
}

// brings lists what a commit brought about.
func brings(s, next machine.Snapshot[any], out machine.Outcome) []string {
	var all []string
	for _, i := range out.Intents {
		all = append(all, i.Effect)
	}
	for _, i := range next.Intents {
		if was, ok := s.Intent(i.Key); ok && was.Status != i.Status {
			all = append(all, i.Effect+" "+string(i.Status))
		}
	}
	for _, o := range out.Offers {
		all = append(all, "offer "+o.Event)
	}
	for _, t := range next.Timers {
		if !slices.Contains(s.Timers, t) {
			all = append(all, "timer "+t.Event+" "+short(t.Due.Sub(next.UpdatedAt)))
		}
	}
	if e := out.Entry(); e != nil {
		all = append(all, recorded(s, e)...)
	}
	return counted(all)
}

// recorded is what only the history entry tells: offers that were voided, evidence that was no news, broken invariants, why
// evidence moved nothing, an answer.
func recorded(s machine.Snapshot[any], e *machine.Entry) []string {
	var all []string
	for _, v := range e.Voided {
		if o, ok := s.Offer(v.Offer); ok {
			all = append(all, "void "+o.Event+" "+v.Reason)
		}
	}
	for _, x := range e.Evidence {
		if x.Merged != guard.News && x.Merged != guard.Renewed {
			all = append(all, string(x.Merged)+" "+x.Fact)
		}
	}
	for _, b := range e.Broken {
		name, _, _ := strings.Cut(b, ":")
		all = append(all, "broken "+name)
	}
	for _, f := range e.Blocked {
		all = append(all, "blocked "+f.Code)
	}
	if e.Returned != nil {
		all = append(all, "returns "+string(e.Returned))
	}
	return all
}

// counted puts "2 x" for x and x.
func counted(all []string) []string {
	var out []string
	for i, s := range all {
		if slices.Contains(all[:i], s) {
			continue
		}
		n := 0
		for _, o := range all {
			if o == s {
				n++
			}
		}
		if n > 1 {
			s = fmt.Sprintf("%d %s", n, s)
		}
		out = append(out, s)
	}
	return out
}

// why lists the reasons, each once.
func why(out machine.Outcome) []string {
	var all []string
	add := func(s string) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	for _, f := range out.Findings {
		switch {
		case len(f.Missing) > 0:
			for _, k := range f.Missing {
				add("unknown " + k.Fact)
			}
		case f.Code == machine.CodeInvariant:
			name, _, _ := strings.Cut(f.Text, ":")
			add("invariant " + name)
		default:
			add(f.Code)
		}
	}
	return all
}

// short is a duration as people write it: 72h, not 72h0m0s.
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
