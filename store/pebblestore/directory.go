package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pawlgo/pawl/store"
)

// heldHere is what Pebble's file system says of a lock that this process holds already.
const heldHere = "lock held by current process"

// lockDirectory keeps every other process out of dir: store.ErrInUse if one is in there, or this one is.
func lockDirectory(on vfs.FS, dir string) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(dir, on)
	if err != nil && held(err) {
		err = fmt.Errorf("%w: %w", store.ErrInUse, err)
	}
	return lock, err
}

// held tells that somebody has the lock from an error that is about its file, which names the file.
func held(err error) bool {
	var file *fs.PathError
	if errors.As(err, &file) {
		return false
	}
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) || err.Error() == heldHere
}

// homeOf is the one name of dir, however it is written: the gate knows the store's files by how their names begin, and Pebble knows a
// lock of this process by its name.
func homeOf(on vfs.FS, dir string) (string, error) {
	if on == vfs.Default {
		return physical(dir)
	}
	return on.PathJoin(dir), nil
}

// lies says whether a path is dir or lies below it, by whatever way each is written.
func lies(path, dir string) (bool, error) {
	at, err := physical(path)
	if err != nil {
		return false, err
	}
	root, err := physical(dir)
	if err != nil {
		return false, err
	}
	below := strings.TrimSuffix(root, string(filepath.Separator)) + string(filepath.Separator)
	return at == root || strings.HasPrefix(at, below), nil
}

// physical is the absolute path without symbolic links. What does not exist yet lies where its parent does.
func physical(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	at, err := filepath.EvalSymlinks(path)
	parent := filepath.Dir(path)
	if !errors.Is(err, fs.ErrNotExist) || parent == path {
		return at, err
	}
	if parent, err = physical(parent); err != nil {
		return "", err
	}
	return filepath.Join(parent, filepath.Base(path)), nil
}
