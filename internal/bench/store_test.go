package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// Every benchmark of the store makes its calls on both sides, over small stores, and removes what it wrote.
func TestStoreBenchmarks(t *testing.T) {
	dir := t.TempDir()
	w := &warehouse{tasks: minTasks, below: dir}
	for _, b := range []benchmark{
		storeLoad(w, "before"), storeLoad(w, "compacted"), storeLoad(w, "copied"), storeLoad(w, "searched"), storeLoad(w, "cold"), storeOpen(w, "closed"), storeOpen(w, "killed"),
		storeDue(w, "next"), storeDue(w, "first"), storeScale(w, "known"), storeScale(w, "cold"), storeScale(w, "raw"),
	} {
		b.calls = min(b.calls, 12)
		f, err := compare(b, 1, dir)
		require.NoError(t, err, b.name)
		require.Positive(t, f.ours, b.name)
		require.Positive(t, f.floor, b.name)
	}
	require.NoError(t, w.remove())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestStoreCounts(t *testing.T) {
	rows, err := compare(storeRows(), 1, t.TempDir())
	require.NoError(t, err)
	require.InDelta(t, 9, rows.ours, 0, "a change here is a change of what a transition writes: see TestWhatIsRecorded")
	size, err := compare(storeBytes(&warehouse{tasks: minTasks}), 1, t.TempDir())
	require.NoError(t, err)
	require.Less(t, size.ours, size.floor, "what is stored is compressed")
	require.Greater(t, size.ours, 32.0, "each version holds a hash, which cannot be compressed")
}

// The floor of store/commit writes what the store writes.
func TestStoreCommitIsRecorded(t *testing.T) {
	j, err := record(func(at place) (side, error) { return openStore(at, 2, 3) }, plan{
		callers: 2, calls: 3,
		move:   func(caller, n int) (string, uint64) { return bigTask(caller), uint64(1 + n) },
		starts: func(int) bool { return false },
	})
	require.NoError(t, err)
	r, _, err := new(store.Sealer).Open(bigTask(1), 3, j.moves[1][2].rows[0].value)
	require.NoError(t, err)
	require.Equal(t, "awaiting_confirmation", r.Meta.State)
	require.Contains(t, string(r.Snapshot), `"status":"awaiting_confirmation"`)
}

// A copy of a store that is open holds every commit, as after a kill, and no mark of a close.
func TestCopyServing(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	s, err := pebblestore.Open(from, pebblestore.Options{})
	require.NoError(t, err)
	defer s.Close()
	tip := store.Tip{}
	require.NoError(t, fillOne(s, 7, &tip))
	require.NoError(t, copyServing(to, from))
	_, err = os.Stat(filepath.Join(to, "PAWL-CLOSED"))
	require.ErrorIs(t, err, os.ErrNotExist)
	copied, err := pebblestore.Open(to, pebblestore.Options{FS: vfs.Default})
	require.NoError(t, err)
	defer copied.Close()
	got, err := copied.Tip(t.Context(), bigTask(7))
	require.NoError(t, err)
	require.Equal(t, tip, got)
}

// The floor of a load has the cache of ours.
func TestOpenBare(t *testing.T) {
	at := place{vfs.Default, t.TempDir()}
	s, err := pebblestore.Open(at.dir, pebblestore.Options{CacheBytes: coldCache - 2*coldTable, MemTableBytes: coldTable})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for cache, want := range map[int64]string{0: "cache_size=3145728", 7 << 20: "cache_size=7340032"} {
		dir := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, copyStore(dir, at.dir))
		db, err := openBare(dir, cache)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		noted, err := readOptions(vfs.Default, dir)
		require.NoError(t, err)
		require.Contains(t, noted, want)
	}
}

func TestReadOrders(t *testing.T) {
	name := filepath.Join(t.TempDir(), "orders.json")
	require.NoError(t, os.WriteFile(name, []byte(`{"#2":{"user_id":"b"},"#1":{"user_id":"a"}}`), 0o600))
	o, err := readOrders(name)
	require.NoError(t, err)
	first, err := o.commits("t", 0, 1)
	require.NoError(t, err)
	require.Equal(t, "a", first[0].Meta.Owner)
	require.NotContains(t, o.real[0], "status", "an order of the file is not changed")

	for _, text := range []string{`{}`, `[]`, `{`} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		_, err = readOrders(name)
		require.Error(t, err)
	}
	_, err = readOrders(filepath.Join(t.TempDir(), "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
