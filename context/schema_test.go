package projection_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	projection "github.com/pawlgo/pawl/context"
)

// validator is a judge of instances that is not ours.
func validator(t testing.TB, schema json.RawMessage) func(raw []byte) error {
	t.Helper()
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(schema, &s), "%s", schema)
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	require.NoError(t, err, "%s", schema)
	return func(raw []byte) error {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		return r.Validate(v)
	}
}

// candidates are JSON texts for one field; "" leaves it out.
type candidates struct {
	field string
	texts []string
}

// inner has rules of its own.
type inner struct {
	Name string `json:"name" validate:"min=2,max=3"`
	Flag *bool  `json:"flag,omitempty"`
}

type base struct {
	ID string `json:"id" validate:"len=2"`
}

// texts, numbers and lists have between them every rule that schemas can express.
type texts struct {
	base
	Required string  `json:"required" validate:"required,max=3"`
	OneOf    string  `json:"one_of" validate:"oneof=a b 'c d'"`
	Maybe    string  `json:"maybe,omitempty" validate:"omitempty,min=2"`
	Pick     string  `json:"pick,omitempty" validate:"omitempty,oneof=x y"`
	Absent   string  `json:"absent,omitempty" validate:"min=2"` // the zero value is refused: needed after all
	Free     string  `json:"free,omitempty" validate:"max=1"`
	Not      string  `json:"not" validate:"ne=no"`
	Alpha    string  `json:"alpha,omitempty" validate:"omitempty,alpha"`
	Null     *string `json:"null" validate:"omitempty,max=2"`
	Must     *string `json:"must" validate:"required"`
	Bounded  *string `json:"bounded" validate:"min=1"`
	Within   string  `json:"within" validate:"gt=1,lt=4"`
}

var textCandidates = []candidates{
	{"id", []string{`"ab"`, `"a"`, `"abc"`, `"日本"`}},
	{"required", []string{`"abc"`, `""`, `"abcd"`, `null`, `1`, `"日本語"`, ``, `"日本語文"`}},
	{"one_of", []string{`"a"`, `"c d"`, `"c"`, `""`, ``}},
	{"maybe", []string{`""`, `"x"`, `"xx"`, ``}},
	{"pick", []string{`"x"`, `""`, `"z"`, ``}},
	{"absent", []string{`"xx"`, ``, `""`}},
	{"free", []string{`""`, ``, `"x"`, `"xx"`}},
	{"not", []string{`"yes"`, `"no"`, `""`}},
	{"alpha", []string{`"abc"`, `""`, `"a1"`, ``}},
	{"null", []string{`null`, `"xx"`, `"xxx"`, ``, `""`}},
	{"must", []string{`"x"`, `""`, `null`, ``}},
	{"bounded", []string{`"x"`, `""`, `null`, ``}},
	{"within", []string{`"ab"`, `"abc"`, `"abcd"`, `"a"`}},
}

type numbers struct {
	Range int      `json:"range" validate:"min=-1,max=3"`
	Open  int8     `json:"open" validate:"gt=0,lt=9"`
	Not   int      `json:"not" validate:"ne=4"`
	Some  int      `json:"some" validate:"required"`
	Yes   bool     `json:"yes" validate:"required"`
	Any   bool     `json:"any"`
	Small int8     `json:"small"`
	Byte  uint8    `json:"byte"`
	Maybe int      `json:"maybe,omitempty" validate:"omitempty,min=5"`
	Lack  int      `json:"lack,omitempty" validate:"min=5"`
	One   int      `json:"one" validate:"oneof=1 2"`
	Equal int      `json:"equal" validate:"eq=7"`
	Float float64  `json:"float" validate:"gte=0.5,lte=1.5"`
	Ptr   *int     `json:"ptr,omitempty"`
	Wait  duration `json:"wait"`
}

type duration time.Duration

var numberCandidates = []candidates{
	{"range", []string{`-1`, `3`, `4`, `-2`, `"1"`}},
	{"open", []string{`1`, `8`, `0`, `9`}},
	{"not", []string{`5`, `4`, `0`}},
	{"some", []string{`1`, `0`, `-1`}},
	{"yes", []string{`true`, `false`, `null`}},
	{"any", []string{`true`, `false`, `0`}},
	{"small", []string{`127`, `-128`, `128`, `-129`}},
	{"byte", []string{`0`, `255`, `256`, `-1`}},
	{"maybe", []string{`0`, `5`, `4`, ``}},
	{"lack", []string{`5`, `0`, ``}},
	{"one", []string{`1`, `2`, `3`, `0`}},
	{"equal", []string{`7`, `8`}},
	{"float", []string{`0.5`, `1.5`, `0.25`, `1.75`, `1`}},
	{"ptr", []string{`null`, `0`, ``, `"0"`}},
	{"wait", []string{`5`, `"5"`}},
}

type lists struct {
	Unique []string         `json:"unique" validate:"min=1,max=2,unique,dive,max=2"`
	Need   []int            `json:"need" validate:"required"`
	Maybe  []inner          `json:"maybe,omitempty" validate:"max=1,dive"`
	Lack   []int            `json:"lack,omitempty" validate:"min=1"`
	Pair   [2]int           `json:"pair"`
	Sub    inner            `json:"sub"`
	Ptr    *inner           `json:"ptr"`
	Map    map[string]int   `json:"map" validate:"max=1,dive,min=2"`
	Nested map[string]inner `json:"nested,omitempty" validate:"dive"`
	Ptrs   []*inner         `json:"ptrs,omitempty" validate:"dive"`
	Less   []int            `json:"less" validate:"lt=2"`
	Marks  []*string        `json:"marks" validate:"dive,min=1"`
	Blanks []*string        `json:"blanks" validate:"dive,omitempty,max=1"`
}

var listCandidates = []candidates{
	{"unique", []string{`["a"]`, `["a","a"]`, `[]`, `["a","b"]`, `["a","b","c"]`, `["abc"]`, `null`, `[1]`}},
	{"need", []string{`[]`, `[1]`, `null`, ``}},
	{"maybe", []string{``, `[]`, `[{"name":"ab"}]`, `[{"name":"a"}]`, `[{"name":"ab"},{"name":"ab"}]`, `[{"name":"ab","flag":null}]`}},
	{"lack", []string{`[1]`, `[]`, ``}},
	{"pair", []string{`[1,2]`, `[1]`, `[1,2,3]`}},
	{"sub", []string{`{"name":"ab"}`, `{"name":"a"}`, `{"name":"ab","flag":true}`, `{"name":"ab","x":1}`, `{}`, `[]`}},
	{"ptr", []string{`null`, ``, `{"name":"ab"}`, `{"name":"abcd"}`}},
	{"map", []string{`{}`, `{"a":2}`, `{"a":1}`, `{"a":2,"b":2}`, `null`}},
	{"nested", []string{``, `{"a":{"name":"ab"}}`, `{"a":{"name":"a"}}`}},
	{"ptrs", []string{``, `[]`, `[{"name":"ab"}]`, `[{"name":"a"}]`, `[null]`}},
	{"less", []string{`[]`, `[1]`, `[1,2]`}},
	{"marks", []string{`["a"]`, `[""]`, `[null]`, `[]`}},
	{"blanks", []string{`["a"]`, `[""]`, `[null]`, `["ab"]`}},
}

// TestSchemaAgrees: for every payload, good and bad, the schema and the decoder say the same.
func TestSchemaAgrees(t *testing.T) {
	t.Run("texts", func(t *testing.T) { agrees[texts](t, textCandidates) })
	t.Run("numbers", func(t *testing.T) { agrees[numbers](t, numberCandidates) })
	t.Run("lists", func(t *testing.T) { agrees[lists](t, listCandidates) })
}

func agrees[P any](t *testing.T, fields []candidates) {
	d, err := payloadDecision[P]()
	require.NoError(t, err)
	v := payloadView(t, d)
	schema := v.Tools()[0].Schema
	accepts := validator(t, schema)
	check := func(t require.TestingT, raw []byte) bool {
		_, decodeErr := v.Call("answer", raw)
		schemaErr := accepts(raw)
		require.Equal(t, schemaErr == nil, decodeErr == nil, "%s\nschema %s\nsays %v\ndecoder says %v", raw, schema, schemaErr, decodeErr)
		return decodeErr == nil
	}
	good := make([]string, len(fields))
	for i, f := range fields {
		good[i] = f.texts[0]
	}
	require.True(t, check(t, object(fields, good)), "the first candidates must be accepted")
	for i, f := range fields { // one field at a time
		for _, text := range f.texts {
			one := slices.Clone(good)
			one[i] = text
			check(t, object(fields, one))
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		some := make([]string, len(fields))
		for i, f := range fields {
			some[i] = good[i]
			if rapid.IntRange(0, 3).Draw(r, "change "+f.field) == 0 {
				some[i] = rapid.SampledFrom(f.texts).Draw(r, f.field)
			}
		}
		check(r, object(fields, some))
	})
}

func object(fields []candidates, texts []string) []byte {
	var parts []string
	for i, f := range fields {
		if texts[i] != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", f.field, texts[i]))
		}
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// payloadView is a view of a task whose only answer carries the payload.
func payloadView(t testing.TB, d *projection.Decision) projection.View {
	t.Helper()
	s := begin(t)
	s.Machine, s.Definition, s.Digest = d.Stamp().Machine, d.Stamp().Version, d.Stamp().Digest
	s.State, s.Data = "start", struct{}{}
	v, err := d.View(s, ann, noon)
	require.NoError(t, err)
	return v
}

// TestStrictSchemaAgrees: whatever the decoder accepts, with null for what is left out, the strict schemas accept; and
// what they refuse, the decoder refuses.
func TestStrictSchemaAgrees(t *testing.T) {
	t.Run("texts", func(t *testing.T) { strictAgrees[texts](t, textCandidates) })
	t.Run("numbers", func(t *testing.T) { strictAgrees[numbers](t, numberCandidates) })
}

func strictAgrees[P any](t *testing.T, fields []candidates) {
	d, err := payloadDecision[P]()
	require.NoError(t, err)
	v := payloadView(t, d)
	var tools []struct {
		Strict      bool            `json:"strict"`
		InputSchema json.RawMessage `json:"input_schema"`
		Function    struct {
			Strict     bool            `json:"strict"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	require.NoError(t, json.Unmarshal(v.AnthropicTools(true), &tools))
	require.True(t, tools[0].Strict)
	byAnthropic := validator(t, tools[0].InputSchema)
	require.NoError(t, json.Unmarshal(v.OpenAITools(), &tools))
	require.True(t, tools[0].Function.Strict)
	byOpenAI := validator(t, tools[0].Function.Parameters)
	rapid.Check(t, func(r *rapid.T) {
		some := make([]string, len(fields))
		for i, f := range fields {
			if some[i] = f.texts[0]; rapid.IntRange(0, 5).Draw(r, "change "+f.field) == 0 {
				some[i] = rapid.SampledFrom(f.texts).Draw(r, f.field)
			}
			if some[i] == "" {
				some[i] = "null"
			}
		}
		raw := object(fields, some)
		if _, err := v.Call("answer", raw); err == nil {
			require.NoError(r, byOpenAI(raw), "%s", raw)
			require.NoError(r, byAnthropic(raw), "%s", raw)
		}
	})
}

type differing struct {
	N     int     `json:"n"`
	Mail  string  `json:"mail" validate:"email"`
	Begin string  `json:"begin" validate:"startswith=a"`
	Sub   between `json:"sub" validate:"required"`
	Maybe string  `json:"maybe,omitempty"`
}

type between struct {
	A int `json:"a"`
}

// TestSchemaDiffers: where schema and decoder differ on purpose, as docs/projections.md lists it.
func TestSchemaDiffers(t *testing.T) {
	d, err := payloadDecision[differing]()
	require.NoError(t, err)
	v := payloadView(t, d)
	accepts := validator(t, v.Tools()[0].Schema)
	const same = `{"n":1,"mail":"a@b.org","begin":"ab","sub":{"a":1}}`
	for _, c := range []struct {
		name, from, to  string
		schema, decoder bool
	}{
		{"alike", `"n":1`, `"n":1`, true, true},
		{"a spelling of an integer", `"n":1`, `"n":1.0`, true, false},
		{"an exponent", `"n":1`, `"n":1e2`, true, false},
		{"past 64 bits", `"n":1`, `"n":99999999999999999999`, true, false},
		{"null for what may be left out", `{"n"`, `{"maybe":null,"n"`, false, true},
		{"a format", `a@b.org`, `nobody`, true, false},
		{"a rule without keyword", `"ab"`, `"ba"`, true, false},
		{"a struct that is required", `{"a":1}`, `{"a":0}`, true, false},
		{"a key given twice", `{"n"`, `{"n":1,"n"`, true, false},
		{"a key in capitals", `"n":1`, `"N":1`, false, false},
	} {
		raw := []byte(strings.Replace(same, c.from, c.to, 1))
		require.Equal(t, c.schema, accepts(raw) == nil, c.name)
		_, err := v.Call("answer", raw)
		require.Equal(t, c.decoder, err == nil, "%s: %v", c.name, err)
	}
}
