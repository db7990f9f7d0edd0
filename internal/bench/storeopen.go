package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/pawlgo/pawl/store/pebblestore"
)

// storeOpen measures opening a store of many tasks that was "closed" or "killed". The floor opens the same files as a bare
// database: it looks for no damage in the log, reads no identity and frees no holds.
func storeOpen(w *warehouse, how string) benchmark {
	opened := func(open func(dir string) (func() error, error)) setup {
		return func(at place) (side, error) {
			from, err := w.store(how)
			if err != nil {
				return side{}, err
			}
			o := &opening{from: from, dir: filepath.Join(at.dir, "store"), open: open}
			return side{call: o.call, ready: o.ready, close: o.end}, nil
		}
	}
	return benchmark{
		name: "store/open/" + how, unit: nanoseconds, callers: 1, calls: opensOfRun,
		ours: opened(func(dir string) (func() error, error) {
			s, err := pebblestore.Open(dir, pebblestore.Options{})
			if err != nil {
				return nil, err
			}
			return s.Close, nil
		}),
		floor: opened(func(dir string) (func() error, error) {
			db, err := openBare(dir, 0)
			if err != nil {
				return nil, err
			}
			return db.Close, nil
		}),
	}
}

// opensOfRun is how many times a store is opened in one repetition: a call needs a slice of its own, since it needs a fresh copy.
const opensOfRun = 1

// opening opens a fresh copy each time.
type opening struct {
	from, dir string
	open      func(dir string) (func() error, error)
	close     func() error
}

func (o *opening) ready() error {
	return errors.Join(o.end(), os.RemoveAll(o.dir), copyStore(o.dir, o.from))
}

func (o *opening) call(_, _ int) (err error) {
	o.close, err = o.open(o.dir)
	return err
}

func (o *opening) end() error {
	if o.close == nil {
		return nil
	}
	err := o.close()
	o.close = nil
	return err
}
