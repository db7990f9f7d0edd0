// Package usd holds amounts of US dollars as whole cents. It reads and writes them as JSON decimals, exactly: there is no
// float in it.
package usd

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxText is the longest decimal that Parse looks at, in bytes.
const MaxText = 21

// ErrAmount says that a text is not an amount of whole cents, or is too large for one.
var ErrAmount = errors.New("not an amount in US dollars and cents")

// Amount is an amount in US cents: 1234 is 12.34 USD. The zero value is no money. Negative amounts are legal: a price
// difference may be one.
type Amount int64

// Parse reads a plain decimal of dollars with at most two digits behind the point, such as 5, 5.5 or -12.34. Anything
// else, an exponent or a third digit above all, is ErrAmount: cents are never rounded into being.
func Parse(decimal string) (Amount, error) {
	digits, negative := strings.CutPrefix(decimal, "-")
	whole, fraction, dot := strings.Cut(digits, ".")
	fine := len(decimal) <= MaxText && isDigits(whole) && (!dot || isDigits(fraction) && len(fraction) <= 2)
	if !fine {
		return 0, fmt.Errorf("%w: %.40q", ErrAmount, decimal)
	}
	cents, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %.40q", ErrAmount, decimal)
	}
	if negative {
		cents = -cents
	}
	return Amount(cents), nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Decimal is the amount in dollars with two digits behind the point.
func (a Amount) Decimal() string {
	sign := ""
	if a < 0 {
		sign = "-"
	}
	dollars, cents := a/100, a%100
	return fmt.Sprintf("%s%d.%02d", sign, max(dollars, -dollars), max(cents, -cents))
}

// String is the amount with its currency: 12.34 USD.
func (a Amount) String() string { return a.Decimal() + " USD" }

// MarshalJSON writes a decimal of dollars without superfluous zeros.
func (a Amount) MarshalJSON() ([]byte, error) {
	return []byte(strings.TrimSuffix(strings.TrimRight(a.Decimal(), "0"), ".")), nil
}

// UnmarshalJSON reads a JSON number as Parse does.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	parsed, err := Parse(string(raw))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// JSONSchema is the schema of that number, for tools that take an amount.
func (a Amount) JSONSchema() json.RawMessage { return json.RawMessage(`{"type":"number"}`) }
