// Package price holds prices and quantities as exact decimals: whole millionths in an int64. There is no float in it, nothing is
// ever rounded, and a sum that does not fit is an error.
package price

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

const (
	// Scale is how many digits may stand behind the point.
	Scale = 6
	// MaxText is the longest text that Parse looks at, in bytes: a sign, the 19 digits of an int64, and a point.
	MaxText = 21

	unit = 1_000_000 // one, in millionths
)

var (
	// ErrDecimal says that a text is not a plain decimal of at most Scale digits behind the point, or is too large for one.
	ErrDecimal = errors.New("not a plain decimal")
	// ErrOverflow says that a result does not fit.
	ErrOverflow = errors.New("decimal overflows")
	// ErrInexact says that a product has more than Scale digits behind the point.
	ErrInexact = errors.New("decimal is not exact")
)

// Decimal is a price or a quantity. The zero value is 0. Values are comparable with ==, since each number has one
// representation. Safe for concurrent use.
type Decimal struct{ millionths int64 }

// Int is a whole number. ErrOverflow if it does not fit.
func Int(n int64) (Decimal, error) {
	if n > math.MaxInt64/unit || n < -math.MaxInt64/unit {
		return Decimal{}, fmt.Errorf("%w: %d", ErrOverflow, n)
	}
	return Decimal{n * unit}, nil
}

// Parse reads a plain decimal: ASCII digits without a superfluous leading zero, perhaps a minus before them, perhaps a point and
// one to Scale digits behind it. Anything else is ErrDecimal: no exponent, no plus, no space, no separator, no NaN, no minus
// zero. Nothing is guessed (field case B099), and nothing is rounded into being.
func Parse(text string) (Decimal, error) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	plain := len(text) <= MaxText && isDigits(whole) && (whole == "0" || whole[0] != '0') &&
		(!point || isDigits(fraction) && len(fraction) <= Scale)
	if !plain {
		return Decimal{}, fmt.Errorf("%w: %.40q", ErrDecimal, text)
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", Scale-len(fraction)), 10, 64)
	if err != nil || negative && n == 0 {
		return Decimal{}, fmt.Errorf("%w: %.40q", ErrDecimal, text)
	}
	if negative {
		n = -n
	}
	return Decimal{n}, nil
}

// Must is Parse for constants of a program; it panics when the text is none.
func Must(text string) Decimal {
	d, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return d
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// String is the shortest decimal that Parse reads as the same value: 262, 147.7, -0.5.
func (d Decimal) String() string {
	sign, n := "", uint64(d.millionths)
	if d.millionths < 0 {
		sign, n = "-", -n
	}
	text := sign + strconv.FormatUint(n/unit, 10)
	if rest := n % unit; rest != 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%0*d", Scale, rest), "0")
	}
	return text
}

// Cmp is -1 when d is less than e, 0 when they are equal, 1 when it is greater.
func (d Decimal) Cmp(e Decimal) int {
	switch {
	case d.millionths < e.millionths:
		return -1
	case d.millionths > e.millionths:
		return 1
	}
	return 0
}

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int { return d.Cmp(Decimal{}) }

// Add is d plus e, or ErrOverflow.
func (d Decimal) Add(e Decimal) (Decimal, error) {
	sum := d.millionths + e.millionths
	if (sum > d.millionths) != (e.millionths > 0) && e.millionths != 0 || sum == math.MinInt64 {
		return Decimal{}, fmt.Errorf("%w: %s plus %s", ErrOverflow, d, e)
	}
	return Decimal{sum}, nil
}

// Sub is d minus e, or ErrOverflow.
func (d Decimal) Sub(e Decimal) (Decimal, error) { return d.Add(Decimal{-e.millionths}) }

// Mul is d times e: ErrInexact when the product has more than Scale digits behind the point, ErrOverflow when it does not fit.
func (d Decimal) Mul(e Decimal) (Decimal, error) {
	high, low := bits.Mul64(magnitude(d), magnitude(e))
	if high >= unit {
		return Decimal{}, fmt.Errorf("%w: %s times %s", ErrOverflow, d, e)
	}
	n, rest := bits.Div64(high, low, unit)
	switch {
	case rest != 0:
		return Decimal{}, fmt.Errorf("%w: %s times %s", ErrInexact, d, e)
	case n > math.MaxInt64:
		return Decimal{}, fmt.Errorf("%w: %s times %s", ErrOverflow, d, e)
	case d.Sign() != e.Sign():
		return Decimal{-int64(n)}, nil
	}
	return Decimal{int64(n)}, nil
}

func magnitude(d Decimal) uint64 { return uint64(max(d.millionths, -d.millionths)) }

// MarshalJSON writes the decimal as a string: a JSON number goes through a float in many readers.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(`"` + d.String() + `"`), nil }

// UnmarshalJSON reads a JSON string as Parse does. A number, null and everything else are ErrDecimal: null is not 0.
func (d *Decimal) UnmarshalJSON(raw []byte) error {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return fmt.Errorf("%w: %.40s is no string", ErrDecimal, raw)
	}
	parsed, err := Parse(string(raw[1 : len(raw)-1]))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// JSONSchema is the schema of that string, for tools that take a decimal.
func (Decimal) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type":"string","pattern":"^-?(0|[1-9][0-9]*)(\\.[0-9]{1,6})?$"}`)
}
