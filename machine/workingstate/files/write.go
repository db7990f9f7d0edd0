package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	ws "github.com/pawlgo/pawl/machine/workingstate"
)

// Write replaces an agent's files: the state, and the history with these changes behind what it holds. Changes that the file has
// by their version are not written twice, and a last line that was cut short is completed by what comes. Errors wrap
// [ws.ErrAgent], or are the file system's; a file is then as it was.
func Write(dir, agent string, t ws.Table, news []ws.Change) error {
	folder, err := Folder(dir, agent)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	history := filepath.Join(folder, HistoryName)
	held, err := readTail(history, MaxHistory)
	if err != nil {
		return err
	}
	if held, err = appended(held, news); err != nil {
		return fmt.Errorf("history of agent %s: %w", agent, err)
	}
	if err := replace(history, held); err != nil {
		return err
	}
	return WriteState(dir, agent, t)
}

// WriteState replaces an agent's state file alone. Errors are those of [Write].
func WriteState(dir, agent string, t ws.Table) error {
	folder, err := Folder(dir, agent)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	raw, err := Encode(t)
	if err != nil {
		return fmt.Errorf("state of agent %s: %w", agent, err)
	}
	return replace(filepath.Join(folder, StateName), raw)
}

// Encode is a table as the bytes of a state file: equal tables have equal bytes.
func Encode(t ws.Table) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(layout(t))
	return b.Bytes(), err
}

// appended puts changes behind the lines of a history, and lets the oldest lines go when it becomes too long.
func appended(held []byte, news []ws.Change) ([]byte, error) {
	held = held[:bytes.LastIndexByte(held, '\n')+1] // what a crash cut short is told again
	last := lastVersion(held)
	b := bytes.NewBuffer(held)
	for _, c := range news {
		if c.Version <= last {
			continue
		}
		line, err := c.JSON()
		if err != nil {
			return nil, err
		}
		b.Write(append(line, '\n'))
	}
	out := b.Bytes()
	if over := len(out) - MaxHistory; over > 0 {
		_, out, _ = bytes.Cut(out[over:], []byte{'\n'})
	}
	return out, nil
}

// lastVersion is the version of the last line that can be read; 0 when there is none.
func lastVersion(held []byte) uint64 {
	for len(held) > 0 {
		at := bytes.LastIndexByte(held[:len(held)-1], '\n') + 1
		var c ws.Change
		if json.Unmarshal(held[at:], &c) == nil {
			return c.Version
		}
		held = held[:at]
	}
	return 0
}

// replace writes a file beside the old one, brings it to the disk, and puts it in the old one's place.
func replace(path string, raw []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a rename durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
