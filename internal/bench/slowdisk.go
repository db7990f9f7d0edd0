package main

import (
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// slowDisk is the disk as it is, but that each sync takes at least so long: what a figure would be where the disk is slower. Both
// sides write to it. A thread that syncs waits in the kernel, as it does on such a disk.
type slowDisk struct {
	vfs.FS
	sync time.Duration
}

// Create implements vfs.FS.
func (d slowDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return d.slow(d.FS.Create(name, c))
}

// ReuseForWrite implements vfs.FS.
func (d slowDisk) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return d.slow(d.FS.ReuseForWrite(old, name, c))
}

// OpenReadWrite implements vfs.FS.
func (d slowDisk) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return d.slow(d.FS.OpenReadWrite(name, c, o...))
}

func (d slowDisk) slow(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return slowFile{f, d.sync}, nil
}

type slowFile struct {
	vfs.File
	sync time.Duration
}

// Sync implements vfs.File.
func (f slowFile) Sync() error {
	begun := time.Now()
	return f.wait(begun, f.File.Sync())
}

// SyncData implements vfs.File.
func (f slowFile) SyncData() error {
	begun := time.Now()
	return f.wait(begun, f.File.SyncData())
}

// SyncTo implements vfs.File. Where it only begins to write, nobody waits for the disk.
func (f slowFile) SyncTo(length int64) (full bool, err error) {
	begun := time.Now()
	if full, err = f.File.SyncTo(length); !full {
		return full, err
	}
	return full, f.wait(begun, err)
}

func (f slowFile) wait(begun time.Time, err error) error {
	if left := f.sync - time.Since(begun); left > 0 {
		block(left)
	}
	return err
}
