package cumulative_test

import (
	"math"
	"testing"

	"github.com/pawlgo/pawl/resume/cumulative"
	"github.com/stretchr/testify/require"
)

const largest = math.MaxInt64

// TestTarget: both sides of each bound of a step.
func TestTarget(t *testing.T) {
	for _, row := range []struct {
		name string
		step cumulative.Step
		want int64 // 0 for none
	}{
		{"the first of a payment", cumulative.Step{Base: 0, Amount: 1, Currency: "EUR"}, 1},
		{"a base below zero", cumulative.Step{Base: -1, Amount: 1, Currency: "EUR"}, 0},
		{"an amount of nothing", cumulative.Step{Base: 5, Amount: 0, Currency: "EUR"}, 0},
		{"an amount below zero", cumulative.Step{Base: 5, Amount: -1, Currency: "EUR"}, 0},
		{"no currency", cumulative.Step{Base: 0, Amount: 1}, 0},
		{"the largest sum", cumulative.Step{Base: largest - 7, Amount: 7, Currency: "EUR"}, largest},
		{"one above the largest sum", cumulative.Step{Base: largest - 7, Amount: 8, Currency: "EUR"}, 0},
		{"both the largest", cumulative.Step{Base: largest, Amount: largest, Currency: "EUR"}, 0},
		{"the smallest of all", cumulative.Step{Base: math.MinInt64, Amount: math.MinInt64, Currency: "EUR"}, 0},
		{"the zero step", cumulative.Step{}, 0},
	} {
		got, err := row.step.Target()
		if row.want == 0 {
			require.ErrorIs(t, err, cumulative.ErrStep, row.name)
			require.Zero(t, got, row.name)
			_, err = row.step.Happened(cumulative.Figure{Minor: row.step.Base, Currency: row.step.Currency})
			require.ErrorIs(t, err, cumulative.ErrStep, "%s: nothing can be told from it", row.name)
			require.ErrorIs(t, row.step.Match(cumulative.Figure{Currency: row.step.Currency}), cumulative.ErrStep, row.name)
			continue
		}
		require.NoError(t, err, row.name)
		require.Equal(t, cumulative.Figure{Minor: row.want, Currency: "EUR"}, got, row.name)
	}
}

// TestFigures has one row for each side of the two figures that say something: 20.00 was refunded, and 50.00 is.
func TestFigures(t *testing.T) {
	step := cumulative.Step{Base: 2000, Amount: 5000, Currency: "EUR"}
	for _, row := range []struct {
		name     string
		now      cumulative.Figure
		happened bool
		err      error // of Happened
		match    error
	}{
		{"at the base", cumulative.Figure{Minor: 2000, Currency: "EUR"}, false, nil, cumulative.ErrMoved},
		{"one below the base", cumulative.Figure{Minor: 1999, Currency: "EUR"}, false, cumulative.ErrMoved, cumulative.ErrMoved},
		{"one above the base", cumulative.Figure{Minor: 2001, Currency: "EUR"}, false, cumulative.ErrMoved, cumulative.ErrMoved},
		{"the amount alone", cumulative.Figure{Minor: 5000, Currency: "EUR"}, false, cumulative.ErrMoved, cumulative.ErrMoved},
		{"one below the target", cumulative.Figure{Minor: 6999, Currency: "EUR"}, false, cumulative.ErrMoved, cumulative.ErrMoved},
		{"at the target", cumulative.Figure{Minor: 7000, Currency: "EUR"}, true, nil, nil},
		{"one above the target", cumulative.Figure{Minor: 7001, Currency: "EUR"}, false, cumulative.ErrMoved, cumulative.ErrMoved},
		{"twice", cumulative.Figure{Minor: 12000, Currency: "EUR"}, false, cumulative.ErrMoved, cumulative.ErrMoved},
		{"nothing", cumulative.Figure{Currency: "EUR"}, false, cumulative.ErrMoved, cumulative.ErrMoved},
		{"below zero", cumulative.Figure{Minor: math.MinInt64, Currency: "EUR"}, false, cumulative.ErrMoved, cumulative.ErrMoved},
		{"another currency at the target", cumulative.Figure{Minor: 7000, Currency: "GBP"}, false, cumulative.ErrCurrency, cumulative.ErrCurrency},
		{"another currency at the base", cumulative.Figure{Minor: 2000, Currency: "eur"}, false, cumulative.ErrCurrency, cumulative.ErrCurrency},
		{"no currency", cumulative.Figure{Minor: 7000}, false, cumulative.ErrCurrency, cumulative.ErrCurrency},
	} {
		happened, err := step.Happened(row.now)
		require.Equal(t, row.happened, happened, row.name)
		require.ErrorIs(t, err, row.err, row.name)
		require.ErrorIs(t, step.Match(row.now), row.match, row.name)
	}
}
