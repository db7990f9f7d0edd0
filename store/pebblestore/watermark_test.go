package pebblestore

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// tell is a row that was planned and became visible.
func (w *watermark) tell(at store.Micros) {
	set, _ := w.plan(at)
	w.end(set, at, true)
}

// TestWatermarkHearsOfRowsDuringAScan checks the race that tests of scans may not hit: a row below what the scan found that
// became visible after the scan had passed its place.
func TestWatermarkHearsOfRowsDuringAScan(t *testing.T) {
	var w watermark
	require.EqualValues(t, 0, w.begin())
	w.found(100)
	require.EqualValues(t, 100, w.begin())
	w.tell(150)
	w.found(200)
	require.EqualValues(t, 150, w.begin())
	w.tell(70)
	w.found(200)
	require.EqualValues(t, 70, w.begin())
	w.found(60)
	require.EqualValues(t, 70, w.begin(), "it does not fall by itself")
	w.found(70)
}

// TestMarkStaysBelowWhatIsPlanned checks that a mark never lies above a row that is being written, whatever a scan that cannot see
// it yet finds, and that a row below the stored mark is told to be so.
func TestMarkStaysBelowWhatIsPlanned(t *testing.T) {
	var w watermark
	scan := func(found store.Micros) bool { w.begin(); return w.found(found) }
	require.True(t, scan(5e6), "far above the stored mark")
	early, above := w.plan(3e6)
	require.False(t, above, "nothing is stored yet")
	require.EqualValues(t, 3e6, w.mark())
	late, above := w.plan(4e6)
	require.False(t, above)
	require.NotEqual(t, early, late)
	w.end(early, 3e6, false)
	require.EqualValues(t, 4e6, w.mark(), "what was not written is forgotten although other rows are planned")
	w.end(late, 4e6, true)
	require.EqualValues(t, 4e6, w.begin(), "what became visible is looked for")
	w.found(5e6)
	require.EqualValues(t, 5e6, w.mark())
	require.False(t, scan(5e6+markLag-1), "not far enough above the stored mark")
	_, above = w.plan(5e6)
	require.False(t, above)
	_, above = w.plan(5e6 - 1)
	require.True(t, above, "the stored mark must be lowered first")
	require.EqualValues(t, 5e6-1, w.mark())
}

// foundDue checks that the search for what is due, which begins at the mark, finds every task whose wake-up has come.
func foundDue(t require.TestingT, s *Store, msg ...any) {
	all, next, err := s.Find(ctx, store.Query{})
	require.NoError(t, err)
	require.Empty(t, next)
	now := s.clock.Now()
	want := slices.DeleteFunc(all, func(r store.Row) bool { return r.Meta.Wake == 0 || r.Meta.Wake > now })
	slices.SortFunc(want, func(a, b store.Row) int {
		return cmp.Or(cmp.Compare(a.Meta.Wake, b.Meta.Wake), cmp.Compare(a.Task, b.Task))
	})
	got, err := s.Due(ctx, store.Slots{}, 0)
	require.NoError(t, err)
	require.ElementsMatch(t, want, got, msg...)
}

// TestMarksSurvive checks that after a kill a search begins where the last one before it ended, that nothing is lost by that
// which is set below afterwards, and that stores of the first versions, which have no marks, begin at the beginning.
func TestMarksSurvive(t *testing.T) {
	d, c := newDisk(vfs.NewCrashableMem()), &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(d.fs, c.now))
	require.NoError(t, err)
	set := step("a", 0, store.Tip{})
	set.Meta.Wake = epoch - 10
	set.Emit = []store.Effect{{ID: "pay", Ready: epoch - 10}}
	tip, err := s.Commit(ctx, set)
	require.NoError(t, err)
	cancel := step("a", 1, tip)
	cancel.Meta.Wake = 0
	cancel.Settle = []store.Settle{{Effect: "pay", Rev: store.FirstRev(1)}}
	_, err = s.Commit(ctx, cancel)
	require.NoError(t, err)
	foundDue(t, s)
	_, err = s.Claim(ctx, store.Slots{}, 1, "w", 1)
	require.NoError(t, err)
	c.at.Add(2 * tick)
	b, err := s.Commit(ctx, stepAt("b", 0, store.Tip{}))
	require.NoError(t, err)

	killed := copied(d.fs.FS.(*vfs.MemFS))
	k, err := Open("db", small(killed, c.now))
	require.NoError(t, err)
	require.EqualValues(t, epoch+1, k.due.at)
	require.EqualValues(t, epoch+1, k.ready.at)
	require.EqualValues(t, epoch+1, k.held.at)
	for i, wake := range []store.Micros{epoch - 5, epoch + 1, epoch - 7} {
		next := step("b", 1+i, b)
		next.Meta.Wake = wake
		next.Emit = []store.Effect{{ID: fmt.Sprint("e", i), Ready: wake}}
		b, err = k.Commit(ctx, next)
		require.NoError(t, err)
		again, err := Open("db", small(copied(killed), c.now))
		require.NoError(t, err)
		sound(t, again)
		foundDue(t, again)
		es, err := again.Claim(ctx, store.Slots{}, 0, "w", 1)
		require.NoError(t, err)
		require.Len(t, es, i+1)
		require.NoError(t, again.Close())
	}
	require.NoError(t, k.db.Set(clockKey, appendNumbered(nil, clockKey, uint64(epoch), nil), pebble.Sync))
	old, err := Open("db", small(copied(killed), c.now))
	require.NoError(t, err)
	require.Zero(t, old.due.at)
	foundDue(t, old)
	require.NoError(t, old.Close())

	require.NoError(t, k.db.Set(clockKey, appendNumbered(nil, clockKey, uint64(epoch), []byte{1, 2}), pebble.Sync))
	_, err = Open("db", small(copied(killed), c.now))
	require.ErrorIs(t, err, store.ErrCorrupt)
	require.NoError(t, k.Close())
	require.NoError(t, s.Close())
}

// TestMarksUnderLoad lets many set, move and cancel wake-ups before and behind the clock while others search, and cuts the power
// at many syncs: no store that is left holds a row below its marks, and what is due is found.
func TestMarksUnderLoad(t *testing.T) {
	const workers, each, most = 8, 60, 40
	d, c := newDisk(vfs.NewCrashableMem()), &clock{}
	c.at.Store(epoch)
	var mu sync.Mutex
	var left []*disk
	syncs := 0
	d.fs.set(func(what, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		if syncs++; isSync(what) && syncs%(5*thinned) == 0 && len(left) < most {
			left = append(left, d.crash(uint64(syncs)))
		}
		return nil
	})
	s, err := Open("db", small(d.fs, c.now))
	require.NoError(t, err)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { wakeAndSleep(t, s, c, fmt.Sprint("task-", w), each, uint64(w)) })
	}
	wg.Wait()
	require.Greater(t, s.due.stored, int64(epoch), "no mark was raised, so nothing was tested")
	require.NoError(t, s.Close())
	require.NotEmpty(t, left)
	for i, k := range left {
		s, err := Open("db", small(k.fs, c.now))
		require.NoError(t, err)
		sound(t, s, "cut %d", i)
		foundDue(t, s, "cut %d", i)
		require.NoError(t, s.Close())
	}
}

// wakeAndSleep commits to one task again and again with a wake-up around the present, and searches in between.
func wakeAndSleep(t *testing.T, s *Store, c *clock, task string, n int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	tip := store.Tip{}
	for i := range n {
		now := c.at.Add(200_000)
		k := step(task, i, tip)
		k.Meta.Wake = 0
		if rng.IntN(3) > 0 {
			k.Meta.Wake = now + int64(rng.IntN(2_000_000)) - 1_000_000
		}
		k.Emit = []store.Effect{{ID: fmt.Sprint("e", i), Ready: now + int64(rng.IntN(2_000_000)) - 1_000_000}}
		if _, es, err := s.Load(ctx, task); err == nil && len(es) > 2 {
			k.Settle = []store.Settle{{Effect: es[0].ID, Rev: es[0].Rev}}
		}
		next, err := s.Commit(ctx, k)
		if err == nil {
			tip = next
		} else if !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: %v", task, err)
		}
		if _, err := s.Due(ctx, store.Slots{}, 3); err != nil {
			t.Errorf("due: %v", err)
		}
		if i%4 == 0 {
			if _, err := s.Claim(ctx, store.Slots{}, 2, "w", int64(1+rng.IntN(500_000))); err != nil {
				t.Errorf("claim: %v", err)
			}
		}
	}
}
