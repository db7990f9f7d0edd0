package pebblestore

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
)

// Find implements store.Store.
func (s *Store) Find(ctx context.Context, q store.Query) ([]store.Row, string, error) {
	limit, err := q.Check()
	if err != nil {
		return nil, "", err
	}
	if err := s.enter(ctx); err != nil {
		return nil, "", err
	}
	defer s.leave()
	prefix := indexPrefix(&q)
	lower := indexScope(prefix, &q)
	upper := after(lower)
	if q.After != "" {
		if from := append(bytes.Clone(prefix), q.After+"\x00"...); bytes.Compare(from, lower) > 0 {
			lower = from
		}
	}
	if bytes.Compare(lower, upper) >= 0 {
		return nil, "", nil
	}
	rows, next, err := s.list(&q, prefix, lower, upper, limit)
	if failed := s.durable(); failed != nil {
		return nil, "", failed
	}
	return rows, next, err
}

// list reads index rows and, from the same moment, the newest record of each task they name.
func (s *Store) list(q *store.Query, prefix, lower, upper []byte, limit int) (rows []store.Row, next string, err error) {
	index, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	records, err := index.Clone(pebble.CloneOptions{IterOptions: &pebble.IterOptions{}})
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, records.Close()) }()
	scanned := 0
	ok := index.First()
	for ; ok && len(rows) < limit && scanned < store.MaxScan; ok = index.Next() {
		scanned++
		next = string(index.Key()[len(prefix):])
		task, whole := indexedTask(index.Key())
		if !whole {
			return nil, "", rowFault(index.Key(), "row of an index is malformed")
		}
		meta, err := s.metaAt(records, task)
		if err != nil {
			return nil, "", err
		}
		if q.Matches(meta) {
			rows = append(rows, store.Row{Task: task, Meta: *meta})
		}
	}
	if err := index.Error(); err != nil {
		return nil, "", readFault(prefix, err)
	}
	if !ok {
		next = ""
	}
	return rows, next, nil
}

// metaAt reads the meta of a task that an index row names, and waits until it is durable.
func (s *Store) metaAt(records *pebble.Iterator, task string) (*store.Meta, error) {
	rec, _, err := s.newestAt(records, task, nil)
	if err != nil {
		return nil, err
	}
	if rec.Tip.Version == 0 {
		return nil, &store.CorruptError{Task: task, What: "an index names a task that has no record"}
	}
	if e := s.tasks.peek(task); e != nil {
		e.settled(rec.Tip.Version)
	}
	return &rec.Meta, nil
}

// Due implements store.Store.
func (s *Store) Due(ctx context.Context, slots store.Slots, limit int) ([]store.Row, error) {
	limit, err := store.CheckLimit(limit)
	if err != nil {
		return nil, err
	}
	if err := slots.Check(); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	now := s.clock.Now()
	cs, err := s.candidates(dueSpace, &s.due, now, slots, limit)
	if err != nil {
		return nil, err
	}
	it, err := s.db.NewIter(nil)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var rows []store.Row
	for i := range cs {
		meta, err := s.metaAt(it, cs[i].task)
		if err != nil {
			return nil, err
		}
		if meta.Wake == cs[i].at {
			rows = append(rows, store.Row{Task: cs[i].task, Meta: *meta})
		}
	}
	return rows, s.durable()
}
