package projection_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestRefusalOfOutcome: what the machine said, as a model may hear it: labels for facts, words for codes, a guard's own
// text as it is.
func TestRefusalOfOutcome(t *testing.T) {
	d, m := define(t, deskSpec()), machine.Erase(desk)
	s := waiting(t)
	late := noon.Add(2 * time.Hour)
	v := viewOf(t, d, s, late)
	refusal := func(p machine.Proposal) projection.Refusal {
		t.Helper()
		_, out := m.Step(s, machine.Input{Proposal: p, Principal: ann, Received: late, Now: late})
		require.Error(t, out.Err())
		r, ok := v.Refusal(out.Err())
		require.True(t, ok)
		require.Equal(t, v.Allowed(), r.Allowed)
		return r
	}
	agreed, err := v.Read([]byte(`{"event":"agree","payload":{"order":"A1","items":["I1"],"price":100}}`))
	require.NoError(t, err)
	r := refusal(agreed)
	require.Equal(t, "unknown", r.Code)
	require.Equal(t, "facts must be verified first; a person must be asked first", r.Text)
	require.Equal(t, []string{"status"}, r.Needs)

	s = seen(t, s, stock, "I9", 0, late)
	chosen, err := v.Read([]byte(`{"event":"choose","payload":{"items":["I9"]}}`))
	require.NoError(t, err)
	require.Equal(t, projection.Refusal{Code: "not_in_stock", Text: "an item is out of stock", Allowed: v.Allowed()}, refusal(chosen))

	s.Version++
	r = refusal(agreed)
	require.Equal(t, "stale_version", r.Code)
	require.Equal(t, "the task has changed meanwhile; look again", r.Text)
}

// TestRefusalData: details and a question for a person are told, as data and within bounds.
func TestRefusalData(t *testing.T) {
	v := viewOf(t, define(t, deskSpec()), waiting(t), noon)
	out := machine.Outcome{Kind: machine.Ask, Question: "Which\none?", Findings: []machine.Finding{
		{Code: "too_much", Text: "more than\nthe `limit`", Details: map[string]any{"limit": 100, "note": "<b>"}},
		{Code: "too_much", Text: "more than\nthe `limit`", Details: map[string]any{"long": strings.Repeat("x", projection.MaxDetail)}},
		{Code: guard.CodeAsk, Text: "Which one?"},
	}}
	r, ok := v.Refusal(out.Err())
	require.True(t, ok)
	require.Equal(t, projection.Refusal{
		Code: "too_much", Text: `more than the \u0060limit\u0060; a person must be asked first`, Allowed: v.Allowed(),
		Details: []string{`{"limit":100,"note":"\u003cb\u003e"}`}, Ask: "Which one?",
	}, r)
	after, err := v.After(r)
	require.NoError(t, err)
	require.Contains(t, after.Markdown(), "\nYour last answer was refused:\n- too_much: more than the \\u0060limit\\u0060; a person must be asked first\n"+
		"- {\"limit\":100,\"note\":\"\\u003cb\\u003e\"}\n- Which one?\n- Nothing has changed.\n")
	require.NotEqual(t, v.Digest(), after.Digest())
	require.Equal(t, v.Version(), after.Version())
	require.Equal(t, v.Allowed(), after.Allowed())
	refused := decoded(t, after.JSON()).(map[string]any)["last_answer_refused"].(map[string]any)
	require.Equal(t, "too_much", refused["code"])
	require.Equal(t, "Which one?", refused["question"])
}

// TestRefusalOfController: a controller that records a malformed answer as a refusal says the same to the model.
func TestRefusalOfController(t *testing.T) {
	v := viewOf(t, define(t, deskSpec()), waiting(t), noon)
	_, err := v.Read([]byte(`{"event":"cancel","payload":{"text":"x","y":1}}`))
	direct, ok := v.Refusal(err)
	require.True(t, ok)
	out := machine.Outcome{Kind: machine.Refused, Findings: []machine.Finding{{
		Code: machine.CodeForm, Text: err.Error(), Details: map[string]any{"reason": "unknown_field", "path": "/payload/y"},
	}}}
	recorded, ok := v.Refusal(out.Err())
	require.True(t, ok)
	require.Equal(t, direct, recorded)
	require.Equal(t, `there is no such field "/payload/y"`, direct.Text)
}

// TestRefusalBudget: a refusal never takes more than its own budget, and what it takes does not push anything out.
func TestRefusalBudget(t *testing.T) {
	spec := deskSpec()
	s := waiting(t, func(p *parcel) { p.Notes = []string{"keep me"} })
	full := viewOf(t, define(t, spec), s, noon)
	spec.Budget = max(len(full.Markdown()), len(full.JSON()))
	v := viewOf(t, define(t, spec), s, noon)
	var findings []machine.Finding
	for i := range 10 {
		findings = append(findings, machine.Finding{Code: "c" + string(rune('a'+i)), Text: string(rune('a'+i)) + strings.Repeat("語", 200),
			Details: map[string]any{"n": strings.Repeat(`"`, 50)}})
	}
	missing := []guard.Key{{Fact: "order_owner"}, {Fact: "order_status"}, {Fact: "stock"}, {Fact: "weight"}}
	out := machine.Outcome{Kind: machine.Refused, Findings: findings, Missing: missing, Question: strings.Repeat("?", 1000)}
	r, ok := v.Refusal(out.Err())
	require.True(t, ok)
	require.LessOrEqual(t, len(r.Text), projection.MaxReason)
	require.Len(t, r.Needs, 4)
	after, err := v.After(r)
	require.NoError(t, err)
	require.Contains(t, after.Markdown(), "keep me")
	require.LessOrEqual(t, len(after.Markdown()), spec.Budget+projection.MaxRefusal)
	require.LessOrEqual(t, len(after.JSON()), spec.Budget+projection.MaxRefusal)
	require.Contains(t, after.Markdown(), "- ca: a語")
	again, err := v.After(projection.Refusal{Code: "x", Text: strings.Repeat("y", 5000), Ask: strings.Repeat("z", 5000)})
	require.NoError(t, err, "whatever a caller makes of a refusal")
	require.LessOrEqual(t, len(again.JSON()), spec.Budget+projection.MaxRefusal)
}

// TestRefusalByHand: a refusal that a caller made cannot open anything in the view either.
func TestRefusalByHand(t *testing.T) {
	v := viewOf(t, define(t, deskSpec()), waiting(t), noon)
	bad := "x\n# y\n```"
	after, err := v.After(projection.Refusal{Code: bad, Text: bad, Ask: bad, Needs: []string{bad}, Details: []string{bad}})
	require.NoError(t, err)
	plain, err := v.After(projection.Refusal{Code: "x", Text: "x", Ask: "x", Needs: []string{"x"}, Details: []string{"x"}})
	require.NoError(t, err)
	require.Equal(t, strings.Count(plain.Markdown(), "\n"), strings.Count(after.Markdown(), "\n"))
	require.NotContains(t, after.Markdown(), "`")
	decoded(t, after.JSON())
}

// TestRefusalOfOthers: an error that the model did not make is not explained to it.
func TestRefusalOfOthers(t *testing.T) {
	v := viewOf(t, define(t, deskSpec()), waiting(t), noon)
	for _, err := range []error{nil, errors.New("disk full"), projection.ErrNotNow} {
		_, ok := v.Refusal(err)
		require.False(t, ok)
	}
}
