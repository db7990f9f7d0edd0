package pebblestore

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
)

// MaxImport is the number of bytes of records one Import takes: a task is imported in one batch.
const MaxImport = 1 << 30

// Backup implements store.Copier: a checkpoint that shares the files of the store where the file system can. It must
// not lie inside the store's directory. It takes its name when it is whole; what an interrupted one leaves ends in
// ".partial". To restore, open the copy, or copy it to its place first.
func (s *Store) Backup(ctx context.Context, dir string) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	within, err := lies(dir, s.dir)
	if err != nil {
		return fmt.Errorf("backup to %s: %w", dir, err)
	}
	if dir == "" || within {
		return fmt.Errorf("backup to %q, which is not outside the store: %w", dir, store.ErrInvalid)
	}
	dir = s.fs.PathJoin(dir)
	if err := s.copyTo(dir); err != nil {
		return fmt.Errorf("backup to %s: %w", dir, err)
	}
	return s.durable()
}

func (s *Store) copyTo(dir string) error {
	if _, err := s.fs.Stat(dir); err == nil {
		return fmt.Errorf("it exists: %w", store.ErrInvalid)
	}
	partial := dir + ".partial"
	if err := s.fs.RemoveAll(partial); err != nil {
		return err
	}
	if err := s.db.Checkpoint(partial, pebble.WithFlushedWAL()); err != nil {
		return err
	}
	if err := writeFile(s.fs, partial, copyMark, ""); err != nil {
		return err
	}
	if err := s.fs.Rename(partial, dir); err != nil {
		return err
	}
	return syncDir(s.fs, s.fs.PathDir(dir))
}

// Import implements store.Copier.
func (s *Store) Import(ctx context.Context, task string, records iter.Seq2[store.Record, error], effects []store.Effect) error {
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
	switch h := e.head.Load(); {
	case h.erased:
		return &store.ErasedError{Task: task, Tip: h.tip}
	case h.tip.Version != 0:
		return &store.ConflictError{Task: task, Tip: h.tip}
	}
	b := s.db.NewBatch()
	m := importing{s: s, w: writer{to: b}, task: task, unsettled: map[string]uint64{}, whole: true}
	if err := m.all(records, effects); err != nil {
		b.Close()
		return err
	}
	return s.landImport(b, e, &m)
}

func (s *Store) landImport(b *pebble.Batch, e *entry, m *importing) error {
	if err := s.keepTime(s.clock.Now()); err != nil {
		b.Close()
		return err
	}
	s.imports.Lock()
	defer s.imports.Unlock()
	s.id.incarnation.Add(1) // seen too early it only makes somebody careful
	m.w.set(identityKey, s.id.row())
	defer s.mark(m)()
	if m.w.err != nil {
		b.Close()
		return m.w.err
	}
	turns, err := s.plan(m.turns())
	if err != nil {
		b.Close()
		return err
	}
	tip := m.last.Tip
	e.flight.Store(tip.Version)
	defer e.flight.Store(0)
	err = s.write(b)
	turns.end(err == nil)
	if err != nil {
		return &store.UncertainError{Task: m.task, Tip: tip, Cause: err}
	}
	e.at, e.meta, e.effects = m.last.At, m.last.Meta, m.effects
	s.setHead(m.task, e, head{tip: tip, unsettled: len(m.effects) > 0})
	return nil
}

// mark adds the task's mark, if it needs one. The function that it returns ends the change of the resource, once the batch has landed or not.
func (s *Store) mark(m *importing) func() {
	if !m.swaps && m.whole {
		return func() {}
	}
	name := store.ImportedResource(m.task)
	r := resource{name: name, swapped: true, entry: s.resources.take(name)}
	r.lock()
	key := appendResource(nil, name)
	m.w.set(key, appendNumbered(nil, key, 1, store.Imported{Tip: m.last.Tip}.Encode()))
	return func() {
		r.entry.resource.Store(nil)
		r.unlock()
		s.resources.give(name, r.entry)
	}
}

// turns are the earliest rows of the due orders that the import writes.
func (m *importing) turns() (due, ready, held store.Micros) {
	due, ready = never, never
	if w := m.last.Meta.Wake; w > 0 {
		due = w
	}
	if len(m.effects) > 0 {
		ready = 0
	}
	return due, ready, never
}

// importing builds the batch that imports one task.
type importing struct {
	s         *Store
	w         writer
	task      string
	last      *store.Record
	size      int
	whole     bool              // the records begin at version 1
	swaps     bool              // some of them swap resources
	unsettled map[string]uint64 // effects that the records emit and do not settle, by version
	effects   []effect
}

func (m *importing) all(records iter.Seq2[store.Record, error], effects []store.Effect) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		if err := m.record(&r); err != nil {
			return err
		}
	}
	if m.last == nil {
		return m.invalid(0, "no record")
	}
	for i := range effects {
		if err := m.effect(&effects[i]); err != nil {
			return err
		}
	}
	if m.whole && len(m.unsettled) > 0 {
		return m.invalid(m.last.Tip.Version, "an unsettled effect is missing")
	}
	m.w.meta(&store.Meta{}, &m.last.Meta, m.task)
	return m.w.err
}

func (m *importing) invalid(version uint64, what string) error {
	return fmt.Errorf("import task %s, version %d: %s: %w", m.task, version, what, store.ErrInvalid)
}

// record checks that a record follows the one before and is what its hash says, and adds it with its used-up names.
func (m *importing) record(r *store.Record) error {
	v := r.Tip.Version
	switch {
	case r.Task != m.task:
		return m.invalid(v, "belongs to task "+r.Task)
	case v == 0 || v > store.MaxVersion:
		return m.invalid(v, "no such version")
	case m.last == nil && (v == 1) != (r.Prev == [32]byte{}):
		return m.invalid(v, "does not begin a history")
	case m.last != nil && (v != m.last.Tip.Version+1 || r.Prev != m.last.Tip.Hash):
		return m.invalid(v, fmt.Sprintf("does not follow version %d", m.last.Tip.Version))
	}
	if err := (&store.Commit{Record: *r, Base: store.Tip{Version: v - 1, Hash: r.Prev}}).Check(); err != nil {
		return err
	}
	sealed := *r
	out, n := m.s.sealer.Seal(nil, &sealed, store.KindRecord)
	if sealed.Tip != r.Tip {
		return m.invalid(v, "its bytes do not give its hash")
	}
	if m.size += len(out); m.size > MaxImport {
		return &store.TooBigError{Task: m.task, What: "bytes of an import", Size: m.size, Most: MaxImport}
	}
	if m.last == nil && v > 1 {
		m.whole = false
		base, n := m.s.sealer.SealBase(nil, m.task, store.Tip{Version: v - 1, Hash: r.Prev})
		m.w.set(base[:n], base[n:])
	}
	m.w.set(out[:n], out[n:])
	last := *r
	last.Snapshot, last.Entry = nil, nil
	m.last = &last
	return m.changes(r)
}

func (m *importing) changes(r *store.Record) error {
	ch, err := store.ParseChanges(r.Changes)
	if err != nil {
		return m.invalid(r.Tip.Version, "changes are malformed")
	}
	for _, name := range ch.Once {
		key := appendOnce(nil, m.task, name)
		m.w.set(key, appendNumbered(nil, key, r.Tip.Version, nil))
	}
	for _, e := range ch.Emit {
		m.unsettled[e.ID] = r.Tip.Version
	}
	for _, st := range ch.Settle {
		delete(m.unsettled, st.Effect)
	}
	m.swaps = m.swaps || len(ch.Swap) > 0
	return m.w.err
}

// effect adds an unsettled effect as unknown and due at once. Its revision rises: workers of the original hold the old one.
func (m *importing) effect(given *store.Effect) error {
	e := *given
	emitted, ok := m.unsettled[e.ID]
	if (m.whole && !ok) || (ok && emitted != e.Version) || e.Version == 0 || e.Version > m.last.Tip.Version || e.Task != m.task {
		return m.invalid(e.Version, "effect "+e.ID+" is not one that the records leave unsettled")
	}
	delete(m.unsettled, e.ID)
	e.Rev++
	e.Status, e.Was, e.Ready, e.Holder, e.Hold = store.Unknown, 0, 0, "", 0
	if err := e.Check(0); err != nil {
		return err
	}
	if slices.ContainsFunc(m.effects, func(o effect) bool { return o.id == e.ID }) {
		return m.invalid(e.Version, "effect "+e.ID+" is given twice")
	}
	e.Body = bytes.Clone(e.Body)
	m.w.effect(nil, &e)
	m.effects = append(m.effects, known(&e))
	return m.w.err
}
