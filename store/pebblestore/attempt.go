package pebblestore

import (
	"context"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
)

// Note implements store.Store.
func (s *Store) Note(ctx context.Context, task string, a store.Attempt) error {
	if err := a.Check(task); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if _, err := s.tip(task); err != nil {
		return err
	}
	e := s.tasks.take(task)
	defer s.tasks.give(task, e)
	e.note.Lock()
	defer e.note.Unlock()
	if h := e.head.Load(); h != nil && h.erased {
		return &store.ErasedError{Task: task, Tip: h.tip}
	}
	if e.attempts == 0 {
		n, err := s.attempts(task)
		if err != nil {
			return err
		}
		e.attempts = n + 1
	}
	n := e.attempts
	b := s.db.NewBatch()
	defer b.Close()
	w := writer{to: b}
	key := appendAttempt(nil, task, n)
	w.set(key, appendAttemptRow(nil, key, &a))
	if n > store.MaxAttempts && w.err == nil {
		w.err = b.Delete(appendAttempt(nil, task, n-store.MaxAttempts), nil)
	}
	if w.err != nil {
		return w.err
	}
	if err := b.Commit(pebble.NoSync); err != nil {
		s.g.fail(err)
	}
	e.attempts = n + 1
	return s.durable()
}

// attempts is the number of the newest attempt of a task, 0 if there is none.
func (s *Store) attempts(task string) (n uint64, err error) {
	prefix := appendTask(nil, task, attemptRow)
	keys, err := s.keys(prefix, after(prefix), 1)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	if len(keys[0]) != len(prefix)+8 {
		return 0, rowFault(keys[0], "key of an attempt is malformed")
	}
	return ^binary.BigEndian.Uint64(keys[0][len(prefix):]), nil
}

// Attempts implements store.Store.
func (s *Store) Attempts(ctx context.Context, task string) ([]store.Attempt, error) {
	if err := store.CheckTask(task); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if _, err := s.tip(task); err != nil {
		return nil, err
	}
	prefix := appendTask(nil, task, attemptRow)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var as []store.Attempt
	for ok := it.First(); ok && len(as) < store.MaxAttempts; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, readFault(prefix, err)
		}
		a, err := parseAttempt(it.Key(), value)
		if err != nil {
			return nil, err
		}
		as = append(as, a)
	}
	if err := it.Error(); err != nil {
		return nil, readFault(prefix, err)
	}
	return as, s.durable()
}
