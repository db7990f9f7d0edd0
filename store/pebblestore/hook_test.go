package pebblestore

import (
	"os"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// hookFS calls a function before every change of the file system; an error from it is the outcome of the change.
type hookFS struct {
	vfs.FS
	before *atomic.Pointer[hook]
}

// hook is told what is about to happen to which file.
type hook func(what, name string) error

func newHookFS(fs vfs.FS) hookFS { return hookFS{FS: fs, before: &atomic.Pointer[hook]{}} }

func (f hookFS) set(h hook) {
	if h == nil {
		f.before.Store(nil)
		return
	}
	f.before.Store(&h)
}

func (f hookFS) ask(what, name string) error {
	if h := f.before.Load(); h != nil {
		return (*h)(what, name)
	}
	return nil
}

func (f hookFS) file(what, name string, open func() (vfs.File, error)) (vfs.File, error) {
	if err := f.ask(what, name); err != nil {
		return nil, err
	}
	file, err := open()
	if err != nil {
		return nil, err
	}
	return hookFile{File: file, f: f, name: name}, nil
}

func (f hookFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.file("create", name, func() (vfs.File, error) { return f.FS.Create(name, c) })
}

// ReuseForWrite takes two steps: Pebble's file system in memory would lock itself twice in one, and wait forever for a clone that is
// taken in between.
func (f hookFS) ReuseForWrite(a, b string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.file("reuse", b, func() (vfs.File, error) {
		if err := f.FS.Rename(a, b); err != nil {
			return nil, err
		}
		return f.FS.OpenReadWrite(b, c)
	})
}

func (f hookFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return f.file("open", name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, c, o...) })
}

func (f hookFS) OpenDir(name string) (vfs.File, error) {
	return f.file("open-dir", name, func() (vfs.File, error) { return f.FS.OpenDir(name) })
}

func (f hookFS) Rename(a, b string) error {
	if err := f.ask("rename", b); err != nil {
		return err
	}
	return f.FS.Rename(a, b)
}

func (f hookFS) Link(a, b string) error {
	if err := f.ask("link", b); err != nil {
		return err
	}
	return f.FS.Link(a, b)
}

func (f hookFS) MkdirAll(dir string, perm os.FileMode) error {
	if err := f.ask("mkdir", dir); err != nil {
		return err
	}
	return f.FS.MkdirAll(dir, perm)
}

func (f hookFS) Remove(name string) error {
	if err := f.ask("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f hookFS) Unwrap() vfs.FS { return f.FS }

type hookFile struct {
	vfs.File
	f    hookFS
	name string
}

func (f hookFile) Write(p []byte) (int, error) {
	if err := f.f.ask("write", f.name); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f hookFile) Sync() error {
	if err := f.f.ask("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f hookFile) SyncData() error {
	if err := f.f.ask("sync-data", f.name); err != nil {
		return err
	}
	return f.File.SyncData()
}

func (f hookFile) SyncTo(n int64) (bool, error) {
	if err := f.f.ask("sync-to", f.name); err != nil {
		return false, err
	}
	return f.File.SyncTo(n)
}

// isSync says whether the change is one that makes data durable.
func isSync(what string) bool { return strings.HasPrefix(what, "sync") }
