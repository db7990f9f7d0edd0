package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"

	"github.com/pawlgo/pawl/store"
)

// journal is what our own store wrote for a known piece of work, read back from its write-ahead log: commit for commit the same
// keys, bytes and kinds of operation. Options are those that Pebble noted for that store.
type journal struct {
	started [][]batch // of each caller: what starting its tasks wrote
	moves   [][]batch // of each caller and call
	options string
}

// plan is a known piece of work: what each call of each caller commits.
type plan struct {
	callers, calls int
	move           func(caller, n int) (task string, version uint64)
	starts         func(n int) bool // whether the task of the n-th call was started for it, at version 1
}

// commits is how many batches the work leaves.
func (p plan) commits() int {
	started := 0
	for n := range p.calls {
		if p.starts(n) {
			started++
		}
	}
	return p.callers * (p.calls + started)
}

// batch is what one commit writes atomically.
type batch struct {
	rows []row
	size int
}

type row struct {
	kind       pebble.InternalKeyKind
	key, value []byte
}

// keepLogs is a file system in which write-ahead logs are never removed or used again.
type keepLogs struct{ vfs.FS }

// Remove implements vfs.FS.
func (k *keepLogs) Remove(name string) error {
	if strings.HasSuffix(name, ".log") {
		return nil
	}
	return k.FS.Remove(name)
}

// ReuseForWrite implements vfs.FS.
func (k *keepLogs) ReuseForWrite(_, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return k.FS.Create(name, c)
}

// readJournal reads all that was logged below dir, and checks that it is the planned work and nothing else.
func readJournal(fs vfs.FS, dir string, p plan) (*journal, error) {
	byRecord := map[string]batch{}
	err := eachBatch(fs, dir, func(b batch) {
		if key := b.rows[0].key; key[0] == 't' { // the store's own rows, its identity and clock, belong to no commit
			byRecord[string(key)] = b
		}
	})
	if err != nil {
		return nil, err
	}
	j := &journal{started: make([][]batch, p.callers), moves: make([][]batch, p.callers)}
	for caller := range p.callers {
		for n := range p.calls {
			task, version := p.move(caller, n)
			if p.starts(n) {
				j.started[caller] = append(j.started[caller], byRecord[recordKey(task, 1)])
			}
			j.moves[caller] = append(j.moves[caller], byRecord[recordKey(task, version)])
		}
	}
	found := 0
	for _, b := range slices.Concat(slices.Concat(j.started...), slices.Concat(j.moves...)) {
		if len(b.rows) > 0 {
			found++
		}
	}
	if want := p.commits(); found != want || len(byRecord) != want {
		return nil, fmt.Errorf("the log holds %d batches, %d of them expected, want %d", len(byRecord), found, want)
	}
	j.options, err = readOptions(fs, dir)
	return j, err
}

// recordKey is the first key of the batch that commits a version of a task.
func recordKey(task string, version uint64) string {
	return string(store.AppendKey(nil, task, version))
}

// eachBatch reads the batches of all logs in the order in which they were written.
func eachBatch(fs vfs.FS, dir string, f func(batch)) error {
	logs, err := wal.Scan(wal.Dir{FS: fs, Dirname: dir})
	if err != nil {
		return err
	}
	for _, log := range logs {
		if err := eachOf(log, f); err != nil {
			return fmt.Errorf("log %s: %w", log, err)
		}
	}
	return nil
}

func eachOf(log wal.LogicalLog, f func(batch)) (err error) {
	r := log.OpenForRead()
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		record, _, err := r.NextRecord()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		raw, err := io.ReadAll(record)
		if err != nil {
			return err
		}
		commits, err := decodeBatch(raw)
		if err != nil {
			return err
		}
		for _, b := range commits {
			f(b)
		}
	}
}

// decodeBatch takes a batch apart into what each commit wrote: the store joins commits that are ready at the same time, each whole and
// with its record first. The rows point into raw.
func decodeBatch(raw []byte) (commits []batch, err error) {
	var whole pebble.Batch
	if err := whole.SetRepr(raw); err != nil {
		return nil, err
	}
	for r := whole.Reader(); ; {
		kind, key, value, ok, err := r.Next()
		if err != nil || !ok {
			return commits, err
		}
		if len(commits) == 0 || isRecord(key) {
			commits = append(commits, batch{size: batchHeader})
		}
		b := &commits[len(commits)-1]
		b.rows = append(b.rows, row{kind, key, value})
		b.size += len(key) + len(value) + rowOverhead
	}
}

// What a batch takes beside keys and values, at most.
const (
	batchHeader = 12
	rowOverhead = 1 + 2*binary.MaxVarintLen32 // kind and lengths
)

// isRecord says whether a key is that of a version: its task's name, 00, 02, and the version.
func isRecord(key []byte) bool {
	name := bytes.IndexByte(key, 0)
	return key[0] == 't' && name > 0 && len(key) == name+10 && key[name+1] == 2
}

// readOptions is the text in which Pebble noted the options of the database in dir.
func readOptions(fs vfs.FS, dir string) (string, error) {
	names, err := fs.List(dir)
	if err != nil {
		return "", err
	}
	newest := ""
	for _, name := range names {
		if strings.HasPrefix(name, "OPTIONS-") {
			newest = max(newest, name)
		}
	}
	f, err := fs.Open(fs.PathJoin(dir, newest))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(f)
	return string(text), errors.Join(err, f.Close())
}
