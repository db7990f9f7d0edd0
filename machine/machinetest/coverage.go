package machinetest

import (
	"fmt"
	"strings"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// excuse says why cells have no row; * stands for anything. Without a reason they are only not written yet.
type excuse struct {
	line
	cell   cell
	reason string
	used   bool
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
	var grid [][]string
	for _, c := range tb.missing(all) {
		grid = append(grid, tb.skeleton(c))
	}
	if grid == nil {
		return "", nil
	}
	return strings.Join(columnsOf(append([][]string{columns}, grid...)), "\n") + "\n", nil
}

// skeleton is a row for one cell, as far as the definition tells: the other facts of its guards have the first value that the
// table names.
func (tb *table) skeleton(c cell) []string {
	given, owner := "?", "?"
	for _, s := range tb.situations {
		if string(s.at.State) == c.state {
			given, owner = s.name, s.at.Owner
			break
		}
	}
	by, event := tb.actor(c, owner), c.event
	facts := tb.factsFor(c)
	if driven := drivenBy(c.event); driven != nil {
		by, event = string(guard.Observer), ""
		if facts == "" {
			facts = tb.first(driven[0])
		}
	}
	return []string{given, "", facts, by, event, "", "?", "?", "?", "?"}
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

func (tb *table) factsFor(c cell) string {
	var out []string
	for _, fact := range tb.reads(machine.State(c.state), c.event) {
		name := tb.first(fact)
		switch {
		case fact == c.fact && (c.status == unknown || c.status == stale):
			name += "=" + c.status
		case fact == c.fact:
			name = c.status
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// first is the first name of a value of the fact.
func (tb *table) first(fact string) string {
	if v := tb.valuesOf(fact); len(v) > 0 {
		return v[0].name
	}
	return "?" + fact
}
