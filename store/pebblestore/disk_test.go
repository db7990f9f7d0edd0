package pebblestore

import (
	"math/rand/v2"
	"sync/atomic"
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
	mem    *vfs.MemFS
	onSync atomic.Pointer[func()]
}

func newDisk() *disk { return &disk{mem: vfs.NewCrashableMem()} }

func (d *disk) Open(now func() time.Time) (store.Store, error) {
	s, err := Open("db", Options{FS: syncFS{d.mem, d}, Now: now, CacheBytes: 1 << 20, memTable: 1 << 20})
	if err != nil {
		return nil, err // not s: a nil *Store in an interface is not nil
	}
	return s, nil
}

func (d *disk) Survives() {}

func (d *disk) Crash(seed uint64) storetest.Crasher {
	return &disk{mem: d.mem.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: int(seed % 3 * 50), RNG: rand.New(rand.NewPCG(seed, 1)),
	})}
}

func (d *disk) OnSync(f func()) {
	if f == nil {
		d.onSync.Store(nil)
		return
	}
	d.onSync.Store(&f)
}

func (d *disk) synced() {
	if f := d.onSync.Load(); f != nil {
		(*f)()
	}
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

// syncFS tells its disk of every sync.
type syncFS struct {
	vfs.FS
	d *disk
}

func (f syncFS) wrap(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return syncFile{file, f.d}, nil
}

func (f syncFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.wrap(f.FS.Create(name, c))
}

func (f syncFS) ReuseForWrite(a, b string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.wrap(f.FS.ReuseForWrite(a, b, c))
}

func (f syncFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return f.wrap(f.FS.OpenReadWrite(name, c, o...))
}

type syncFile struct {
	vfs.File
	d *disk
}

func (f syncFile) Sync() error                  { f.d.synced(); return f.File.Sync() }
func (f syncFile) SyncData() error              { f.d.synced(); return f.File.SyncData() }
func (f syncFile) SyncTo(n int64) (bool, error) { f.d.synced(); return f.File.SyncTo(n) }

func TestStore(t *testing.T) {
	storetest.Exercise(t, func(storetest.T) storetest.Disk { return newDisk() })
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
