package machinetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// leavesColumn is the column that a section may have behind the others: all the facts of the task after the step.
const leavesColumn = "leaves"

// disputed is the status of a fact whose source contradicts itself.
const disputed = "disputed"

// allColumns are those of a section that says what a step leaves.
var allColumns = append(slices.Clone(columns), leavesColumn)

// headed are the columns of rows that the table is given: with the facts that are left, if any of its sections says them.
func (tb *table) headed() []string {
	if tb.leaving {
		return allColumns
	}
	return columns
}

// leaves are the facts after a step at an instant, in the order in which the table names them: "=" for exactly those of before, "-" for
// none.
func (tb *table) leaves(s, next machine.Snapshot[any], now time.Time) string {
	entries := slices.Clone(next.Facts.All())
	switch {
	case reflect.DeepEqual(s.Facts.All(), next.Facts.All()):
		return "="
	case len(entries) == 0:
		return none
	}
	slices.SortStableFunc(entries, func(a, b guard.Entry) int { return tb.rank(a.Key.Fact) - tb.rank(b.Key.Fact) })
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = tb.left(s, e, now)
	}
	return strings.Join(out, ", ")
}

// left is one fact as a table names it, and what is wrong with it.
func (tb *table) left(s machine.Snapshot[any], e guard.Entry, now time.Time) string {
	info := tb.m.FactNamed(e.Key.Fact)
	switch {
	case e.Disputed:
		return tb.written(s, e.Key) + "=" + disputed
	case info != nil && info.MaxAge > 0 && now.Sub(e.At) > info.MaxAge:
		return tb.valueNamed(s, e) + "=" + stale
	}
	return tb.valueNamed(s, e)
}

// valueNamed is the first name of a value, or the value itself where the table has none for it.
func (tb *table) valueNamed(s machine.Snapshot[any], e guard.Entry) string {
	for _, f := range tb.facts {
		if f.isAbout(s, e.Key) && f.info.Same(timeless(f.value), timeless(e.Value)) {
			return f.name
		}
	}
	raw, err := json.Marshal(e.Value)
	if err != nil {
		raw = []byte(err.Error())
	}
	return fmt.Sprintf("%s %s", tb.written(s, e.Key), strings.ReplaceAll(string(raw), "|", `\u007c`))
}

// written is a fact of a subject, named as the table names the subject.
func (tb *table) written(s machine.Snapshot[any], k guard.Key) string {
	for _, f := range tb.facts {
		if f.isAbout(s, k) {
			return guard.Key{Fact: k.Fact, Subject: f.subject}.String()
		}
	}
	return k.String()
}

// isAbout tells whether the fact is about the subject of a key. The offer of @event may have been closed, the intent of $effect not be the
// newest any more: one that cannot be found by its name is about any.
func (f *namedFact) isAbout(s machine.Snapshot[any], k guard.Key) bool {
	subject, err := subjectIn(s, f.subject)
	return f.info.Name == k.Fact && (err != nil || subject == k.Subject)
}
