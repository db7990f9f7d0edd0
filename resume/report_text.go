package resume

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// String is the report for a person.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "task_id: %s\nstatus: %s\nstate_version: %d\n", r.Task, r.State, r.Version)
	if w := r.Waiting; w != nil {
		whom, until := string(w.For), minute(w.Until)
		if w.For == machine.TaskOwner {
			whom += " " + r.Owner
		}
		if r.Overdue {
			until += ", which is past"
		}
		fmt.Fprintf(&b, "waiting for: %s, since %s, until %s\n", whom, minute(w.Since), until)
	}
	for _, f := range r.Facts {
		switch f.Status {
		case guard.Unknown:
			fmt.Fprintf(&b, "%s: unknown\n", f.Key.Fact)
		case guard.Stale:
			fmt.Fprintf(&b, "%s: %s, needs re-verification, source %s at %s\n", f.Key.Fact, shown(f), source(f), minute(f.At))
		default:
			fmt.Fprintf(&b, "%s: %s, verified, source %s at %s\n", f.Key.Fact, shown(f), source(f), minute(f.At))
		}
	}
	for _, c := range r.Changed {
		fmt.Fprintf(&b, "changed: %s was %s, is %s\n", c.Key, machine.Plain(c.Was), machine.Plain(c.Is))
	}
	for _, e := range r.Effects {
		fmt.Fprintf(&b, "effect %s: %s\n", e.Key, e.inWords())
	}
	for _, n := range r.NotHappened {
		fmt.Fprintf(&b, "has not happened: %s\n", n)
	}
	for _, o := range r.Offers {
		fmt.Fprintf(&b, "offered: %s\n", o.Question)
		for _, a := range o.Answers {
			fmt.Fprintf(&b, "answered: %s said %s\n", a.By, a.Says)
		}
	}
	for _, p := range r.Permits {
		if p.Open {
			fmt.Fprintf(&b, "permitted: %s, by %s\n", p.Event, actors(p.By))
		}
	}
	return b.String()
}

// inWords says what is known of the effect, and of one without an outcome that it may have happened.
func (e ReportedEffect) inWords() string {
	var s string
	switch e.Status {
	case string(machine.Intended):
		s = "intended, not sent"
	case store.Sent.String():
		s = "sent, and may have happened"
	case store.Unknown.String():
		s = "unknown, and may have happened"
	default:
		return e.Status
	}
	if e.Last != "" {
		s += ": " + e.Last
	}
	return s
}

func actors(by []guard.Actor) string {
	out := make([]string, len(by))
	for i, a := range by {
		out[i] = string(a)
	}
	return strings.Join(out, " or ")
}

// source is where the source keeps it, or else the authority.
func source(f ReportedFact) string {
	if f.Ref != "" {
		return f.Ref
	}
	return f.Source
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

// shown is the value in words: a report is easily pasted into a prompt, and a hidden fact must not come there.
func shown(f ReportedFact) string {
	if f.Hidden {
		return "(hidden)"
	}
	return machine.Plain(f.Value)
}
