package resume

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/visible"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// String is the report for a person: one fact, effect or offer a line. What others wrote cannot begin a line of its own.
func (r Report) String() string {
	var b strings.Builder
	line := func(format string, texts ...any) {
		for i, t := range texts {
			texts[i] = visible.Text(fmt.Sprint(t))
		}
		fmt.Fprintf(&b, format+"\n", texts...)
	}
	line("task_id: %s\nstatus: %s\nstate_version: %s", r.Task, r.State, r.Version)
	if r.Waiting != nil {
		line("waiting for: %s, since %s, until %s", r.whom(), minute(r.Waiting.Since), r.until())
	}
	for _, f := range r.Facts {
		line("%s: %s", r.name(f.Key), f.inWords())
	}
	for _, c := range r.Changed {
		line("changed: %s was %s, is %s", c.Key, shown(c.Was, c.Hidden), shown(c.Is, c.Hidden))
	}
	for _, e := range r.Effects {
		line("effect %s: %s", e.Key, e.inWords())
	}
	for _, n := range r.NotHappened {
		line("has not happened: %s", n)
	}
	for _, o := range r.Offers {
		line("offered: %s", r.Question(o))
		for _, a := range o.Answers {
			line("answered: %s said %s", a.By, a.Says)
		}
	}
	for _, p := range r.Permits {
		if p.Open {
			line("permitted: %s, by %s", p.Event, actors(p.By))
		}
	}
	return b.String()
}

// Question is what an offer of the report asks. Of one that stands on a hidden fact it is only that there is a question: the party
// must see it, and a model must not.
func (r Report) Question(o machine.OpenOffer) string {
	for _, f := range r.Facts {
		if f.Hidden && slices.ContainsFunc(o.Stands, func(s machine.Stand) bool { return s.Key == f.Key }) {
			return o.Event + " " + hidden
		}
	}
	return o.Question
}

// hidden stands for what must not come into a prompt: a report is easily pasted into one.
const hidden = "(hidden)"

func (r Report) whom() string {
	if r.Waiting.For == machine.TaskOwner {
		return string(r.Waiting.For) + " " + r.Owner
	}
	return string(r.Waiting.For)
}

func (r Report) until() string {
	if r.Overdue {
		return minute(r.Waiting.Until) + ", which is past"
	}
	return minute(r.Waiting.Until)
}

// name is the fact's, with its subject where the report has it of several.
func (r Report) name(k guard.Key) string {
	if slices.ContainsFunc(r.Facts, func(f ReportedFact) bool { return f.Key.Fact == k.Fact && f.Key.Subject != k.Subject }) {
		return k.String()
	}
	return k.Fact
}

// inWords is the fact's value, and how far it can be relied on.
func (f ReportedFact) inWords() string {
	switch f.Status {
	case guard.Unknown:
		return "unknown"
	case guard.Stale:
		return fmt.Sprintf("%s, needs re-verification, source %s at %s", shown(f.Value, f.Hidden), f.source(), minute(f.At))
	}
	return fmt.Sprintf("%s, verified, source %s at %s", shown(f.Value, f.Hidden), f.source(), minute(f.At))
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
func (f ReportedFact) source() string {
	if f.Ref != "" {
		return f.Ref
	}
	return f.Source
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

func shown(value any, hides bool) string {
	if hides {
		return hidden
	}
	return machine.Plain(value)
}
