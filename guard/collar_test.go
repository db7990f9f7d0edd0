package guard_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
)

// Each bound on both sides, above and below, and no bound at all.
func TestCollar(t *testing.T) {
	for _, row := range []struct {
		collar           guard.Collar
		price, reference int64
		code             string // "" allows
	}{
		{guard.Collar{BasisPoints: 500}, 10_500, 10_000, ""},
		{guard.Collar{BasisPoints: 500}, 10_501, 10_000, guard.CodeOutsideCollar},
		{guard.Collar{BasisPoints: 500}, 9_500, 10_000, ""},
		{guard.Collar{BasisPoints: 500}, 9_499, 10_000, guard.CodeOutsideCollar},
		{guard.Collar{BasisPoints: 1}, 9_999, 9_999, ""},
		{guard.Collar{BasisPoints: 1}, 9_998, 9_999, guard.CodeOutsideCollar}, // a part of a unit is not rounded up
		{guard.Collar{BasisPoints: guard.MaxBasisPoints}, 0, 7, ""},
		{guard.Collar{BasisPoints: guard.MaxBasisPoints + 1}, 7, 7, guard.CodeOutsideCollar},
		{guard.Collar{Units: 3}, 103, 100, ""}, {guard.Collar{Units: 3}, 104, 100, guard.CodeOutsideCollar},
		{guard.Collar{Units: 3}, 97, 100, ""}, {guard.Collar{Units: 3}, 96, 100, guard.CodeOutsideCollar},
		{guard.Collar{Units: 3, BasisPoints: 100}, 102, 100, guard.CodeOutsideCollar}, {guard.Collar{Units: 3, BasisPoints: 100}, 101, 100, ""},
		{guard.Collar{}, 100, 100, guard.CodeOutsideCollar}, {guard.Collar{Units: -1}, 100, 100, guard.CodeOutsideCollar},
		{guard.Collar{BasisPoints: -1, Units: 5}, 100, 100, guard.CodeOutsideCollar},
		{guard.Collar{Units: 3}, 0, 0, guard.CodeNoReference}, {guard.Collar{Units: 3}, 1, -1, guard.CodeNoReference},
		{guard.Collar{Units: 300}, -1, 100, guard.CodeOutsideCollar},
		{guard.Collar{BasisPoints: 9_999}, math.MaxInt64, math.MaxInt64, ""},
		{guard.Collar{BasisPoints: 9_999}, 1, math.MaxInt64, guard.CodeOutsideCollar},
	} {
		v := row.collar.Check(row.price, row.reference)
		require.Equal(t, row.code == "", v.Allowed(), "%+v", row)
		if row.code != "" {
			require.Equal(t, row.code, v.Code(), "%+v", row)
		}
	}
}

// However large the numbers are, the arithmetic is that of whole numbers without a limit.
func TestCollarIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price, reference := rapid.Int64Range(0, math.MaxInt64).Draw(t, "price"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "reference")
		points := rapid.Int64Range(1, guard.MaxBasisPoints).Draw(t, "points")
		apart := new(big.Int).Abs(new(big.Int).Sub(big.NewInt(price), big.NewInt(reference)))
		within := apart.Mul(apart, big.NewInt(guard.MaxBasisPoints)).Cmp(new(big.Int).Mul(big.NewInt(reference), big.NewInt(points))) <= 0
		if (guard.Collar{BasisPoints: points}).Check(price, reference).Allowed() != within {
			t.Fatalf("%d of %d within %d", price, reference, points)
		}
	})
}

func TestCollared(t *testing.T) {
	g := guard.Collared(price, stock, guard.Collar{BasisPoints: 500, Units: 40})
	require.Equal(t, "price_within_500bp_40_of_stock", g.Name(), "another collar is another definition")
	p, r := saw(t, price, "a", int64(1_040)), saw(t, stock, "a", int64(1_000))
	require.True(t, g.Judge(scene(known(p, r))).Allowed())
	require.True(t, g.Judge(scene(known(saw(t, price, "a", int64(1_041)), r))).Denied())
	require.True(t, g.Judge(scene(known(p))).Unknown(), "law 4")
	require.True(t, g.Judge(scene(known(r))).Unknown())
	require.True(t, g.Judge(scene(known())).Unknown())
}
