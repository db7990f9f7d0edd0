package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var oncePromises = []Promise{
	{Name: "OnceIsOnce", Means: "A reply or a pushed event that a commit used up cannot be used again; the refusal names the version that did.", run: onceIsOnce},
	{Name: "OnceSurvives", Means: "A used-up reply stays used up after a restart.", run: onceSurvives, needs: survives},
}

func onceIsOnce(b *bench) {
	tip := b.create("a", once("reply-1", "event-1"))
	tip = b.step("a", tip, once("reply-2"))
	err := b.refused(store.ErrTaken, func() *store.Commit { c := b.next("a", tip); once("event-1")(c); return c }())
	var taken *store.TakenError
	require.ErrorAs(b, err, &taken)
	require.Equal(b, store.TakenError{Task: "a", Name: "event-1", Version: 1}, *taken)
	for name, want := range map[string]uint64{"reply-1": 1, "event-1": 1, "reply-2": 2, "reply-3": 0} {
		v, err := b.s.Once(ctx, "a", name)
		require.NoError(b, err)
		require.Equal(b, want, v, name)
	}
	b.create("b", once("reply-1"))
}

func onceSurvives(b *bench) {
	tip := b.create("a", once("reply-1"))
	b.reopen()
	v, err := b.s.Once(ctx, "a", "reply-1")
	require.NoError(b, err)
	require.EqualValues(b, 1, v)
	c := b.next("a", tip)
	once("reply-1")(c)
	b.refused(store.ErrTaken, c)
}
