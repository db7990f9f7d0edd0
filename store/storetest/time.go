package storetest

import (
	"runtime"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var timePromises = []Promise{
	{Name: "ClockNeverGoesBack", Means: "A clock that steps back un-expires nothing.", run: clockNeverGoesBack},
	{Name: "LapsedIsRefused", Means: "A commit lands only while what it stands on is valid: from its first instant on, and before its last.", run: lapsedIsRefused},
	{Name: "InstantsOfATaskNeverFall", Means: "The history of a task never runs backwards, and never ahead of the store's clock.", run: instantsNeverFall},
	{Name: "DeadlineIsJudgedUnderTheLock", Means: "A commit that waited its turn past the deadline is refused: the time of asking does not count.", run: deadlineUnderLock, needs: crashes},
}

func clockNeverGoesBack(b *bench) {
	b.create("a")
	b.pass(10 * second)
	before, err := b.open().Now(ctx)
	require.NoError(b, err)
	require.Equal(b, start+10*second, before)
	b.pass(-10 * second)
	now, err := b.s.Now(ctx)
	require.NoError(b, err)
	require.Equal(b, before, now)
	c := b.next("b", store.Tip{})
	c.Until = start + 5*second
	b.refused(store.ErrLapsed, c)
}

func lapsedIsRefused(b *bench) {
	c := b.next("a", store.Tip{})
	c.From, c.Until = start+5, start+9
	b.pass(4)
	b.refused(store.ErrLapsed, c)
	b.pass(5)
	err := b.refused(store.ErrLapsed, c)
	var lapsed *store.LapsedError
	require.ErrorAs(b, err, &lapsed)
	require.Equal(b, store.LapsedError{Task: "a", Now: start + 9, From: start + 5, Until: start + 9}, *lapsed)

	c = b.next("a", store.Tip{})
	c.From, c.Until = start+9, start+10
	tip := b.commit(c)
	b.step("a", tip, func(c *store.Commit) { c.Until = 0 })
}

func instantsNeverFall(b *bench) {
	b.pass(second)
	tip := b.create("a")
	r, _ := b.load("a")
	require.Equal(b, start+second, r.At, "a zero instant becomes the store's now")
	tip = b.step("a", tip, func(c *store.Commit) { c.At = start })
	r, _ = b.load("a")
	require.Equal(b, start+second, r.At, "an instant before the last one becomes the last one")
	c := b.next("a", tip)
	c.At = start + second + 1
	b.refused(store.ErrInvalid, c)
	b.pass(1)
	b.commit(c)
}

// deadlineUnderLock holds the task's lock by an update whose sync is stopped, lets a commit wait for it,
// moves the clock past the commit's deadline and goes on.
func deadlineUnderLock(b *bench) {
	tip := b.create("a", emits("pay"))
	disk := b.disk.(Crasher)
	landed := make(chan error, 1)
	var begun atomic.Bool
	disk.OnSync(func() {
		if begun.Swap(true) {
			return
		}
		entered := make(chan struct{})
		go func() {
			c := b.next("a", tip)
			c.Until = start + second
			close(entered)
			_, err := b.s.Commit(ctx, c)
			landed <- err
		}()
		<-entered
		for range 20_000 {
			runtime.Gosched()
		}
		b.pass(second)
	})
	_, err := b.s.Update(ctx, store.Effect{Task: "a", ID: "pay", Rev: store.FirstRev(1), Status: store.Unknown})
	require.NoError(b, err)
	require.ErrorIs(b, <-landed, store.ErrLapsed)
	disk.OnSync(nil)
}
