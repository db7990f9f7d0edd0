package pebblestore

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// gate makes the first failed write the last one. Pebble ends or hangs the process after some write errors, whatever
// its logger does; so it never hears of one: once a write has failed, every later one reports success, nothing more
// reaches the disk, and the store, which asks the gate before it acknowledges anything, fails closed. What is on disk
// is then what a power cut at the moment of the first failure would have left.
type gate struct {
	cause  atomic.Pointer[error]
	onFail func() // called once
}

// err is the first failure, nil if there was none.
func (g *gate) err() error {
	if p := g.cause.Load(); p != nil {
		return *p
	}
	return nil
}

func (g *gate) failed() bool { return g.cause.Load() != nil }

// fail shuts the gate.
func (g *gate) fail(err error) {
	if err != nil && g.cause.CompareAndSwap(nil, &err) && g.onFail != nil {
		g.onFail()
	}
}

// pass does a write unless the gate is shut, and shuts it if the write fails. It never returns an error to Pebble.
func (g *gate) pass(what, name string, write func() error) {
	if g.failed() {
		return
	}
	if err := write(); err != nil {
		g.fail(fmt.Errorf("%s %s: %w", what, name, err))
	}
}

// gatedFS is the file system with a gate before every write below dir. A backup, which is written elsewhere,
// may fail without the store failing.
type gatedFS struct {
	vfs.FS
	g   *gate
	dir string
}

func (f *gatedFS) inside(name string) bool {
	return name == f.dir || strings.HasPrefix(name, strings.TrimSuffix(f.dir, "/")+"/")
}

func (f *gatedFS) file(what, name string, open func() (vfs.File, error)) (vfs.File, error) {
	if !f.inside(name) {
		return open()
	}
	var file vfs.File
	f.g.pass(what, name, func() (err error) {
		file, err = open()
		return err
	})
	if file == nil {
		file = lostFile{name: f.PathBase(name)}
	}
	return &gatedFile{File: file, g: f.g, name: name}, nil
}

// Create implements vfs.FS. Pebble names its current manifest by creating a marker beside it and syncs the directory
// after that only; a power cut in between may keep the marker and lose the manifest, and then nothing opens. So the
// directory is synced before a marker, too.
func (f *gatedFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.inside(name) && strings.HasPrefix(f.PathBase(name), "marker.") {
		dir := f.PathDir(name)
		f.g.pass("sync directory", dir, func() error { return syncDir(f.FS, dir) })
	}
	return f.file("create", name, func() (vfs.File, error) { return f.FS.Create(name, c) })
}

// ReuseForWrite implements vfs.FS.
func (f *gatedFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.file("reuse", newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, c) })
}

// OpenReadWrite implements vfs.FS.
func (f *gatedFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.file("open", name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, c, opts...) })
}

// OpenDir implements vfs.FS; a directory is opened to be synced.
func (f *gatedFS) OpenDir(name string) (vfs.File, error) {
	return f.file("open directory", name, func() (vfs.File, error) { return f.FS.OpenDir(name) })
}

func (f *gatedFS) change(what, name string, change func() error) error {
	if !f.inside(name) {
		return change()
	}
	f.g.pass(what, name, change)
	return nil
}

// Rename implements vfs.FS.
func (f *gatedFS) Rename(oldname, newname string) error {
	return f.change("rename", newname, func() error { return f.FS.Rename(oldname, newname) })
}

// Link implements vfs.FS.
func (f *gatedFS) Link(oldname, newname string) error {
	return f.change("link", newname, func() error { return f.FS.Link(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (f *gatedFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.change("make directory", dir, func() error { return f.FS.MkdirAll(dir, perm) })
}

// Remove implements vfs.FS. A file that cannot be removed is only litter.
func (f *gatedFS) Remove(name string) error {
	if f.inside(name) && f.g.failed() {
		return nil
	}
	return f.FS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (f *gatedFS) RemoveAll(name string) error {
	if f.inside(name) && f.g.failed() {
		return nil
	}
	return f.FS.RemoveAll(name)
}

// Unwrap implements vfs.FS.
func (f *gatedFS) Unwrap() vfs.FS { return f.FS }

// gatedFile is a file behind the gate.
type gatedFile struct {
	vfs.File
	g    *gate
	name string
}

// Write implements vfs.File.
func (f *gatedFile) Write(p []byte) (int, error) {
	f.g.pass("write", f.name, func() error { _, err := f.File.Write(p); return err })
	return len(p), nil
}

// WriteAt implements vfs.File.
func (f *gatedFile) WriteAt(p []byte, off int64) (int, error) {
	f.g.pass("write", f.name, func() error { _, err := f.File.WriteAt(p, off); return err })
	return len(p), nil
}

// Preallocate implements vfs.File. Not to get space ahead is no failure; the write that needs it will tell.
func (f *gatedFile) Preallocate(off, n int64) error {
	if !f.g.failed() {
		_ = f.File.Preallocate(off, n)
	}
	return nil
}

// Sync implements vfs.File.
func (f *gatedFile) Sync() error {
	f.g.pass("sync", f.name, f.File.Sync)
	return nil
}

// SyncData implements vfs.File.
func (f *gatedFile) SyncData() error {
	f.g.pass("sync", f.name, f.File.SyncData)
	return nil
}

// SyncTo implements vfs.File.
func (f *gatedFile) SyncTo(n int64) (full bool, err error) {
	f.g.pass("sync", f.name, func() (err error) { full, err = f.File.SyncTo(n); return err })
	return full, nil
}

// Stat implements vfs.File.
func (f *gatedFile) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil && f.g.failed() {
		return lostFile{name: f.name}, nil
	}
	return info, err
}

// Close implements vfs.File.
func (f *gatedFile) Close() error {
	if err := f.File.Close(); err != nil {
		f.g.fail(fmt.Errorf("close %s: %w", f.name, err))
	}
	return nil
}

// lostFile stands for a file that was created after the gate was shut: it takes everything and holds nothing. It is
// also what a look at it tells.
type lostFile struct{ name string }

func (f lostFile) Close() error                           { return nil }
func (f lostFile) Read([]byte) (int, error)               { return 0, io.EOF }
func (f lostFile) ReadAt([]byte, int64) (int, error)      { return 0, io.EOF }
func (f lostFile) Write(p []byte) (int, error)            { return len(p), nil }
func (f lostFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (f lostFile) Preallocate(_, _ int64) error           { return nil }
func (f lostFile) Stat() (vfs.FileInfo, error)            { return f, nil }
func (f lostFile) Sync() error                            { return nil }
func (f lostFile) SyncTo(int64) (bool, error)             { return true, nil }
func (f lostFile) SyncData() error                        { return nil }
func (f lostFile) Prefetch(_, _ int64) error              { return nil }
func (f lostFile) Fd() uintptr                            { return vfs.InvalidFd }
func (f lostFile) Name() string                           { return f.name }
func (f lostFile) Size() int64                            { return 0 }
func (f lostFile) Mode() os.FileMode                      { return 0 }
func (f lostFile) ModTime() time.Time                     { return time.Time{} }
func (f lostFile) IsDir() bool                            { return false }
func (f lostFile) Sys() any                               { return nil }
func (f lostFile) DeviceID() vfs.DeviceID                 { return vfs.DeviceID{} }

// logger is Pebble's logger. What Pebble would end the process for shuts the gate instead.
type logger struct{ g *gate }

// Infof implements pebble.Logger.
func (logger) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (logger) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger.
func (l logger) Fatalf(format string, args ...any) { l.g.fail(fmt.Errorf(format, args...)) }
