package storetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var racePromises = []Promise{
	{Name: "OneWinnerPerVersion", Means: "However many controllers race from one version, exactly one commits and the others are told the tip.", run: oneWinnerPerVersion},
	{Name: "OneWinnerPerResource", Means: "However many tasks race for one resource, exactly one gets it.", run: oneWinnerPerResource},
	{Name: "OneClaimerPerEffect", Means: "However many workers race for the effects, each is claimed once.", run: oneClaimerPerEffect},
}

// racers runs n functions at once and waits.
func racers(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func oneWinnerPerVersion(b *bench) {
	const n, rounds = 8, 20
	tip := b.create("a")
	for range rounds {
		commits := make([]*store.Commit, n)
		for i := range commits {
			commits[i] = b.next("a", tip)
		}
		errs, tips := make([]error, n), make([]store.Tip, n)
		racers(n, func(i int) { tips[i], errs[i] = b.s.Commit(ctx, commits[i]) })
		winner := -1
		for i, err := range errs {
			if err == nil {
				require.Equal(b, -1, winner, "two winners")
				winner = i
			}
		}
		require.NotEqual(b, -1, winner)
		for i, err := range errs {
			var conflict *store.ConflictError
			if i != winner {
				require.ErrorAs(b, err, &conflict)
				require.Equal(b, tips[winner], conflict.Tip)
			}
		}
		tip = tips[winner]
	}
}

func oneWinnerPerResource(b *bench) {
	rs, ok := b.open().(store.Resources)
	if !ok {
		return
	}
	const n, rounds = 8, 10
	for round := range uint64(rounds) {
		commits := make([]*store.Commit, n)
		for i := range commits {
			commits[i] = b.next(fmt.Sprintf("t-%d-%d", round, i), store.Tip{})
			swaps("payment", round, fmt.Sprint(i))(commits[i])
			swaps("cap", round, fmt.Sprint(i))(commits[i])
			if i%2 == 1 {
				sw := commits[i].Swap
				sw[0], sw[1] = sw[1], sw[0]
			}
		}
		won := make([]error, n)
		racers(n, func(i int) { _, won[i] = b.s.Commit(ctx, commits[i]) })
		winners := 0
		for i, err := range won {
			if err == nil {
				winners++
				r, err := rs.Resource(ctx, "payment")
				require.NoError(b, err)
				require.Equal(b, store.Resource{Name: "payment", Rev: round + 1, Value: fmt.Append(nil, i)}, r)
			} else {
				require.True(b, errors.Is(err, store.ErrSwap), "%v", err)
			}
		}
		require.Equal(b, 1, winners)
	}
}

func oneClaimerPerEffect(b *bench) {
	const n = 60
	for i := range n {
		b.create(fmt.Sprint("t", i), emits("pay"))
	}
	var mu sync.Mutex
	held := map[string]int{}
	racers(6, func(w int) {
		for range 20 {
			es, err := b.s.Claim(ctx, store.Slots{}, 7, fmt.Sprint("w", w), second)
			mu.Lock()
			require.NoError(b, err)
			for _, e := range es {
				held[e.Task]++
			}
			mu.Unlock()
		}
	})
	require.Len(b, held, n)
	for task, k := range held {
		require.Equal(b, 1, k, task)
	}
}
