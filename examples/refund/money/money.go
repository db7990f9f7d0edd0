// Package money holds amounts as whole minor units of a currency, and reads what a person types only when
// there is exactly one way to read it. There is no float64 in it.
package money

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxText is the longest text that ParseAmount looks at, in bytes: an int64 has at most 19 digits, and one dot.
const MaxText = 20

var (
	// ErrInvalidAmount says that a text is not a canonical amount of its currency, or is too large for one.
	ErrInvalidAmount = errors.New("invalid amount")
	// ErrUnknownCurrency says that a currency code is none of those in this package's table.
	ErrUnknownCurrency = errors.New("unknown currency")
	// ErrOtherCurrency says that two amounts of different currencies were to be added or subtracted.
	ErrOtherCurrency = errors.New("other currency")
	// ErrOverflow says that a sum or a difference does not fit in an int64 of minor units.
	ErrOverflow = errors.New("amount overflows")
)

// scales is how many digits of each currency stand behind the dot (ISO 4217).
var scales = map[string]int{
	"BHD": 3, "CHF": 2, "EUR": 2, "GBP": 2, "JPY": 0, "KWD": 3, "USD": 2,
}

// Money is an amount of one currency. The zero value is no money at all: it has no currency, and Check
// refuses it. Values are comparable with ==. Negative amounts are legal: a difference may be one. As a payload, or as a task's
// data, only an amount above zero, of at most a billion of a currency with two decimals, is in the required form.
type Money struct {
	// Minor counts the currency's smallest units: 4300 is 43.00 EUR, and 43 is 43 JPY.
	Minor int64 `json:"minor" validate:"min=1,max=100000000000"`
	// Currency is an upper-case ISO 4217 code.
	Currency string `json:"currency" validate:"oneof=BHD CHF EUR GBP JPY KWD USD"`
}

// Check returns ErrUnknownCurrency unless m's currency is in the table.
func (m Money) Check() error {
	_, err := scale(m.Currency)
	return err
}

// ParseAmount reads an amount that a person typed. It takes the canonical form only: ASCII digits without a
// superfluous leading zero and, if the currency has minor units, one dot and exactly as many digits behind it.
// Anything else is ErrInvalidAmount: there is no guessing at separators, signs, spaces or exponents (field case B099).
// Zero is an amount; whether it makes sense is for the caller to say.
func ParseAmount(text, currency string) (Money, error) {
	digits, err := scale(currency)
	if err != nil {
		return Money{}, err
	}
	if len(text) > MaxText {
		return Money{}, fmt.Errorf("%w: %d bytes where %d are the most", ErrInvalidAmount, len(text), MaxText)
	}
	whole, fraction, dot := strings.Cut(text, ".")
	canonical := isDigits(whole) && (whole == "0" || whole[0] != '0') &&
		dot == (digits > 0) && len(fraction) == digits && (digits == 0 || isDigits(fraction))
	if !canonical {
		return Money{}, fmt.Errorf("%w: %q is not digits%s of %s", ErrInvalidAmount, text, pattern(digits), currency)
	}
	minor, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return Money{}, fmt.Errorf("%w: %q %s is more than can be held", ErrInvalidAmount, text, currency)
	}
	return Money{Minor: minor, Currency: currency}, nil
}

// String is the amount in canonical form and its currency, such as "43.00 EUR". An amount of an unknown
// currency is shown in minor units, since nobody knows where its dot belongs.
func (m Money) String() string {
	digits, err := scale(m.Currency)
	if err != nil {
		return fmt.Sprintf("%d minor units of %q", m.Minor, m.Currency)
	}
	text := strconv.FormatInt(m.Minor, 10)
	sign := ""
	if m.Minor < 0 {
		sign, text = "-", text[1:]
	}
	if missing := digits + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	if digits > 0 {
		text = text[:len(text)-digits] + "." + text[len(text)-digits:]
	}
	return sign + text + " " + m.Currency
}

// Add returns m plus n: ErrOtherCurrency if their currencies differ, ErrUnknownCurrency if they have none
// that is known, ErrOverflow if the sum does not fit.
func (m Money) Add(n Money) (Money, error) {
	if err := m.same(n); err != nil {
		return Money{}, err
	}
	if n.Minor > 0 && m.Minor > math.MaxInt64-n.Minor || n.Minor < 0 && m.Minor < math.MinInt64-n.Minor {
		return Money{}, fmt.Errorf("%w: %s plus %s", ErrOverflow, m, n)
	}
	return Money{Minor: m.Minor + n.Minor, Currency: m.Currency}, nil
}

// Sub returns m minus n, with the same errors as Add.
func (m Money) Sub(n Money) (Money, error) {
	if err := m.same(n); err != nil {
		return Money{}, err
	}
	if n.Minor < 0 && m.Minor > math.MaxInt64+n.Minor || n.Minor > 0 && m.Minor < math.MinInt64+n.Minor {
		return Money{}, fmt.Errorf("%w: %s minus %s", ErrOverflow, m, n)
	}
	return Money{Minor: m.Minor - n.Minor, Currency: m.Currency}, nil
}

func (m Money) same(n Money) error {
	if m.Currency != n.Currency {
		return fmt.Errorf("%w: %q and %q", ErrOtherCurrency, m.Currency, n.Currency)
	}
	return m.Check()
}

func scale(currency string) (int, error) {
	digits, ok := scales[currency]
	if !ok {
		return 0, fmt.Errorf("%w: %q", ErrUnknownCurrency, currency)
	}
	return digits, nil
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

func pattern(digits int) string {
	if digits == 0 {
		return ""
	}
	return fmt.Sprintf(", a dot and %d digits", digits)
}
