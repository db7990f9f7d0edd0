package pebblestore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/store"
)

// fresh is an empty small store on a memory disk.
func fresh(t *testing.T) (*Store, *clock) {
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(vfs.NewMem(), c.now))
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s, c
}

// TestClockAfterACrash lets time pass by every amount around a tick, cuts the power after a commit, and starts again on a
// clock that stepped back: the store's clock is never behind what the commit was judged on.
func TestClockAfterACrash(t *testing.T) {
	for _, step := range []int64{1, tick - 1, tick, tick + 1, 5 * tick / 2} {
		d := newDisk(vfs.NewCrashableMem())
		c := &clock{}
		c.at.Store(epoch)
		s, err := Open("db", small(d.fs, c.now))
		require.NoError(t, err)
		tip := store.Tip{}
		for i := range 7 {
			c.at.Add(step)
			k := stepAt("a", i, tip)
			tip, err = s.Commit(ctx, k)
			require.NoError(t, err)
			left := d.crash(0)
			back := &clock{}
			back.at.Store(epoch - 3600e6)
			again, err := Open("db", small(left.fs, back.now))
			require.NoError(t, err)
			now, err := again.Now(ctx)
			require.NoError(t, err)
			require.GreaterOrEqual(t, now, c.at.Load(), "step %d, commit %d", step, i)
			require.LessOrEqual(t, now, c.at.Load()+tick, "step %d, commit %d", step, i)
			require.NoError(t, again.Close())
		}
		require.NoError(t, s.Close())
		back := &clock{}
		again, err := Open("db", small(d.fs, back.now))
		require.NoError(t, err)
		now, err := again.Now(ctx)
		require.NoError(t, err)
		require.Equal(t, c.at.Load(), now, "after a clean close it goes on exactly")
		require.NoError(t, again.Close())
	}
}

// stepAt is a step without instants of its own.
func stepAt(task string, n int, base store.Tip) *store.Commit {
	k := step(task, n, base)
	k.Meta.Wake = 0
	return k
}

// TestComparer checks what Pebble asks of a comparer, on keys like ours and on pieces of them.
func TestComparer(t *testing.T) {
	key := rapid.Custom(func(t *rapid.T) []byte {
		alphabet := []byte{0, 1, 2, 'a', 'b', 't', 0xff}
		k := rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 8).Draw(t, "key")
		if rapid.Bool().Draw(t, "task") {
			k[0] = taskSpace
		}
		return k
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := key.Draw(t, "a"), key.Draw(t, "b")
		pa, pb := a[:split(a)], b[:split(b)]
		require.Equal(t, split(pa), len(pa), "a prefix is its own prefix")
		order := bytes.Compare(pa, pb)
		if order == 0 {
			order = bytes.Compare(a[len(pa):], b[len(pb):])
		}
		require.Equal(t, comparer.Compare(a, b), order, "keys are ordered by prefix, then suffix")
		next := successor(nil, pa)
		require.Equal(t, split(next), len(next))
		require.Negative(t, bytes.Compare(a, next), "the successor lies above every key with the prefix")
		if bytes.Compare(pa, pb) < 0 {
			require.LessOrEqual(t, bytes.Compare(next, pb), 0, "no prefix lies between a prefix and its successor")
			sep := comparer.Separator(nil, pa, pb)
			require.LessOrEqual(t, bytes.Compare(pa, sep), 0)
			require.Negative(t, bytes.Compare(sep, pb))
		}
	})
}

// TestRowsOfATransition holds down what a commit writes: rows decide the rate.
func TestRowsOfATransition(t *testing.T) {
	s, _ := fresh(t)
	first := &store.Meta{Machine: "refund", State: "asked", Owner: "kim", WaitsFor: "kim", Since: 1, Wake: 9}
	same := *first
	moved := *first
	moved.State, moved.Since, moved.WaitsFor, moved.Wake = "paying", 2, "", 0
	commit := &store.Commit{Record: store.Record{Task: "a"}, Emit: []store.Effect{{ID: "pay"}}}
	for _, c := range []struct {
		old, now *store.Meta
		c        *store.Commit
		rows     uint32
	}{
		{&store.Meta{}, first, &store.Commit{}, 4},
		{first, &same, &store.Commit{}, 0},
		{first, &moved, &store.Commit{}, 4}, // state old and new, waited-for and wake-up gone
		{first, &moved, commit, 6},          // with the record: the 7 rows of a refund
	} {
		b := s.db.NewBatch()
		w := writer{to: b}
		w.meta(c.old, c.now, "a")
		w.side(c.c, &entry{})
		require.NoError(t, w.err)
		require.Equal(t, c.rows, b.Count())
		require.NoError(t, b.Close())
	}
}

// TestLocksAreBounded checks that tasks that nobody uses are forgotten, and that those in use are not.
func TestLocksAreBounded(t *testing.T) {
	l := newLocks(shards * 2)
	held := l.take("held")
	for i := range 10_000 {
		task := fmt.Sprint("task-", i)
		l.give(task, l.take(task))
	}
	n := 0
	for i := range l.shards {
		n += len(l.shards[i].m)
	}
	require.LessOrEqual(t, n, shards*3)
	require.Same(t, held, l.take("held"))
}

// TestForgottenTasksGoOn works on far more tasks than are remembered, each several times.
func TestForgottenTasksGoOn(t *testing.T) {
	c := &clock{}
	c.at.Store(epoch)
	o := small(vfs.NewMem(), c.now)
	o.Tasks = 1
	s, err := Open("db", o)
	require.NoError(t, err)
	defer s.Close()
	tips := make([]store.Tip, 300)
	for round := range 4 {
		for i := range tips {
			k := step(fmt.Sprint("t", i), round, tips[i])
			k.Emit = []store.Effect{{ID: fmt.Sprint("pay-", round)}}
			if round > 0 {
				k.Settle = []store.Settle{{Effect: fmt.Sprint("pay-", round-1), Rev: store.FirstRev(uint64(round))}}
			}
			tips[i], err = s.Commit(ctx, k)
			require.NoError(t, err)
		}
	}
	sound(t, s)
}

// TestWatermark lets rows appear and go while scans run, and checks that in the end no live row was passed over.
func TestWatermark(t *testing.T) {
	s, c := fresh(t)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, err := s.Due(ctx, store.Slots{}, 5)
					require.NoError(t, err)
				}
			}
		})
	}
	want := map[string]bool{}
	for i := range 4 {
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		task := fmt.Sprint("t", i)
		tip := store.Tip{}
		for n := range 120 {
			k := stepAt(task, n, tip)
			k.Meta.Wake = epoch - rng.Int64N(1000)
			var err error
			tip, err = s.Commit(ctx, k)
			require.NoError(t, err)
			c.at.Add(1)
		}
		want[task] = true
	}
	close(stop)
	wg.Wait()
	rows, err := s.Due(ctx, store.Slots{}, 0)
	require.NoError(t, err)
	require.Len(t, rows, len(want))
}

// TestErasedBytesAreGone looks for a person's name in every table after it was erased.
func TestErasedBytesAreGone(t *testing.T) {
	fs := vfs.NewMem()
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(fs, c.now))
	require.NoError(t, err)
	const name = "Wilhelmina Ravensbeck"
	tip := store.Tip{}
	for i := range 3 {
		k := step("a", i, tip)
		k.Snapshot = []byte(name)
		tip, err = s.Commit(ctx, k)
		require.NoError(t, err)
	}
	_, err = s.Commit(ctx, step("b", 0, store.Tip{}))
	require.NoError(t, err)
	require.NoError(t, s.Note(ctx, "a", store.Attempt{Body: []byte(name)}))
	require.NoError(t, s.db.Flush())
	require.True(t, inTables(t, fs, name))
	_, err = s.Erase(ctx, "a", []byte("asked"))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.False(t, inTables(t, fs, name))
	s, err = Open("db", small(fs, c.now))
	require.NoError(t, err)
	sound(t, s)
	require.NoError(t, s.Close())
}

// inTables says whether a text stands in a table.
func inTables(t *testing.T, fs vfs.FS, text string) bool {
	for _, table := range files(t, fs, ".sst") {
		if bytes.Contains(contents(t, fs, table), []byte(text)) {
			return true
		}
	}
	return false
}

// TestObserve checks that the observer hears of each call, with what it moved and how it ended.
func TestObserve(t *testing.T) {
	c := &clock{}
	c.at.Store(epoch)
	o := small(vfs.NewMem(), c.now)
	var heard []string
	o.Observe = func(x Observation) {
		heard = append(heard, fmt.Sprint(x.Call, " ", x.Task, " ", x.Bytes, " ", x.Err != nil))
		require.GreaterOrEqual(t, x.Took, time.Duration(0))
	}
	s, err := Open("db", o)
	require.NoError(t, err)
	defer s.Close()
	k := step("a", 0, store.Tip{})
	k.Emit = []store.Effect{{ID: "pay"}}
	_, err = s.Commit(ctx, k)
	require.NoError(t, err)
	_, err = s.Commit(ctx, k)
	require.Error(t, err)
	_, _, err = s.Load(ctx, "a")
	require.NoError(t, err)
	es, err := s.Claim(ctx, store.Slots{}, 0, "w", 1)
	require.NoError(t, err)
	es[0].Status, es[0].Body = store.Unknown, []byte("1234")
	_, err = s.Update(ctx, es[0])
	require.NoError(t, err)
	require.Equal(t, []string{"commit a 2000 false", "commit a 2000 true", "load a 2000 false", "claim  0 false", "update a 4 false"}, heard)
}

// TestStaleCandidate checks that a claim looks again under the lock: between the scan and the lock an effect can be
// claimed, put off or settled.
func TestStaleCandidate(t *testing.T) {
	s, c := fresh(t)
	k := stepAt("a", 0, store.Tip{})
	k.Emit = []store.Effect{{ID: "later", Ready: epoch + 10}, {ID: "now"}}
	_, err := s.Commit(ctx, k)
	require.NoError(t, err)
	now := c.at.Load()
	cs := []candidate{{task: "a", effect: "later"}, {task: "a", effect: "gone"}, {task: "absent", effect: "x"}, {task: "a", effect: "now"}}
	es, err := s.claim(cs, "w", now, now+5)
	require.NoError(t, err)
	require.Len(t, es, 1)
	require.Equal(t, "now", es[0].ID)
	es, err = s.claim(cs, "w", now, now+5)
	require.NoError(t, err)
	require.Empty(t, es)
}
