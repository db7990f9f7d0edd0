package price_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/examples/trading/price"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "262": "262", "262.0": "262", "147.7": "147.7", "-0.5": "-0.5", "0.000001": "0.000001", "0.100000": "0.1",
		"9223372036854.775807": "9223372036854.775807", "-9223372036854.775807": "-9223372036854.775807",
	} {
		d, err := price.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, d.String())
	}
	for _, text := range []string{
		"", "-", ".", "-0", "-0.0", "+1", " 1", "1 ", "01", "00", "1.", ".5", "1e2", "1E2", "0x1", "1_000", "1,000", "1.2.3", "--1",
		"NaN", "Inf", "-Inf", "null", "１", "0.0000001", "262ish", "about 260",
		"9223372036854.775808", "-9223372036854.775808", "9223372036855", strings.Repeat("9", price.MaxText+1),
	} {
		_, err := price.Parse(text)
		require.ErrorIs(t, err, price.ErrDecimal, "%q", text)
	}
	require.Panics(t, func() { price.Must("x") })
}

// The limit of the length is its own reason: one byte more, and the text is not looked at.
func TestParseMaxText(t *testing.T) {
	longest := "-9223372036854.775807"
	require.Len(t, longest, price.MaxText)
	_, err := price.Parse(longest)
	require.NoError(t, err)
	_, err = price.Parse("-0" + longest[1:])
	require.ErrorIs(t, err, price.ErrDecimal)
}

func TestJSON(t *testing.T) {
	var d price.Decimal
	require.NoError(t, json.Unmarshal([]byte(`"261.5"`), &d))
	require.Equal(t, price.Must("261.5"), d)
	for _, raw := range []string{`261.5`, `null`, `""`, `"1e2"`, `"NaN"`, `" 1"`, `"\u0031"`, `[]`, `{}`, `true`} {
		before := d
		require.ErrorIs(t, json.Unmarshal([]byte(raw), &d), price.ErrDecimal, raw)
		require.Equal(t, before, d, "a refused text changes nothing")
	}
	raw, err := json.Marshal(struct{ D price.Decimal }{price.Must("147.70")})
	require.NoError(t, err)
	require.JSONEq(t, `{"D":"147.7"}`, string(raw))
	require.True(t, json.Valid(d.JSONSchema()))
}

func TestInt(t *testing.T) {
	const most = 9_223_372_036_854
	for _, n := range []int64{0, 1, -1, most, -most} {
		_, err := price.Int(n)
		require.NoError(t, err)
	}
	for _, n := range []int64{most + 1, -most - 1} {
		_, err := price.Int(n)
		require.ErrorIs(t, err, price.ErrOverflow)
	}
}

func TestOverflow(t *testing.T) {
	most, least, tick := price.Must("9223372036854.775807"), price.Must("-9223372036854.775807"), price.Must("0.000001")
	for _, f := range []func() (price.Decimal, error){
		func() (price.Decimal, error) { return most.Add(tick) },
		func() (price.Decimal, error) { return least.Sub(tick) },
		func() (price.Decimal, error) { return least.Add(least) },
		func() (price.Decimal, error) { return most.Mul(price.Must("2")) },
		func() (price.Decimal, error) { return most.Mul(price.Must("1.000001")) },
		func() (price.Decimal, error) { return most.Mul(least) },
	} {
		_, err := f()
		require.Error(t, err)
	}
	_, err := tick.Mul(price.Must("0.5"))
	require.ErrorIs(t, err, price.ErrInexact)
	d, err := price.Must("9.5").Mul(price.Must("2000"))
	require.NoError(t, err)
	require.Equal(t, "19000", d.String())
}

// TestAgainstBigRationals holds every operation against arithmetic that cannot lose a digit.
func TestAgainstBigRationals(t *testing.T) {
	rat := func(d price.Decimal) *big.Rat {
		r, ok := new(big.Rat).SetString(d.String())
		require.True(t, ok)
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) price.Decimal {
			text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,6})?`).Draw(t, name)
			d, err := price.Parse(text)
			if err != nil {
				t.Skip(text) // reason: minus zero
			}
			return d
		}
		a, b := draw("a"), draw("b")
		require.Equal(t, rat(a).Cmp(rat(b)), a.Cmp(b))
		require.Equal(t, a == b, a.Cmp(b) == 0)
		for name, op := range map[string]struct {
			ours  func(price.Decimal) (price.Decimal, error)
			exact *big.Rat
		}{
			"add": {a.Add, new(big.Rat).Add(rat(a), rat(b))},
			"sub": {a.Sub, new(big.Rat).Sub(rat(a), rat(b))},
			"mul": {a.Mul, new(big.Rat).Mul(rat(a), rat(b))},
		} {
			got, err := op.ours(b)
			if err != nil {
				continue
			}
			require.Zero(t, rat(got).Cmp(op.exact), "%s %s %s", a, name, b)
		}
	})
}

// FuzzParse: what is read is written as the same value, and nothing panics.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"262", "-0.5", "1e9", "0.0000001", "9223372036854.775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := price.Parse(text)
		if err != nil {
			return
		}
		again, err := price.Parse(d.String())
		require.NoError(t, err)
		require.Equal(t, d, again)
	})
}
