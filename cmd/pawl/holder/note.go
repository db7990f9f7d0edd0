package holder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// File is the name of the note in the directory of a store.
const File = "PAWL-HOLDER"

// Holder is a process that has a store open.
type Holder struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"` // its name for people
	Started time.Time `json:"started"` // when it opened the store
	Socket  string    `json:"socket"`  // absolute path
}

// String names the process for a person.
func (h Holder) String() string {
	return fmt.Sprintf("%s (process %d, since %s)", h.Program, h.PID, h.Started.UTC().Format(time.RFC3339))
}

// Alive tells whether there is a process of that number on this machine. The number may have been given to another one since:
// only an answer on the socket proves who holds the store.
func (h Holder) Alive() bool {
	if h.PID <= 0 {
		return false
	}
	p, err := os.FindProcess(h.PID)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// ErrNote is wrapped by an error about a note that cannot be read as one.
var ErrNote = errors.New("malformed note of the store's holder")

// Look reads the note in the directory of a store. Without one the error wraps fs.ErrNotExist. What a process that was
// killed left behind is returned as well: see [Holder.Alive].
func Look(dir string) (Holder, error) {
	f, err := os.Open(filepath.Join(dir, File))
	if err != nil {
		return Holder{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxNote+1))
	if err != nil {
		return Holder{}, err
	}
	if len(b) > MaxNote {
		return Holder{}, fmt.Errorf("%s in %s has more than %d bytes: %w", File, dir, MaxNote, ErrNote)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	var h Holder
	if err := d.Decode(&h); err != nil {
		return Holder{}, fmt.Errorf("%s in %s: %w: %w", File, dir, ErrNote, err)
	}
	if h.PID <= 0 || h.Program == "" {
		return Holder{}, fmt.Errorf("%s in %s names no process: %w", File, dir, ErrNote)
	}
	return h, nil
}

// leave writes the note; nobody ever reads half of it.
func (h Holder) leave(dir string) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, File+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, File))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // what could not be written need not be there
	}
	return err
}

// takeBack removes the note, unless somebody else has left another one since.
func (h Holder) takeBack(dir string) error {
	now, err := Look(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && now.Socket != h.Socket {
		return nil
	}
	return os.Remove(filepath.Join(dir, File))
}
