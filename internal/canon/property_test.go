package canon

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type sample struct {
	Flat  flat             `json:"flat"`
	Maybe *Money           `json:"maybe"`
	List  []Money          `json:"list,omitempty"`
	Map   map[string]int64 `json:"map,omitempty"`
	Float float64          `json:"float"`
	Small float32          `json:"small,omitzero"`
	Any   any              `json:"any"`
	Bytes []byte           `json:"bytes,omitempty"`
	When  time.Time        `json:"when,omitzero"`
	Array [2]uint16        `json:"array"`
}

func anyValue(depth int) *rapid.Generator[any] {
	scalar := rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.String().AsAny(),
		rapid.Map(rapid.Int64(), func(n int64) any { raw, _ := json.Marshal(n); return json.Number(raw) }),
	)
	if depth == 0 {
		return scalar
	}
	return rapid.OneOf(scalar,
		rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 4), func(s []any) any { return s }),
		rapid.Map(plainMap(anyValue(depth-1)), func(m map[string]any) any { return m }),
	)
}

// plainMap has keys of which no two differ by case only.
func plainMap[V any](value *rapid.Generator[V]) *rapid.Generator[map[string]V] {
	return rapid.MapOfN(rapid.StringMatching(`[a-z0-9_/~"\\é世]{0,5}`), value, 0, 20)
}

func drawSample(t *rapid.T) sample {
	finite := rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) })
	s := sample{
		Flat: flat{rapid.String().Draw(t, "id"), rapid.Int64().Draw(t, "minor"), rapid.String().Draw(t, "currency"),
			rapid.Bool().Draw(t, "eligible"), rapid.Uint8().Draw(t, "attempt")},
		Float: finite.Draw(t, "float"),
		Small: float32(rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32).Draw(t, "small")),
		Any:   anyValue(3).Draw(t, "any"),
		Array: [2]uint16{rapid.Uint16().Draw(t, "first"), rapid.Uint16().Draw(t, "second")},
		When:  time.UnixMicro(rapid.Int64Range(-1e15, 1e17).Draw(t, "when")).UTC(),
	}
	if rapid.Bool().Draw(t, "full") {
		s.Maybe = &Money{rapid.Int64().Draw(t, "maybe"), "USD"}
		s.List = []Money{{1, rapid.String().Draw(t, "list")}}
		s.Map = plainMap(rapid.Int64()).Filter(func(m map[string]int64) bool { return len(m) > 0 }).Draw(t, "map")
		s.Bytes = rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "bytes")
	}
	return s
}

// What Append writes is read back as the same value, by Decode and by encoding/json, and its bytes do not change.
func TestRapidRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawSample(t)
		raw, err := Append(nil, want)
		require.NoError(t, err)
		var got, theirs sample
		require.NoError(t, Decode(raw, &got, Limits{}), "%s", raw)
		require.Equal(t, want, got)
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		require.NoError(t, d.Decode(&theirs))
		require.Equal(t, want, theirs)
		again, err := Append(nil, &got)
		require.NoError(t, err)
		require.Equal(t, string(raw), string(again))
	})
}

// What encoding/json writes means the same to Decode, and raw JSON has the canonical form of the map it stands for.
func TestRapidAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyValue(4).Draw(t, "value")
		raw, err := json.MarshalIndent(want, " ", "\t")
		require.NoError(t, err)
		var got any
		require.NoError(t, Decode(raw, &got, Limits{}), "%s", raw)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%#v became %#v by %s", want, got, raw)
		}
		direct, err := Append(nil, want)
		require.NoError(t, err)
		throughRaw, err := Append(nil, json.RawMessage(raw))
		require.NoError(t, err)
		require.Equal(t, string(direct), string(throughRaw))
	})
}

// Scan accepts nothing that encoding/json refuses, and whatever else it refuses has a code other than syntax, but for
// half surrogate pairs.
func TestRapidScanGrammar(t *testing.T) {
	piece := rapid.SampledFrom([]string{"{", "}", "[", "]", ",", ":", `"a"`, `"b"`, `"\u00e9"`, "1", "-", "0", ".", "e", "+", "true", "null", " ", "\n", `"`, "\\", "x"})
	rapid.Check(t, func(t *rapid.T) {
		var raw []byte
		for _, p := range rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces") {
			raw = append(raw, p...)
		}
		err := Scan(raw, Limits{})
		if valid := json.Valid(raw); valid != (err == nil) {
			e, ok := err.(*SyntaxError)
			if !valid || !ok || e.Code == CodeSyntax || e.Code == CodeTrailing {
				t.Fatalf("%q: encoding/json says valid=%v, Scan says %v", raw, valid, err)
			}
		}
	})
}
