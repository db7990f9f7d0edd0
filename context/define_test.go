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

type numbered int

type selfish struct {
	Below []selfish `json:"below"`
}

// faultCodes are the codes of all faults that Define reports, joined.
func faultCodes(t *testing.T, s projection.Spec[parcel]) string {
	t.Helper()
	_, err := projection.Define(desk, s)
	require.ErrorIs(t, err, projection.ErrDecision)
	var codes []string
	var walk func(error)
	walk = func(err error) {
		if f, ok := err.(*projection.Fault); ok {
			require.NotEmpty(t, f.Text)
			require.NotEmpty(t, f.Mend)
			codes = append(codes, f.Code)
			return
		}
		switch u := err.(type) {
		case interface{ Unwrap() []error }:
			for _, e := range u.Unwrap() {
				walk(e)
			}
		case interface{ Unwrap() error }:
			walk(u.Unwrap())
		}
	}
	walk(err)
	return strings.Join(codes, " ")
}

type faulty struct {
	want   string
	change func(*projection.Spec[parcel])
}

var (
	otherEffect = machine.NewEffect[place]("ship", receipt)
	otherFact   = guard.NewFact[string]("order_status", guard.From("orders"), guard.About("order"), guard.Lasting())
	otherEvent  = machine.NewEvent[words]("ask")
)

// faultyDecisions are the desk's decision with one fault each.
var faultyDecisions = map[string]faulty{
	"no name":                {"name", func(s *projection.Spec[parcel]) { s.Name = "" }},
	"bad name":               {"name", func(s *projection.Spec[parcel]) { s.Name = "Handle word" }},
	"no goal":                {"goal", func(s *projection.Spec[parcel]) { s.Goal = nil }},
	"budget":                 {"budget", func(s *projection.Spec[parcel]) { s.Budget = -1 }},
	"tokens alone":           {"tokens", func(s *projection.Spec[parcel]) { s.Tokens = 10 }},
	"count alone":            {"tokens", func(s *projection.Spec[parcel]) { s.Count = func(string) int { return 0 } }},
	"no state":               {"in stage", func(s *projection.Spec[parcel]) { s.In = nil }},
	"unknown state":          {"in", func(s *projection.Spec[parcel]) { s.In = append(s.In, "nowhere") }},
	"final state":            {"in", func(s *projection.Spec[parcel]) { s.In = append(s.In, stateClosed) }},
	"stage elsewhere":        {"stage", func(s *projection.Spec[parcel]) { s.Stages = map[machine.State]string{stateSent: "sent"} }},
	"no question":            {"text", func(s *projection.Spec[parcel]) { s.Question = "" }},
	"question of two lines":  {"text", func(s *projection.Spec[parcel]) { s.Question = "What?\n# Now" }},
	"question with a fence":  {"text", func(s *projection.Spec[parcel]) { s.Question = "What? ```" }},
	"question not UTF-8":     {"text", func(s *projection.Spec[parcel]) { s.Question = "What? \xff" }},
	"no meaning":             {"text", func(s *projection.Spec[parcel]) { s.Allow[0].Means = "" }},
	"label twice":            {"label_twice", func(s *projection.Spec[parcel]) { s.Fields[0].Label = "status" }},
	"field of nothing":       {"field", func(s *projection.Spec[parcel]) { s.Fields[0].Value = nil }},
	"undone of nothing":      {"undone", func(s *projection.Spec[parcel]) { s.NotYet[0].Effect = nil }},
	"undone of both":         {"undone", func(s *projection.Spec[parcel]) { s.NotYet[1].Effect = ship }},
	"undone elsewhere":       {"undone", func(s *projection.Spec[parcel]) { s.NotYet[0].Effect = otherEffect }},
	"drop of nothing":        {"drop", func(s *projection.Spec[parcel]) { s.Drop = []string{"nothing"} }},
	"nothing allowed":        {"allow", func(s *projection.Spec[parcel]) { s.Allow = nil }},
	"zero event":             {"allow", func(s *projection.Spec[parcel]) { s.Allow[0].Event = machine.Event[words]{} }},
	"other event":            {"allow", func(s *projection.Spec[parcel]) { s.Allow[0].Event = otherEvent }},
	"effect's event":         {"allow", func(s *projection.Spec[parcel]) { s.Allow[0].Event = ship.Confirmed() }},
	"event twice":            {"allow", func(s *projection.Spec[parcel]) { s.Allow[1] = s.Allow[0] }},
	"event of another state": {"no_edge", func(s *projection.Spec[parcel]) { s.In, s.Stages = s.In[1:], nil }},
	"event of an operator":   {"no_edge", func(s *projection.Spec[parcel]) { s.Allow[0].Event = manual }},
	"event of a timer":       {"no_edge", func(s *projection.Spec[parcel]) { s.Allow[0].Event = lapse }},
	"secret": {"secret", func(s *projection.Spec[parcel]) {
		s.Facts = append(s.Facts, projection.Fact{Label: "credit", Fact: credit})
	}},
	"secret in Show": {"secret", func(s *projection.Spec[parcel]) {
		s.Facts = append(s.Facts, projection.Show("credit", credit, func(string) any { return "fine" }))
	}},
	"zero fact":  {"fact unseen", func(s *projection.Spec[parcel]) { s.Facts[1].Fact = guard.Fact[string]{} }},
	"no fact":    {"fact unseen", func(s *projection.Spec[parcel]) { s.Facts[1].Fact = nil }},
	"other fact": {"fact unseen", func(s *projection.Spec[parcel]) { s.Facts[1].Fact = otherFact }},
	"struct":     {"fact_value", func(s *projection.Spec[parcel]) { s.Facts[3] = projection.Fact{Label: "grams", Fact: weighed} }},
	"unseen":     {"unseen", func(s *projection.Spec[parcel]) { s.Facts = s.Facts[:2]; s.Drop = nil }},
	"no reason": {"hidden", func(s *projection.Spec[parcel]) {
		s.Facts = s.Facts[:2]
		s.Drop, s.Hidden = nil, []projection.Hidden{{Fact: stock, Reason: " "}}
	}},
	"empty words": {"words", func(s *projection.Spec[parcel]) { s.Words = &projection.Words{Language: "xx"} }},
	"no translation": {strings.TrimSpace(strings.Repeat("untranslated ", 17)), func(s *projection.Spec[parcel]) {
		s.Other = []projection.Translation[parcel]{{Words: &projection.SimplifiedChinese, Goal: s.Goal}}
	}},
	"language twice": {"translation", func(s *projection.Spec[parcel]) {
		s.Other = []projection.Translation[parcel]{{Words: &projection.English, Goal: s.Goal}}
	}},
	"no words": {"translation", func(s *projection.Spec[parcel]) { s.Other = []projection.Translation[parcel]{{Goal: s.Goal}} }},
}

// TestDefine refuses each fault by itself.
func TestDefine(t *testing.T) {
	define(t, deskSpec())
	for name, c := range faultyDecisions {
		t.Run(name, func(t *testing.T) {
			s := deskSpec()
			c.change(&s)
			require.Equal(t, c.want, faultCodes(t, s))
		})
	}
}

// TestDefineTogether reports all faults at once.
func TestDefineTogether(t *testing.T) {
	s := deskSpec()
	s.Name, s.Question, s.Drop = "", "", []string{"nothing"}
	require.Equal(t, "name text drop", faultCodes(t, s))
	require.Panics(t, func() { projection.MustDefine(desk, s) })
}

// TestHiddenWithReason: a fact that is read and not shown needs a reason, and then is not shown.
func TestHiddenWithReason(t *testing.T) {
	s := deskSpec()
	s.Facts, s.Drop = s.Facts[:2], nil
	s.Hidden = []projection.Hidden{{Fact: stock, Reason: "the shelf is asked when the choice is judged"}}
	v := viewOf(t, define(t, s), waiting(t), noon)
	require.NotContains(t, v.Markdown(), "pieces of item")
}

// TestPayloads refuses payload types that no tool could carry.
func TestPayloads(t *testing.T) {
	require.ErrorContains(t, definePayload[string](), "a tool's arguments are an object")
	require.ErrorContains(t, definePayload[[]string](), "a tool's arguments are an object")
	require.ErrorContains(t, definePayload[selfish](), "holds itself")
	require.ErrorContains(t, definePayload[struct {
		F func() `json:"f"`
	}](), "is no data")
	require.ErrorContains(t, definePayload[struct {
		M map[numbered]string `json:"m"`
	}](), "keys that are no strings")
	require.ErrorContains(t, definePayload[struct {
		*words
	}](), "embed the struct itself")
	require.ErrorContains(t, definePayload[struct {
		A string `json:"a"`
		B string `json:"A"`
	}](), "names A twice")
	require.ErrorContains(t, definePayload[struct {
		N int `json:"n,string"`
	}](), "type of its own")
	require.ErrorContains(t, definePayload[struct {
		L []words `json:"l"`
	}](), "add dive")
	require.ErrorContains(t, definePayload[struct {
		D ownJSON `json:"d"`
	}](), "give it a method JSONSchema")
	require.ErrorContains(t, definePayload[struct {
		S string `json:"s" validate:"min=x"`
	}](), `validate tag "min=x"`)
	require.NoError(t, definePayload[struct {
		D time.Duration `json:"d"`
	}]())
}

type ownJSON struct {
	N int `json:"n"`
}

func (o *ownJSON) UnmarshalJSON(b []byte) error { o.N = len(b); return nil }

// definePayload defines a decision with one event of the payload.
func definePayload[P any]() error {
	_, err := payloadDecision[P]()
	return err
}

func payloadDecision[P any]() (*projection.Decision, error) {
	e := machine.NewEvent[P]("answer")
	b := machine.New[struct{}]("payloads", "start")
	b.Final("end")
	machine.On(b, e).From("start").To("end").By(guard.Model)
	for _, rule := range []string{machine.LintOptional, machine.LintLossy} {
		b.Accept(rule, machine.Everywhere, "the rules of payloads are what is tested")
	}
	m, err := b.Build()
	if err != nil {
		return nil, errors.New("is no data: " + err.Error())
	}
	return projection.Define(m, projection.Spec[struct{}]{
		Name: "answer", In: []machine.State{"start"}, Goal: func(struct{}) string { return "answer" },
		Question: "What?", Allow: []projection.Answer{{Event: e, Means: "the answer"}}, Budget: 1 << 20,
	})
}
