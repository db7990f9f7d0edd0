package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var resourcePromises = []Promise{
	{Name: "ResourcesSwap", Means: "What tasks share changes under compare-and-swap inside the commit: one captured payment is not promised twice by two tasks.", run: resourcesSwap, needs: nil},
	{Name: "ResourcesAreExpected", Means: "A commit that expects a resource lands only while it stands where it was read, and leaves it alone: who freezes something has the last word.", run: resourcesExpected, needs: nil},
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

func resourcesExpected(b *bench) {
	rs, ok := b.open().(store.Resources)
	if !ok {
		return
	}
	tip := b.create("a", expects("freeze", 0)) // it was never written
	frozen := b.create("b", swaps("freeze", 0, "frozen"))
	err := b.refused(store.ErrSwap, b.with("a", tip, expects("freeze", 0), once("reply")))
	var swap *store.SwapError
	require.ErrorAs(b, err, &swap)
	require.Equal(b, store.SwapError{Task: "a", Resource: "freeze", Want: 0, Have: 1}, *swap)
	version, err := b.s.Once(ctx, "a", "reply")
	require.NoError(b, err)
	require.Zero(b, version, "a loser leaves nothing")
	tip = b.step("a", tip, expects("freeze", 1), swaps("cap", 0, "1"))
	b.step("a", tip, expects("freeze", 1), expects("cap", 1))
	r, err := rs.Resource(ctx, "freeze")
	require.NoError(b, err)
	require.Equal(b, store.Resource{Name: "freeze", Rev: 1, Value: []byte("frozen")}, r)
	b.step("b", frozen, swaps("freeze", 1, "thawed"))
}
