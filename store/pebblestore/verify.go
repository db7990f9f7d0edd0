package pebblestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
)

// Verify implements store.Verifier. It reads a snapshot of the whole store, once for the tasks and once for the rows
// that point to them, so it may run while the store serves.
func (s *Store) Verify(ctx context.Context) iter.Seq2[store.Problem, error] {
	return func(yield func(store.Problem, error) bool) {
		if err := s.enter(ctx); err != nil {
			yield(store.Problem{}, err)
			return
		}
		defer s.leave()
		v := &verifier{s: s, ctx: ctx, snap: s.db.NewSnapshot(), yield: yield, resources: map[string]store.Swapped{}}
		err := errors.Join(v.all(), v.snap.Close())
		if err != nil && !errors.Is(err, errEnough) {
			yield(store.Problem{}, err)
		}
	}
}

// errEnough ends a verification whose reader has seen enough.
var errEnough = errors.New("enough")

// verifier is one verification.
type verifier struct {
	s         *Store
	ctx       context.Context
	snap      *pebble.Snapshot
	yield     func(store.Problem, error) bool
	resources map[string]store.Swapped // newest swap of each resource that a record tells of
}

func (v *verifier) problem(task string, version uint64, format string, args ...any) error {
	if !v.yield(store.Problem{Task: task, Version: version, What: fmt.Sprintf(format, args...)}, nil) {
		return errEnough
	}
	return nil
}

// fault reports damage as a problem and gives back any other error.
func (v *verifier) fault(task string, err error) error {
	var corrupt *store.CorruptError
	var newer *store.NewerError
	switch {
	case errors.As(err, &corrupt):
		return v.problem(task, corrupt.Version, "%s", corrupt.What)
	case errors.As(err, &newer):
		return v.problem(task, newer.Version, "%v", newer)
	}
	return err
}

func (v *verifier) all() error {
	if err := v.tasks(); err != nil {
		return err
	}
	for _, f := range []func() error{v.onces, v.turns, v.indexes, v.marks, v.swaps, v.strays} {
		if err := f(); err != nil {
			return err
		}
	}
	return v.s.durable()
}

// each walks over a key space.
func (v *verifier) each(from, to []byte, f func(key, value []byte) error) error {
	it, err := v.snap.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		if err = errors.Join(v.ctx.Err(), v.s.durable()); err != nil {
			break
		}
		var value []byte
		if value, err = it.ValueAndErr(); err == nil {
			err = f(it.Key(), value)
		}
	}
	return errors.Join(err, it.Close())
}

// has says whether a row is there.
func (v *verifier) has(key []byte) (bool, error) {
	_, closer, err := v.snap.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, closer.Close()
}

// must reports a row that is missing.
func (v *verifier) must(key []byte, task string, version uint64, what string) error {
	there, err := v.has(key)
	if err != nil || there {
		return err
	}
	return v.problem(task, version, "%s is missing", what)
}

// chain is what is known of the task whose rows are being walked over.
type chain struct {
	task     string
	effects  []store.Effect
	newer    *store.Version // the version after the one that comes next
	tip      store.Version
	broken   bool // some row could not be read: what depends on it is not judged
	attempts int
	emitted  map[string]uint64 // newest commit that emitted an effect that no later one settled
	settled  map[string]bool   // effects that a newer commit settled
	imported uint64            // up to this version it lived in another store, with resources of its own
}

// tasks checks every task: its records, and that what they say beside themselves is there.
func (v *verifier) tasks() error {
	var c *chain
	finish := func() error {
		if c == nil {
			return nil
		}
		return v.finish(c)
	}
	err := v.each([]byte{taskSpace}, []byte{taskSpace + 1}, func(key, value []byte) error {
		n := split(key)
		if n < 3 || len(key) == n || store.CheckTask(string(key[1:n-1])) != nil {
			return v.problem("", 0, "key %q is no row of a task", key)
		}
		if task := string(key[1 : n-1]); c == nil || c.task != task {
			if err := finish(); err != nil {
				return err
			}
			c = &chain{task: task, emitted: map[string]uint64{}, settled: map[string]bool{}}
			if err := v.imported(c); err != nil {
				return err
			}
		}
		return v.row(c, key, value)
	})
	return errors.Join(err, func() error {
		if err != nil {
			return nil
		}
		return finish()
	}())
}

// imported reads up to which version the task lived elsewhere.
func (v *verifier) imported(c *chain) error {
	key := appendResource(nil, store.ImportedResource(c.task))
	value, closer, err := v.snap.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer closer.Close()
	_, rest, err := parseNumbered(key, value)
	if err != nil {
		return nil // told when the resources are walked over
	}
	mark, err := store.ReadImported(rest)
	if err != nil {
		return v.problem(c.task, 0, "%v", err)
	}
	c.imported = mark.Tip.Version
	return nil
}

// row checks one row of a task.
func (v *verifier) row(c *chain, key, value []byte) error {
	switch key[split(key)] {
	case effectRow:
		e, err := parseEffect(c.task, key, value)
		if err != nil {
			c.broken = true
			return v.fault(c.task, err)
		}
		c.effects = append(c.effects, e)
		return v.must(appendTurn(nil, &e), c.task, e.Version, "turn of effect "+e.ID)
	case recordRow:
		return v.record(c, key, value)
	case attemptRow:
		if c.attempts++; c.attempts == store.MaxAttempts+1 {
			return v.problem(c.task, 0, "more than %d attempts", store.MaxAttempts)
		}
		if _, err := parseAttempt(key, value); err != nil {
			return v.fault(c.task, err)
		}
		return nil
	}
	return v.problem(c.task, 0, "key %q is no row of a task", key)
}

// record checks one version and that the version after it follows.
func (v *verifier) record(c *chain, key, value []byte) error {
	if len(key) != split(key)+9 {
		return v.problem(c.task, 0, "key %q is no record", key)
	}
	version := ^binary.BigEndian.Uint64(key[len(key)-8:])
	rec, kind, err := v.s.sealer.Open(c.task, version, value)
	if err != nil {
		c.broken, c.newer = true, nil
		return v.fault(c.task, err)
	}
	this := &store.Version{Record: rec, Kind: kind}
	if c.newer != nil {
		if err := v.follows(c, this); err != nil {
			return err
		}
	} else if c.tip.Tip.Version == 0 && !c.broken {
		c.tip = *this
		c.tip.Snapshot, c.tip.Entry = nil, nil
	}
	c.newer = this
	if kind == store.KindBase {
		return nil
	}
	return v.changes(c, &rec)
}

func (v *verifier) follows(c *chain, this *store.Version) error {
	version := this.Tip.Version
	switch {
	case c.newer.Kind == store.KindBase:
		return v.problem(c.task, version, "lies below the base")
	case c.newer.Tip.Version != version+1:
		return v.problem(c.task, version+1, "record is missing")
	case c.newer.Prev != this.Tip.Hash:
		return v.problem(c.task, version, "hash is not the one the next version names")
	case this.Kind == store.KindRecord && c.newer.At < this.At:
		return v.problem(c.task, version+1, "instant lies before the version before")
	}
	return nil
}

// changes checks what a record says was written beside it. Records come newest first.
func (v *verifier) changes(c *chain, rec *store.Record) error {
	ch, err := store.ParseChanges(rec.Changes)
	if err != nil {
		return v.problem(c.task, rec.Tip.Version, "changes are malformed")
	}
	for _, name := range ch.Once {
		key := appendOnce(nil, c.task, name)
		if err := v.must(key, c.task, rec.Tip.Version, fmt.Sprintf("used-up name %q", name)); err != nil {
			return err
		}
	}
	for _, e := range ch.Emit {
		if !c.settled[e.ID] && c.emitted[e.ID] == 0 {
			c.emitted[e.ID] = rec.Tip.Version
		}
		delete(c.settled, e.ID)
	}
	for _, st := range ch.Settle {
		if c.emitted[st.Effect] == 0 {
			c.settled[st.Effect] = true
		}
	}
	if rec.Tip.Version <= c.imported {
		return nil
	}
	for _, r := range ch.Swap {
		if old, ok := v.resources[r.Name]; !ok || r.Rev >= old.Rev {
			v.resources[r.Name] = r
		}
	}
	return nil
}

// finish checks what can be said once all rows of a task were seen.
func (v *verifier) finish(c *chain) error {
	if c.broken {
		return nil
	}
	if c.newer == nil {
		return v.problem(c.task, 0, "rows without a record")
	}
	pruned := c.newer.Kind == store.KindBase
	if !pruned && c.newer.Tip.Version != 1 {
		return v.problem(c.task, c.newer.Tip.Version-1, "record is missing")
	}
	for i := range c.effects {
		e := &c.effects[i]
		if from, ok := c.emitted[e.ID]; (ok && from != e.Version) || (!ok && !pruned) || c.settled[e.ID] {
			if err := v.problem(c.task, e.Version, "effect %s is not one that the records leave unsettled", e.ID); err != nil {
				return err
			}
		}
		delete(c.emitted, e.ID)
	}
	for id, version := range c.emitted {
		if err := v.problem(c.task, version, "effect %s is neither settled nor there", id); err != nil {
			return err
		}
	}
	return v.rows(c)
}

// rows checks that the index rows of a task are there.
func (v *verifier) rows(c *chain) error {
	if c.tip.Kind == store.KindErased {
		return nil
	}
	if c.tip.Kind == store.KindBase {
		return v.problem(c.task, c.tip.Tip.Version, "newest record is missing")
	}
	m := &c.tip.Meta
	for _, r := range indexRows(m, c.task) {
		if err := v.must(r.key, c.task, c.tip.Tip.Version, r.what); err != nil {
			return err
		}
	}
	return nil
}

// indexRow is a row that points to a task.
type indexRow struct {
	what string
	key  []byte
}

// indexRows are all rows that point to a task with this meta.
func indexRows(m *store.Meta, task string) []indexRow {
	rows := []indexRow{{"index row by state", appendState(nil, m, task)}}
	if m.Owner != "" {
		rows = append(rows, indexRow{"index row by owner", appendOwner(nil, m, task)})
	}
	if m.WaitsFor != "" {
		rows = append(rows, indexRow{"index row by waited-for", appendWaits(nil, m, task)})
	}
	if m.Wake > 0 {
		rows = append(rows, indexRow{"wake-up", appendDue(nil, m, task)})
	}
	return rows
}

// indexes checks that every index row and wake-up is one that its task has.
func (v *verifier) indexes() error {
	it, err := v.snap.NewIter(nil)
	if err != nil {
		return err
	}
	check := func(key, _ []byte) error {
		task, ok := indexedTask(key)
		if key[0] == dueSpace {
			_, task, _, ok = turn(key)
		}
		if !ok || store.CheckTask(task) != nil {
			return v.problem("", 0, "key %q is no row of an index", key)
		}
		rec, kind, err := v.s.newestAt(it, task, nil)
		if err != nil {
			if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNewer) {
				return nil // told when the task was walked over
			}
			return err
		}
		if rec.Tip.Version > 0 && kind == store.KindRecord {
			for _, r := range indexRows(&rec.Meta, task) {
				if bytes.Equal(r.key, key) {
					return nil
				}
			}
		}
		return v.problem(task, rec.Tip.Version, "key %q points to a task that is not so", key)
	}
	err = v.each([]byte{indexSpace}, []byte{indexSpace + 1}, check)
	if err == nil {
		err = v.each([]byte{dueSpace}, []byte{dueSpace + 1}, check)
	}
	return errors.Join(err, it.Close())
}

// marks checks that nothing lies below the stored marks of the due orders: nobody would look for it there.
func (v *verifier) marks() error {
	value, closer, err := v.snap.Get(clockKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, marks, err := parseClock(value)
	if err := errors.Join(err, closer.Close()); err != nil {
		return v.fault("", err)
	}
	for i, space := range []byte{dueSpace, readySpace, heldSpace} {
		err := v.each([]byte{space}, appendInstant([]byte{space}, marks[i]), func(key, _ []byte) error {
			_, task, effect, _ := turn(key)
			return v.problem(task, 0, "turn %q of effect %q lies below the mark at which searches begin", key, effect)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// turns checks that every turn is the one of its effect.
func (v *verifier) turns() error {
	for _, space := range []byte{readySpace, heldSpace} {
		err := v.each([]byte{space}, []byte{space + 1}, func(key, _ []byte) error {
			_, task, id, ok := turn(key)
			if !ok {
				return v.problem("", 0, "key %q is no turn of an effect", key)
			}
			row := appendEffect(nil, task, id)
			value, closer, err := v.snap.Get(row)
			if errors.Is(err, pebble.ErrNotFound) {
				return v.problem(task, 0, "turn of effect %s, which is not there", id)
			}
			if err != nil {
				return err
			}
			defer closer.Close()
			e, err := parseEffect(task, row, value)
			if err == nil && !bytes.Equal(appendTurn(nil, &e), key) {
				return v.problem(task, e.Version, "effect %s has another turn", id)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// onces checks that every used-up name belongs to a version whose record says so.
func (v *verifier) onces() error {
	return v.each([]byte{onceSpace}, []byte{onceSpace + 1}, func(key, value []byte) error {
		i := bytes.IndexByte(key, 0)
		if i < 2 || len(key) != i+17 {
			return v.problem("", 0, "key %q is no used-up name", key)
		}
		task := string(key[1:i])
		version, _, err := parseNumbered(key, value)
		if err != nil {
			return v.problem(task, 0, "used-up name: %v", err)
		}
		tip, _, err := v.s.newestOf(v.snap, task)
		if err != nil {
			return nil // told when the task was walked over
		}
		if version == 0 || version > tip {
			return v.problem(task, version, "a name is used up by a version that is not there")
		}
		return v.usedUp(task, version, key)
	})
}

// usedUp checks that the record, unless it was pruned, uses up the name whose key this is.
func (v *verifier) usedUp(task string, version uint64, key []byte) error {
	value, closer, err := v.snap.Get(store.AppendKey(nil, task, version))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil // pruned; a hole in the chain was told when the task was walked over
	}
	if err != nil {
		return err
	}
	defer closer.Close()
	rec, kind, err := v.s.sealer.Open(task, version, value)
	if err != nil || kind == store.KindBase {
		return nil
	}
	ch, err := store.ParseChanges(rec.Changes)
	if err != nil {
		return nil
	}
	for _, name := range ch.Once {
		if h := sha256.Sum256([]byte(name)); bytes.Equal(h[:16], key[len(key)-16:]) {
			return nil
		}
	}
	return v.problem(task, version, "a name is used up that the record does not tell of")
}

// newestOf is the newest version of a task in a snapshot.
func (s *Store) newestOf(snap *pebble.Snapshot, task string) (uint64, store.Kind, error) {
	it, err := snap.NewIter(nil)
	if err != nil {
		return 0, 0, err
	}
	rec, kind, err := s.newestAt(it, task, nil)
	return rec.Tip.Version, kind, errors.Join(err, it.Close())
}

// swaps checks that every resource is what the newest record that swapped it says.
func (v *verifier) swaps() error {
	err := v.each([]byte{resourceSpace}, []byte{resourceSpace + 1}, func(key, value []byte) error {
		name := string(key[1:])
		rev, rest, err := parseNumbered(key, value)
		if err != nil {
			delete(v.resources, name)
			return v.problem("", 0, "resource %s: %v", name, err)
		}
		told, ok := v.resources[name]
		delete(v.resources, name)
		switch {
		case !ok:
			return nil // the records that swapped it may be pruned or erased
		case rev < told.Rev+1:
			return v.problem("", 0, "resource %s has revision %d, a record made it %d", name, rev, told.Rev+1)
		case rev == told.Rev+1 && sha256.Sum256(rest) != told.Value:
			return v.problem("", 0, "resource %s has another value than its record says", name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name := range v.resources {
		if err := v.problem("", 0, "resource %s is missing", name); err != nil {
			return err
		}
	}
	return nil
}

// strays checks that nothing lies between the key spaces.
func (v *verifier) strays() error {
	known := []byte{dueSpace, heldSpace, onceSpace, metaSpace, readySpace, resourceSpace, taskSpace, indexSpace}
	var from []byte
	for _, space := range known {
		err := v.each(from, []byte{space}, func(key, _ []byte) error { return v.problem("", 0, "key %q is a stray", key) })
		if err != nil {
			return err
		}
		from = []byte{space + 1}
	}
	err := v.each([]byte{metaSpace}, []byte{metaSpace + 1}, func(key, _ []byte) error {
		if bytes.Equal(key, identityKey) || bytes.Equal(key, clockKey) {
			return nil
		}
		return v.problem("", 0, "key %q is a stray", key)
	})
	if err != nil {
		return err
	}
	return v.each(from, nil, func(key, _ []byte) error { return v.problem("", 0, "key %q is a stray", key) })
}
