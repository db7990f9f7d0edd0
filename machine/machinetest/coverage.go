package machinetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// excuse is a line that says of which cells there is no row, because they are impossible or not written yet; * stands for anything.
type excuse struct {
	line
	cell cell
	used bool
}

func (tb *table) excuse(l line, impossible bool) {
	c := cells(l.text)
	want := 4
	if impossible {
		want = 5
	}
	if len(c) != want || impossible && c[4] == "" {
		tb.fault(l.number, "write STATE | EVENT | FACT | STATUS, and in the section impossible a reason behind them")
		return
	}
	tb.excuses = append(tb.excuses, &excuse{line: l, cell: cell{c[0], c[1], c[2], c[3]}})
}

func (e *excuse) covers(c cell) bool {
	mine := e.cell.columns()
	for i, v := range c.columns() {
		if mine[i] != "*" && mine[i] != v {
			return false
		}
	}
	return true
}

// missing are the cells that no trial shows and no excuse covers.
func (tb *table) missing(all []*trial) []cell {
	seen := map[cell]bool{}
	for _, t := range all {
		for _, c := range tb.shown(t) {
			seen[c] = true
		}
	}
	var out []cell
	for _, c := range tb.all() {
		if seen[c] {
			continue
		}
		excused := false
		for _, e := range tb.excuses {
			if e.covers(c) {
				e.used, excused = true, true
			}
		}
		if !excused {
			out = append(out, c)
		}
	}
	return out
}

// cover reports the cells that are missing, and the excuses that are not needed.
func (tb *table) cover(r reporter, all []*trial) {
	r.Helper()
	missing := tb.missing(all)
	if len(missing) > 0 {
		grid := make([][]string, len(missing))
		for i, c := range missing {
			grid[i] = c.columns()
		}
		r.Errorf("%s: %d of %d cells have no row (state | event | fact | status):\n  %s\nmachinetest.Missing writes rows for them; what cannot happen goes to the section impossible, with the reason",
			tb.path, len(missing), len(tb.all()), strings.Join(columnsOf(grid), "\n  "))
	}
	for _, e := range tb.excuses {
		if !e.used {
			r.Errorf("%s:%d: this line excuses nothing: every cell that it covers has a row, or there is none", tb.path, e.number)
		}
	}
}

// Missing gives the rows that a table still needs to be complete, ready to be pasted, with ? for what is expected: look
// at each before "go test -update" fills it in. "" when nothing is missing; errors name file and line.
func Missing(d machine.Definition, path string) (string, error) {
	tb, err := readTable(d, path)
	if err != nil {
		return "", err
	}
	var all []*trial
	for _, r := range tb.rows {
		trials, err := tb.try(r)
		if err != nil {
			return "", err
		}
		all = append(all, trials...)
	}
	grid := [][]string{tb.headed()}
	for _, c := range tb.missing(all) {
		grid = tb.join(grid, c)
	}
	if len(grid) == 1 {
		return "", nil
	}
	return strings.Join(columnsOf(grid), "\n") + "\n", nil
}

// join adds the skeleton of a cell, unless it is there; events without an edge share a row.
func (tb *table) join(grid [][]string, c cell) [][]string {
	row := tb.skeleton(c)
	for _, old := range grid {
		if slices.Equal(old, row) {
			return grid
		}
		if c.fact == none && row[4] != "" && old[4] != "" && tb.edgeless(c.state, old[4]) && tb.edgeless(c.state, row[4]) &&
			slices.Equal(slices.Concat(old[:4], old[5:]), slices.Concat(row[:4], row[5:])) {
			old[4] += ", " + row[4]
			return grid
		}
	}
	return append(grid, row)
}

// edgeless tells whether no event of a cell has an edge from the state.
func (tb *table) edgeless(state, events string) bool {
	return !slices.ContainsFunc(list(events), func(e string) bool { return len(tb.edges(machine.State(state), e)) > 0 })
}

// skeleton is a row for one cell, as far as the definition tells: the other facts of its guards have the first value that the
// table names.
func (tb *table) skeleton(c cell) []string {
	var given *situation
	row := make([]string, len(tb.headed()))
	for i := done; i < len(row); i++ {
		row[i] = "?"
	}
	owner := "?"
	row[0], row[4] = "?", c.event
	if i := slices.IndexFunc(tb.situations, func(s *situation) bool { return string(s.at.State) == c.state }); i >= 0 {
		given = tb.situations[i]
		owner, row[0], row[1] = given.at.Owner, given.name, strings.Join(untilDue(given.at, c.event), "")
	}
	row[3] = tb.actor(c, owner)
	if driven := drivenBy(c.event); driven != nil {
		row[3], row[4] = string(guard.Observer), ""
		if c.fact == none {
			row[2] = tb.first(driven[0])
			return row
		}
	}
	facts := tb.reads(machine.State(c.state), c.event)
	slices.SortStableFunc(facts, func(a, b string) int { return tb.rank(a) - tb.rank(b) })
	var specs []string
	for _, fact := range facts {
		specs = append(specs, tb.spec(c, fact, given, row)...)
	}
	row[2] = strings.Join(specs, ", ")
	return row
}

// spec writes a fact of a skeleton. What the situation holds becomes unknown when its source contradicts itself, and stale when
// time passes.
func (tb *table) spec(c cell, fact string, given *situation, row []string) []string {
	first, values, age := tb.first(fact), tb.valuesOf(fact), tb.m.FactNamed(fact).MaxAge
	held := given != nil && slices.ContainsFunc(given.at.Facts.All(), func(e guard.Entry) bool { return e.Key.Fact == fact })
	switch driven := drivenBy(c.event) != nil; {
	case fact != c.fact:
		return []string{first}
	case c.status == unknown && held && len(values) > 1:
		return []string{first, values[1].name}
	case c.status == stale && held && driven:
		row[1] = short(2 * age)
		return []string{first + "=" + stale}
	case c.status == stale && held:
		row[1] = short(age + time.Second)
		return nil
	case c.status == unknown || c.status == stale:
		return []string{first + "=" + c.status}
	}
	return []string{c.status}
}

// actor is one who may propose the event of a cell, or the model where nobody may.
func (tb *table) actor(c cell, owner string) string {
	if strings.HasSuffix(c.event, ".confirmed") || strings.HasSuffix(c.event, ".failed") {
		return string(guard.Worker)
	}
	edges := tb.edges(machine.State(c.state), c.event)
	for _, e := range edges {
		if len(e.By) > 0 {
			return fmt.Sprintf("%s/%s", e.By[0], owner)
		}
	}
	if len(edges) > 0 {
		return string(guard.Timer)
	}
	return fmt.Sprintf("%s/%s", guard.Model, owner)
}

// rank is where the table declares a fact first: in this order people write them.
func (tb *table) rank(fact string) int {
	return slices.IndexFunc(tb.facts, func(f *namedFact) bool { return f.info.Name == fact })
}

// first is the first name of a value of the fact.
func (tb *table) first(fact string) string {
	if v := tb.valuesOf(fact); len(v) > 0 {
		return v[0].name
	}
	return "?" + fact
}
