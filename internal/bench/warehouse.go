package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// warehouse holds the large stores, each filled once for all benchmarks and copied for each use. Its tasks have two versions, of
// which the first set a wake-up and the second cancelled it.
type warehouse struct {
	tasks  int
	orders string
	below  string

	made sync.Once
	dir  string
	err  error
	few  sync.Once // the small store
}

// smallTasks is how many tasks the store has that a large one is compared with.
const smallTasks = 10_000

// fillers is how many goroutines fill a store.
const fillers = 256

// bigTask names the i-th task of a large store.
func bigTask(i int) string { return fmt.Sprintf("task-%08d", i) }

// store is the directory of a filled store: "killed" is as a SIGKILL would have left it, "closed" was closed, "compacted" also
// compacted, and "small" has few tasks.
func (w *warehouse) store(name string) (string, error) {
	w.made.Do(func() { w.err = w.make() })
	if name == "small" && w.err == nil {
		w.few.Do(func() { w.err = w.fill("small", smallTasks, nil) })
	}
	return filepath.Join(w.dir, name), w.err
}

// remove removes everything.
func (w *warehouse) remove() error {
	if w.dir == "" {
		return nil
	}
	return os.RemoveAll(w.dir)
}

func (w *warehouse) make() (err error) {
	if w.dir, err = os.MkdirTemp(w.below, "pawl-bench-stores-"); err != nil {
		return err
	}
	closed, killed, compacted := filepath.Join(w.dir, "closed"), filepath.Join(w.dir, "killed"), filepath.Join(w.dir, "compacted")
	if err := w.fill("closed", w.tasks, func() error { return copyServing(killed, closed) }); err != nil {
		return err
	}
	return errors.Join(copyStore(compacted, closed), compact(compacted))
}

// fill makes a store, and calls filled before it closes it.
func (w *warehouse) fill(name string, tasks int, filled func() error) error {
	s, err := pebblestore.Open(filepath.Join(w.dir, name), pebblestore.Options{})
	if err != nil {
		return err
	}
	tips := make([]store.Tip, tasks)
	version := func(from, to int) error {
		return sideBySide(fillers, func(filler int) error {
			for i := from + filler; i < to; i += fillers {
				if err := fillOne(s, i, &tips[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	last := tasks - 1
	err = version(0, tasks) // all timers are set before the first is cancelled: what cancels them lies far from them
	if err == nil {
		err = version(0, last)
	}
	if err == nil { // a worker looks again and again, and commits go on
		_, err = s.Due(context.Background(), store.Slots{}, 0)
		err = errors.Join(err, version(last, tasks))
	}
	if err == nil && filled != nil {
		err = filled()
	}
	return errors.Join(err, s.Close())
}

// fillOne makes the first or second version of the i-th task.
func fillOne(s store.Store, i int, tip *store.Tip) error {
	commits, err := orders{}.commits(bigTask(i), i, 1)
	if err != nil {
		return err
	}
	c := commits[0]
	c.Base = *tip
	c.Meta.Wake = 0
	if tip.Version == 0 {
		c.Meta.Wake = store.Micros(1 + i) // due since long
	}
	*tip, err = s.Commit(context.Background(), c)
	return err
}

// compact lets Pebble compact a closed store.
func compact(dir string) error {
	db, err := openBare(dir, 0)
	if err != nil {
		return err
	}
	return errors.Join(db.Compact(context.Background(), []byte{0}, []byte{0xff}, true), db.Close())
}

// copyServing copies a store that is open but rests: what a kill at this moment would leave, since every commit was synced. It
// starts again when Pebble changed files in the background meanwhile.
func copyServing(to, from string) error {
	const tries = 100
	for range tries {
		before, err := listing(from)
		if err != nil {
			return err
		}
		err = copyStore(to, from)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		after, e := listing(from)
		if e != nil {
			return e
		}
		if err == nil && slices.Equal(before, after) {
			return nil
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
	return fmt.Errorf("store %s does not come to rest", from)
}

func listing(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it has just gone
			out = append(out, fmt.Sprint(e.Name(), " ", info.Size()))
		}
	}
	return out, nil
}

// copyStore copies a store that nobody changes. Tables, which never change, are linked.
func copyStore(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		a, b := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if strings.HasSuffix(a, ".sst") {
			err = os.Link(a, b)
		} else {
			err = vfs.Copy(vfs.Default, a, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// open opens a copy of a filled store.
func (w *warehouse) open(at place, name string, o pebblestore.Options) (*pebblestore.Store, error) {
	dir, err := w.copy(at, name)
	if err != nil {
		return nil, err
	}
	return pebblestore.Open(dir, o)
}

// bare opens a copy of a filled store as a database with the same options; a cache of 0 bytes is one as large as theirs.
func (w *warehouse) bare(at place, name string, cache int64) (*pebble.DB, error) {
	dir, err := w.copy(at, name)
	if err != nil {
		return nil, err
	}
	return openBare(dir, cache)
}

func (w *warehouse) copy(at place, name string) (string, error) {
	from, err := w.store(name)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(at.dir, "store")
	return dir, copyStore(dir, from)
}

// openBare opens the files of a store as a database with the same options.
func openBare(dir string, cache int64) (*pebble.DB, error) {
	noted, err := readOptions(vfs.Default, dir)
	if err != nil {
		return nil, err
	}
	if cache != 0 {
		noted = cacheSize.ReplaceAllString(noted, fmt.Sprint("cache_size=", cache))
	}
	return openRaw(place{vfs.Default, dir}, noted)
}

var cacheSize = regexp.MustCompile(`\bcache_size=\d+`)
