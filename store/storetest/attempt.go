package storetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var attemptPromises = []Promise{
	{Name: "AttemptsAreARing", Means: "The newest refusals of a task are kept, newest first, and no more than the limit, however often a model tries.", run: attemptsAreARing},
}

func attemptsAreARing(b *bench) {
	tip := b.create("a")
	b.create("b")
	note := func(i int) {
		require.NoError(b, b.s.Note(ctx, "a", store.Attempt{At: store.Micros(i), Count: i + 1, Body: fmt.Append(nil, "no ", i)}))
	}
	kept := func() []store.Attempt {
		as, err := b.s.Attempts(ctx, "a")
		require.NoError(b, err)
		return as
	}
	require.Empty(b, kept())
	for i := range store.MaxAttempts {
		note(i)
	}
	require.Len(b, kept(), store.MaxAttempts)
	require.Equal(b, "no 0", string(kept()[store.MaxAttempts-1].Body))
	for i := range 5 {
		note(store.MaxAttempts + i)
	}
	as := kept()
	require.Len(b, as, store.MaxAttempts)
	for i, a := range as {
		n := store.MaxAttempts + 4 - i
		require.Equal(b, store.Attempt{At: store.Micros(n), Count: n + 1, Body: fmt.Append(nil, "no ", n)}, a)
	}
	got, err := b.s.Tip(ctx, "a")
	require.NoError(b, err)
	require.Equal(b, tip, got, "a refusal is no version")
	other, err := b.s.Attempts(ctx, "b")
	require.NoError(b, err)
	require.Empty(b, other)
}
