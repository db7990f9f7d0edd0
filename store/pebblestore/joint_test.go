package pebblestore

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

func emptyPart() *part { return newPart().(*part) }

// following begins a commit that joins a batch, and returns once it has.
func following(s *Store, first *part, c *store.Commit) <-chan error {
	joined := func() int {
		s.joining.Lock()
		defer s.joining.Unlock()
		return len(first.joined)
	}
	before := joined()
	done := make(chan error, 1)
	go func() {
		_, err := s.Commit(ctx, c)
		done <- err
	}()
	for joined() == before {
		runtime.Gosched()
	}
	return done
}

// TestCommitsShareABatch checks that commits which are ready at the same time are written in one batch, and are acknowledged and shown
// when that is durable and not before.
func TestCommitsShareABatch(t *testing.T) {
	s, err := Open("db", small(vfs.NewMem(), nil))
	require.NoError(t, err)
	old := []byte("xold")
	require.NoError(t, s.db.Set(old, nil, pebble.Sync))
	first := emptyPart()
	require.NoError(t, first.Set([]byte("xnew"), []byte("value"), nil))
	require.NoError(t, first.SingleDelete(old, nil))
	require.NoError(t, first.Delete([]byte("xnone"), nil))
	full, begins := s.join(first)
	require.Nil(t, full)
	require.True(t, begins)
	var done []<-chan error
	for i := range 3 {
		done = append(done, following(s, first, step(fmt.Sprint("task-", i), 0, store.Tip{})))
	}
	parts := s.parted(first)
	require.Len(t, parts, 4)
	require.NoError(t, s.writeParts(parts))
	for i := range done {
		require.Empty(t, done[i], "not acknowledged before the batch is")
		_, err := s.Tip(ctx, fmt.Sprint("task-", i))
		require.ErrorIs(t, err, store.ErrNotFound)
	}
	tell(parts, first, nil)
	for i := range done {
		require.NoError(t, <-done[i])
		rec, _, err := s.Load(ctx, fmt.Sprint("task-", i))
		require.NoError(t, err)
		require.Equal(t, step(rec.Task, 0, store.Tip{}).Snapshot, rec.Snapshot)
	}
	value, closer, err := s.db.Get([]byte("xnew"))
	require.NoError(t, err)
	require.Equal(t, "value", string(value))
	require.NoError(t, closer.Close())
	_, _, err = s.db.Get(old)
	require.ErrorIs(t, err, pebble.ErrNotFound)
	require.NoError(t, s.Close())
}

// TestLimitsOfAJointBatch checks that who fills a batch gets it, that nobody joins it afterwards, and that all others are told.
func TestLimitsOfAJointBatch(t *testing.T) {
	s, err := Open("db", small(vfs.NewMem(), nil))
	require.NoError(t, err)
	var all []*part
	for i := range jointCommits - 1 {
		p := emptyPart()
		all = append(all, p)
		full, first := s.join(p)
		require.Nil(t, full)
		require.Equal(t, i == 0, first)
	}
	last := emptyPart()
	full, first := s.join(last)
	require.Equal(t, append(all, last), full, "so many commits share a batch, and no more")
	require.False(t, first)
	require.Nil(t, s.parted(all[0]), "another one writes it")
	next := emptyPart()
	_, first = s.join(next)
	require.True(t, first)
	require.Equal(t, []*part{next}, s.parted(next))
	broken := errors.New("disk is broken")
	tell(full, last, broken)
	for _, p := range all {
		require.Equal(t, broken, <-p.wrote)
	}
	require.Empty(t, last.wrote)

	for size, filled := range map[int]bool{jointBytes - 1: false, jointBytes: true} {
		large := emptyPart()
		large.buf = make([]byte, size)
		full, first := s.join(large)
		require.Equal(t, filled, full != nil, size)
		require.Equal(t, !filled, first)
		s.parted(large)
	}
	require.NoError(t, s.Close())
}

// TestAFailedBatchIsToldToAll checks that no commit is acknowledged whose batch another one failed to write.
func TestAFailedBatchIsToldToAll(t *testing.T) {
	d := newDisk(vfs.NewCrashableMem())
	s, err := Open("db", small(d.fs, nil))
	require.NoError(t, err)
	first := emptyPart()
	require.NoError(t, first.Set([]byte("xnew"), nil, nil))
	_, begins := s.join(first)
	require.True(t, begins)
	done := following(s, first, step("task", 0, store.Tip{}))
	broken := errors.New("disk is broken")
	d.fs.set(func(what, name string) error {
		if strings.HasPrefix(what, "sync") && strings.HasSuffix(name, ".log") {
			return broken
		}
		return nil
	})
	parts := s.parted(first)
	failed := s.writeParts(parts)
	tell(parts, first, failed)
	require.ErrorIs(t, failed, store.ErrFailed)
	err = <-done
	require.ErrorIs(t, err, store.ErrUncertain)
	require.ErrorIs(t, err, broken)
	require.NoError(t, s.Close())
}

// TestManyCommitsOnAFailingDisk checks that of many commits at once exactly those may be missing after a crash that were not
// acknowledged, and that nobody waits for ever.
func TestManyCommitsOnAFailingDisk(t *testing.T) {
	for _, good := range []int32{0, 1, 2, 5} {
		d := newDisk(vfs.NewCrashableMem())
		s, err := Open("db", small(d.fs, nil))
		require.NoError(t, err)
		var syncs atomic.Int32
		d.fs.set(func(what, name string) error {
			if strings.HasPrefix(what, "sync") && syncs.Add(1) > good {
				return errors.New("disk is broken")
			}
			return nil
		})
		const callers = 3 * jointCommits
		errs := make(chan error, callers)
		acknowledged := make(chan string, callers)
		for i := range callers {
			go func() {
				task := fmt.Sprint("task-", i)
				_, err := s.Commit(ctx, step(task, 0, store.Tip{}))
				if err == nil {
					acknowledged <- task
				}
				errs <- err
			}()
		}
		for range callers {
			if err := <-errs; err != nil && !errors.Is(err, store.ErrUncertain) {
				require.ErrorIs(t, err, store.ErrFailed)
			}
		}
		close(acknowledged)
		left := newDisk(d.mem.CrashClone(vfs.CrashCloneCfg{}))
		require.NoError(t, s.Close())
		again, err := Open("db", small(left.fs, nil))
		require.NoError(t, err)
		for task := range acknowledged {
			_, err := again.Tip(ctx, task)
			require.NoError(t, err, task)
		}
		require.NoError(t, again.Close())
	}
}

// TestWhatIsBlamed checks that an error of a store that has failed is the failure: what seems damaged then may be a file that was never
// written.
func TestWhatIsBlamed(t *testing.T) {
	s, err := Open("db", small(vfs.NewMem(), nil))
	require.NoError(t, err)
	damaged := rowFault([]byte("xrow"), "row is truncated")
	require.Equal(t, damaged, s.blamed(damaged))
	s.g.fail(errors.New("disk is broken"))
	require.ErrorIs(t, s.blamed(damaged), store.ErrFailed)
	require.NotErrorIs(t, s.blamed(damaged), store.ErrCorrupt)
	require.NoError(t, s.Close())
}

// TestPanicOfWhoWritesForOthers: they hear of it, and the store fails closed. Pebble panics when it is used after it was closed.
func TestPanicOfWhoWritesForOthers(t *testing.T) {
	s, err := Open("db", small(vfs.NewMem(), nil))
	require.NoError(t, err)
	own, other := emptyPart(), emptyPart()
	for _, p := range []*part{own, other} {
		require.NoError(t, p.Set([]byte("xnew"), nil, nil))
		s.join(p)
	}
	parts := s.parted(own)
	require.Len(t, parts, 2)
	s.shut = true
	require.NoError(t, s.db.Close())
	require.Panics(t, func() { _ = s.writeFor(parts, own) })
	require.ErrorIs(t, <-other.wrote, errPanicked)
	_, err = s.Commit(ctx, step("task", 0, store.Tip{}))
	require.ErrorIs(t, err, store.ErrFailed)
}
