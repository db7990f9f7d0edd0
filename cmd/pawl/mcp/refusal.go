package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Codes of refusals that this package gives, beside those of the framework and of working state. All are stable.
const (
	CodeScope     = "scope"      // the connection does not have the scope
	CodeReadOnly  = "read_only"  // the server serves no tool that writes
	CodeNoTask    = "no_task"    // no such task for this agent; an unknown one and a forbidden one look alike
	CodeNotNow    = "not_now"    // the decision does not arise in the task's state
	CodeOtherTask = "other_task" // the decision is of another machine than the task
	CodeNotShown  = "not_shown"  // what is answered was not shown here, or too long ago
	CodeTimeout   = "timeout"    // the call took too long; it may have been committed
	CodeBroken    = "broken"     // something is broken on this side
)

// CodeTooFast is the JSON-RPC error code of a call over the rate; its data say how long to wait, in milliseconds.
const CodeTooFast = -32029

// maxReasons is how many reasons of one refusal are told; the first ones decide.
const maxReasons = 4

// Refusal is why a call changed nothing, for a model to act on.
type Refusal struct {
	Code      string         `json:"code"` // stable
	Text      string         `json:"text"`
	Missing   []string       `json:"missing"`                 // facts that the service must observe first; the agent cannot
	Permitted []string       `json:"permitted"`               // tools or answers that are open now
	Question  string         `json:"question,omitempty"`      // what a person must be asked, by the service
	Version   uint64         `json:"state_version,omitempty"` // where the task stands
	Details   map[string]any `json:"details,omitempty"`       // what the guard says as data
}

func refuse(code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, args...)}
}

// with adds a detail.
func (r *Refusal) with(name string, value any) *Refusal {
	if r.Details == nil {
		r.Details = map[string]any{}
	}
	r.Details[name] = value
	return r
}

// refuseForm is the refusal of arguments that were not in the required form; nil when the error is another.
func refuseForm(err error) *Refusal {
	faults := formFaults(err, nil)
	if len(faults) == 0 {
		return nil
	}
	var texts []string
	var places []map[string]any
	for _, f := range faults[:min(len(faults), maxReasons)] {
		texts = append(texts, strings.TrimSpace(f.Text+" "+at(f.Path)))
		places = append(places, map[string]any{"code": f.Code, "path": f.Path})
	}
	return refuse(faults[0].Code, "%s", strings.Join(texts, "; ")).with("faults", places)
}

func at(path string) string {
	if path == "" {
		return "(the arguments as a whole)"
	}
	return "(at " + path + ")"
}

// formFaults gathers what joined errors hold.
func formFaults(err error, to []*guard.FormError) []*guard.FormError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			to = formFaults(e, to)
		}
		return to
	}
	if f, ok := errors.AsType[*guard.FormError](err); ok {
		return append(to, f)
	}
	return to
}

// refuseOutcome is the refusal of an event of the working state, whose payload, guards and data are all the agent's own.
func refuseOutcome(out machine.Outcome) *Refusal {
	r := &Refusal{Code: out.Code(), Question: out.Question, Permitted: open(out.Permits)}
	var texts []string
	for _, f := range out.Findings[:min(len(out.Findings), maxReasons)] {
		texts = append(texts, f.Text)
		if len(f.Details) > 0 {
			if r.Details == nil {
				r.Details = map[string]any{}
			}
			maps.Copy(r.Details, f.Details)
		}
	}
	if reason, _ := r.Details["reason"].(string); r.Code == machine.CodeForm && reason != "" {
		r.Code = reason
	}
	for _, k := range out.Missing {
		r.Missing = append(r.Missing, k.Fact)
	}
	r.Text = strings.Join(texts, "; ")
	return r
}

// open are the events that a model may propose now, as far as that can be said without a payload.
func open(permits []machine.Permit) []string {
	var out []string
	for _, p := range permits {
		if p.Open && contains(p.By, guard.Model) {
			out = append(out, p.Event)
		}
	}
	return out
}

func contains(actors []guard.Actor, a guard.Actor) bool {
	for _, by := range actors {
		if by == a {
			return true
		}
	}
	return false
}

// String is the refusal as a sentence.
func (r *Refusal) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Refused (%s): %s.", r.Code, strings.TrimRight(r.Text, "."))
	if len(r.Details) > 0 {
		if raw, err := json.Marshal(r.Details); err == nil {
			fmt.Fprintf(&b, " Details: %s.", raw)
		}
	}
	if r.Version > 0 {
		fmt.Fprintf(&b, " The task stands at version %d.", r.Version)
	}
	if len(r.Missing) > 0 {
		fmt.Fprintf(&b, " Must be verified first: %s.", strings.Join(r.Missing, ", "))
	}
	if r.Question != "" {
		fmt.Fprintf(&b, " A person must be asked: %s", r.Question)
	}
	if len(r.Permitted) > 0 {
		fmt.Fprintf(&b, " Open now: %s.", strings.Join(r.Permitted, ", "))
	}
	b.WriteString(" The call changed nothing.")
	return b.String()
}
