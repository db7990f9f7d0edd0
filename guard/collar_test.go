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

// Of several subjects each is judged, against its own reference, or against every reference of another kind.
func TestCollaredOfSeveral(t *testing.T) {
	within := guard.Collar{Units: 10}
	own, fixed := guard.Collared(price, stock, within), guard.Collared(price, stock.Of("index"), within)
	crossed := guard.Collared(price, rate, within)
	items := func(v ...int64) (out []guard.Evidence) { // price and stock of a, then of b
		for i, v := range v {
			f := []guard.Fact[int64]{price, stock}[i%2]
			out = append(out, saw(t, f, []string{"a", "b"}[i/2], v))
		}
		return out
	}
	with := func(more ...guard.Evidence) func(...int64) []guard.Evidence {
		return func(v ...int64) []guard.Evidence { return append(items(v...), more...) }
	}
	index := with(saw(t, stock, "index", int64(105)))
	rates := with(saw(t, rate, "1", int64(105)), saw(t, rate, "2", int64(111)))
	for _, row := range []struct {
		name   string
		guard  guard.Guard
		known  []guard.Evidence
		items  []string
		orders []string
		want   string
		code   string
	}{
		{"each at its own", own, items(110, 100, 510, 500), []string{"a", "b"}, nil, "allow", ""},
		{"each at the other's", own, items(500, 100, 100, 500), []string{"a", "b"}, nil, "deny", guard.CodeOutsideCollar},
		{"the first is out", own, items(111, 100, 510, 500), []string{"a", "b"}, nil, "deny", guard.CodeOutsideCollar},
		{"the second is out", own, items(110, 100, 511, 500), []string{"a", "b"}, nil, "deny", guard.CodeOutsideCollar},
		{"the second has no price yet", own, items(110, 100)[:2], []string{"a", "b"}, nil, "unknown", ""},
		{"the second has no reference yet", own, items(110, 100, 510), []string{"a", "b"}, nil, "unknown", ""},
		{"only the first is named", own, items(110, 100, 511, 500), []string{"a"}, nil, "allow", ""},
		{"none is named", own, items(110, 100), nil, nil, "deny", guard.CodeNamesNothing},
		{"one reference for all", fixed, index(110, 0, 100, 0), []string{"a", "b"}, nil, "allow", ""},
		{"one reference for all, the second is out", fixed, index(110, 0, 116, 0), []string{"a", "b"}, nil, "deny", guard.CodeOutsideCollar},
		{"another kind", crossed, rates(110, 0), []string{"a"}, []string{"1"}, "allow", ""},
		{"another kind, each", crossed, rates(110, 0, 101, 0), []string{"a", "b"}, []string{"1", "2"}, "allow", ""},
		{"another kind, out of the second", crossed, rates(110, 0, 100, 0), []string{"a", "b"}, []string{"1", "2"}, "deny", guard.CodeOutsideCollar},
		{"another kind, none", crossed, rates(110, 0), []string{"a"}, nil, "deny", guard.CodeNamesNothing},
	} {
		v := row.guard.Judge(guard.NewScene(guard.SceneSpec{Task: "t", Now: noon, Received: noon, Actor: guard.User, Facts: known(row.known...),
			Subjects: guard.Subjects{"item": row.items, "order": row.orders}}))
		require.Equal(t, row.want, word(v), row.name)
		if row.code != "" {
			require.Equal(t, row.code, v.Code(), row.name)
		}
	}
}
