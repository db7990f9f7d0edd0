package pebblestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
)

// readFault names the task whose row could not be read, and tells damage by ErrCorrupt.
func readFault(key []byte, err error) error {
	if pebble.IsCorruptionError(err) {
		return errors.Join(rowFault(key, "stored block is damaged"), err)
	}
	return fmt.Errorf("task %s: read: %w", taskOf(key), err)
}

// unlikely are the options of a search that will most likely find nothing: the filters of the lowest level, which Pebble leaves out
// otherwise, then spare the block that the task would be in.
var unlikely = &pebble.IterOptions{UseL6Filters: true}

// newest reads a task in one search: its newest record, which is zero if there is no such task, and its unsettled effects.
func (s *Store) newest(task string, o *pebble.IterOptions) (rec store.Record, kind store.Kind, es []store.Effect, err error) {
	it, err := s.db.NewIter(o)
	if err != nil {
		return store.Record{}, 0, nil, err
	}
	rec, kind, err = s.newestAt(it, task, func(e store.Effect) { es = append(es, e) })
	return rec, kind, es, errors.Join(err, it.Close())
}

// newestAt does what newest does with an iterator that stays open. With each nil the effects are not read.
func (s *Store) newestAt(it *pebble.Iterator, task string, each func(store.Effect)) (store.Record, store.Kind, error) {
	var scratch [store.MaxTask + 16]byte
	first := appendTask(scratch[:0], task, effectRow)
	if each == nil {
		first[len(first)-1] = recordRow
	}
	for ok := it.SeekPrefixGE(first); ok; ok = it.Next() {
		key := it.Key()
		switch key[split(key)] {
		case effectRow:
			value, err := it.ValueAndErr()
			if err != nil {
				return store.Record{}, 0, readFault(first, err)
			}
			e, err := parseEffect(task, key, value)
			if err != nil {
				return store.Record{}, 0, err
			}
			each(e)
		case recordRow:
			return s.record(it, task)
		default:
			return store.Record{}, 0, rowFault(first, "task has no record")
		}
	}
	if err := it.Error(); err != nil {
		return store.Record{}, 0, readFault(first, err)
	}
	return store.Record{Task: task}, 0, nil
}

// record opens the record the iterator stands on.
func (s *Store) record(it *pebble.Iterator, task string) (store.Record, store.Kind, error) {
	key := it.Key()
	if len(key) < 8 {
		return store.Record{}, 0, rowFault(key, "key of a record is malformed")
	}
	version := ^binary.BigEndian.Uint64(key[len(key)-8:])
	value, err := it.ValueAndErr()
	if err != nil {
		if pebble.IsCorruptionError(err) {
			return store.Record{}, 0, &store.CorruptError{Task: task, Version: version, What: "stored block is damaged: " + err.Error()}
		}
		return store.Record{}, 0, readFault(key, err)
	}
	return s.sealer.Open(task, version, value)
}

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	if s.o.Observe == nil {
		return s.load(ctx, task)
	}
	began := time.Now()
	rec, es, err := s.load(ctx, task)
	s.observe("load", task, len(rec.Snapshot)+len(rec.Entry), began, err)
	return rec, es, err
}

func (s *Store) load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	if err := s.enter(ctx); err != nil {
		return store.Record{}, nil, err
	}
	defer s.leave()
	if tip, ok := s.tips.get(task); ok {
		if rec, ok := s.remembered(task, tip); ok && !s.g.failed() {
			return rec, nil, nil
		}
	}
	if err := store.CheckTask(task); err != nil {
		return store.Record{}, nil, err
	}
	rec, kind, es, err := s.searched(task)
	if failed := s.durable(); failed != nil {
		return store.Record{}, nil, failed
	}
	switch {
	case err != nil:
		return store.Record{}, nil, err
	case rec.Tip.Version == 0:
		return store.Record{}, nil, store.NotFound(task)
	case kind == store.KindErased:
		return store.Record{}, nil, &store.ErasedError{Task: task, Tip: rec.Tip}
	}
	return rec, es, nil
}

// remembered gets the record of a remembered tip by its key, which is half the cost of a search. False if the record is not
// what it should be: the search will find out why. The tip may be of a moment ago, but no later one was durable when the call
// began.
func (s *Store) remembered(task string, tip store.Tip) (store.Record, bool) {
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	value, closer, err := s.db.Get(store.AppendKey((*buf)[:0], task, tip.Version))
	if err != nil {
		return store.Record{}, false
	}
	rec, kind, err := s.sealer.Reopen(task, tip, value)
	return rec, closer.Close() == nil && err == nil && kind == store.KindRecord
}

// searched reads a task by a search and, unless it is busy, remembers it.
func (s *Store) searched(task string) (store.Record, store.Kind, []store.Effect, error) {
	e := s.tasks.take(task)
	defer s.tasks.give(task, e)
	if e.head.Load() == nil && e.mu.TryLock() {
		defer e.mu.Unlock()
		rec, kind, es, err := s.newest(task, nil)
		if err == nil && rec.Tip.Version > 0 && !e.loaded {
			s.know(e, &rec, kind, es)
		}
		return rec, kind, es, err
	}
	rec, kind, es, err := s.newest(task, nil)
	e.settled(rec.Tip.Version)
	return rec, kind, es, err
}

// Tip implements store.Store.
func (s *Store) Tip(ctx context.Context, task string) (store.Tip, error) {
	if err := store.CheckTask(task); err != nil {
		return store.Tip{}, err
	}
	if err := s.enter(ctx); err != nil {
		return store.Tip{}, err
	}
	defer s.leave()
	return s.tip(task)
}

// tip is the durable tip of a living task.
func (s *Store) tip(task string) (store.Tip, error) {
	h, err := s.head(task)
	switch {
	case err != nil:
		return store.Tip{}, err
	case h.tip.Version == 0:
		return store.Tip{}, store.NotFound(task)
	case h.erased:
		return h.tip, &store.ErasedError{Task: task, Tip: h.tip}
	}
	return h.tip, nil
}

// head is the durable head of a task, remembered or read.
func (s *Store) head(task string) (head, error) {
	if tip, ok := s.tips.get(task); ok {
		return head{tip: tip}, s.durable()
	}
	e := s.tasks.take(task)
	defer s.tasks.give(task, e)
	if h := e.head.Load(); h != nil {
		return *h, s.durable()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := s.learn(task, e); err != nil {
		return head{}, err
	}
	return *e.head.Load(), s.durable()
}

// learn reads what the entry of a task, which is locked, should know.
func (s *Store) learn(task string, e *entry) error { return s.learnBy(task, e, nil) }

// learnBy is learn with options for the search.
func (s *Store) learnBy(task string, e *entry, o *pebble.IterOptions) error {
	if e.loaded {
		return nil
	}
	rec, kind, es, err := s.newest(task, o)
	if err != nil {
		return s.blamed(err)
	}
	s.know(e, &rec, kind, es)
	return nil
}

// Limits of one page of a history.
const (
	pageRecords = 64
	pageBytes   = 1 << 20
)

// History implements store.Store.
func (s *Store) History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[store.Record, error] {
	return store.Chain(task, newest, func(below uint64) ([]store.Version, error) {
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
		return s.page(task, below)
	}, oldest)
}

// page reads versions in falling order from the first at or below a version.
func (s *Store) page(task string, below uint64) (page []store.Version, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: store.AppendKey(nil, task, below),
		UpperBound: appendTask(nil, task, attemptRow),
	})
	if err != nil {
		return nil, err
	}
	size := 0
	for ok := it.First(); ok && err == nil && len(page) < pageRecords && size < pageBytes; ok = it.Next() {
		var v store.Version
		if v.Record, v.Kind, err = s.record(it, task); err == nil {
			page = append(page, v)
			size += len(v.Snapshot) + len(v.Entry)
		}
	}
	if e := it.Close(); err == nil && e != nil {
		err = readFault(appendTask(nil, task, recordRow), e)
	}
	if len(page) > 0 {
		if e := s.tasks.peek(task); e != nil {
			e.settled(page[0].Tip.Version)
		}
	}
	if failed := s.durable(); failed != nil {
		return nil, failed
	}
	return page, err
}

// Once implements store.Store.
func (s *Store) Once(ctx context.Context, task, name string) (uint64, error) {
	if err := store.CheckTask(task); err != nil {
		return 0, err
	}
	if err := store.CheckName(task, "once-name", name); err != nil {
		return 0, err
	}
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	if _, err := s.tip(task); err != nil {
		return 0, err
	}
	v, err := s.taken(task, name)
	if err != nil {
		return 0, err
	}
	if e := s.tasks.peek(task); e != nil {
		e.settled(v)
	}
	return v, s.durable()
}

// taken is the version that used a name up, 0 if none.
func (s *Store) taken(task, name string) (uint64, error) {
	var scratch [store.MaxTask + 32]byte
	key := appendOnce(scratch[:0], task, name)
	n, _, err := s.numbered(key)
	return n, err
}

// numbered reads a row that holds a number and bytes; zero if it is absent, as most are that are asked for: names used up, which are
// always new ones, and resources, of which those in use are remembered.
func (s *Store) numbered(key []byte) (uint64, []byte, error) {
	it, err := s.db.NewIter(unlikely)
	if err != nil {
		return 0, nil, err
	}
	defer it.Close() // its error is told by Error
	if !it.SeekPrefixGE(key) {
		if err := it.Error(); err != nil {
			return 0, nil, readFault(key, err)
		}
		return 0, nil, nil
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return 0, nil, readFault(key, err)
	}
	n, rest, err := parseNumbered(key, value)
	return n, append([]byte(nil), rest...), err
}

// Resource implements store.Resources.
func (s *Store) Resource(ctx context.Context, name string) (store.Resource, error) {
	if err := store.CheckName("", "resource", name); err != nil {
		return store.Resource{}, err
	}
	if err := s.enter(ctx); err != nil {
		return store.Resource{}, err
	}
	defer s.leave()
	e := s.resources.take(name)
	defer s.resources.give(name, e)
	r, err := s.standing(name, e)
	if err == nil {
		err = s.durable()
	}
	if err != nil {
		return store.Resource{}, err
	}
	r.Value = append([]byte(nil), r.Value...)
	return r, nil
}

// standing is what a resource durably is. It waits for a swap that is under way only if nothing is remembered.
func (s *Store) standing(name string, e *entry) (store.Resource, error) {
	if r := e.resource.Load(); r != nil {
		return *r, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return s.resource(name, e)
}
