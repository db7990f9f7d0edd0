package pebblestore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// links makes a store in a directory that a symbolic link also leads to, and a shelf beside it. All names end in the store.
func links(t *testing.T) (dir string, names []string, shelf string) {
	base := t.TempDir()
	dir, shelf = filepath.Join(base, "s"), filepath.Join(base, "shelf")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.Mkdir(shelf, 0o755))
	require.NoError(t, os.Symlink(dir, filepath.Join(shelf, "link")))
	t.Chdir(base)
	return dir, []string{dir, "s", "./s", "s/", "shelf/../s", filepath.Join(shelf, "link"), "shelf/link/."}, shelf
}

func TestOpenTwice(t *testing.T) {
	dir, names, _ := links(t)
	s, err := Open(dir, small(nil, nil))
	require.NoError(t, err)
	for _, name := range names {
		_, err = Open(name, small(nil, nil))
		require.ErrorIs(t, err, store.ErrInUse, name)
		require.ErrorContains(t, err, name)
	}
	require.NoError(t, s.Close())
	s, err = Open("shelf/link", small(nil, nil))
	require.NoError(t, err)
	require.NoError(t, s.Close())

	mem := vfs.NewMem()
	s, err = Open("db", small(mem, nil))
	require.NoError(t, err)
	defer s.Close()
	_, err = Open("./db/", small(mem, nil))
	require.ErrorIs(t, err, store.ErrInUse)
}

// A directory that cannot be locked for another reason is not in use.
func TestNotInUse(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "LOCK"), 0o755))
	_, err := Open(dir, small(nil, nil))
	require.Error(t, err)
	require.NotErrorIs(t, err, store.ErrInUse)
}

func TestBackupIntoItself(t *testing.T) {
	dir, names, shelf := links(t)
	s, err := Open("shelf/link", small(nil, nil))
	require.NoError(t, err)
	defer s.Close()
	for _, name := range names {
		for _, to := range []string{name, name + "/new", name + "/new/below"} {
			require.ErrorIs(t, s.Backup(ctx, to), store.ErrInvalid, to)
		}
	}
	for _, to := range []string{"", dir + "/../s/x"} {
		require.ErrorIs(t, s.Backup(ctx, to), store.ErrInvalid, to)
	}
	require.NoError(t, s.Backup(ctx, dir+"2"), "its name only begins like the store's")
	require.NoError(t, s.Backup(ctx, filepath.Join(shelf, "copy")))
	left, err := filepath.Glob(filepath.Join(dir, "*new*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// However the directory is written, a failed write is the last one.
func TestGateKnowsTheDirectory(t *testing.T) {
	for _, name := range []string{"db", "./db", "db/", "../x/db"} {
		base := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(base, "x"), 0o755))
		t.Chdir(filepath.Join(base, "x"))
		fs := newHookFS(vfs.Default)
		c := &clock{}
		c.at.Store(epoch)
		s, err := Open(name, small(fs, c.now))
		require.NoError(t, err)
		broken := errors.New("disk is broken")
		fs.set(func(op, name string) error {
			if strings.HasSuffix(name, ".log") {
				return broken
			}
			return nil
		})
		_, err = s.Commit(ctx, step("t", 0, store.Tip{}))
		require.ErrorIs(t, err, store.ErrUncertain, name)
		require.ErrorIs(t, err, broken, name)
		_, err = s.Commit(ctx, step("u", 0, store.Tip{}))
		require.ErrorIs(t, err, store.ErrFailed, name)
		s.Close()
	}
}
