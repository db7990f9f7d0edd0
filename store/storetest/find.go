package storetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var findPromises = []Promise{
	{Name: "FindFollowsTheTask", Means: "A task is found by what it is now and by nothing it was.", run: findFollowsTheTask},
	{Name: "FindCombines", Means: "Machine, state, owner and waited-for can be asked for together.", run: findCombines},
	{Name: "FindIsOrdered", Means: "Lists have a stable order: by owner the unfinished first, by state and by waited-for the longest waiting first.", run: findIsOrdered},
	{Name: "FindPagesStably", Means: "While others change, a task that does not change is on exactly one page.", run: findPagesStably},
	{Name: "WatchTells", Means: "Who watches is told of a task after it changed.", run: watchTells},
}

func findFollowsTheTask(b *bench) {
	tip := b.create("a", state("open"), owner("kim"), waits("bob"))
	b.create("b", state("open"), owner("kim"), waits("bob"))
	tip = b.step("a", tip, state("open"), owner("kim"), waits("bob"))
	b.step("a", tip, state("paid"), owner("lee"), waits(""))
	require.Equal(b, []string{"b"}, b.find(store.Query{Machine: "refund", State: "open"}))
	require.Equal(b, []string{"a"}, b.find(store.Query{Machine: "refund", State: "paid"}))
	require.Equal(b, []string{"b"}, b.find(store.Query{Owner: "kim"}))
	require.Equal(b, []string{"a"}, b.find(store.Query{Owner: "lee"}))
	require.Equal(b, []string{"b"}, b.find(store.Query{WaitsFor: "bob"}))
	require.Equal(b, []string{"b", "a"}, b.find(store.Query{Machine: "refund"}))
	require.Equal(b, []string{"b", "a"}, b.find(store.Query{}))
	require.Empty(b, b.find(store.Query{Machine: "refun"}))
	require.Empty(b, b.find(store.Query{Owner: "ki"}))
	rows, _, err := b.s.Find(ctx, store.Query{Owner: "lee"})
	require.NoError(b, err)
	r, _ := b.load("a")
	require.Equal(b, []store.Row{{Task: "a", Meta: r.Meta}}, rows)
}

func findCombines(b *bench) {
	b.create("a", state("open"), owner("kim"), waits("bob"))
	b.create("b", state("paid"), owner("kim"), waits("bob"))
	b.create("c", state("open"), owner("lee"), waits("bob"))
	b.create("d", state("open"), owner("kim"))
	b.create("e", state("open"), owner("kim"), waits("bob"), func(c *store.Commit) { c.Meta.Machine = "other" })
	for q, want := range map[store.Query][]string{
		{Owner: "kim", WaitsFor: "bob"}:                                   {"a", "b", "e"},
		{Machine: "refund", Owner: "kim"}:                                 {"a", "b", "d"},
		{Machine: "refund", State: "open", Owner: "kim"}:                  {"a", "d"},
		{Machine: "refund", State: "open", Owner: "kim", WaitsFor: "bob"}: {"a"},
		{Machine: "refund", WaitsFor: "bob"}:                              {"a", "b", "c"},
	} {
		require.Equal(b, want, b.find(q), "%+v", q)
		q.Limit = 1
		require.Equal(b, want, b.find(q), "%+v in pages of one", q)
	}
	_, _, err := b.open().Find(ctx, store.Query{State: "open"})
	require.ErrorIs(b, err, store.ErrInvalid)
}

func findIsOrdered(b *bench) {
	b.create("done", owner("kim"), final, since(start-9), waits("x"))
	b.create("young", owner("kim"), since(start), waits("x"))
	b.create("old", owner("kim"), since(start-5), waits("x"))
	require.Equal(b, []string{"old", "young", "done"}, b.find(store.Query{Owner: "kim"}))
	require.Equal(b, []string{"done", "old", "young"}, b.find(store.Query{WaitsFor: "x"}))
	require.Equal(b, []string{"done", "old", "young"}, b.find(store.Query{Machine: "refund", State: "open"}))
}

func findPagesStably(b *bench) {
	tips := map[string]store.Tip{}
	for i := range 30 {
		id := fmt.Sprintf("t%02d", i)
		tips[id] = b.create(id)
	}
	for _, q := range []store.Query{{}, {Machine: "refund", State: "open"}, {Owner: "kim"}} {
		seen := map[string]int{}
		q.Limit = 4
		for page := 0; ; page++ {
			rows, next, err := b.open().Find(ctx, q)
			require.NoError(b, err)
			require.LessOrEqual(b, len(rows), 4)
			for _, r := range rows {
				seen[r.Task]++
			}
			if next == "" {
				break
			}
			q.After = next
			moving := fmt.Sprintf("t%02d", page*5%30/3*3)
			tips[moving] = b.step(moving, tips[moving], state(fmt.Sprint("s", page)), owner(fmt.Sprint("o", page)))
			tips[moving] = b.step(moving, tips[moving])
		}
		for i := range 30 {
			if i%3 != 0 {
				require.Equal(b, 1, seen[fmt.Sprintf("t%02d", i)], "task %d did not move, query %+v", i, q)
			}
		}
	}
}

func watchTells(b *bench) {
	w, ok := b.open().(store.Watcher)
	if !ok {
		return
	}
	tip := store.Tip{}
	told := make(chan store.Row)
	stop := make(chan struct{})
	go func() {
		defer close(told)
		for r, err := range w.Watch(ctx) {
			if err != nil {
				return
			}
			select {
			case told <- r:
			case <-stop:
				return
			}
		}
	}()
	// The watcher counts from when it is ranged over, so go on until it tells.
	for i := 0; ; i++ {
		tip = b.step("a", tip, state(fmt.Sprint("s", i)))
		select {
		case r := <-told:
			require.Equal(b, "a", r.Task)
			close(stop)
			require.NoError(b, b.s.Close())
			b.s = nil
			for range told {
			}
			return
		default:
			require.Less(b, i, 100_000, "nothing was told")
		}
	}
}
