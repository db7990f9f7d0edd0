package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pawlgo/pawl/guard"
	ws "github.com/pawlgo/pawl/machine/workingstate"
)

// ErrFile says that a state file cannot be read as one. It is never taken for an empty state.
var ErrFile = errors.New("not a file of working state")

// Read is an agent's table as its file holds it, clean; for [ws.Agent.StartWith]. Errors wrap [ErrFile], [ws.ErrTable],
// [ws.ErrAgent], or are the file system's: fs.ErrNotExist when there is no file.
func Read(dir, agent string) (ws.Table, error) {
	folder, err := Folder(dir, agent)
	if err != nil {
		return ws.Table{}, err
	}
	path := filepath.Join(folder, StateName)
	raw, err := readSome(path, MaxState)
	if err != nil {
		return ws.Table{}, err
	}
	t, err := Decode(raw)
	if err != nil {
		return ws.Table{}, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Decode reads the bytes of a state file. Errors wrap [ErrFile] or [ws.ErrTable].
func Decode(raw []byte) (ws.Table, error) {
	s, err := guard.DecodeStored[state](raw)
	if err != nil {
		return ws.Table{}, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return ws.Clean(s.table())
}

// ReadHistory are the newest n changes of an agent's history file, oldest first, and how many lines could not be read and were
// skipped. No file is no history. Errors wrap [ws.ErrAgent], or are the file system's.
func ReadHistory(dir, agent string, n int) (changes []ws.Change, skipped int, err error) {
	folder, err := Folder(dir, agent)
	if err != nil {
		return nil, 0, err
	}
	raw, err := readTail(filepath.Join(folder, HistoryName), MaxHistory)
	if err != nil {
		return nil, 0, err
	}
	for line := range bytes.Lines(raw) {
		var c ws.Change
		if len(line) > MaxLine || json.Unmarshal(line, &c) != nil || c.Op == "" {
			skipped++
			continue
		}
		changes = append(changes, c)
	}
	return changes[max(0, len(changes)-n):], skipped, nil
}

// readSome is a whole file of at most so many bytes.
func readSome(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(raw) > most {
		err = fmt.Errorf("%s: more than %d bytes: %w", path, most, ErrFile)
	}
	return raw, err
}

// readTail is the end of a file, from the beginning of a line; nothing when there is no file.
func readTail(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-int64(most))
	raw := make([]byte, info.Size()-from)
	if _, err := f.ReadAt(raw, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if from > 0 {
		_, raw, _ = bytes.Cut(raw, []byte{'\n'})
	}
	return raw, nil
}
