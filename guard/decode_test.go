package guard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type decodeMoney struct {
	Minor    int64  `json:"minor" validate:"gt=0"`
	Currency string `json:"currency" validate:"len=3"`
}

type decodeHeader struct {
	OrderID string `json:"order_id" validate:"required"`
}

type decodePayload struct {
	decodeHeader
	Amount decodeMoney    `json:"amount"`
	Items  []decodeMoney  `json:"items,omitempty" validate:"dive"`
	Note   *string        `json:"note"`
	Rate   float64        `json:"rate,omitzero"`
	Due    time.Time      `json:"due,omitzero"`
	Extra  any            `json:"extra,omitempty"`
	Named  map[string]int `json:"named,omitempty"`
}

const decodeWhole = `{"order_id":"123","amount":{"minor":5000,"currency":"USD"}}`

// decodeWith is the whole payload with members put in before the closing brace.
func decodeWith(members string) string {
	return strings.TrimSuffix(decodeWhole, "}") + "," + members + "}"
}

func decodeCode(t *testing.T, err error) *FormError {
	t.Helper()
	require.ErrorIs(t, err, ErrForm)
	f, ok := errors.AsType[*FormError](err)
	require.True(t, ok, "%v is no FormError", err)
	require.Contains(t, err.Error(), f.Code)
	return f
}

func TestDecodeCodes(t *testing.T) {
	for _, c := range []struct{ code, path, raw string }{
		{"too_large", "", decodeWhole + strings.Repeat(" ", 64<<10+1-len(decodeWhole))},
		{"not_utf8", "", "{\"order_id\":\"\xff\"}"},
		{"not_utf8", "", "\xef\xbb"},
		{"syntax", "", ""},
		{"syntax", "", "\ufeff" + decodeWhole},
		{"syntax", "", `{"order_id":"1",}`},
		{"syntax", "", `{'order_id':"1"}`},
		{"syntax", "", `{/* c */}`},
		{"syntax", "/amount/minor", `{"amount":{"minor":NaN}}`},
		{"syntax", "/amount/minor", `{"amount":{"minor":Infinity}}`},
		{"syntax", "/amount/minor", `{"amount":{"minor":-Infinity}}`},
		{"lossy_number", "/amount/minor", `{"amount":{"minor":-0.5}}`},
		{"syntax", "/amount", `{"amount":{"minor":01}}`},
		{"syntax", "/amount/minor", `{"amount":{"minor":+1}}`},
		{"syntax", "/amount/minor", `{"amount":{"minor":--1}}`},
		{"syntax", "/amount", `{"amount":{"minor":0x10}}`},
		{"syntax", "/order_id", `{"order_id":"\ud800"}`},
		{"syntax", "/order_id", `{"order_id":"\udc00\ud800"}`},
		{"syntax", "/order_id", `{"order_id":"\x41"}`},
		{"syntax", "/order_id", "{\"order_id\":\"a\nb\"}"},
		{"trailing", "", decodeWhole + " {}"},
		{"trailing", "", decodeWhole + ","},
		{"trailing", "", decodeWhole + "\x00"},
		{"too_deep", "/extra" + strings.Repeat("/0", 31), decodeWith(`"extra":` + strings.Repeat("[", 32) + strings.Repeat("]", 32))},
		{"duplicate_key", "/amount", decodeWith(`"amount":{"minor":1,"currency":"USD"}`)},
		{"duplicate_key", "/order_id", decodeWith(`"order\u005fid":"123"`)},
		{"duplicate_key", "/extra/a", decodeWith(`"extra":{"a":1,"a":1}`)},
		{"duplicate_key", "/named/a", decodeWith(`"named":{"a":1,"a":1}`)},
		{"case_variant_key", "/Amount", decodeWith(`"Amount":1`)},
		{"case_variant_key", "/Order_ID", `{"Order_ID":"1"}`},
		{"case_variant_key", "/extra/\u212a", decodeWith(`"extra":{"k":1,"\u212a":1}`)},
		{"case_variant_key", "/named/A", decodeWith(`"named":{"a":1,"A":1}`)},
		{"unknown_field", "/to", decodeWith(`"to":"elsewhere"`)},
		{"unknown_field", "/amount/tax", `{"amount":{"tax":1}}`},
		{"unknown_field", "/a~1b~0", decodeWith(`"a/b~":1`)},
		{"missing_field", "/amount", `{"order_id":"123"}`},
		{"missing_field", "/order_id", `{}`},
		{"missing_field", "/items/1/currency", decodeWith(`"items":[{"minor":1,"currency":"EUR"},{"minor":1}]`)},
		{"null", "", `null`},
		{"null", "/amount", `{"amount":null}`},
		{"null", "/items", decodeWith(`"items":null`)},
		{"null", "/due", decodeWith(`"due":null`)},
		{"null", "/named/a", decodeWith(`"named":{"a":null}`)},
		{"wrong_type", "", `[]`},
		{"wrong_type", "", `"text"`},
		{"wrong_type", "/amount/minor", `{"amount":{"minor":"5000"}}`},
		{"wrong_type", "/order_id", `{"order_id":123}`},
		{"wrong_type", "/note", decodeWith(`"note":false`)},
		{"wrong_type", "/due", decodeWith(`"due":"tomorrow"`)},
		{"wrong_type", "/due", decodeWith(`"due":1781740800`)},
		{"lossy_number", "/amount/minor", `{"amount":{"minor":1.0}}`},
		{"lossy_number", "/amount/minor", `{"amount":{"minor":1e3}}`},
		{"lossy_number", "/amount/minor", `{"amount":{"minor":9223372036854775808}}`},
		{"lossy_number", "/rate", decodeWith(`"rate":9007199254740993`)},
		{"lossy_number", "/rate", decodeWith(`"rate":9007199254740993e0`)},
		{"lossy_number", "/rate", decodeWith(`"rate":1e400`)},
		{"lossy_number", "/rate", decodeWith(`"rate":1e-400`)},
		{"lossy_number", "/rate", decodeWith(`"rate":0.10000000000000000001`)},
		{"invalid", "/amount/minor", `{"order_id":"123","amount":{"minor":-1,"currency":"USD"}}`},
		{"invalid", "/order_id", `{"order_id":"","amount":{"minor":1,"currency":"USD"}}`},
		{"invalid", "/items/1/currency", decodeWith(`"items":[{"minor":1,"currency":"EUR"},{"minor":1,"currency":""}]`)},
	} {
		t.Run(c.code+" "+c.path, func(t *testing.T) {
			v, err := Decode[decodePayload]([]byte(c.raw))
			f := decodeCode(t, err)
			require.Equal(t, c.code, f.Code, err)
			require.Equal(t, c.path, f.Path, err)
			require.Zero(t, v)
			if c.code != "invalid" && c.code != "too_large" {
				_, err = DecodeStored[decodePayload]([]byte(c.raw))
				require.Equal(t, c.code, decodeCode(t, err).Code)
			}
		})
	}
}

func TestDecodeAccepts(t *testing.T) {
	for _, raw := range []string{
		decodeWhole,
		" \t\r\n" + decodeWhole + "\n",
		decodeWhole + strings.Repeat(" ", 64<<10-len(decodeWhole)),
		decodeWith(`"note":null,"extra":null,"items":[],"named":{}`),
		decodeWith(`"extra":` + strings.Repeat("[", 31) + strings.Repeat("]", 31)),
		decodeWith(`"rate":9007199254740992,"due":"2026-01-02T03:04:05Z"`),
	} {
		v, err := Decode[decodePayload]([]byte(raw))
		require.NoError(t, err)
		require.Equal(t, "123", v.OrderID)
		require.Equal(t, decodeMoney{5000, "USD"}, v.Amount)
	}
}

// Field case B100: parsers differ on duplicate keys, so the value that was judged is not the one that runs.
func TestB100DuplicateKeys(t *testing.T) {
	type line struct {
		Amount int `json:"amount"`
	}
	type order struct {
		Qty int `json:"qty"`
	}
	for raw, code := range map[string]string{
		`{"amount":1,"amount":9000}`:      "duplicate_key",
		`{"amount":1,"Amount":9000}`:      "case_variant_key",
		`{"Amount":1,"amount":9000}`:      "case_variant_key",
		`{"Amount":9000}`:                 "case_variant_key",
		`{"amount":1,"\u0061mount":9000}`: "duplicate_key",
		`{"amount":1,"other":2}`:          "unknown_field",
		`{"amount":1}{"amount":9000}`:     "trailing",
		`{"amount":1} x`:                  "trailing",
	} {
		v, err := Decode[line]([]byte(raw))
		require.Equal(t, code, decodeCode(t, err).Code, raw)
		require.Zero(t, v, raw)
	}
	_, err := Decode[order]([]byte(`{"qty":1,"qty":-1}`))
	require.Equal(t, "duplicate_key", decodeCode(t, err).Code)
	_, err = Decode[map[string]int]([]byte(`{"qty":1,"qty":-1}`))
	require.Equal(t, "duplicate_key", decodeCode(t, err).Code)
	v, err := Decode[line]([]byte(`{"amount":1}`))
	require.NoError(t, err)
	require.Equal(t, line{1}, v)
}

// Field case B102: missing and null content became "" and erased a file; an explicit "" is the schema's to judge.
func TestB102NullIsNotEmpty(t *testing.T) {
	type lax struct {
		Reason string `json:"reason"`
	}
	type strict struct {
		Reason string `json:"reason" validate:"min=1"`
	}
	for raw, code := range map[string]string{
		`{}`:                   "missing_field",
		`{"reason":null}`:      "null",
		`null`:                 "null",
		`[]`:                   "wrong_type",
		`"reason"`:             "wrong_type",
		`7`:                    "wrong_type",
		`{"reason":NaN}`:       "syntax",
		`{"reason":Infinity}`:  "syntax",
		`{"reason":-Infinity}`: "syntax",
		`NaN`:                  "syntax",
		``:                     "syntax",
	} {
		_, err := Decode[lax]([]byte(raw))
		require.Equal(t, code, decodeCode(t, err).Code, raw)
	}
	v, err := Decode[lax]([]byte(`{"reason":""}`))
	require.NoError(t, err)
	require.Equal(t, lax{}, v)
	_, err = Decode[strict]([]byte(`{"reason":""}`))
	require.Equal(t, "invalid", decodeCode(t, err).Code)
}

func TestDecodeReportsFirstFaultOfForm(t *testing.T) {
	_, err := Decode[decodePayload]([]byte(`{"x":1,"order_id":2,"order_id":2,]`))
	require.Equal(t, "unknown_field", decodeCode(t, err).Code)
	_, err = Decode[decodePayload]([]byte(`{"order_id":2,"x":1,"order_id":2,]`))
	require.Equal(t, "wrong_type", decodeCode(t, err).Code)
}

func TestDecodeReportsAllTags(t *testing.T) {
	_, err := Decode[decodePayload]([]byte(`{"order_id":"","amount":{"minor":0,"currency":"EURO"}}`))
	first := decodeCode(t, err)
	require.Equal(t, "/order_id", first.Path)
	require.Equal(t, "order_id does not satisfy required", first.Text)
	require.ErrorContains(t, err, `invalid at "/amount/minor": minor does not satisfy gt=0`)
	require.ErrorContains(t, err, `invalid at "/amount/currency": currency does not satisfy len=3`)
}

func TestDecodeQuotesLittle(t *testing.T) {
	long := strings.Repeat("k", 60<<10)
	_, err := Decode[decodePayload]([]byte(`{"` + long + `":1}`))
	require.Less(t, len(err.Error()), 512)
}

func TestDecodeStoredIgnoresTagsAndTakesMore(t *testing.T) {
	raw := `{"order_id":"","amount":{"minor":-1,"currency":""}}`
	v, err := DecodeStored[decodePayload]([]byte(raw))
	require.NoError(t, err)
	require.EqualValues(t, -1, v.Amount.Minor)
	_, err = DecodeStored[decodePayload]([]byte(raw + strings.Repeat(" ", 256<<10-len(raw))))
	require.NoError(t, err)
	_, err = DecodeStored[decodePayload]([]byte(raw + strings.Repeat(" ", 256<<10+1-len(raw))))
	require.Equal(t, "too_large", decodeCode(t, err).Code)
}

func TestDecodeUnsupported(t *testing.T) {
	type variants struct{ Ab, AB int }
	_, err := Decode[variants]([]byte(`{}`))
	require.Equal(t, "unsupported_type", decodeCode(t, err).Code)
	type loose struct {
		N any `json:"n" validate:"min=1"`
	}
	_, err = Decode[loose]([]byte(`{"n":true}`)) // validator panics here
	require.Equal(t, "unsupported_type", decodeCode(t, err).Code)
	_, err = Decode[fmt.Stringer]([]byte(`{}`))
	require.Equal(t, "unsupported_type", decodeCode(t, err).Code)
}

func TestValidate(t *testing.T) {
	bad := decodeMoney{0, "USD"}
	for _, fine := range []any{nil, 1, "x", []byte("x"), time.Time{}, []int{1}, (*decodeMoney)(nil),
		map[string]string{"a": "b"}, decodeMoney{1, "USD"}, []decodeMoney{{1, "USD"}}} {
		require.NoError(t, Validate(fine), "%T", fine)
	}
	for path, v := range map[string]any{
		"/minor":   bad,
		"/0/minor": []any{&bad},
		"/b/minor": map[string]decodeMoney{"b": bad, "a": {1, "EUR"}},
	} {
		f := decodeCode(t, Validate(v))
		require.Equal(t, path, f.Path)
		require.Equal(t, "invalid", f.Code)
	}
	require.Equal(t, "/minor", decodeCode(t, Validate(&bad)).Path)
}
