package projection_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// everything is all that can leave a view, in every language and shape, and what a refused answer says.
func everything(t *testing.T, d *projection.Decision, s machine.Snapshot[any], now time.Time, errs ...error) string {
	t.Helper()
	var b strings.Builder
	for _, w := range catalogues {
		in, err := d.In(w.Language)
		require.NoError(t, err)
		v := viewOf(t, in, s, now, projection.Quote{Origin: "customer", Text: "go on"})
		for _, e := range append(errs, readError(v, `{"event":"agree","payload":{}}`), readError(v, `{"event":"agree","payload":{"order":"B","items":[],"price":0}}`),
			readError(v, `{"event":"x","payload":{}}`), readError(v, "words")) {
			r, ok := v.Refusal(e)
			require.True(t, ok, "%v", e)
			after, err := v.After(r)
			require.NoError(t, err)
			fmt.Fprintf(&b, "%+v\n%s\n%s\n", r, after.Markdown(), after.JSON())
			if refused, ok := e.(*projection.RefusedError); ok {
				fmt.Fprintf(&b, "%v\n", refused)
			}
		}
		fmt.Fprintf(&b, "%s\n%s\n%s\n%+v\n", v.Markdown(), v.JSON(), v.Schema(), v.Tools())
		fmt.Fprintf(&b, "%s\n%s\n%s\n%s\n", v.OpenAITools(), v.OpenAIFormat(), v.AnthropicTools(true), v.MCPTools())
	}
	return b.String()
}

func readError(v projection.View, raw string) error {
	_, err := v.Read([]byte(raw))
	return err
}

// TestLeak puts a canary into everything that a snapshot holds and no decision shows. None may come out anywhere.
func TestLeak(t *testing.T) {
	d := define(t, translated())
	s := waiting(t, func(p *parcel) { p.Token = "tok_CANARY" })
	s = seen(t, s, weighed, "A1", weight{Grams: 5, Scale: "scale_CANARY"}, noon)
	s = seen(t, s, credit, "A1", "credit_CANARY", noon)
	s = seen(t, s, receipt, "effect_CANARY", slip{Number: "slip_CANARY"}, noon)
	s.Task, s.Owner, s.UpdatedBy = "task_CANARY", "owner_CANARY", "by_CANARY"
	for i := range s.Offers {
		s.Offers[i].ID = "offer_CANARY"
		s.Offers[i].Question = "question_CANARY"
		s.Offers[i].Stands = append(s.Offers[i].Stands, machine.Stand{Digest: "stand_CANARY"})
		s.Offers[i].Effects = append(s.Offers[i].Effects, machine.Draft{Effect: "ship", Args: "args_CANARY"})
	}
	s.Intents = append(s.Intents, machine.Intent{Effect: "ship", Key: "key_CANARY", Args: place{Order: "intent_CANARY"}})
	s.Operations = append(s.Operations, machine.Operation{Effect: "ship", Number: 1})
	s.Timers = append(s.Timers, machine.ArmedTimer{Event: "timer_CANARY", Due: noon})

	refused := machine.Outcome{Kind: machine.Refused, Task: "task_CANARY", State: "state_CANARY", Edge: "edge_CANARY",
		Missing: []guard.Key{{Fact: "credit_line", Subject: "subject_CANARY"}, {Fact: "order_status", Subject: "subject_CANARY"}},
		Findings: []machine.Finding{
			{Edge: "edge_CANARY", Guard: "guard_CANARY", Code: guard.CodeUnknown, Text: "needs credit_line(subject_CANARY)", Missing: []guard.Key{{Fact: "credit_line", Subject: "subject_CANARY"}}},
			{Edge: "edge_CANARY", Code: machine.CodeEdgeFault, Text: "an output panicked: CANARY"},
			{Code: guard.CodeGuardFault, Text: "panicked: CANARY"}, {Code: machine.CodeInvariant, Text: "CANARY"},
		}}
	conflict := machine.Outcome{Kind: machine.Conflict, Findings: []machine.Finding{{Code: machine.CodeStaleVersion, Text: "based on version 4_CANARY"}}}
	out := everything(t, d, s, noon.Add(time.Minute), refused.Err(), conflict.Err())
	for l := range strings.SplitSeq(out, "\n") {
		require.NotContains(t, l, "CANARY")
	}
	require.Contains(t, out, "grams: 5", "what is declared is shown")
	require.NotContains(t, out, "u_ann", "ids of people stay inside")
	require.NotContains(t, out, "order_status", "facts are named by their labels")
}

// TestErrorsDoNotLeak: errors of views are for programs, and name the task, but no values.
func TestErrorsDoNotLeak(t *testing.T) {
	s := waiting(t)
	s.State = stateSending
	_, err := define(t, deskSpec()).View(s, ann, noon)
	require.ErrorContains(t, err, "ship_A1")
	require.NotContains(t, err.Error(), "CANARY")
	spec := deskSpec()
	spec.Fields = append(spec.Fields, projection.Field[parcel]{Label: "all", Value: func(p parcel) any { return p }})
	_, err = define(t, spec).View(waiting(t), ann, noon)
	require.NotContains(t, err.Error(), "CANARY")
}
