package pebblestore

import (
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// TestWorkloadLikeMemory checks that Pebble and memory do the same, hash for hash.
func TestWorkloadLikeMemory(t *testing.T) {
	for seed := range uint64(10) {
		w := generate(seed, 70, 3000)
		want := expected(t, w)
		c := &clock{}
		c.at.Store(epoch)
		s, err := Open("db", small(vfs.NewMem(), c.now))
		require.NoError(t, err)
		for i, op := range w {
			c.at.Store(epoch + int64(i)*1e6)
			require.NoError(t, op(s))
			got, err := dump(s)
			require.NoError(t, err)
			require.Equal(t, want[i+1], got, "seed %d, operation %d", seed, i)
		}
		sound(t, s, "seed %d", seed)
		require.NoError(t, s.Close())
	}
}

// cut is what a power cut left while an operation ran; -1 is the opening.
type cut struct {
	during int
	what   string
	disk   *disk
}

// cuts runs a workload and cuts the power at every change of the file system.
func cuts(t *testing.T, seed uint64, w workload) []cut {
	d := newDisk(vfs.NewCrashableMem())
	var mu sync.Mutex
	var all []cut
	during := -1
	d.fs.set(func(what, name string) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, cut{during, what + " " + name, d.crash(seed + uint64(len(all)))})
		return nil
	})
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(d.fs, c.now))
	require.NoError(t, err)
	for i, op := range w {
		mu.Lock()
		during = i
		mu.Unlock()
		c.at.Store(epoch + int64(i)*1e6)
		require.NoError(t, op(s))
	}
	mu.Lock()
	during = len(w)
	mu.Unlock()
	require.NoError(t, s.Close())
	mu.Lock()
	defer mu.Unlock()
	return append(all, cut{len(w), "closed", d.crash(seed)})
}

// TestCrashAtEveryPoint cuts the power at every write and sync of generated workloads, with random parts of what was
// not synced lost. Afterwards everything acknowledged is there, the operation in flight is there whole or not at all,
// and the store verifies. (Field case B063.)
func TestCrashAtEveryPoint(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() || thinned > 1 {
		seeds = 1
	}
	points := 0
	for seed := range seeds {
		w := generate(seed, 40, 24_000)
		want := expected(t, w)
		for i, k := range cuts(t, seed, w) {
			points++
			got := reopened(t, k.disk, seed, k)
			allowed := []string{want[max(0, min(k.during, len(w)))], want[min(k.during+1, len(w))]}
			require.Contains(t, allowed, got, "seed %d, point %d, %s during operation %d", seed, i, k.what, k.during)
		}
	}
	t.Log(points, "points")
	require.Greater(t, points, int(seeds)*40)
}

// reopened opens what is left, verifies it and dumps it.
func reopened(t *testing.T, d *disk, seed uint64, k cut) string {
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(d.fs, c.now))
	require.NoError(t, err, "seed %d, %s during operation %d", seed, k.what, k.during)
	sound(t, s, "seed %d, %s during operation %d", seed, k.what, k.during)
	foundDue(t, s)
	got, err := dump(s)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return got
}

// TestCrashWhileRecovering cuts the power again at every change that opening after a cut makes.
func TestCrashWhileRecovering(t *testing.T) {
	const seed = 11
	w := generate(seed, 30, 24_000)
	want := expected(t, w)
	all := cuts(t, seed, w)
	for i := 0; i < len(all); i += max(1, len(all)*thinned/12) {
		k := all[i]
		var again []*disk
		var mu sync.Mutex
		k.disk.fs.set(func(string, string) error {
			mu.Lock()
			defer mu.Unlock()
			again = append(again, k.disk.crash(uint64(i+len(again))))
			return nil
		})
		first := reopened(t, k.disk, seed, k)
		mu.Lock()
		for _, d := range again {
			require.Equal(t, first, reopened(t, d, seed, k), "%s during operation %d, again while recovering", k.what, k.during)
		}
		mu.Unlock()
		allowed := []string{want[max(0, min(k.during, len(w)))], want[min(k.during+1, len(w))]}
		require.Contains(t, allowed, first)
	}
}
