package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/cmd/pawl/holder"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

const (
	maxKey    = 4 << 10               // bytes of a key file
	cacheSize = 8 << 20               // bytes of the block cache and of a memtable: a command looks at little, and once
	retry     = 50 * time.Millisecond // how often a store that is in use is tried again
)

// LockedError says that another process has the store open. It wraps [ErrLocked].
type LockedError struct {
	Dir    string
	Holder holder.Holder // zero if it left no note
	Silent error         // why it could not be asked; nil if it was not
}

// Error names the process.
func (e *LockedError) Error() string {
	switch {
	case e.Holder.PID == 0:
		return fmt.Sprintf("store %s is in use by another process, which left no note", e.Dir)
	case !e.Holder.Alive():
		return fmt.Sprintf("store %s is in use by another process; the note in it is by %s, which has ended", e.Dir, e.Holder)
	case e.Silent != nil:
		return fmt.Sprintf("store %s is in use, and its holder cannot be asked: %v", e.Dir, e.Silent)
	}
	return fmt.Sprintf("store %s is in use by %s", e.Dir, e.Holder)
}

// Unwrap is [ErrLocked].
func (e *LockedError) Unwrap() error { return ErrLocked }

// source is a store that can be read: opened here, or read through the socket of the process that has it open.
type source struct {
	holder.Reader
	local  *pebblestore.Store // nil when it is another process's
	remote *holder.Client     // nil when it is ours
}

// store is the source as a whole store; what would change it fails when it is another process's.
func (s *source) store() store.Store {
	if s.local != nil {
		return s.local
	}
	return holder.ReadOnly(s.remote)
}

// Dir is the directory of the store, "" when none was named.
func (a *App) Dir() string { return a.dir }

// Version is that of the tool.
func (a *App) Version() string { return a.tool.version() }

// Open opens the store of --dir, and offers a socket to those who only read; the function closes both. Program is the name by
// which they will know this process. With create a store is made where there is none. Errors wrap [ErrUsage], [ErrNotFound],
// [ErrLocked], or are the store's.
func (a *App) Open(ctx context.Context, program string, create bool) (st *pebblestore.Store, done func() error, err error) {
	err = a.patiently(ctx, func() error {
		st, err = a.open(create)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	done = a.offer(ctx, program, st)
	return st, done, nil
}

// offer offers a socket to those who only read, and returns what closes it and the store.
func (a *App) offer(ctx context.Context, program string, st *pebblestore.Store) func() error {
	s, err := holder.Listen(ctx, a.dir, st, holder.Options{Program: program, Now: a.tool.Now})
	if err != nil {
		a.say("others cannot read the store meanwhile: %v", err)
		return st.Close
	}
	return func() error { return errors.Join(s.Close(), st.Close()) }
}

// changing calls f with the store of --dir, which it alone has open.
func (a *App) changing(c *cobra.Command, create bool, f func(*pebblestore.Store) error) error {
	st, done, err := a.Open(c.Context(), c.CommandPath(), create)
	if err != nil {
		return err
	}
	return errors.Join(f(st), done())
}

// reading calls f with the store of --dir, wherever it is open.
func (a *App) reading(c *cobra.Command, f func(*source) error) error {
	var s *source
	err := a.patiently(c.Context(), func() (err error) {
		s, err = a.source(c.Context())
		return err
	})
	if err != nil {
		return err
	}
	if s.remote != nil {
		return errors.Join(f(s), s.remote.Close())
	}
	done := a.offer(c.Context(), c.CommandPath(), s.local)
	return errors.Join(f(s), done())
}

// source is the store, or whoever has it open.
func (a *App) source(ctx context.Context) (*source, error) {
	st, err := a.open(false)
	if err == nil {
		return &source{Reader: st, local: st}, nil
	}
	locked, ok := errors.AsType[*LockedError](err)
	if !ok || locked.Holder.PID == 0 {
		return nil, err
	}
	remote, silent := holder.Dial(ctx, locked.Holder)
	if silent != nil {
		locked.Silent = silent
		return nil, err
	}
	return &source{Reader: remote, remote: remote}, nil
}

// patiently tries f again while another process has the store open, for as long as --wait says.
func (a *App) patiently(ctx context.Context, f func() error) error {
	over := time.After(a.wait)
	for {
		err := f()
		if !errors.Is(err, ErrLocked) || a.wait == 0 {
			return err
		}
		select {
		case <-time.After(retry):
		case <-over:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// open opens the store once.
func (a *App) open(create bool) (*pebblestore.Store, error) {
	if err := a.there(create); err != nil {
		return nil, err
	}
	key, err := a.key()
	if err != nil {
		return nil, err
	}
	st, err := pebblestore.Open(a.dir, pebblestore.Options{Now: a.tool.Now, Key: key, CacheBytes: cacheSize, MemTableBytes: cacheSize})
	if errors.Is(err, store.ErrInUse) {
		return nil, a.locked()
	}
	return st, err
}

// locked says who has the store open.
func (a *App) locked() error {
	h, err := holder.Look(a.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(&LockedError{Dir: a.dir}, err)
	}
	what := "for a change end it first, or wait for it with --wait"
	if h.Socket != "" {
		what = "reading works beside it; " + what
	}
	return hint(&LockedError{Dir: a.dir, Holder: h}, "%s", what)
}

// there looks for a store before one is opened: Pebble would make one anywhere.
func (a *App) there(create bool) error {
	if a.dir == "" {
		return hint(Usage("no store was named"), "say which one with --dir DIR, or set %s", dirVariable)
	}
	names, err := entries(a.dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case isStore(names), create && len(names) == 0:
		return nil
	case create:
		return Usage("%s is not empty, and holds no store", a.dir)
	}
	return notFound("there is no store in %s", a.dir)
}

func entries(dir string) (names []string, err error) {
	es, err := os.ReadDir(dir)
	for _, e := range es {
		names = append(names, e.Name())
	}
	return names, err
}

// isStore tells whether files are those of a store: Pebble's list of files is among them.
func isStore(names []string) bool {
	for _, n := range names {
		if strings.HasPrefix(n, "MANIFEST-") {
			return true
		}
	}
	return false
}

// key is the key of the records' MAC; a line break at its end does not count.
func (a *App) key() ([]byte, error) {
	if a.keyFile == "" {
		return nil, nil
	}
	f, err := os.Open(a.keyFile)
	if err != nil {
		return nil, fmt.Errorf("--key-file: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--key-file: %w", err)
	case len(b) > maxKey:
		return nil, Usage("--key-file %s has more than %d bytes", a.keyFile, maxKey)
	}
	if b = bytes.TrimRight(b, "\r\n"); len(b) == 0 {
		return nil, Usage("--key-file %s is empty", a.keyFile)
	}
	return b, nil
}
