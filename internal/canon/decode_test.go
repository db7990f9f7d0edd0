package canon

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func fault(t *testing.T, err error) *SyntaxError {
	t.Helper()
	e, ok := errors.AsType[*SyntaxError](err)
	require.True(t, ok, "%v", err)
	require.Contains(t, e.Error(), e.Code)
	return e
}

func TestScan(t *testing.T) {
	for _, c := range []struct {
		raw, code, path string
		offset          int
	}{
		{` {"a":[1,-0.5e+10,true,false,null,"\u00e9\ud83d\ude00\/"],"b":{}} `, "", "", 0},
		{`{"a":{"k":1},"b":{"k":1,"K2":2}}`, "", "", 0},
		{``, CodeSyntax, "", 0},
		{`  `, CodeSyntax, "", 2},
		{`nul`, CodeSyntax, "", 0},
		{`True`, CodeSyntax, "", 0},
		{`NaN`, CodeSyntax, "", 0},
		{`-`, CodeSyntax, "", 1},
		{`1.`, CodeSyntax, "", 2},
		{`.5`, CodeSyntax, "", 0},
		{`1e+`, CodeSyntax, "", 3},
		{`01`, CodeTrailing, "", 1},
		{`[1,]`, CodeSyntax, "/1", 3},
		{`[1 2]`, CodeSyntax, "", 3},
		{`{"a" 1}`, CodeSyntax, "", 5},
		{`{"a":1,}`, CodeSyntax, "", 7},
		{`{a:1}`, CodeSyntax, "", 1},
		{`"a`, CodeSyntax, "", 2},
		{`"\`, CodeSyntax, "", 2},
		{`"\u12"`, CodeSyntax, "", 3},
		{`"\u+123"`, CodeSyntax, "", 3},
		{`"\ud800"`, CodeSyntax, "", 1},
		{`"\ud800\n"`, CodeSyntax, "", 1},
		{`"\ud800\ud800"`, CodeSyntax, "", 1},
		{"\"\t\"", CodeSyntax, "", 1},
		{"\"\\n\t\"", CodeSyntax, "", 3},
		{"[\"\xc3\"]", CodeNotUTF8, "", 2},
		{"\"\xed\xa0\x80\"", CodeNotUTF8, "", 1},
		{`[{"a":1,"b":2,"a":3}]`, CodeDuplicateKey, "/0/a", 14},
		{`{"\u0061":1,"a":1}`, CodeDuplicateKey, "/a", 12},
		{`{"ß":1,"ẞ":2}`, CodeCaseVariantKey, "/ẞ", 8},
		{`{"s":1,"ſ":2}`, CodeCaseVariantKey, "/ſ", 7},
		{`{} []`, CodeTrailing, "", 3},
	} {
		err := Scan([]byte(c.raw), Limits{})
		if c.code == "" {
			require.NoError(t, err, c.raw)
			continue
		}
		e := fault(t, err)
		require.Equal(t, []any{c.code, c.path, c.offset}, []any{e.Code, e.Path, e.Offset}, "%s: %v", c.raw, err)
	}
}

func TestScanFindsTwinsAmongMany(t *testing.T) {
	keys := func(n int, last string) []byte {
		var b strings.Builder
		for i := range n {
			b.WriteString(`"key` + string(rune('a'+i)) + `":0,`)
		}
		return []byte("{" + b.String() + `"` + last + `":0}`)
	}
	for _, n := range []int{fewKeys - 1, fewKeys, fewKeys + 1, 26} {
		require.NoError(t, Scan(keys(n, "other"), Limits{}))
		last := "key" + string(rune('a'+n-1))
		require.Equal(t, CodeDuplicateKey, fault(t, Scan(keys(n, last), Limits{})).Code)
		require.Equal(t, CodeCaseVariantKey, fault(t, Scan(keys(n, strings.ToUpper(last)), Limits{})).Code)
	}
}

func TestLimits(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2)) }
	sized := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }
	var v any
	for _, check := range []func([]byte, Limits) error{
		Scan,
		func(raw []byte, lim Limits) error { return Decode(raw, &v, lim) },
	} {
		require.NoError(t, check(nested(DefaultDepth), Limits{}))
		require.Equal(t, CodeTooDeep, fault(t, check(nested(DefaultDepth+2), Limits{})).Code)
		require.NoError(t, check([]byte("[[]]"), Limits{Depth: 2}))
		require.Equal(t, CodeTooDeep, fault(t, check([]byte("[[]]"), Limits{Depth: 1})).Code)
		require.NoError(t, check(sized(DefaultSize), Limits{}))
		require.Equal(t, CodeTooLarge, fault(t, check(sized(DefaultSize+1), Limits{})).Code)
		require.NoError(t, check(sized(10), Limits{Size: 10}))
		require.Equal(t, CodeTooLarge, fault(t, check(sized(11), Limits{Size: 10})).Code)
	}
}

type Embedded struct {
	A int `json:"a"`
	B int `json:"b"`
}

type wide struct {
	*Embedded
	Bool   bool              `json:"bool,omitempty"`
	I8     int8              `json:"i8,omitempty"`
	U16    uint16            `json:"u16,omitempty"`
	F32    float32           `json:"f32,omitempty"`
	F64    float64           `json:"f64,omitempty"`
	Text   string            `json:"text,omitempty"`
	Bytes  []byte            `json:"bytes,omitempty"`
	Pair   [2]int            `json:"pair,omitzero"`
	Time   time.Time         `json:"time,omitzero"`
	Big    *big.Int          `json:"big"`
	Raw    json.RawMessage   `json:"raw,omitempty"`
	Number json.Number       `json:"number,omitempty"`
	Any    any               `json:"any,omitempty"`
	Ints   map[int8]string   `json:"ints,omitempty"`
	Levels map[level]int     `json:"levels,omitempty"`
	Own    map[string]*level `json:"own,omitempty"`
	Quoted int64             `json:"quoted,string,omitempty"`
	Method byPointer         `json:"method,omitzero"`
}

func TestDecodeTypes(t *testing.T) {
	two := level(2)
	for raw, want := range map[string]wide{
		`{}`:                  {},
		` { "a" : 1 ,"b":2} `: {Embedded: &Embedded{1, 2}},
		`{"bool":true,"i8":-128,"u16":65535,"f32":16777216,"f64":-9007199254740992}`: {Bool: true, I8: -128, U16: 65535, F32: 1 << 24, F64: -1 << 53},
		`{"f64":1e23,"f32":0.1}`: {F64: 1e23, F32: 0.1},
		`{"f64":2.50}`:           {F64: 2.5},
		`{"text":"\u0041\ud83d\ude00\\","bytes":"aGk="}`: {Text: "A😀\\", Bytes: []byte("hi")},
		`{"pair":[1,2],"big":123456789012345678901234567890}`: {Pair: [2]int{1, 2}, Big: func() *big.Int {
			n, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
			return n
		}()},
		`{"time":"2026-01-02T03:04:05Z","big":null}`: {Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		`{"raw": [ 1 ] ,"number":1e400}`:             {Raw: json.RawMessage(`[ 1 ]`), Number: "1e400"},
		`{"raw":null,"any":null}`:                    {Raw: json.RawMessage("null")},
		`{"any":{"a":[1.0,"x",true,null]}}`:          {Any: map[string]any{"a": []any{json.Number("1.0"), "x", true, nil}}},
		`{"ints":{"-1":"a"},"levels":{"++":1}}`:      {Ints: map[int8]string{-1: "a"}, Levels: map[level]int{2: 1}},
		`{"own":{"a":"++","b":null}}`:                {Own: map[string]*level{"a": &two, "b": nil}},
		`{"quoted":"-7","method":{"s":"x"}}`:         {Quoted: -7, Method: byPointer{"x"}},
	} {
		var got wide
		require.NoError(t, Decode([]byte(raw), &got, Limits{}), raw)
		require.Equal(t, want, got, raw)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ raw, code, path string }{
		{`{"a":1}`, CodeMissingField, "/b"},
		{`{"a":1,"b":2,"a":1}`, CodeDuplicateKey, "/a"},
		{`{"a":1,"B":2}`, CodeCaseVariantKey, "/B"},
		{`{"text":"","teXt":""}`, CodeCaseVariantKey, "/teXt"},
		{`{"c":1}`, CodeUnknownField, "/c"},
		{`{"i8":128}`, CodeLossyNumber, "/i8"},
		{`{"u16":-1}`, CodeLossyNumber, "/u16"},
		{`{"u16":65536}`, CodeLossyNumber, "/u16"},
		{`{"f32":16777217}`, CodeLossyNumber, "/f32"},
		{`{"f32":16777218}`, CodeLossyNumber, "/f32"},
		{`{"f64":9007199254740994}`, CodeLossyNumber, "/f64"},
		{`{"f64":-9007199254740993}`, CodeLossyNumber, "/f64"},
		{`{"f64":1e309}`, CodeLossyNumber, "/f64"},
		{`{"f64":1e99999999999999999999}`, CodeLossyNumber, "/f64"},
		{`{"bytes":"aGk"}`, CodeWrongType, "/bytes"},
		{`{"bytes":"aG\nk="}`, CodeWrongType, "/bytes"},
		{`{"bytes":"aGl="}`, CodeWrongType, "/bytes"},
		{`{"bytes":[1]}`, CodeWrongType, "/bytes"},
		{`{"pair":[1]}`, CodeWrongType, "/pair"},
		{`{"pair":[1,2,3]}`, CodeWrongType, "/pair/2"},
		{`{"pair":[1,null]}`, CodeNull, "/pair/1"},
		{`{"big":"x"}`, CodeWrongType, "/big"},
		{`{"number":"1"}`, CodeWrongType, "/number"},
		{`{"number":null}`, CodeNull, "/number"},
		{`{"raw":{"a":1,"a":2}}`, CodeDuplicateKey, "/raw/a"},
		{`{"big":{"a":1,"a":2}}`, CodeDuplicateKey, "/big/a"},
		{`{"ints":{"01":"a"}}`, CodeWrongType, "/ints/01"},
		{`{"ints":{"128":"a"}}`, CodeWrongType, "/ints/128"},
		{`{"ints":{"1":null}}`, CodeNull, "/ints/1"},
		{`{"levels":{"++":1,"xx":2}}`, CodeDuplicateKey, "/levels/xx"},
		{`{"quoted":7}`, CodeWrongType, "/quoted"},
		{`{"quoted":"7 8"}`, CodeTrailing, "/quoted"},
		{`{"quoted":"null"}`, CodeNull, "/quoted"},
		{`{"quoted":"9223372036854775808"}`, CodeLossyNumber, "/quoted"},
		{`{"method":null}`, CodeNull, "/method"},
		{`{"Embedded":{"a":1,"b":2}}`, CodeUnknownField, "/Embedded"},
	} {
		got := wide{Text: "untouched"}
		e := fault(t, Decode([]byte(c.raw), &got, Limits{}))
		require.Equal(t, c.code, e.Code, "%s: %v", c.raw, e)
		require.Equal(t, c.path, e.Path, c.raw)
		require.Equal(t, wide{Text: "untouched"}, got, c.raw)
	}
}

func TestDecodeNeedsAPointer(t *testing.T) {
	for _, dst := range []any{nil, 1, (*int)(nil)} {
		require.Equal(t, CodeUnsupported, fault(t, Decode([]byte("1"), dst, Limits{})).Code)
	}
}

func TestDecodeManyFields(t *testing.T) {
	var fields []reflect.StructField
	for i := range 100 {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[int]()})
	}
	want := reflect.New(reflect.StructOf(fields))
	want.Elem().Field(99).SetInt(7)
	raw, err := Append(nil, want.Interface())
	require.NoError(t, err)
	got := reflect.New(want.Type().Elem())
	require.NoError(t, Decode(raw, got.Interface(), Limits{}))
	require.Equal(t, want.Interface(), got.Interface())
	twice := strings.Replace(string(raw), `"F98":0`, `"F99":7`, 1)
	require.Equal(t, CodeDuplicateKey, fault(t, Decode([]byte(twice), got.Interface(), Limits{})).Code)
}

// Which of several fields with one name counts is as in encoding/json.
func TestEmbeddingRules(t *testing.T) {
	type Inner struct {
		Same, Deep, Tagged string
	}
	type Left struct {
		Same  string
		Other string `json:"Tagged"`
		Inner
	}
	type Right struct {
		Same   string
		Tagged string
	}
	v := struct {
		Left
		Right
		Label Inner `json:"label"`
	}{Left: Left{"l", "tag", Inner{"i", "d", "t"}}, Right: Right{"r", "plain"}}
	want, err := json.Marshal(v)
	require.NoError(t, err)
	got, err := Append(nil, v)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

func TestConcurrentCompilation(t *testing.T) {
	type tree struct {
		Kids []tree           `json:"kids"`
		By   map[string]*tree `json:"by"`
	}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			raw, err := Append(nil, tree{Kids: []tree{{}}, By: map[string]*tree{"a": nil}})
			assert.NoError(t, err)
			assert.Equal(t, `{"kids":[{"kids":[],"by":{}}],"by":{"a":null}}`, string(raw))
			var back tree
			assert.NoError(t, Decode(raw, &back, Limits{}))
		})
	}
	wg.Wait()
}
