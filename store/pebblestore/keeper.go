package pebblestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
)

// Prune implements store.Keeper. It removes in chunks, oldest first, each with its base row: a crash in between leaves
// a shorter history that is whole.
func (s *Store) Prune(ctx context.Context, task string, below uint64) error {
	if err := store.CheckTask(task); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	e := s.tasks.take(task)
	defer s.tasks.give(task, e)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := s.learn(task, e); err != nil {
		return err
	}
	if err := e.alive(task); err != nil {
		return err
	}
	if tip := e.head.Load().tip.Version; below == 0 || below > tip {
		return fmt.Errorf("task %s: no version %d to prune below, newest is %d: %w", task, below, tip, store.ErrInvalid)
	}
	if below == 1 {
		return nil
	}
	if err := s.counted(task); err != nil {
		return err
	}
	return s.prune(task, below)
}

func (s *Store) prune(task string, below uint64) error {
	oldest, err := s.oldest(task)
	if err != nil {
		return err
	}
	for oldest < below-1 {
		last := min(oldest+batchRows, below-1)
		b := s.db.NewBatch()
		if err := s.pruneChunk(b, task, oldest, last); err != nil {
			b.Close()
			return err
		}
		if err := s.write(b); err != nil {
			return &store.UncertainError{Task: task, Cause: err}
		}
		oldest = last
	}
	return s.pruneTo(task, below)
}

// pruneTo makes the record below the bound a base, if it is not one.
func (s *Store) pruneTo(task string, below uint64) error {
	key := store.AppendKey(nil, task, below-1)
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil // pruned further before
	}
	if err != nil {
		return readFault(key, err)
	}
	_, kind, err := s.sealer.Open(task, below-1, value)
	closer.Close()
	if err != nil || kind == store.KindBase {
		return err
	}
	b := s.db.NewBatch()
	if err := s.pruneChunk(b, task, below-1, below-1); err != nil {
		b.Close()
		return err
	}
	if err := s.write(b); err != nil {
		return &store.UncertainError{Task: task, Cause: err}
	}
	return nil
}

// pruneChunk removes the records from a version up to another, which becomes the base.
func (s *Store) pruneChunk(b *pebble.Batch, task string, from, last uint64) error {
	key := store.AppendKey(nil, task, last)
	value, closer, err := s.db.Get(key)
	if err != nil {
		return readFault(key, err)
	}
	rec, _, err := s.sealer.Open(task, last, value)
	closer.Close()
	if err != nil {
		return err
	}
	for v := from; v < last; v++ {
		if err := b.Delete(store.AppendKey(nil, task, v), nil); err != nil {
			return err
		}
	}
	out, n := s.sealer.SealBase(nil, task, rec.Tip)
	return b.Set(out[:n], out[n:], nil)
}

// oldest is the lowest version of a task that has a row.
func (s *Store) oldest(task string) (uint64, error) {
	prefix := appendTask(nil, task, recordRow)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return 0, err
	}
	defer it.Close()
	if !it.Last() {
		return 0, errors.Join(rowFault(prefix, "task has no record"), it.Error())
	}
	key := it.Key()
	return ^binary.BigEndian.Uint64(key[len(key)-8:]), nil
}

// Erase implements store.Keeper. The bytes leave the files by a compaction of the task's range, which Erase waits for;
// logs and files that were already obsolete go when Pebble recycles them. If the compaction fails or the context ends,
// the error is ErrUncertain: the task is erased, but its old bytes may still lie in the files.
func (s *Store) Erase(ctx context.Context, task string, entry []byte) (store.Tip, error) {
	if err := store.CheckTombstone(task, entry); err != nil {
		return store.Tip{}, err
	}
	if err := s.enter(ctx); err != nil {
		return store.Tip{}, err
	}
	defer s.leave()
	e := s.tasks.take(task)
	defer s.tasks.give(task, e)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.note.Lock()
	defer e.note.Unlock()
	if err := s.learn(task, e); err != nil {
		return store.Tip{}, err
	}
	h := e.head.Load()
	if err := e.alive(task); err != nil {
		return h.tip, err
	}
	if len(e.effects) > 0 {
		f := e.effects[0]
		return store.Tip{}, fmt.Errorf("task %s: effect %s is %v: %w", task, f.id, f.status, store.ErrUnsettled)
	}
	if err := s.counted(task); err != nil {
		return store.Tip{}, err
	}
	now := max(s.clock.Now(), e.at)
	if err := s.keepTime(now); err != nil {
		return store.Tip{}, err
	}
	rec := store.Tombstone(task, h.tip, now, entry)
	if err := s.erase(task, e, h.tip, &rec); err != nil {
		return store.Tip{}, err
	}
	if err := s.forgetBytes(ctx, task); err != nil {
		return rec.Tip, &store.UncertainError{Task: task, Tip: rec.Tip, Cause: err}
	}
	return rec.Tip, nil
}

// erase removes every row of the task and writes the base and the tombstone, in one batch.
func (s *Store) erase(task string, e *entry, tip store.Tip, tomb *store.Record) error {
	b := s.db.NewBatch()
	w := writer{to: b}
	for _, r := range taskRanges(task) {
		if w.err = s.dropRange(b, r[0], r[1]); w.err != nil {
			break
		}
	}
	w.meta(&e.meta, &store.Meta{}, task)
	base, n := s.sealer.SealBase(nil, task, tip)
	w.set(base[:n], base[n:])
	out, n := s.sealer.Seal(nil, tomb, store.KindErased)
	w.set(out[:n], out[n:])
	if w.err != nil {
		b.Close()
		return w.err
	}
	e.flight.Store(tomb.Tip.Version)
	defer e.flight.Store(0)
	if err := s.write(b); err != nil {
		return &store.UncertainError{Task: task, Tip: tomb.Tip, Cause: err}
	}
	s.setHead(task, e, head{tip: tomb.Tip, erased: true})
	e.at, e.meta, e.attempts = tomb.At, store.Meta{}, 0
	return nil
}

// taskRanges are the ranges of keys that hold nothing but a task's rows.
func taskRanges(task string) [2][2][]byte {
	rows := append(append([]byte{taskSpace}, task...), 0)
	names := append(append([]byte{onceSpace}, task...), 0)
	return [2][2][]byte{{rows, after(rows)}, {names, after(names)}}
}

func (s *Store) dropRange(b *pebble.Batch, from, to []byte) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		err = b.Delete(it.Key(), nil)
	}
	return errors.Join(err, it.Close())
}

// forgetBytes rewrites the files that hold the task's ranges. Pebble tries a compaction that fails again and again, so
// it is called off when the store fails.
func (s *Store) forgetBytes(ctx context.Context, task string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.alive, cancel)()
	for _, r := range taskRanges(task) {
		if err := s.db.Compact(ctx, r[0], r[1], false); err != nil || s.g.failed() {
			err = errors.Join(err, s.durable())
			return fmt.Errorf("task is erased, but its old bytes wait for a compaction: %w", err)
		}
	}
	return s.durable()
}

// counted sees that nothing which only the history of an imported task tells is lost with it. The task is locked: it cannot become
// imported, and what is counted stays so.
func (s *Store) counted(task string) error {
	key := appendResource(nil, store.ImportedResource(task))
	_, value, err := s.numbered(key)
	if err != nil {
		return err
	}
	mark, err := store.ReadImported(value)
	if err != nil {
		return rowFault(key, err.Error())
	}
	if mark.Uncounted() {
		return fmt.Errorf("task %s was imported at version %d, and no controller has released the store since: %w", task, mark.Tip.Version, store.ErrUncounted)
	}
	return nil
}
