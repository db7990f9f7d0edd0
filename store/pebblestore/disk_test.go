package pebblestore

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/storetest"
)

// disk is a memory disk that can lose power.
type disk struct {
	mem *vfs.MemFS
	fs  hookFS
}

func newDisk(mem *vfs.MemFS) *disk { return &disk{mem: mem, fs: newHookFS(mem)} }

// small are options for the many small stores of tests.
func small(fs vfs.FS, now func() time.Time) Options {
	return Options{FS: fs, Now: now, CacheBytes: 1 << 20, Tasks: 1 << 10, MemTableBytes: 256 << 10}
}

func (d *disk) Open(now func() time.Time) (store.Store, error) {
	s, err := Open("db", small(d.fs, now))
	if err != nil {
		return nil, err // not s: a nil *Store in an interface is not nil
	}
	return s, nil
}

func (d *disk) Survives() {}

func (d *disk) crash(seed uint64) *disk {
	return newDisk(d.mem.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: int(seed % 3 * 50), RNG: rand.New(rand.NewPCG(seed, 1)),
	}))
}

func (d *disk) Crash(seed uint64) storetest.Crasher { return d.crash(seed) }

func (d *disk) OnSync(f func()) {
	if f == nil {
		d.fs.set(nil)
		return
	}
	d.fs.set(func(what, _ string) error {
		if isSync(what) {
			f()
		}
		return nil
	})
}

func (d *disk) Corrupt(task string, version uint64) error {
	db, err := pebble.Open("db", (&Options{}).pebble(d.mem, &gate{}))
	if err != nil {
		return err
	}
	defer db.Close()
	key := store.AppendKey(nil, task, version)
	value, closer, err := db.Get(key)
	if err != nil {
		return err
	}
	bad := append([]byte(nil), value...)
	closer.Close()
	bad[len(bad)/2] ^= 4
	return db.Set(key, bad, pebble.Sync)
}

func TestStore(t *testing.T) {
	storetest.Exercise(t, func(storetest.T) storetest.Disk { return newDisk(vfs.NewCrashableMem()) })
}

func TestOpenOnTheDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	require.NoError(t, err)
	_, err = Open(dir, Options{})
	require.Error(t, err, "one process, one open")
	require.NoError(t, s.Close())
	s, err = Open(dir, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
}
