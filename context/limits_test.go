package projection_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
)

// TestBudget: within it all is shown; over it declared lines go, in declared order, and are counted; then quotes are
// shortened; what is required never goes.
func TestBudget(t *testing.T) {
	s := waiting(t, func(p *parcel) { p.Notes = []string{strings.Repeat("n", 300)} })
	s = seen(t, s, weighed, "A1", weight{Grams: 5}, noon)
	quote := projection.Quote{Origin: "customer", Text: strings.Repeat("q", 600)}
	whole := viewOf(t, define(t, deskSpec()), s, noon, quote)
	full := max(len(whole.Markdown()), len(whole.JSON()))
	at := func(budget int) projection.View {
		t.Helper()
		spec := deskSpec()
		spec.Budget = budget
		v := viewOf(t, define(t, spec), s, noon, quote)
		require.LessOrEqual(t, max(len(v.Markdown()), len(v.JSON())), budget)
		return v
	}
	require.Equal(t, whole.Markdown(), at(full).Markdown())
	less := at(full - 1)
	require.NotContains(t, less.Markdown(), "- notes:")
	require.Contains(t, less.Markdown(), "- grams: 5")
	require.Contains(t, less.Markdown(), "[1 lines left out]")
	require.Contains(t, string(less.JSON()), `"lines_left_out":1`)
	size := max(len(less.Markdown()), len(less.JSON()))
	least := at(size - 1)
	require.NotContains(t, least.Markdown(), "- grams:")
	require.Contains(t, least.Markdown(), "[2 lines left out]")
	require.Contains(t, least.Markdown(), strings.Repeat("q", 600))
	size = max(len(least.Markdown()), len(least.JSON()))
	short := at(size - 1)
	require.Contains(t, short.Markdown(), `"`+strings.Repeat("q", 300)+`" [cut: 300 of 600 bytes]`)
	require.Contains(t, string(short.JSON()), `"of_bytes":600`)

	spec := deskSpec()
	spec.Budget = size - 600 + projection.MinQuote - 60
	d := define(t, spec)
	_, err := d.View(s, ann, noon, quote)
	var over *projection.BudgetError
	require.ErrorAs(t, err, &over)
	require.Equal(t, projection.BudgetError{Decision: "handle_word", Task: "ship_A1", Unit: "bytes", Need: over.Need, Budget: spec.Budget}, *over)
	require.Greater(t, over.Need, over.Budget)

	spec.Budget = 900
	_, err = projection.Define(desk, spec)
	require.ErrorAs(t, err, &over, "what is always shown does not fit: known before any task")
	require.Empty(t, over.Task)
	require.ErrorIs(t, err, projection.ErrDecision)
}

// TestDefaultBudget is 3 KiB.
func TestDefaultBudget(t *testing.T) {
	require.Equal(t, 3<<10, projection.DefaultBudget)
	spec := deskSpec()
	spec.Drop = nil
	d := define(t, spec)
	with := func(n int) machine.Snapshot[any] {
		return waiting(t, func(p *parcel) {
			for range n {
				p.Notes = append(p.Notes, strings.Repeat("n", 50))
			}
		})
	}
	_, err := d.View(with(5), ann, noon)
	require.NoError(t, err)
	_, err = d.View(with(32), ann, noon)
	var over *projection.BudgetError
	require.ErrorAs(t, err, &over)
}

// TestTokens counts with the user's own counter, beside the bytes.
func TestTokens(t *testing.T) {
	s := waiting(t, func(p *parcel) { p.Notes = []string{strings.Repeat("n ", 100)} })
	count := func(text string) int { return len(strings.Fields(text)) }
	spec := deskSpec()
	v := viewOf(t, define(t, spec), s, noon)
	need := max(count(v.Markdown()), count(string(v.JSON())))
	spec.Tokens, spec.Count = need, count
	require.Contains(t, viewOf(t, define(t, spec), s, noon).Markdown(), "- notes:")
	spec.Tokens = need - 1
	require.NotContains(t, viewOf(t, define(t, spec), s, noon).Markdown(), "- notes:")
	spec.Drop = nil
	_, err := define(t, spec).View(s, ann, noon)
	var over *projection.BudgetError
	require.ErrorAs(t, err, &over)
	require.Equal(t, "tokens", over.Unit)
	require.Equal(t, need, over.Need)
}

// TestQuotes: a long quote is cut, too many are refused.
func TestQuotes(t *testing.T) {
	spec := deskSpec()
	spec.Budget = 64 << 10
	d, s := define(t, spec), waiting(t)
	shows := func(q projection.Quote, want string) {
		t.Helper()
		require.Contains(t, viewOf(t, d, s, noon, q).Markdown(), want)
	}
	shows(projection.Quote{Origin: "c", Text: strings.Repeat("x", projection.MaxQuote)}, strings.Repeat("x", projection.MaxQuote)+"\"\n")
	shows(projection.Quote{Origin: "c", Text: strings.Repeat("x", projection.MaxQuote+1)}, strings.Repeat("x", projection.MaxQuote)+"\" [cut: 1024 of 1025 bytes]\n")
	shows(projection.Quote{Origin: strings.Repeat("o", projection.MaxOrigin), Text: "t"}, "- "+strings.Repeat("o", projection.MaxOrigin)+": ")
	shows(projection.Quote{Origin: strings.Repeat("o", projection.MaxOrigin+1), Text: "t"}, "- "+strings.Repeat("o", projection.MaxOrigin)+": ")
	shows(projection.Quote{Text: "t"}, `- "": "t"`)
	_, err := d.View(s, ann, noon, make([]projection.Quote, projection.MaxQuotes)...)
	require.NoError(t, err)
	_, err = d.View(s, ann, noon, make([]projection.Quote, projection.MaxQuotes+1)...)
	require.ErrorIs(t, err, projection.ErrQuotes)
}

// TestValueLimits: one long value is cut and says so; a long list is counted.
func TestValueLimits(t *testing.T) {
	spec := deskSpec()
	spec.Budget = 64 << 10
	d := define(t, spec)
	shows := func(notes []string, want string) {
		t.Helper()
		v := viewOf(t, d, waiting(t, func(p *parcel) { p.Notes = notes }), noon)
		require.Contains(t, v.Markdown(), want)
		decoded(t, v.JSON())
	}
	shows([]string{strings.Repeat("n", projection.MaxValue)}, "n\"\n")
	shows([]string{strings.Repeat("n", projection.MaxValue+1)}, "n\" [cut: 512 of 513 bytes]\n")
	var many []string
	for i := range 33 {
		many = append(many, strconv.Itoa(i))
	}
	shows(many[:32], `"31"`+"\n")
	shows(many, `"31" and 1 more`+"\n")
}

// TestTextLimits of a decision's own texts.
func TestTextLimits(t *testing.T) {
	s := deskSpec()
	s.Question = strings.Repeat("q", projection.MaxText)
	define(t, s)
	s.Question += "q"
	require.Equal(t, "text", faultCodes(t, s))
}

// TestAnswerLimit of what a model may answer.
func TestAnswerLimit(t *testing.T) {
	v := viewOf(t, define(t, deskSpec()), waiting(t), noon)
	pad := func(n int) []byte { return []byte(cancelling + strings.Repeat(" ", n-len(cancelling))) }
	_, err := v.Read(pad(projection.MaxAnswer))
	require.NoError(t, err)
	_, err = v.Read(pad(projection.MaxAnswer + 1))
	require.ErrorContains(t, err, "too_large")
	_, err = v.Call("cancel", []byte(`{"text":"`+strings.Repeat("x", machine.MaxProposal)+`"}`))
	require.ErrorContains(t, err, "too_large")
}

// deep1 to deep11 nest so many levels deep.
type (
	deep1 struct {
		A int `json:"a"`
	}
	deep2 struct {
		A deep1 `json:"a"`
	}
	deep3 struct {
		A deep2 `json:"a"`
	}
	deep4 struct {
		A deep3 `json:"a"`
	}
	deep5 struct {
		A deep4 `json:"a"`
	}
	deep6 struct {
		A deep5 `json:"a"`
	}
	deep7 struct {
		A deep6 `json:"a"`
	}
	deep8 struct {
		A deep7 `json:"a"`
	}
	deep9 struct {
		A deep8 `json:"a"`
	}
	deep10 struct {
		A deep9 `json:"a"`
	}
	deep11 struct {
		A deep10 `json:"a"`
	}
)

// TestPayloadLimits: a type that nests too deep, or has too many fields, is a fault. One that just fits a tool does not
// fit the levels of a strict envelope, which is two objects more.
func TestPayloadLimits(t *testing.T) {
	d, err := payloadDecision[deep10]()
	require.NoError(t, err)
	v := payloadView(t, d)
	require.Contains(t, string(v.OpenAITools()), `"strict":true`)
	require.Contains(t, string(v.OpenAIFormat()), `"strict":false`)
	for _, c := range []struct {
		define func() (*projection.Decision, error)
		strict string
	}{{payloadDecision[deep8], "true"}, {payloadDecision[deep9], "false"}} {
		d, err := c.define()
		require.NoError(t, err)
		require.Contains(t, string(payloadView(t, d).OpenAIFormat()), `"strict":`+c.strict)
	}
	require.ErrorContains(t, definePayload[deep11](), "nests 11 levels deep, at most 10")
	require.NoError(t, definePayload[struct {
		F fields256 `json:"f"`
		G fields254 `json:"g"`
	}]())
	require.ErrorContains(t, definePayload[struct {
		F fields256 `json:"f"`
		G fields256 `json:"g"`
	}](), "has 514 fields, at most 512")
}

// fields4 to fields256 have that many fields, with those between.
type fields4 struct {
	A int `json:"a"`
	B int `json:"b"`
	C int `json:"c"`
	D int `json:"d"`
}

type fields24 struct {
	A fields4 `json:"a"`
	B fields4 `json:"b"`
	C fields4 `json:"c"`
	D fields4 `json:"d"`
	E int     `json:"e"`
	F int     `json:"f"`
	G int     `json:"g"`
	H int     `json:"h"`
}

type fields125 struct {
	A fields24 `json:"a"`
	B fields24 `json:"b"`
	C fields24 `json:"c"`
	D fields24 `json:"d"`
	E fields24 `json:"e"`
}

type fields254 struct {
	A fields125 `json:"a"`
	B fields125 `json:"b"`
	C int       `json:"c"`
	D int       `json:"d"`
}

type fields256 struct {
	A fields254 `json:"a"`
	B int       `json:"b"`
}
