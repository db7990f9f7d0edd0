package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// replay is the floor of a commit: the recorded batches, written by as many goroutines into a database with the same options
// on the same disk, each synced. It builds each batch row by row, as a program that knew nothing but keys and values would,
// and it judges, encodes, hashes, locks and looks up nothing.
func replay(at place, j *journal) (side, error) {
	db, err := openRaw(at, j.options)
	if err != nil {
		return side{}, err
	}
	err = sideBySide(len(j.started), func(caller int) error {
		for _, b := range j.started[caller] {
			if err := write(db, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return side{}, errors.Join(err, db.Close())
	}
	return side{
		call:  func(caller, n int) error { return write(db, j.moves[caller][n]) },
		close: db.Close,
	}, nil
}

func write(db *pebble.DB, rows batch) error {
	b := db.NewBatchWithSize(rows.size)
	for _, r := range rows.rows {
		if err := add(b, r); err != nil {
			return err
		}
	}
	if err := b.Commit(pebble.Sync); err != nil {
		return err
	}
	return b.Close()
}

func add(b *pebble.Batch, r row) error {
	switch r.kind {
	case pebble.InternalKeyKindSet:
		return b.Set(r.key, r.value, nil)
	case pebble.InternalKeyKindDelete:
		return b.Delete(r.key, nil)
	case pebble.InternalKeyKindSingleDelete:
		return b.SingleDelete(r.key, nil)
	}
	return fmt.Errorf("a row of kind %v was recorded, which the floor cannot write", r.kind)
}

// openRaw opens a database with the options that Pebble noted for another one.
func openRaw(at place, noted string) (*pebble.DB, error) {
	o := &pebble.Options{FS: at.fs, Logger: quiet{}}
	err := o.Parse(noted, &pebble.ParseHooks{
		NewComparer:     func(name string) (*pebble.Comparer, error) { return comparer(name), nil },
		NewFilterPolicy: filter,
	})
	if err != nil {
		return nil, fmt.Errorf("options of the store: %w", err)
	}
	return pebble.Open(at.dir, o)
}

// comparer is the store's order of keys, which Pebble notes by name only: bytewise, and the name of a task, up to its 00, is what
// filters know a key by.
func comparer(name string) *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = name
	c.Split = func(key []byte) int {
		if len(key) > 0 && key[0] == 't' {
			if i := bytes.IndexByte(key, 0); i >= 0 {
				return i + 1
			}
		}
		return len(key)
	}
	c.ImmediateSuccessor = func(dst, prefix []byte) []byte {
		dst = append(dst, prefix...)
		if len(prefix) > 0 && prefix[0] == 't' && prefix[len(prefix)-1] == 0 {
			dst[len(dst)-1] = 1
			return dst
		}
		return append(dst, 0)
	}
	return &c
}

// filter is the one kind of filter that the store uses.
func filter(name string) (pebble.FilterPolicy, error) {
	if want := bloom.FilterPolicy(10); name == want.Name() {
		return want, nil
	}
	return nil, fmt.Errorf("filter %q is not known to the floor", name)
}

// quiet lets a database say nothing; a fatal error still ends the program.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
