package usd_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/examples/usd"
)

func TestParseTakesWholeCentsOnly(t *testing.T) {
	for text, want := range map[string]usd.Amount{
		"0": 0, "5": 500, "5.5": 550, "12.34": 1234, "-0.01": -1, "-15.33": -1533, "1380.79": 138079,
		"92233720368547758.07": math.MaxInt64, "-92233720368547758.07": -math.MaxInt64,
	} {
		got, err := usd.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "-", ".", "5.", ".5", "+5", "--5", "1e3", "15.329999999", "0.001", "1,5", " 5", "5 ", "NaN", "null", `"5"`, "٣",
		"92233720368547758.08", strings.Repeat("1", usd.MaxText+1),
	} {
		got, err := usd.Parse(text)
		require.ErrorIs(t, err, usd.ErrAmount, text)
		require.Zero(t, got, text)
	}
}

func TestJSONKeepsEveryCent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := usd.Amount(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "cents"))
		raw, err := json.Marshal(a)
		require.NoError(t, err)
		var b usd.Amount
		require.NoError(t, json.Unmarshal(raw, &b))
		require.Equal(t, a, b)
	})
	raw, err := json.Marshal([]usd.Amount{0, 100, 1000, 1230, 1234, -5})
	require.NoError(t, err)
	require.Equal(t, "[0,1,10,12.3,12.34,-0.05]", string(raw))
}

func TestString(t *testing.T) {
	require.Equal(t, "12.30 USD", usd.Amount(1230).String())
	require.Equal(t, "-0.05 USD", usd.Amount(-5).String())
}
