package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var keeperPromises = []Promise{
	{Name: "PruneKeepsTheChain", Means: "Old versions can go; what stays is verifiable, and nothing unsettled, used up or current is touched (field case B070).", run: pruneKeepsTheChain},
	{Name: "ErasedStaysErased", Means: "An erased task leaves a tombstone that says so; its id is never used again.", run: erasedStaysErased},
	{Name: "EraseWaitsForEffects", Means: "A task with an unsettled effect is not erased: the money would be forgotten with it.", run: eraseWaitsForEffects},
}

func keeper(b *bench) store.Keeper {
	k, _ := b.open().(store.Keeper)
	return k
}

func pruneKeepsTheChain(b *bench) {
	k := keeper(b)
	if k == nil {
		return
	}
	tip := b.create("a", emits("pay"), once("reply"))
	for range 9 {
		tip = b.step("a", tip)
	}
	b.create("ab")
	require.ErrorIs(b, k.Prune(ctx, "a", 11), store.ErrInvalid)
	require.ErrorIs(b, k.Prune(ctx, "a", 0), store.ErrInvalid)
	require.ErrorIs(b, k.Prune(ctx, "none", 1), store.ErrNotFound)
	require.NoError(b, k.Prune(ctx, "a", 1))
	for _, below := range []uint64{4, 4, 3, 7, 10} {
		require.NoError(b, k.Prune(ctx, "a", below))
		if below == 3 {
			below = 4
		}
		versions, err := b.history("a", 0, 0)
		require.NoError(b, err)
		require.Len(b, versions, int(11-below))
		r, es := b.load("a")
		require.Equal(b, tip, r.Tip)
		require.Len(b, es, 1)
	}
	v, err := b.s.Once(ctx, "a", "reply")
	require.NoError(b, err)
	require.EqualValues(b, 1, v)
	b.step("a", tip)
	versions, err := b.history("a", 0, 0)
	require.NoError(b, err)
	require.Equal(b, []uint64{11, 10}, versions)
	if v, ok := b.s.(store.Verifier); ok {
		noProblems(b, v)
	}
}

func erasedStaysErased(b *bench) {
	k := keeper(b)
	if k == nil {
		return
	}
	tip := b.create("a", once("reply"), wake(start), waits("bob"))
	tip = b.step("a", tip, wake(start), waits("bob"))
	require.NoError(b, b.s.Note(ctx, "a", store.Attempt{Body: []byte("personal")}))
	tomb, err := k.Erase(ctx, "a", []byte("asked by the person"))
	require.NoError(b, err)
	require.EqualValues(b, 3, tomb.Version)
	again, err := k.Erase(ctx, "a", nil)
	require.ErrorIs(b, err, store.ErrErased)
	require.Equal(b, tomb, again)

	got, err := b.s.Tip(ctx, "a")
	require.ErrorIs(b, err, store.ErrErased)
	require.Equal(b, tomb, got)
	_, _, err = b.s.Load(ctx, "a")
	var erased *store.ErasedError
	require.ErrorAs(b, err, &erased)
	require.Equal(b, store.ErasedError{Task: "a", Tip: tomb}, *erased)
	_, err = b.history("a", 0, 0)
	require.ErrorIs(b, err, store.ErrErased)
	_, err = b.s.Attempts(ctx, "a")
	require.ErrorIs(b, err, store.ErrErased)
	require.ErrorIs(b, b.s.Note(ctx, "a", store.Attempt{}), store.ErrErased)
	b.refused(store.ErrErased, b.next("a", store.Tip{}))
	b.refused(store.ErrErased, b.next("a", tip))
	b.refused(store.ErrErased, b.next("a", tomb))
	require.Empty(b, b.find(store.Query{}))
	require.Empty(b, b.find(store.Query{Owner: "kim"}))
	require.Empty(b, b.find(store.Query{WaitsFor: "bob"}))
	require.Empty(b, b.due())
	if v, ok := b.s.(store.Verifier); ok {
		noProblems(b, v)
	}
	if _, ok := b.disk.(Reopener); ok {
		b.reopen()
		b.refused(store.ErrErased, b.next("a", store.Tip{}))
	}
}

func eraseWaitsForEffects(b *bench) {
	k := keeper(b)
	if k == nil {
		return
	}
	tip := b.create("a", emits("pay"))
	_, err := k.Erase(ctx, "a", nil)
	require.ErrorIs(b, err, store.ErrUnsettled)
	b.load("a")
	b.step("a", tip, settles("pay", store.FirstRev(1)))
	_, err = k.Erase(ctx, "a", nil)
	require.NoError(b, err)
	_, err = k.Erase(ctx, "none", nil)
	require.ErrorIs(b, err, store.ErrNotFound)
}
