package days

import (
	"fmt"
	"maps"
	"strings"

	"github.com/pawlgo/pawl/machine"
)

// Plus is both results together.
func (r Result) Plus(o Result) Result {
	r.Days, r.Steps, r.Tasks, r.Commits = r.Days+o.Days, r.Steps+o.Steps, r.Tasks+o.Tasks, r.Commits+o.Commits
	r.Refused, r.Deaths, r.Payments, r.Calls = r.Refused+o.Refused, r.Deaths+o.Deaths, r.Payments+o.Payments, r.Calls+o.Calls
	r.Stuck += o.Stuck
	states := maps.Clone(r.States)
	if states == nil {
		states = map[machine.State]int{}
	}
	for s, n := range o.States {
		states[s] += n
	}
	r.States = states
	return r
}

// String is a line for a person.
func (r Result) String() string {
	return fmt.Sprintf("%d days, %d steps, %d tasks %v (%d for a person), %d commits, %d refused, %d deaths, %d calls, %d payments",
		r.Days, r.Steps, r.Tasks, r.States, r.Stuck, r.Commits, r.Refused, r.Deaths, r.Calls, r.Payments)
}

// Trace is the last steps of the world.
func (w *World) Trace() string { return strings.Join(w.trace, "\n") }
