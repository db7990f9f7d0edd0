package canon

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type Money struct {
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
}

type flat struct {
	OrderID  string `json:"order_id"`
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
	Eligible bool   `json:"eligible"`
	Attempt  uint8  `json:"attempt"`
}

type base struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
}

type node struct {
	Name string          `json:"name"`
	Next *node           `json:"next,omitempty"`
	Kids map[string]node `json:"kids,omitempty"`
}

// byPointer has its methods on the pointer only.
type byPointer struct{ s string }

func (b *byPointer) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]string{"s": b.s}) }
func (b *byPointer) UnmarshalJSON(raw []byte) error {
	var m map[string]string
	err := json.Unmarshal(raw, &m)
	b.s = m["s"]
	return err
}

type level int

func (l level) MarshalText() ([]byte, error) { return []byte(strings.Repeat("+", int(l))), nil }
func (l *level) UnmarshalText(b []byte) error {
	*l = level(len(b))
	return nil
}

type nothing struct{}

func (nothing) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

func TestAppend(t *testing.T) {
	ptr := func(n int) *int { return &n }
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{"nil", nil, `null`},
		{"declaration order", flat{"o1", 5000, "USD", true, 2}, `{"order_id":"o1","minor":5000,"currency":"USD","eligible":true,"attempt":2}`},
		{"map keys sorted bytewise", map[string]int{"é": 1, "z": 2, "a": 3, "B": 4}, `{"B":4,"a":3,"z":2,"é":1}`},
		{"integer keys sort as text", map[int]int{10: 1, 9: 2, -1: 3}, `{"-1":3,"10":1,"9":2}`},
		{"text keys", map[level]int{2: 1, 1: 2}, `{"+":2,"++":1}`},
		{"no HTML escaping", "<a&b>\u2028", "\"<a&b>\u2028\""},
		{"minimal escapes", "\"\\/\b\f\n\r\t\x00\x1f\x7f", `"\"\\/\b\f\n\r\t\u0000\u001f` + "\x7f\""},
		{"exact integers", []int64{math.MinInt64, math.MaxInt64}, `[-9223372036854775808,9223372036854775807]`},
		{"floats", []float64{0.1, 1e20, 1e305, 1e-7, 1 << 53, 1<<53 + 2, -2.5}, `[0.1,1e+20,1e+305,1e-7,9007199254740992,9.007199254740994e+15,-2.5]`},
		{"nil slice and map", struct {
			S []int
			M map[string]int
			B []byte
			P *int
		}{}, `{"S":[],"M":{},"B":"","P":null}`},
		{"bytes", []byte("hi"), `"aGk="`},
		{"array", [2]bool{true, false}, `[true,false]`},
		{"options", struct {
			A int `json:"-"`
			//lint:ignore SA5008 encoding/json reads this tag as the name "-", and so must we
			B int       `json:"-,"`
			C int       `json:",omitempty"`
			D time.Time `json:"d,omitzero"`
			E int64     `json:"e,string"`
			F *int      `json:"f,string"`
			G string    `json:"g,string"`
			h int
		}{E: 7, F: ptr(8), G: "x", h: 1}, `{"-":0,"e":"7","f":"8","g":"\"x\""}`},
		{"embedded", struct {
			base
			*Money
			Kind int `json:"kind"`
		}{base: base{"i", "shadowed"}, Kind: 3}, `{"id":"i","kind":3}`},
		{"time", at, `"2026-01-02T03:04:05.000006+01:00"`},
		{"pointer method on a value", struct{ B byPointer }{byPointer{"x"}}, `{"B":{"s":"x"}}`},
		{"pointer method in a map", map[string]byPointer{"k": {"x"}}, `{"k":{"s":"x"}}`},
		{"text method", []level{1, 3}, `["+","+++"]`},
		{"raw is made canonical", json.RawMessage(" { \"b\" : [1, 2.50], \"a\" : \"\\u0041\\/\" } "), `{"a":"A/","b":[1,2.50]}`},
		{"number", []any{json.Number("1e3"), json.Number("")}, `[1e3,0]`},
		{"recursive", node{Name: "a", Next: &node{Name: "b"}, Kids: map[string]node{"k": {Name: "c"}}},
			`{"name":"a","next":{"name":"b"},"kids":{"k":{"name":"c"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Append([]byte("before"), c.in)
			require.NoError(t, err)
			require.Equal(t, "before"+c.want, string(got))
			require.True(t, json.Valid(got[len("before"):]))
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	var cycle node
	cycle.Next = &cycle
	deep := func(n int) any {
		var v any = 1
		for range n {
			v = []any{v}
		}
		return v
	}
	for _, c := range []struct {
		name string
		in   any
		text string
	}{
		{"not a number", []float64{0, math.NaN()}, `"/1"`},
		{"infinity", math.Inf(-1), "-Inf"},
		{"invalid UTF-8", map[string]any{"a": flat{Currency: "\xff"}}, `"/a/currency"`},
		{"invalid UTF-8 in a key", map[string]int{"\xff": 1}, "UTF-8"},
		{"case variants in a map", map[string]int{"a": 1, "A": 2}, CodeCaseVariantKey},
		{"case variants in raw JSON", json.RawMessage(`{"k":1,"\u212a":2}`), CodeCaseVariantKey},
		{"duplicates in raw JSON", json.RawMessage(`{"k":1,"k":1}`), CodeDuplicateKey},
		{"broken raw JSON", json.RawMessage(`{`), CodeSyntax},
		{"two values in raw JSON", json.RawMessage(`1 2`), CodeTrailing},
		{"empty raw JSON", json.RawMessage{}, CodeSyntax},
		{"hidden embedded pointer", struct{ *base }{}, "unexported"},
		{"hidden named field", struct {
			base `json:"base"`
		}{}, "unexported"},
		{"not a json.Number", json.Number("0x1"), "not a JSON number"},
		{"a cycle", cycle, "nested deeper"},
		{"too deep", deep(DefaultDepth + 1), "nested deeper"},
		{"too deep in raw JSON", []json.RawMessage{json.RawMessage(strings.Repeat("[", DefaultDepth) + strings.Repeat("]", DefaultDepth))}, CodeTooDeep},
		{"a marshaler that gives null", []any{nothing{}}, "gave null"},
		{"a function", struct{ F func() }{}, `"/F"`},
		{"fields that differ by case", struct{ Ab, AB int }{}, "differ only by case"},
		{"year 10000", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "year"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Append(nil, c.in)
			require.ErrorContains(t, err, c.text)
		})
	}
	_, err := Append(nil, deep(DefaultDepth))
	require.NoError(t, err)
}

func TestDigest(t *testing.T) {
	got, err := Digest(map[string]int{"b": 1, "a": 2})
	require.NoError(t, err)
	require.Equal(t, DigestBytes([]byte(`{"a":2,"b":1}`)), got)
	require.Equal(t, "e3b0c44298fc1c149afbf4c8996fb924", DigestBytes(nil)) // SHA-256 of nothing, FIPS 180-4
	_, err = Digest(math.NaN())
	require.Error(t, err)
}

func TestAppendAllocates(t *testing.T) {
	v := flat{"order_123", 5000, "USD", true, 2}
	buf := make([]byte, 0, 256)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { buf, _ = Append(buf[:0], &v) }), 0.0)
}

func BenchmarkAppendFlat(b *testing.B) {
	v := flat{"order_123", 5000, "USD", true, 2}
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = Append(buf[:0], v)
	}
}

func BenchmarkMarshalFlat(b *testing.B) {
	v := flat{"order_123", 5000, "USD", true, 2}
	var buf bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		buf.Reset()
		_ = json.NewEncoder(&buf).Encode(v)
	}
}

func BenchmarkDecodeFlat(b *testing.B) {
	raw, _ := Append(nil, flat{"order_123", 5000, "USD", true, 2})
	b.ReportAllocs()
	for b.Loop() {
		var v flat
		if err := Decode(raw, &v, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshalFlat(b *testing.B) {
	raw, _ := Append(nil, flat{"order_123", 5000, "USD", true, 2})
	b.ReportAllocs()
	for b.Loop() {
		var v flat
		if err := json.Unmarshal(raw, &v); err != nil {
			b.Fatal(err)
		}
	}
}
