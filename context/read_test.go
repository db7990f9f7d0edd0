package projection_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

const cancelling = `{"event":"cancel","payload":{"text":"no","tone":"calm"}}`

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

// TestReadShapes: one answer, in every shape in which providers hand it over.
func TestReadShapes(t *testing.T) {
	v := viewOf(t, define(t, deskSpec()), waiting(t), noon)
	args := `{"text":"no","tone":"calm"}`
	for name, raw := range map[string]string{
		"envelope":              cancelling,
		"with space around":     "\n\t " + cancelling + " \n",
		"in a fence":            "```json\n" + cancelling + "\n```",
		"in a bare fence":       "```\n" + cancelling + "\n```\n",
		"wrapped":               `{"answer":` + cancelling + `}`,
		"chat tool call":        `{"role":"assistant","content":null,"refusal":null,"annotations":[],"tool_calls":[{"id":"call_0","type":"function","function":{"name":"cancel","arguments":` + quoted(args) + `}}]}`,
		"chat tool call, words": `{"role":"assistant","content":"I will cancel.","tool_calls":[{"id":"call_0","type":"function","function":{"name":"cancel","arguments":` + quoted(args) + `}}]}`,
		"chat content":          `{"role":"assistant","content":` + quoted(`{"answer":`+cancelling+`}`) + `,"tool_calls":[]}`,
		"chat content, fenced":  `{"role":"assistant","content":` + quoted("```json\n"+cancelling+"\n```") + `}`,
		"list of tool calls":    `[{"id":"call_0","type":"function","function":{"name":"cancel","arguments":` + quoted(args) + `}}]`,
		"response item":         `{"type":"function_call","id":"fc_1","call_id":"call_0","name":"cancel","arguments":` + quoted(args) + `}`,
		"response output":       `[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"function_call","call_id":"call_0","name":"cancel","arguments":` + quoted(args) + `}]`,
		"response message":      `[{"type":"message","role":"assistant","content":[{"type":"output_text","text":` + quoted(cancelling) + `,"annotations":[]}]}]`,
		"tool use":              `{"type":"tool_use","id":"toolu_1","name":"cancel","input":` + args + `}`,
		"message with tool use": `{"role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"Cancelling."},{"type":"tool_use","id":"toolu_1","name":"cancel","input":` + args + `}]}`,
		"message with text":     `{"role":"assistant","content":[{"type":"text","text":` + quoted(cancelling) + `}]}`,
		"content with thinking": `[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"toolu_1","name":"cancel","input":` + args + `}]`,
		"MCP call":              `{"name":"cancel","arguments":` + args + `,"_meta":{"progressToken":1}}`,
		"arguments as a string": `{"name":"cancel","arguments":` + quoted(args) + `}`,
	} {
		p, err := v.Read([]byte(raw))
		require.NoError(t, err, name)
		require.Equal(t, "cancel", p.Event(), name)
		require.Equal(t, words{"no", "calm"}, p.Payload(), name)
		require.Equal(t, v.Version(), p.Base(), name)
		require.Equal(t, v.Digest(), p.View(), name)
		require.Equal(t, guard.Model, p.Actor(), name)
	}
}

// TestReadRefusals: what is no single, exact, open answer, and the code that says why.
func TestReadRefusals(t *testing.T) {
	v := viewOf(t, define(t, deskSpec()), waiting(t), noon)
	one := `{"type":"tool_use","id":"toolu_1","name":"cancel","input":{"text":"no"}}`
	agreed := `{"event":"agree","payload":{"order":"A1","items":["I1","I2"],"price":%s}}`
	for name, c := range map[string]struct{ raw, code, text string }{
		"nothing":                     {"", "no_answer", "there is no answer"},
		"only space":                  {" \n", "no_answer", "there is no answer"},
		"an empty message":            {`{"role":"assistant","content":null}`, "no_answer", "there is no answer"},
		"a refusal":                   {`{"role":"assistant","content":null,"refusal":"I cannot"}`, "no_answer", "declined to answer"},
		"prose":                       {"I will cancel.", "prose", "JSON alone"},
		"prose before":                {"Sure! " + cancelling, "prose", "JSON alone"},
		"prose after":                 {cancelling + " Done.", "trailing", ""},
		"prose around a fence":        {"Here:\n```json\n" + cancelling + "\n```", "prose", "JSON alone"},
		"prose after a fence":         {"```json\n" + cancelling + "\n```\nDone.", "prose", "JSON alone"},
		"two fences":                  {"```json\n" + cancelling + "\n```\n```json\n" + cancelling + "\n```", "prose", "JSON alone"},
		"a fence of another language": {"```python\n" + cancelling + "\n```", "prose", "JSON alone"},
		"two envelopes":               {cancelling + cancelling, "trailing", ""},
		"a list of envelopes":         {`[` + cancelling + `,` + cancelling + `]`, "no_answer", ""},
		"two tool uses":               {`[` + one + `,` + one + `]`, "several_answers", "there are 2 calls; give exactly one"},
		"wrapped, and more":           {`{"answer":` + cancelling + `,"note":"x"}`, "unknown_field", "/answer"},
		"an envelope with content":    {`{"event":"cancel","payload":{"text":"no"},"content":"x"}`, "unknown_field", "/content"},
		"not JSON":                    {`{"event":"cancel",`, "syntax", ""},
		"not UTF-8":                   {"{\"event\":\"canc\xffel\"}", "not_utf8", ""},
		"a number":                    {`7`, "prose", "JSON alone"},
		"null":                        {`null`, "prose", "JSON alone"},
		"no event":                    {`{"payload":{"text":"no"}}`, "missing_field", "/event"},
		"no payload":                  {`{"event":"cancel"}`, "missing_field", "/payload"},
		"payload null":                {`{"event":"cancel","payload":null}`, "null", "/payload"},
		"payload a list":              {`{"event":"cancel","payload":[]}`, "wrong_type", "/payload"},
		"event twice":                 {`{"event":"ask","event":"cancel","payload":{"text":"no"}}`, "duplicate_key", "/event"},
		"Event":                       {`{"Event":"cancel","payload":{"text":"no"}}`, "case_variant_key", "/Event"},
		"a version":                   {`{"event":"cancel","payload":{"text":"no"},"state_version":9}`, "unknown_field", "/state_version"},
		"a task":                      {`{"event":"cancel","payload":{"text":"no","task_id":"ship_B2"}}`, "unknown_field", "/payload/task_id"},
		"a confirmation":              {`{"event":"agree","payload":{"order":"A1","items":["I1"],"price":100,"user_confirmation":true}}`, "unknown_field", "/payload/user_confirmation"},
		"a field twice":               {`{"event":"cancel","payload":{"text":"no","text":"yes"}}`, "duplicate_key", "/payload/text"},
		"a field in capitals":         {`{"event":"cancel","payload":{"TEXT":"no"}}`, "case_variant_key", "/payload/TEXT"},
		"a field missing":             {`{"event":"cancel","payload":{}}`, "missing_field", "/payload/text"},
		"a field null":                {`{"event":"cancel","payload":{"text":null}}`, "null", "/payload/text"},
		"a rule":                      {`{"event":"cancel","payload":{"text":""}}`, "invalid", "text does not satisfy required"},
		"NaN":                         {`{"event":"agree","payload":{"order":"A1","items":[],"price":NaN}}`, "syntax", ""},
		"a lossy number":              {fmt.Sprintf(agreed, "1250.5"), "lossy_number", "/payload/price"},
		"unknown event":               {`{"event":"refund","payload":{}}`, "not_allowed", `"refund" is not an answer`},
		"a closed event":              {`{"event":"ask","payload":{"text":"Ship?"}}`, "not_allowed", `"ask" is not an answer`},
		"an operator's event":         {`{"event":"manual","payload":{"text":"x"}}`, "not_allowed", ""},
		"an effect's event":           {`{"event":"ship.confirmed","payload":{"key":"k"}}`, "not_allowed", ""},
		"another price":               {fmt.Sprintf(agreed, "1251"), "offer_differs", `"price":1250`},
		"items in another order":      {`{"event":"agree","payload":{"order":"A1","items":["I2","I1"],"price":1250}}`, "offer_differs", ""},
		"half of each offer":          {`{"event":"agree","payload":{"order":"A1","items":["I1"],"price":1250}}`, "offer_differs", ""},
		"tool name a number":          {`{"type":"tool_use","id":"1","name":7,"input":{}}`, "wrong_type", "/name"},
		"tool without name":           {`{"type":"tool_use","id":"1","input":{}}`, "wrong_type", "a call has a name"},
		"input and arguments":         {`{"name":"cancel","input":{"text":"no"},"arguments":{"text":"no"}}`, "wrong_type", "a call has a name"},
		"a message in a message":      {`{"role":"assistant","content":` + quoted(`{"role":"assistant","content":`+quoted(cancelling)+`}`) + `}`, "unknown_field", ""},
		"too deep":                    {`{"event":"cancel","payload":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "too_deep", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := v.Read([]byte(c.raw))
			var refused *projection.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.code, refused.Code, refused.Text)
			require.Contains(t, refused.Text, c.text)
			require.Equal(t, v.Allowed(), refused.Allowed)
			require.NotEmpty(t, refused.Faults)
			require.NotContains(t, refused.Text, "\n")
			require.ErrorIs(t, err, guard.ErrForm)
			var form *guard.FormError
			require.ErrorAs(t, err, &form)
			require.Equal(t, c.code, form.Code)
		})
	}
}

// TestCall reads a tool call whose name and arguments the caller took apart.
func TestCall(t *testing.T) {
	v := viewOf(t, define(t, deskSpec()), waiting(t), noon)
	for _, args := range []string{`{"text":"no"}`, quoted(`{"text":"no"}`), quoted(" \n" + `{"text":"no"}`), `{"text":"no","tone":null}`} {
		p, err := v.Call("cancel", []byte(args))
		require.NoError(t, err, args)
		require.Equal(t, words{Text: "no"}, p.Payload())
	}
	for _, args := range []string{"", "{}", `""`, " "} {
		p, err := v.Call("do_nothing", []byte(args))
		require.NoError(t, err, args)
		require.Equal(t, machine.None{}, p.Payload())
	}
	for args, code := range map[string]string{
		"":                                   "syntax",
		quoted(quoted(`{"text":"no"}`)):      "wrong_type",
		`{"text":"no","tone":null,"x":null}`: "unknown_field",
		`{"text":null}`:                      "null",
		`{"text":"no","tone":"loud"}`:        "invalid",
	} {
		_, err := v.Call("cancel", []byte(args))
		var refused *projection.RefusedError
		require.ErrorAs(t, err, &refused, args)
		require.Equal(t, code, refused.Code, args)
	}
}

// TestReadOffers takes each of the open offers, in any order of keys, and after expiry none.
func TestReadOffers(t *testing.T) {
	d, s := define(t, deskSpec()), waiting(t)
	v := viewOf(t, d, s, noon)
	for _, o := range s.Offers {
		want := o.Payload.(place)
		items, _ := json.Marshal(want.Items)
		p, err := v.Read(fmt.Appendf(nil, `{"payload":{"price":%d,"items":%s,"order":%q},"event":"agree"}`, want.Price, items, want.Order))
		require.NoError(t, err)
		require.Equal(t, want, p.Payload())
	}
	late := viewOf(t, d, s, s.Offers[0].Expires)
	require.NotContains(t, late.Allowed(), "agree")
}

// FuzzRead: no bytes from a model end the reader, and what it accepts is an open answer that its own schema accepts.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		cancelling, `{"answer":` + cancelling + `}`, "```json\n" + cancelling + "\n```", "no",
		`{"name":"cancel","arguments":"{\"text\":\"no\",\"tone\":null}"}`,
		`[{"type":"text","text":"x"},{"type":"tool_use","name":"do_nothing","input":{}}]`,
		`{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"choose","arguments":"{\"items\":[\"I1\"]}"}}]}`,
		`{"event":"agree","payload":{"order":"A1","items":["I1"],"price":100}}`, `{"event":`, "\xff", "[]", `{"content":[[]]}`,
	} {
		f.Add([]byte(seed))
	}
	v := viewOf(f, define(f, deskSpec()), waiting(f), noon)
	accepts := validator(f, v.Schema())
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := v.Read(raw)
		if err != nil {
			var refused *projection.RefusedError
			require.ErrorAs(t, err, &refused)
			require.NotEmpty(t, refused.Code)
			require.NotContains(t, refused.Text, "\n")
			r, ok := v.Refusal(err)
			require.True(t, ok)
			require.LessOrEqual(t, len(r.Text), projection.MaxReason)
			return
		}
		require.Contains(t, v.Allowed(), p.Event())
		require.Equal(t, v.Version(), p.Base())
		payload, err := json.Marshal(p.Payload())
		require.NoError(t, err)
		require.NoError(t, accepts(fmt.Appendf(nil, `{"event":%q,"payload":%s}`, p.Event(), payload)))
	})
}
