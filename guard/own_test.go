package guard

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/internal/canon"
)

type ownPlain struct {
	Name string `json:"name" validate:"required,max=4"`
	Cut  bool   `json:"cut,omitempty"`
	Sum  struct {
		Minor    int64  `json:"minor,string"`
		Currency string `json:"currency"`
	} `json:"sum"`
	Count uint8
}

type ownLoud string

func (l ownLoud) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(l))), nil }

// Which types decode to themselves, and which must be decoded.
func TestDecodesToItself(t *testing.T) {
	for _, v := range []any{"", true, int64(0), 0, uint8(0), ChoiceYes, ownPlain{}, struct{}{}} {
		require.True(t, decodesToItself(reflect.TypeOf(v)), "%T", v)
	}
	type embedded struct{ ownPlain }
	text := reflect.TypeFor[string]()
	twice := reflect.StructOf([]reflect.StructField{{Name: "A", Type: text, Tag: `json:"x"`}, {Name: "B", Type: text, Tag: `json:"x"`}})
	for _, v := range []any{
		0.5, json.Number("1"), json.RawMessage(`1`), []string{}, map[string]string{}, &ownPlain{}, time.Time{}, [1]string{}, ownLoud(""), Source{}, embedded{},
		reflect.Zero(twice).Interface(), struct{ A ownLoud }{}, struct{ A any }{}, struct {
			A string `json:"-"`
		}{}, Reply{},
	} {
		require.False(t, decodesToItself(reflect.TypeOf(v)), "%T", v)
	}
}

// requireOwn checks that a value comes out as if it had been decoded, and is refused when decoding refuses it.
func requireOwn[T any](t require.TestingT, v T) {
	i := NewFact[T]("f", From("source"), Lasting()).Info()
	raw, err := canon.Bytes(v)
	if err != nil {
		return // Verify goes no further
	}
	want, wrong := i.Decode(raw)
	got, err := i.own(v, raw)
	if wrong != nil {
		require.EqualError(t, err, wrong.Error())
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// Property: values that are not decoded are as if they were.
func TestOwnIsDecoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v ownPlain
		v.Name, v.Cut, v.Count = rapid.StringN(0, 6, -1).Draw(t, "name"), rapid.Bool().Draw(t, "cut"), rapid.Uint8().Draw(t, "count")
		v.Sum.Minor, v.Sum.Currency = rapid.Int64().Draw(t, "minor"), rapid.String().Draw(t, "currency")
		requireOwn(t, v)
		requireOwn(t, v.Name)
		requireOwn(t, v.Sum.Minor)

		text := rapid.OneOf(rapid.StringN(0, 8, -1), rapid.Just(strings.Repeat("x", 256)), rapid.Just(strings.Repeat("x", 257)), rapid.Just(strings.Repeat("é", 256)),
			rapid.Just(strings.Repeat("x", MaxReplyText)), rapid.Just(strings.Repeat("x", MaxReplyText+1)))
		r := Reply{By: text.Draw(t, "by"), Text: text.Draw(t, "text"),
			Choice: rapid.SampledFrom([]Choice{ChoiceNone, ChoiceYes, ChoiceNo, "perhaps"}).Draw(t, "choice"),
			Roles:  rapid.SampledFrom([][]string{nil, {}, {"agent"}, {"", "b"}}).Draw(t, "roles")}
		if rapid.Bool().Draw(t, "shown") {
			at := time.Unix(0, rapid.Int64().Draw(t, "at")).UTC()
			at = rapid.SampledFrom([]time.Time{at, {}, at.In(time.FixedZone("", 3600)), at.In(time.Local), time.Now(), time.Now().UTC()}).Draw(t, "shown at")
			r.Shown = &Shown{Message: text.Draw(t, "message"), At: at}
		}
		requireOwn(t, r)
	})
}

// What the observer does with its own memory later changes no fact.
func TestOwnReplySharesNothing(t *testing.T) {
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	r := Reply{By: "alice", Text: "yes", Roles: []string{"agent"}, Shown: &Shown{Message: "m", At: at}}
	own, plain := r.own()
	require.True(t, plain)
	r.Roles[0], r.Shown.Message = "boss", "other"
	require.Equal(t, Reply{By: "alice", Text: "yes", Roles: []string{"agent"}, Shown: &Shown{Message: "m", At: at}}, own)
}

// Property: values that are compared without being encoded are the same exactly when they would be stored alike.
func TestSameIsStoredAlike(t *testing.T) {
	same := NewFact[ownPlain]("f", From("source"), Lasting()).Info().Same
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (v ownPlain) {
			v.Name, v.Cut, v.Count = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, name), rapid.Bool().Draw(t, "cut"), uint8(rapid.IntRange(0, 1).Draw(t, "count"))
			v.Sum.Minor = int64(rapid.IntRange(-1, 1).Draw(t, "minor"))
			return v
		}
		a, b := draw("one"), draw("other")
		require.Equal(t, canon.Equal(a, b), same(a, b))
		require.True(t, same(a, a))
	})
}
