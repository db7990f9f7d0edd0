package projection_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
)

// rules are what a provider's documentation says of the schemas that it takes.
type rules struct {
	keywords []string // all that may stand in a schema
	formats  []string
	strict   bool // closed objects, every property required
	depth    int  // levels of objects
}

var (
	openAIRules = rules{
		keywords: []string{"type", "description", "enum", "anyOf", "properties", "required", "additionalProperties", "items",
			"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "pattern", "format"},
		formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
		strict:  true, depth: 10,
	}
	anthropicRules = rules{
		keywords: []string{"type", "description", "enum", "anyOf", "properties", "required", "additionalProperties", "items", "format"},
		formats:  []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
		strict:   true, depth: 10,
	}
)

// check walks a schema and wants every rule to hold.
func (r rules) check(t *testing.T, schema map[string]any, at string, depth int) {
	t.Helper()
	require.LessOrEqual(t, depth, r.depth, at)
	for k := range schema {
		require.Contains(t, r.keywords, k, at)
	}
	if f, ok := schema["format"]; ok {
		require.Contains(t, r.formats, f, at)
	}
	if schema["type"] == "object" && schema["anyOf"] == nil {
		properties, _ := schema["properties"].(map[string]any)
		require.Equal(t, false, schema["additionalProperties"], at)
		var names []string
		for _, n := range schema["required"].([]any) {
			names = append(names, n.(string))
		}
		require.Len(t, names, len(properties), at)
		for name, below := range properties {
			require.Contains(t, names, name, at)
			r.check(t, below.(map[string]any), at+"/"+name, depth+1)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		r.check(t, items, at+"/items", depth+1)
	}
	alternatives, _ := schema["anyOf"].([]any)
	for i, a := range alternatives {
		r.check(t, a.(map[string]any), fmt.Sprintf("%s/anyOf/%d", at, i), depth)
	}
}

func decoded(t *testing.T, raw json.RawMessage) (v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, &v), "%s", raw)
	return v
}

// providerViews are views whose schemas have between them everything that schemas can have.
func providerViews(t *testing.T) []projection.View {
	out := []projection.View{viewOf(t, define(t, deskSpec()), waiting(t), noon), viewOf(t, define(t, deskSpec()), begin(t), noon)}
	for _, define := range []func() (*projection.Decision, error){
		payloadDecision[texts], payloadDecision[numbers], payloadDecision[lists], payloadDecision[formatted],
		payloadDecision[loose], payloadDecision[withOwnSchema],
	} {
		d, err := define()
		require.NoError(t, err)
		out = append(out, payloadView(t, d))
	}
	return out
}

type formatted struct {
	Mail  string    `json:"mail" validate:"email"`
	Site  string    `json:"site" validate:"uri"`
	Code  string    `json:"code" validate:"alphanum"`
	ID    string    `json:"id" validate:"uuid"`
	At    dateTime  `json:"at"`
	Other string    `json:"other" validate:"startswith=a"`
	Bytes []byte    `json:"bytes,omitempty"`
	Raw   *[]string `json:"raw,omitempty"`
}

type dateTime string

func (d *dateTime) UnmarshalText(b []byte) error { *d = dateTime(b); return nil }
func (d dateTime) MarshalText() ([]byte, error)  { return []byte(d), nil }

type loose struct {
	Raw json.RawMessage `json:"raw"`
	Map map[string]int  `json:"map"`
}

type withOwnSchema struct {
	Level level `json:"level"`
}

type level struct{ n int }

func (l *level) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &l.n) }
func (l level) MarshalJSON() ([]byte, error)  { return json.Marshal(l.n) }
func (level) JSONSchema() json.RawMessage     { return json.RawMessage(`{"type":"integer","minimum":0}`) }

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// TestOpenAI: function tools and response formats keep the rules of strict structured outputs, or say that they are not
// strict.
func TestOpenAI(t *testing.T) {
	strict := 0
	for _, v := range providerViews(t) {
		for _, tool := range decoded(t, v.OpenAITools()).([]any) {
			tool := tool.(map[string]any)
			require.Equal(t, "function", tool["type"])
			f := tool["function"].(map[string]any)
			require.Regexp(t, toolName, f["name"])
			require.NotEmpty(t, f["description"])
			p := f["parameters"].(map[string]any)
			require.Equal(t, "object", p["type"])
			require.NotContains(t, p, "anyOf", "no alternatives at the root")
			if f["strict"] == true {
				strict++
				openAIRules.check(t, p, v.Decision(), 1)
			}
		}
		format := decoded(t, v.OpenAIFormat()).(map[string]any)
		require.Equal(t, "json_schema", format["type"])
		inner := format["json_schema"].(map[string]any)
		require.Equal(t, v.Decision(), inner["name"])
		root := inner["schema"].(map[string]any)
		require.Equal(t, "object", root["type"])
		require.NotContains(t, root, "anyOf")
		if inner["strict"] == true {
			openAIRules.check(t, root, v.Decision(), 1)
		}
	}
	require.Equal(t, 4+4+3, strict, "the desk's, and those without maps, anything, and schemas of their own")
}

// TestAnthropic: strict tools keep the rules; others are plain JSON Schema without alternatives at the root.
func TestAnthropic(t *testing.T) {
	strict := 0
	for _, v := range providerViews(t) {
		for _, tool := range decoded(t, v.AnthropicTools(true)).([]any) {
			tool := tool.(map[string]any)
			s := tool["input_schema"].(map[string]any)
			require.Equal(t, "object", s["type"])
			require.NotContains(t, s, "anyOf")
			require.Regexp(t, toolName, tool["name"])
			if tool["strict"] == true {
				strict++
				anthropicRules.check(t, s, v.Decision(), 1)
			}
		}
		for _, tool := range decoded(t, v.AnthropicTools(false)).([]any) {
			tool := tool.(map[string]any)
			require.NotContains(t, tool, "strict")
			require.Equal(t, "object", tool["input_schema"].(map[string]any)["type"])
			require.NotContains(t, tool["input_schema"], "anyOf")
		}
	}
	require.Equal(t, 4+4+3, strict)
}

// TestMCP: the input schema of each tool is an object, and is the very schema that Tools gives.
func TestMCP(t *testing.T) {
	for _, v := range providerViews(t) {
		tools := decoded(t, v.MCPTools()).([]any)
		require.Len(t, tools, len(v.Tools()))
		for i, tool := range v.Tools() {
			m := tools[i].(map[string]any)
			require.Equal(t, []any{tool.Name, tool.Description}, []any{m["name"], m["description"]})
			require.Equal(t, decoded(t, tool.Schema), m["inputSchema"])
			require.Equal(t, "object", m["inputSchema"].(map[string]any)["type"])
			validator(t, tool.Schema)
		}
		validator(t, v.Schema())
	}
}

// TestRulesInWords: what a provider's schemas cannot hold is said in the description.
func TestRulesInWords(t *testing.T) {
	d, err := payloadDecision[numbers]()
	require.NoError(t, err)
	s := string(payloadView(t, d).AnthropicTools(true))
	for _, want := range []string{`"description":"-1 to 3"`, `"description":"more than 0; less than 9"`, `"description":"not 4"`, `"description":"0.5 to 1.5"`} {
		require.Contains(t, s, want)
	}
	d, err = payloadDecision[formatted]()
	require.NoError(t, err)
	v := payloadView(t, d)
	require.Contains(t, string(v.AnthropicTools(true)), `"site":{"type":"string","format":"uri"}`)
	require.Contains(t, string(v.OpenAITools()), `"site":{"type":"string","description":"format uri"}`)
	require.Contains(t, string(v.AnthropicTools(true)), `"description":"pattern ^[a-zA-Z0-9]+$"`)
	require.Contains(t, string(v.OpenAITools()), `"pattern":"^[a-zA-Z0-9]+$"`)
	require.Contains(t, string(v.MCPTools()), `"description":"must satisfy startswith=a"`)
	require.Contains(t, string(v.MCPTools()), `"description":"base64"`)
}

// TestOffersInTools: exactly the open offers where alternatives may stand at the root, field by field where not; the
// reader is exact in both.
func TestOffersInTools(t *testing.T) {
	v := viewOf(t, define(t, deskSpec()), waiting(t), noon)
	i := slices.IndexFunc(v.Tools(), func(t projection.Tool) bool { return t.Name == "agree" })
	exact := validator(t, v.Tools()[i].Schema)
	half := []byte(`{"order":"A1","items":["I1"],"price":1250}`)
	for _, raw := range []string{`{"order":"A1","items":["I1"],"price":100}`, `{"order":"A1","items":["I1","I2"],"price":1250}`} {
		require.NoError(t, exact([]byte(raw)))
	}
	for _, raw := range []string{string(half), `{"order":"A2","items":["I1"],"price":100}`, `{"order":"A1","items":["I1"],"price":101}`, `{}`,
		`{"order":"A1","items":["I1","I1"],"price":100}`, `{"order":"A1","items":[],"price":100}`} {
		require.Error(t, exact([]byte(raw)), raw)
	}
	_, err := v.Call("agree", half)
	require.ErrorContains(t, err, "offer_differs")
}
