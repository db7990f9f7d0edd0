package storetest

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var diskPromises = []Promise{
	{Name: "ReopenKeepsEverything", Means: "Closing and opening again loses nothing and starts the clock no earlier.", run: reopenKeepsEverything, needs: survives},
	{Name: "SoleHoldersDieWithTheirOpen", Means: "After a restart no hold of the dead process blocks its effects, and they are looked up before anything is sent again (field case B072).", run: soleHoldersDie, needs: survives},
	{Name: "CorruptIsAnError", Means: "A damaged record is an error that names task and version, never an absent task.", run: corruptIsAnError, needs: corrupts},
	{Name: "AcknowledgedIsDurable", Means: "What was acknowledged survives a power cut at any moment after.", run: acknowledgedIsDurable, needs: crashes},
	{Name: "CommitIsAtomic", Means: "A power cut in the middle of a commit leaves all of it or nothing of it (field cases B063, B069).", run: commitIsAtomic, needs: crashes},
	{Name: "NoDirtyReads", Means: "Nobody sees a version, an effect or a claim that a power cut could still take back.", run: noDirtyReads, needs: crashes},
	{Name: "NoDirtyClaims", Means: "Nobody is told of a claim or a changed effect that a power cut could still take back.", run: noDirtyClaims, needs: crashes},
}

func reopenKeepsEverything(b *bench) {
	tip := b.create("a", emits("pay", "mail"), once("reply"), wake(start+5), waits("bob"))
	if b.s.Info().Swap {
		tip = b.step("a", tip, swaps("cap", 0, "1"), wake(start+5), waits("bob"))
	}
	b.create("b", state("paid"))
	require.NoError(b, b.s.Note(ctx, "a", store.Attempt{At: 3, Body: []byte("no")}))
	b.pass(10 * second)
	before, effects := b.load("a")
	info := b.s.Info()
	b.create("clock")
	b.pass(-5 * second)
	b.reopen()
	require.Equal(b, info, b.s.Info())
	after, es := b.load("a")
	require.Equal(b, before, after)
	require.Equal(b, effects, es)
	require.Equal(b, tip, after.Tip)
	now, err := b.s.Now(ctx)
	require.NoError(b, err)
	require.GreaterOrEqual(b, now, start+10*second)
	require.Equal(b, []string{"a"}, b.find(store.Query{WaitsFor: "bob"}))
	require.Equal(b, []string{"b"}, b.find(store.Query{Machine: "refund", State: "paid"}))
	require.Equal(b, []string{"a"}, b.due())
	as, err := b.s.Attempts(ctx, "a")
	require.NoError(b, err)
	require.Len(b, as, 1)
	b.step("a", tip)
	require.Len(b, b.claim("w"), 2)
}

func soleHoldersDie(b *bench) {
	b.create("a", emits("pay"))
	old := b.claim("worker")[0]
	if !b.reopen().Info().Sole {
		require.Empty(b, b.claim("worker"))
		return
	}
	es := b.claim("worker")
	require.Len(b, es, 1)
	require.Equal(b, store.Sent, es[0].Was)
	require.Greater(b, es[0].Rev, old.Rev)
}

func corruptIsAnError(b *bench) {
	tip := b.create("a")
	b.step("a", tip)
	b.create("b")
	require.NoError(b, b.s.Close())
	b.s = nil
	require.NoError(b, b.disk.(Corrupter).Corrupt("a", 2))
	_, _, err := b.open().Load(ctx, "a")
	var corrupt *store.CorruptError
	require.ErrorAs(b, err, &corrupt)
	require.Equal(b, "a", corrupt.Task)
	require.EqualValues(b, 2, corrupt.Version)
	_, err = b.s.Tip(ctx, "a")
	require.ErrorIs(b, err, store.ErrCorrupt)
	_, err = b.history("a", 0, 0)
	require.ErrorIs(b, err, store.ErrCorrupt)
	b.refused(store.ErrCorrupt, b.next("a", store.Tip{}))
	b.load("b")
	if v, ok := b.s.(store.Verifier); ok {
		found := false
		for p, err := range v.Verify(ctx) {
			require.NoError(b, err)
			require.Equal(b, "a", p.Task)
			found = found || p.Version == 2
		}
		require.True(b, found)
	}
}

// crashed opens what a power cut leaves, hands it to f and closes it.
func crashed(b *bench, d Crasher, f func(after *bench)) {
	after := &bench{T: b.T, disk: d, at: atomic.LoadInt64(&b.at)}
	defer after.shut()
	after.open()
	f(after)
}

func acknowledgedIsDurable(b *bench) {
	disk := b.disk.(Crasher)
	tip := store.Tip{}
	for i := range 12 {
		tip = b.step("a", tip, once(fmt.Sprint("reply-", i)), emits(fmt.Sprint("pay-", i)))
		crashed(b, disk.Crash(uint64(i)), func(after *bench) {
			r, es := after.load("a")
			require.Equal(b, tip, r.Tip)
			require.Len(b, es, i+1)
			v, err := after.s.Once(ctx, "a", fmt.Sprint("reply-", i))
			require.NoError(b, err)
			require.EqualValues(b, i+1, v)
		})
	}
	held := b.claim("w")
	require.Len(b, held, 12)
	crashed(b, disk.Crash(99), func(after *bench) {
		_, es := after.load("a")
		require.Equal(b, store.Sent, es[0].Status, "a claim is durable before it is returned")
		require.Equal(b, held[0].Rev, es[0].Rev)
	})
	rev, err := b.s.Update(ctx, store.Effect{Task: "a", ID: "pay-0", Rev: held[0].Rev, Status: store.Unknown})
	require.NoError(b, err)
	crashed(b, disk.Crash(100), func(after *bench) {
		_, es := after.load("a")
		require.Equal(b, store.Unknown, es[0].Status)
		require.Equal(b, rev, es[0].Rev)
	})
}

func commitIsAtomic(b *bench) {
	disk := b.disk.(Crasher)
	first := b.create("a", emits("pay"), state("open"), owner("kim"))
	var mu sync.Mutex
	var cuts []Crasher
	seed := uint64(0)
	disk.OnSync(func() {
		mu.Lock()
		defer mu.Unlock()
		for range 4 {
			seed++
			cuts = append(cuts, disk.Crash(seed))
		}
	})
	second := b.step("a", first, emits("mail"), settles("pay", store.FirstRev(1)), once("reply"), state("paid"), owner("lee"), wake(start))
	disk.OnSync(nil)
	mu.Lock()
	defer mu.Unlock()
	require.NotEmpty(b, cuts, "a commit syncs")
	for _, cut := range append(cuts, disk.Crash(0)) {
		crashed(b, cut, func(after *bench) {
			r, es := after.load("a")
			require.Len(b, es, 1)
			v, err := after.s.Once(ctx, "a", "reply")
			require.NoError(b, err)
			if r.Tip == first {
				require.Equal(b, "pay", es[0].ID)
				require.Zero(b, v)
				require.Equal(b, []string{"a"}, after.find(store.Query{Owner: "kim"}))
				require.Empty(b, after.find(store.Query{Owner: "lee"}))
				require.Empty(b, after.due())
				return
			}
			require.Equal(b, second, r.Tip)
			require.Equal(b, "mail", es[0].ID)
			require.EqualValues(b, 2, v)
			require.Equal(b, []string{"a"}, after.find(store.Query{Owner: "lee"}))
			require.Empty(b, after.find(store.Query{Owner: "kim"}))
			require.Equal(b, []string{"a"}, after.due())
			if v, ok := after.s.(store.Verifier); ok {
				noProblems(after, v)
			}
		})
	}
}

// noDirtyReads stops a commit in its sync, reads beside it, cuts the power and compares: what was read before the
// sync went on must be there after the cut.
func noDirtyReads(b *bench) {
	disk := b.disk.(Crasher)
	first := b.create("a", emits("pay"))
	type seen struct {
		tip, loaded store.Tip
		effects     int
	}
	read := make(chan seen, 1)
	var begun atomic.Bool
	var synced atomic.Bool
	var early *seen
	disk.OnSync(func() {
		if begun.Swap(true) {
			return
		}
		go func() {
			var s seen
			s.tip, _ = b.s.Tip(ctx, "a")
			r, es, _ := b.s.Load(ctx, "a")
			s.loaded, s.effects = r.Tip, len(es)
			read <- s
		}()
		for range 20_000 {
			select {
			case s := <-read:
				early = &s
			default:
				runtime.Gosched()
			}
		}
		synced.Store(true)
	})
	second := b.step("a", first, emits("mail"))
	disk.OnSync(nil)
	require.True(b, synced.Load(), "a commit syncs before it is acknowledged")
	if early != nil {
		require.Equal(b, seen{first, first, 1}, *early, "read while the sync had not happened")
		return
	}
	got := <-read
	require.Contains(b, []store.Tip{first, second}, got.tip)
	if got.loaded == first {
		require.Equal(b, 1, got.effects)
	} else {
		require.Equal(b, seen{got.tip, second, 2}, got)
	}
}

// noDirtyClaims stops a claim and an update in their syncs and reads the effect beside them.
func noDirtyClaims(b *bench) {
	b.create("a", emits("pay"))
	var held []store.Effect
	early := whileSyncing(b, func() { held = b.claim("w") })
	require.Len(b, held, 1)
	if early != nil {
		require.Equal(b, store.Intent, early.Status, "read while the claim's sync had not happened")
	}
	early = whileSyncing(b, func() {
		_, err := b.s.Update(ctx, store.Effect{Task: "a", ID: "pay", Rev: held[0].Rev, Status: store.Unknown})
		require.NoError(b, err)
	})
	if early != nil {
		require.Equal(b, store.Sent, early.Status, "read while the update's sync had not happened")
	}
}

// whileSyncing does something and reads the effect of task "a" while its first sync is stopped; nil if nothing could be
// read before the sync went on.
func whileSyncing(b *bench, do func()) (early *store.Effect) {
	disk := b.disk.(Crasher)
	read := make(chan store.Effect, 1)
	var begun atomic.Bool
	disk.OnSync(func() {
		if begun.Swap(true) {
			return
		}
		go func() {
			if _, es, err := b.s.Load(ctx, "a"); err == nil && len(es) == 1 {
				read <- es[0]
			}
			close(read)
		}()
		for range 20_000 {
			select {
			case e, ok := <-read:
				if ok {
					early = &e
				}
				return
			default:
				runtime.Gosched()
			}
		}
	})
	do()
	disk.OnSync(nil)
	require.True(b, begun.Load(), "it syncs before it is acknowledged")
	return early
}
