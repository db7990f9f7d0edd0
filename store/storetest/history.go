package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var historyPromises = []Promise{
	{Name: "HistoryIsWhole", Means: "Every version is there, newest first, in any range, however many there are.", run: historyIsWhole},
	{Name: "HistoryHoldsNothing", Means: "Somebody who reads a long history slowly, or stops in the middle, blocks nobody.", run: historyHoldsNothing},
}

func historyIsWhole(b *bench) {
	const n = 150
	tip := store.Tip{}
	for range n {
		tip = b.step("a", tip)
	}
	b.create("ab")
	b.create("A")
	for _, r := range []struct{ newest, oldest, from, to uint64 }{
		{0, 0, n, 1}, {n, 1, n, 1}, {n + 5, 0, n, 1}, {7, 3, 7, 3}, {1, 1, 1, 1}, {n, n, n, n}, {65, 0, 65, 1}, {0, 86, n, 86}, {3, 7, 0, 0},
	} {
		got, err := b.history("a", r.newest, r.oldest)
		require.NoError(b, err)
		var want []uint64
		for v := r.from; v >= r.to && v > 0; v-- {
			want = append(want, v)
		}
		require.Equal(b, want, got, "from %d to %d", r.newest, r.oldest)
	}
}

func historyHoldsNothing(b *bench) {
	tip := store.Tip{}
	for range 100 {
		tip = b.step("a", tip)
	}
	n := 0
	for r, err := range b.open().History(ctx, "a", 0, 0) {
		require.NoError(b, err)
		if n++; n%10 == 0 {
			tip = b.step("a", tip)
			b.load("a")
		}
		require.EqualValues(b, 101-n, r.Tip.Version)
	}
	require.Equal(b, 100, n)
	for range b.s.History(ctx, "a", 0, 0) {
		break
	}
	require.NoError(b, b.s.Close())
	b.s = nil
}
