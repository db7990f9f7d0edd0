package personal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/pawlgo/pawl/store"
)

// KeySize is the number of bytes of a key.
const KeySize = 32

// Keys are the keys of persons, kept outside the store and its backups: a key management service, or [Files]. They are called
// by many goroutines at once.
type Keys interface {
	// Key is the key of an owner: KeySize random bytes, the same ever after. If there is none, it is made if create is set,
	// durably before it is returned, or else store.ErrNotFound. store.ErrErased once it was destroyed: no key is ever made for
	// that owner again.
	Key(ctx context.Context, owner string, create bool) ([]byte, error)

	// Destroy destroys the key of an owner, durably, or sees to it that none is ever made. Again is a no-op.
	Destroy(ctx context.Context, owner string) error
}

// Files are keys in a directory that lies outside the store and is not backed up with it: one small file each, named by the
// SHA-256 of the owner. One process at a time may use the directory.
type Files struct {
	dir string
	mu  sync.Mutex
}

// OpenFiles opens the keys in a directory, which is made if it is absent.
func OpenFiles(dir string) (*Files, error) {
	if dir == "" {
		return nil, fmt.Errorf("directory of keys is empty: %w", store.ErrInvalid)
	}
	return &Files{dir: dir}, os.MkdirAll(dir, 0o700)
}

func (f *Files) name(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:]))
}

// destroyed is what the file of a destroyed key holds.
const destroyed = "destroyed\n"

// Key implements Keys.
func (f *Files) Key(_ context.Context, owner string, create bool) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := os.ReadFile(f.name(owner))
	if errors.Is(err, fs.ErrNotExist) {
		if !create {
			return nil, store.ErrNotFound
		}
		key := make([]byte, KeySize)
		rand.Read(key)
		return key, f.write(owner, hex.EncodeToString(key))
	}
	if err != nil {
		return nil, err
	}
	if string(text) == destroyed {
		return nil, store.ErrErased
	}
	key, err := hex.DecodeString(string(text))
	if err != nil || len(key) != KeySize {
		return nil, fmt.Errorf("key file %s: %w", f.name(owner), store.ErrCorrupt)
	}
	return key, nil
}

// Destroy implements Keys. The bytes of the key are overwritten where the file system writes in place; where it does not, as on
// flash, they are as gone as any removed file.
func (f *Files) Destroy(_ context.Context, owner string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := f.name(owner)
	if text, err := os.ReadFile(name); err == nil && string(text) != destroyed {
		if err := overwrite(name, make([]byte, len(text))); err != nil {
			return err
		}
	}
	return f.write(owner, destroyed)
}

func overwrite(name string, with []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(with)
	return errors.Join(err, file.Sync(), file.Close())
}

// write replaces a file durably: a crash leaves the old one or the new one.
func (f *Files) write(owner, text string) error {
	name := f.name(owner)
	file, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+".new", name); err != nil {
		return err
	}
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
