package money_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/examples/refund/money"
)

// B099: only the canonical form is an amount; no separator, sign, space or exponent is guessed at.
func TestB099DecimalComma(t *testing.T) {
	refused := []string{
		"800,00", "1.234,56 €", "1,234", "12,34", "€40", "１２３", "1e3", " 5 ", "+5", "5.", ".5", // the case's own
		"15", "1.234,56", "5.0", "5.000", "-5.00", "05.00", "00.00", "5.00 ", "5.0０", "5..00", "5.00.00",
		"1_000.00", "0x5.00", "NaN", "Inf", "", ".", "5.00\n", "5.00EUR", "null", "5.-1", "5.+1",
	}
	for _, text := range refused {
		t.Run(text, func(t *testing.T) {
			got, err := money.ParseAmount(text, "EUR")
			require.ErrorIs(t, err, money.ErrInvalidAmount)
			require.Zero(t, got)
		})
	}
	accepted := []struct {
		text, currency string
		minor          int64
	}{
		{"800.00", "EUR", 80000}, {"15.00", "EUR", 1500}, {"0.00", "EUR", 0}, {"0.05", "EUR", 5},
		{"43.00", "USD", 4300}, {"1234.56", "GBP", 123456}, {"123", "JPY", 123}, {"0", "JPY", 0}, {"1.500", "BHD", 1500},
	}
	for _, c := range accepted {
		got, err := money.ParseAmount(c.text, c.currency)
		require.NoError(t, err)
		require.Equal(t, money.Money{Minor: c.minor, Currency: c.currency}, got)
	}
}

func TestParseAmountHoldsToTheScaleOfTheCurrency(t *testing.T) {
	for _, c := range []struct{ text, currency string }{{"5.00", "JPY"}, {"5.", "JPY"}, {"5.00", "KWD"}, {"5.000", "CHF"}} {
		_, err := money.ParseAmount(c.text, c.currency)
		require.ErrorIs(t, err, money.ErrInvalidAmount, "%s %s", c.text, c.currency)
	}
	for _, currency := range []string{"", "eur", "XXX", "EUR "} {
		_, err := money.ParseAmount("5.00", currency)
		require.ErrorIs(t, err, money.ErrUnknownCurrency)
	}
}

func TestParseAmountAtTheLimit(t *testing.T) {
	most, err := money.ParseAmount("92233720368547758.07", "EUR")
	require.NoError(t, err)
	require.Equal(t, int64(math.MaxInt64), most.Minor)

	_, err = money.ParseAmount("92233720368547758.08", "EUR")
	require.ErrorIs(t, err, money.ErrInvalidAmount)
	_, err = money.ParseAmount(strings.Repeat("9", money.MaxText), "JPY")
	require.ErrorContains(t, err, "more than can be held")
	_, err = money.ParseAmount(strings.Repeat("9", money.MaxText+1), "JPY")
	require.ErrorContains(t, err, "21 bytes where 20 are the most")
}

func TestString(t *testing.T) {
	for want, m := range map[string]money.Money{
		"43.00 EUR":                 {Minor: 4300, Currency: "EUR"},
		"0.05 EUR":                  {Minor: 5, Currency: "EUR"},
		"-0.50 EUR":                 {Minor: -50, Currency: "EUR"},
		"0.00 USD":                  {Currency: "USD"},
		"-7 JPY":                    {Minor: -7, Currency: "JPY"},
		"0.001 KWD":                 {Minor: 1, Currency: "KWD"},
		"-92233720368547758.08 EUR": {Minor: math.MinInt64, Currency: "EUR"},
		`12 minor units of "XXX"`:   {Minor: 12, Currency: "XXX"},
		`0 minor units of ""`:       {},
	} {
		require.Equal(t, want, m.String())
	}
}

func TestWhatIsShownIsReadAsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := money.Money{
			Minor:    rapid.Int64Min(0).Draw(t, "minor"),
			Currency: rapid.SampledFrom([]string{"BHD", "EUR", "JPY"}).Draw(t, "currency"),
		}
		text, currency, _ := strings.Cut(m.String(), " ")
		got, err := money.ParseAmount(text, currency)
		require.NoError(t, err)
		require.Equal(t, m, got)
	})
}

func TestAddAndSub(t *testing.T) {
	eur := func(minor int64) money.Money { return money.Money{Minor: minor, Currency: "EUR"} }
	edges := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range edges {
		for _, b := range edges {
			sum, err := eur(a).Add(eur(b))
			checkAgainst(t, sum, err, a, b, a+b, (a^(a+b))&(b^(a+b)) < 0)
			difference, err := eur(a).Sub(eur(b))
			checkAgainst(t, difference, err, a, b, a-b, (a^b)&(a^(a-b)) < 0)
		}
	}
	_, err := eur(1).Add(money.Money{Minor: 1, Currency: "USD"})
	require.ErrorIs(t, err, money.ErrOtherCurrency)
	_, err = money.Money{Minor: 1}.Sub(money.Money{Minor: 1})
	require.ErrorIs(t, err, money.ErrUnknownCurrency)
}

func checkAgainst(t *testing.T, got money.Money, err error, a, b, want int64, overflows bool) {
	t.Helper()
	if overflows {
		require.ErrorIs(t, err, money.ErrOverflow, "%d, %d", a, b)
		require.Zero(t, got)
		return
	}
	require.NoError(t, err, "%d, %d", a, b)
	require.Equal(t, money.Money{Minor: want, Currency: "EUR"}, got)
}
