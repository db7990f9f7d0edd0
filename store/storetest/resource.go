package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var resourcePromises = []Promise{
	{Name: "ResourcesSwap", Means: "What tasks share changes under compare-and-swap inside the commit: one captured payment is not promised twice by two tasks.", run: resourcesSwap, needs: nil},
}

func resourcesSwap(b *bench) {
	rs, ok := b.open().(store.Resources)
	require.Equal(b, ok, b.s.Info().Swap)
	if !ok {
		return
	}
	first := b.create("a", swaps("payment-1", 0, "held by a"), swaps("cap", 0, "100"))
	c := b.next("b", store.Tip{})
	swaps("payment-1", 0, "held by b")(c)
	swaps("cap", 1, "200")(c)
	err := b.refused(store.ErrSwap, c)
	var swap *store.SwapError
	require.ErrorAs(b, err, &swap)
	require.Equal(b, store.SwapError{Task: "b", Resource: "payment-1", Want: 0, Have: 1}, *swap)
	b.step("a", first, swaps("payment-1", 1, ""))
	r, err := rs.Resource(ctx, "payment-1")
	require.NoError(b, err)
	require.EqualValues(b, 2, r.Rev)
	require.Empty(b, r.Value)
	b.create("b", swaps("payment-1", 2, "held by b"), swaps("cap", 1, "200"))
	r, err = rs.Resource(ctx, "cap")
	require.NoError(b, err)
	require.Equal(b, store.Resource{Name: "cap", Rev: 2, Value: []byte("200")}, r)
	r, err = rs.Resource(ctx, "never")
	require.NoError(b, err)
	require.Equal(b, store.Resource{Name: "never"}, r)
}
