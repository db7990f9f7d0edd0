package machine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type price int64

func (p price) String() string { return "EUR 4\u200b3" }

type nested struct {
	Name  string            `json:"name"`
	Skip  string            `json:"-"`
	Tags  map[string]string `json:"tags"`
	Maybe *int              `json:"maybe"`
	Raw   json.RawMessage   `json:"raw_args"`
	Price price
	inner int
}

// TestPlain: what a person is shown is what will run (field case B042): invisible and reordering characters are written out,
// ordinary text of any language stays as it is.
func TestPlain(t *testing.T) {
	seven := 7
	for _, row := range []struct {
		v    any
		want string
	}{
		{"ACME", `"ACME"`},
		{"ACME\u200b", `"ACME\u200b"`},
		{"pay \u202eevil", `"pay \u202eevil"`},
		{"a\u2028b\u2066", `"a\u2028b\u2066"`},
		{"say \"yes\"\n", `"say \"yes\"\n"`},
		{"王小明, مرحبا, 🎉", `"王小明, مرحبا, 🎉"`},
		{price(1), `EUR 4\u200b3`},
		{[]string{"a", "b"}, `"a" and "b"`},
		{[]int{}, ""},
		{true, "true"},
		{int64(43), "43"},
		{&seven, "7"},
		{(*int)(nil), "none"},
		{map[string]string{"b": "2", "a": "\u200b1"}, `a "\u200b1", b "2"`},
		{nested{Name: "n", Skip: "s", Tags: map[string]string{"k": "v"}, Raw: json.RawMessage(`{"x":"\u200b"}`), inner: seven}, `name "n", tags k "v", maybe none, raw args {"x":"\u200b"}, Price EUR 4\u200b3`},
		{[]byte("ab"), `"ab"`},
		{nil, "none"},
		{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "2026-01-02 03:04:05 +0000 UTC"},
	} {
		require.Equal(t, row.want, plain(row.v), "%#v", row.v)
	}
}
