package storetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var duePromises = []Promise{
	{Name: "DueFollowsTheTask", Means: "A task wakes at the one time it last asked for; a wake-up it gave up never comes.", run: dueFollowsTheTask},
	{Name: "DueIsOrdered", Means: "Wake-ups come earliest first, as many as asked for, for the slots asked for.", run: dueIsOrdered},
	{Name: "DueLooksBack", Means: "A wake-up set in the past, after others were already served, is still found.", run: dueLooksBack},
}

func dueFollowsTheTask(b *bench) {
	tip := b.create("a", wake(start+10))
	require.Empty(b, b.due())
	b.pass(9)
	require.Empty(b, b.due())
	b.pass(1)
	require.Equal(b, []string{"a"}, b.due())
	require.Equal(b, []string{"a"}, b.due(), "a hint takes nothing away")
	tip = b.step("a", tip, wake(start+20))
	require.Empty(b, b.due())
	tip = b.step("a", tip, wake(start+20))
	b.pass(10)
	require.Equal(b, []string{"a"}, b.due())
	b.step("a", tip)
	require.Empty(b, b.due())
}

func dueIsOrdered(b *bench) {
	for i := range 20 {
		b.create(fmt.Sprintf("t%02d", i), wake(start+store.Micros(7*i%20)))
	}
	b.pass(10)
	rows, err := b.open().Due(ctx, store.Slots{}, 0)
	require.NoError(b, err)
	require.Len(b, rows, 11)
	for i, r := range rows {
		require.Equal(b, start+store.Micros(i), r.Meta.Wake)
	}
	some, err := b.s.Due(ctx, store.Slots{}, 3)
	require.NoError(b, err)
	require.Equal(b, rows[:3], some)
	half, err := b.s.Due(ctx, store.Slots{From: 0, To: 2048}, 0)
	require.NoError(b, err)
	rest, err := b.s.Due(ctx, store.Slots{From: 2048, To: store.MaxSlot}, 0)
	require.NoError(b, err)
	require.Len(b, append(half, rest...), 11)
	for _, r := range half {
		require.Less(b, store.SlotOf(r.Task), uint16(2048))
	}
}

func dueLooksBack(b *bench) {
	tip := b.create("a", wake(start+50))
	b.create("b", wake(start+60))
	b.pass(100)
	require.Equal(b, []string{"a", "b"}, b.due())
	b.step("a", tip)
	require.Equal(b, []string{"b"}, b.due())
	b.create("c", wake(1))
	b.create("d", emits("pay"), func(c *store.Commit) { c.Emit[0].Ready = start + 70 })
	require.Equal(b, []string{"c", "b"}, b.due())
	require.Len(b, b.claim("w"), 1)
	b.create("e", emits("pay"), func(c *store.Commit) { c.Emit[0].Ready = 1 })
	require.Len(b, b.claim("w"), 1)
}
