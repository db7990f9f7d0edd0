package pebblestore

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var errDisk = errors.New("injected disk error")

// patience is how long one operation may take before the test says that it hangs; nothing waits for it otherwise.
const patience = 60 * time.Second

// promptly fails the test if f hangs.
func promptly(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience): // reason: a hang has no event of its own to wait for
		require.FailNow(t, "hangs", what)
	}
}

// faulty runs a workload on a disk whose n-th change fails, and every later one too if sticky. It returns the
// number of the operation that failed (-1: opening, len: none, closing perhaps), how many changes there were, and
// the error.
func faulty(t *testing.T, d *disk, w workload, n int, sticky bool) (at, changes int, failure error) {
	var count atomic.Int64
	d.fs.set(func(what, name string) error {
		if k := int(count.Add(1)); k == n || (sticky && k > n) {
			return fmt.Errorf("%s %s: %w", what, name, errDisk)
		}
		return nil
	})
	defer d.fs.set(nil)
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(d.fs, c.now))
	if err != nil {
		return -1, int(count.Load()), err
	}
	at = len(w)
	for i, op := range w {
		c.at.Store(epoch + int64(i)*1e6)
		if failure = op(s); failure != nil {
			at = i
			break
		}
	}
	if failure != nil {
		require.True(t, errors.Is(failure, store.ErrFailed), "%v", failure)
		closedToAll(t, s)
	}
	err = s.Close()
	require.NotErrorIs(t, err, store.ErrClosed)
	return at, int(count.Load()), failure
}

// closedToAll checks that a failed store says so to everybody.
func closedToAll(t *testing.T, s *Store) {
	_, err := s.Commit(ctx, &store.Commit{Record: store.Record{Task: "new", Meta: store.Meta{Machine: "m", State: "s"}}})
	require.ErrorIs(t, err, store.ErrFailed)
	require.ErrorIs(t, err, errDisk)
	_, _, err = s.Load(ctx, "task-0")
	require.ErrorIs(t, err, store.ErrFailed)
	_, err = s.Tip(ctx, "task-0")
	require.ErrorIs(t, err, store.ErrFailed)
	_, _, err = s.Find(ctx, store.Query{})
	require.ErrorIs(t, err, store.ErrFailed)
	_, err = s.Claim(ctx, store.Slots{}, 0, "w", 1)
	require.ErrorIs(t, err, store.ErrFailed)
	require.ErrorIs(t, s.Note(ctx, "task-0", store.Attempt{}), store.ErrFailed)
}

// TestFaultAtEveryPoint lets every change of the file system fail, once and for good. There is never a false
// acknowledgement, the store says that it failed, the process lives, and opening again recovers.
func TestFaultAtEveryPoint(t *testing.T) {
	const seed = 3
	w := generate(seed, 30, 24_000)
	want := expected(t, w)
	_, changes, failure := faulty(t, newDisk(vfs.NewCrashableMem()), w, -1, false)
	require.NoError(t, failure)
	require.Greater(t, changes, 60)
	kinds := map[string]int{}
	for n := 1; n <= changes+2; n += thinned {
		for _, sticky := range []bool{false, true} {
			what := fmt.Sprintf("change %d of %d, sticky %v", n, changes, sticky)
			d := newDisk(vfs.NewCrashableMem())
			var at int
			var failure error
			promptly(t, what, func() { at, _, failure = faulty(t, d, w, n, sticky) })
			kinds[kindOf(failure)]++
			promptly(t, what, func() { recovers(t, d, w, want, at, failure, what) })
		}
	}
	t.Log(kinds)
	require.Greater(t, kinds["uncertain"], 10/thinned)
}

func kindOf(err error) string {
	switch {
	case err == nil:
		return "none"
	case errors.Is(err, store.ErrUncertain):
		return "uncertain"
	}
	return "failed"
}

// recovers opens what is on the disk, as the process left it and after a power cut, and compares.
func recovers(t *testing.T, d *disk, w workload, want []string, at int, failure error, what string) {
	i := max(at, 0)
	allowed := []string{want[min(i, len(w))]}
	if errors.Is(failure, store.ErrUncertain) || at == len(w) {
		allowed = append(allowed, want[min(i+1, len(w))])
	}
	for seed, left := range []*disk{d.crash(0), d.crash(1), d.crash(2), d} {
		got := reopened(t, left, uint64(seed), cut{during: at, what: what, disk: left})
		require.Contains(t, allowed, got, "%s, operation %d, found state %d: %v", what, at, slices.Index(want, got), failure)
	}
}

// TestFullDisk lets the disk run full in the middle of a workload and have space again. (Field case B064.)
func TestFullDisk(t *testing.T) {
	w := generate(5, 40, 24_000)
	want := expected(t, w)
	for _, free := range []int64{20_000, 60_000, 110_000, 180_000} {
		d := newDisk(vfs.NewCrashableMem())
		var left atomic.Int64
		left.Store(free)
		full := &fullFS{FS: d.mem, left: &left}
		c := &clock{}
		c.at.Store(epoch)
		s, err := Open("db", small(full, c.now))
		require.NoError(t, err)
		at := len(w)
		for i, op := range w {
			c.at.Store(epoch + int64(i)*1e6)
			if err = op(s); err != nil {
				at = i
				break
			}
		}
		require.Less(t, at, len(w), "the disk ran full")
		require.ErrorIs(t, err, store.ErrFailed)
		require.ErrorIs(t, err, syscall.ENOSPC)
		_ = s.Close()
		left.Store(1 << 40)
		got := reopened(t, d, 0, cut{during: at, what: "full"})
		require.Contains(t, want[at:at+2], got)
	}
}

// fullFS is a file system with so many bytes left.
type fullFS struct {
	vfs.FS
	left *atomic.Int64
}

func (f *fullFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return fullFile{file, f}, err
}

func (f *fullFS) ReuseForWrite(a, b string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(a, b, c)
	return fullFile{file, f}, err
}

type fullFile struct {
	vfs.File
	f *fullFS
}

// Write writes as much as there is space for, as disks do.
func (f fullFile) Write(p []byte) (int, error) {
	if left := f.f.left.Add(-int64(len(p))); left < 0 {
		n, _ := f.File.Write(p[:max(0, int64(len(p))+left)])
		return n, syscall.ENOSPC
	}
	return f.File.Write(p)
}
