package storetest

import (
	"errors"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var conflictPromises = []Promise{
	{Name: "CreateOnce", Means: "A task is created once; the second creation is a conflict that names the tip.", run: createOnce},
	{Name: "StaleBaseConflicts", Means: "What was judged on an old version never overwrites a newer one.", run: staleBaseConflicts},
	{Name: "ForkConflicts", Means: "The same version with another content is another task history: a commit judged on it is refused.", run: forkConflicts},
	{Name: "LoserLeavesNothing", Means: "A refused commit leaves no byte: no version, effect, used name, resource, index row or wake-up.", run: loserLeavesNothing},
}

func createOnce(b *bench) {
	tip := b.create("a")
	err := b.refused(store.ErrConflict, b.next("a", store.Tip{}))
	var conflict *store.ConflictError
	require.ErrorAs(b, err, &conflict)
	require.Equal(b, store.ConflictError{Task: "a", Tip: tip}, *conflict)
}

func staleBaseConflicts(b *bench) {
	first := b.create("a")
	second := b.step("a", first)
	err := b.refused(store.ErrConflict, b.next("a", first))
	var conflict *store.ConflictError
	require.ErrorAs(b, err, &conflict)
	require.Equal(b, store.ConflictError{Task: "a", Base: first, Tip: second}, *conflict)
	ahead := second
	ahead.Version++
	b.refused(store.ErrConflict, b.next("a", ahead))
}

func forkConflicts(b *bench) {
	tip := b.create("a")
	fork := tip
	fork.Hash[31] ^= 1
	b.refused(store.ErrConflict, b.next("a", fork))
	b.step("a", tip)
}

// loserLeavesNothing tries one rich commit after another, each refused for another reason.
func loserLeavesNothing(b *bench) {
	first := b.create("a", emits("pay"), once("used"), state("open"), wake(start+second))
	tip := b.step("a", first, wake(start+second))
	swap := b.open().Info().Swap
	if swap {
		b.create("other", swaps("taken", 0, "held"), owner("lee"))
	}
	rich := func(base store.Tip) *store.Commit {
		c := b.next("a", base)
		for _, w := range []func(*store.Commit){
			emits("mail"), once("fresh"), settles("pay", store.FirstRev(1)), state("moved"), owner("ann"), waits("bob"), wake(start),
		} {
			w(c)
		}
		if swap {
			swaps("cap", 0, "100")(c)
		}
		return c
	}
	refuse := func(want error, base store.Tip, change func(*store.Commit)) {
		c := rich(base)
		change(c)
		b.refused(want, c)
	}
	refuse(store.ErrConflict, first, func(*store.Commit) {})
	refuse(store.ErrLapsed, tip, func(c *store.Commit) { c.Until = start })
	refuse(store.ErrTaken, tip, once("used"))
	refuse(store.ErrFenced, tip, settles("gone", 1))
	if swap {
		refuse(store.ErrSwap, tip, swaps("taken", 0, "mine"))
	}
	refuse(store.ErrInvalid, tip, func(c *store.Commit) { c.Meta.State = "" })

	r, es := b.load("a")
	require.Equal(b, tip, r.Tip)
	require.Len(b, es, 1)
	require.Equal(b, "pay", es[0].ID)
	v, err := b.s.Once(ctx, "a", "fresh")
	require.NoError(b, err)
	require.Zero(b, v)
	require.Empty(b, b.find(store.Query{Machine: "refund", State: "moved"}))
	require.Empty(b, b.find(store.Query{Owner: "ann"}))
	require.Empty(b, b.find(store.Query{WaitsFor: "bob"}))
	require.Equal(b, []string{"a"}, b.find(store.Query{Owner: "kim"}))
	require.Empty(b, b.due())
	all, _, err := b.s.Effects(ctx, "", 0)
	require.NoError(b, err)
	require.Len(b, all, 1)
	if rs, ok := b.s.(store.Resources); ok {
		res, err := rs.Resource(ctx, "cap")
		require.NoError(b, err)
		require.Equal(b, store.Resource{Name: "cap"}, res)
	}
	if v, ok := b.s.(store.Verifier); ok {
		noProblems(b, v)
	}
}

func noProblems(b *bench, v store.Verifier) {
	b.Helper()
	for p, err := range v.Verify(ctx) {
		require.NoError(b, err)
		require.Fail(b, "problem", "%+v", p)
	}
}

var errStop = errors.New("stop")
