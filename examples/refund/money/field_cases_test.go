package money_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/money"
)

func parse(t *testing.T, text, currency string) money.Money {
	t.Helper()
	m, err := money.ParseAmount(text, currency)
	require.NoError(t, err, "%s %s", text, currency)
	return m
}

// Case B091: the number of decimals is the currency's, and the way to minor units and back is exact.
func TestB091YenHaveNoCents(t *testing.T) {
	for _, row := range []struct {
		text, currency string
		minor          int64
	}{{"5800", "JPY", 5800}, {"1.234", "KWD", 1234}, {"58.00", "USD", 5800}} {
		m := parse(t, row.text, row.currency)
		require.Equal(t, row.minor, m.Minor)
		require.Equal(t, row.text+" "+row.currency, m.String())
	}
	_, err := money.ParseAmount("58.5", "JPY")
	require.ErrorIs(t, err, money.ErrInvalidAmount)
}

// Case B093: money of two currencies has no sum and no difference, whatever the numbers.
func TestB093CurrenciesDoNotMix(t *testing.T) {
	rupees, pounds := money.Money{Minor: 9863300, Currency: "USD"}, money.Money{Minor: 100000, Currency: "GBP"}
	_, err := rupees.Sub(pounds)
	require.ErrorIs(t, err, money.ErrOtherCurrency)
	_, err = rupees.Add(money.Money{Minor: 100000})
	require.ErrorIs(t, err, money.ErrOtherCurrency, "no currency is not the same currency")
	require.ErrorIs(t, money.Money{Minor: 100000}.Check(), money.ErrUnknownCurrency)
}

// Case B094: what binary fractions cannot hold is exact in minor units.
func TestB094NoFloatNoise(t *testing.T) {
	left, err := parse(t, "500.00", "EUR").Sub(parse(t, "150.52", "EUR"))
	require.NoError(t, err)
	require.Equal(t, parse(t, "349.48", "EUR"), left)
	sum, err := parse(t, "0.10", "EUR").Add(parse(t, "0.20", "EUR"))
	require.NoError(t, err)
	require.Equal(t, parse(t, "0.30", "EUR"), sum)
	require.Equal(t, int64(803), parse(t, "8.03", "EUR").Minor)
	require.Equal(t, int64(8099), parse(t, "80.99", "EUR").Minor)
}

// Case B096: arithmetic at the ends of the range is an error and never wraps round.
func TestB096NothingWraps(t *testing.T) {
	least, most := money.Money{Minor: math.MinInt64, Currency: "EUR"}, money.Money{Minor: math.MaxInt64, Currency: "EUR"}
	cent := money.Money{Minor: 1, Currency: "EUR"}
	_, err := least.Sub(cent)
	require.ErrorIs(t, err, money.ErrOverflow)
	_, err = most.Add(cent)
	require.ErrorIs(t, err, money.ErrOverflow)
	_, err = cent.Sub(least)
	require.ErrorIs(t, err, money.ErrOverflow)
}
