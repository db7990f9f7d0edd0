package pebblestore

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pawlgo/pawl/store"
)

// batchRows is how many rows one batch of a long rewrite holds.
const batchRows = 1000

// release frees the effects that an earlier open held: their holders are dead. They stay Sent, so whoever claims
// them looks them up.
func (s *Store) release() error {
	return s.rewrite(heldSpace, func(e *store.Effect) { e.Holder, e.Hold = "", 0 })
}

// reincarnate makes a copy a store of its own: nothing that was unsettled may be sent before it was looked up,
// since the original goes on.
func (s *Store) reincarnate(mark string) error {
	doubt := func(e *store.Effect) {
		if e.Status != store.Unknown {
			e.Rev++
			e.Status, e.Holder, e.Hold = store.Unknown, "", 0
		}
	}
	for _, space := range []byte{heldSpace, readySpace} {
		if err := s.rewrite(space, doubt); err != nil {
			return err
		}
	}
	s.id.incarnation.Add(1)
	if err := s.writeIdentity(); err != nil {
		return err
	}
	if err := s.fs.Remove(mark); err != nil {
		return err
	}
	return syncDir(s.fs, s.dir)
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		d.Close()
		return err
	}
	return d.Close()
}

// rewrite changes every effect that has a row in a due order. Each batch is whole by itself, so a crash in
// between leaves work for the next open.
func (s *Store) rewrite(space byte, change func(*store.Effect)) error {
	from := []byte{space}
	for {
		keys, err := s.keys(from, []byte{space + 1}, batchRows)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := s.rewriteAll(keys, change); err != nil {
			return err
		}
		from = append(keys[len(keys)-1], 0)
	}
}

// rewriteAll changes the effects that have these rows in a due order; none is held afterwards.
func (s *Store) rewriteAll(turns [][]byte, change func(*store.Effect)) error {
	b := s.db.NewBatch()
	first := never
	for _, key := range turns {
		ready, err := s.rewriteOne(b, key, change)
		if err != nil {
			b.Close()
			return err
		}
		first = min(first, ready)
	}
	p, err := s.plan(never, first, never)
	if err != nil {
		b.Close()
		return err
	}
	err = s.checked(b.Commit(pebble.Sync))
	p.end(err == nil)
	return err
}

// rewriteOne changes one effect and says when it is ready.
func (s *Store) rewriteOne(b *pebble.Batch, turnKey []byte, change func(*store.Effect)) (ready store.Micros, err error) {
	_, task, id, ok := turn(turnKey)
	if !ok {
		return 0, rowFault(turnKey, "row of a due order is malformed")
	}
	key := appendEffect(nil, task, id)
	e, err := s.effect(task, key)
	if err != nil {
		return 0, err
	}
	change(&e)
	w := writer{to: b}
	w.set(key, appendEffectRow(nil, key, &e))
	w.move(turnKey, appendTurn(nil, &e))
	return e.Ready, w.err
}

// keys are the first keys in a range, copied.
func (s *Store) keys(from, to []byte, limit int) (keys [][]byte, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok && len(keys) < limit; ok = it.Next() {
		keys = append(keys, append([]byte(nil), it.Key()...))
	}
	return keys, it.Close()
}

// effect reads one effect's row.
func (s *Store) effect(task string, key []byte) (store.Effect, error) {
	value, closer, err := s.db.Get(key)
	if err != nil {
		if err == pebble.ErrNotFound {
			return store.Effect{}, rowFault(key, "effect of a due order is missing")
		}
		return store.Effect{}, readFault(key, err)
	}
	defer closer.Close()
	return parseEffect(task, key, value)
}
