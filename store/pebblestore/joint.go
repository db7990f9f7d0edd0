package pebblestore

import (
	"encoding/binary"
	"errors"
	"runtime"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
)

// Limits of one batch that several commits share. More of them would save nothing more: one core puts them into the memtable, while the
// others could do so with other batches.
const (
	jointCommits = 64
	jointBytes   = 256 << 10 // it takes no further commit once it has so many of keys and values
)

// What a batch takes beside keys and values, at most.
const (
	batchHeader = 12
	rowOverhead = 1 + 2*binary.MaxVarintLen32 // kind and lengths
)

// part is what one commit writes. Commits that are ready at the same time share one batch, whole each and one after the other, since
// Pebble spends as much on a batch as on what is in it. The first lets everybody run who can, and then writes whatever has joined it;
// if a batch is full before, the one that filled it writes it at once. The parts of a batch belong to different tasks that are locked,
// so no two write the same row.
type part struct {
	buf     []byte // keys and values
	rows    []row
	scratch []byte // room in which keys are built

	joined []*part    // if it is the first of a batch: all of them, itself included; guarded by Store.joining until they are parted
	bytes  int        // of all of them; guarded as well
	wrote  chan error // tells what came of it, if another one wrote it
}

// row is a row of a part: where in its buffer key and value lie.
type row struct {
	kind            pebble.InternalKeyKind
	key, value, end int
}

func newPart() any { return &part{buf: make([]byte, 0, 4096), wrote: make(chan error, 1)} }

// fill makes it the part of a commit that was judged, on a task that is locked.
func (p *part) fill(c *store.Commit, e *entry, sealer *store.Sealer) error {
	var key int
	p.buf, key = c.Prepare(sealer, p.buf[:0])
	p.rows = append(p.rows[:0], row{kind: pebble.InternalKeyKindSet, value: key, end: len(p.buf)})
	w := writer{to: p, buf: p.scratch[:0]}
	w.meta(&e.meta, &c.Meta, c.Task)
	w.side(c, e)
	p.scratch = w.buf
	return w.err
}

// add appends a row.
func (p *part) add(kind pebble.InternalKeyKind, key, value []byte) error {
	r := row{kind: kind, key: len(p.buf)}
	p.buf = append(p.buf, key...)
	r.value = len(p.buf)
	p.buf = append(p.buf, value...)
	r.end = len(p.buf)
	p.rows = append(p.rows, r)
	return nil
}

// Set implements target.
func (p *part) Set(key, value []byte, _ *pebble.WriteOptions) error {
	return p.add(pebble.InternalKeyKindSet, key, value)
}

// Delete implements target.
func (p *part) Delete(key []byte, _ *pebble.WriteOptions) error {
	return p.add(pebble.InternalKeyKindDelete, key, nil)
}

// SingleDelete implements target.
func (p *part) SingleDelete(key []byte, _ *pebble.WriteOptions) error {
	return p.add(pebble.InternalKeyKindSingleDelete, key, nil)
}

// copyTo puts the rows into a batch.
func (p *part) copyTo(b *pebble.Batch) (err error) {
	for i := range p.rows {
		r := &p.rows[i]
		key, value := p.buf[r.key:r.value], p.buf[r.value:r.end]
		switch r.kind {
		case pebble.InternalKeyKindSet:
			err = b.Set(key, value, nil)
		case pebble.InternalKeyKindDelete:
			err = b.Delete(key, nil)
		default:
			err = b.SingleDelete(key, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeJoint writes a part, synced, together with those that are ready at the same time. If it returns an error the store has failed
// and the rows may or may not be there.
func (s *Store) writeJoint(p *part) error {
	parts, first := s.join(p)
	if first {
		runtime.Gosched() // whoever can run now comes along
		parts = s.parted(p)
	}
	if parts == nil {
		return <-p.wrote
	}
	return s.writeFor(parts, p)
}

// errPanicked is what the others hear when the one that writes for them panics: somebody above it may go on, and they must not wait for
// ever.
var errPanicked = errors.New("the write of a shared batch panicked")

// writeFor writes parts, of which one is the caller's own, and tells the others what came of them.
func (s *Store) writeFor(parts []*part, own *part) error {
	err := errPanicked
	defer func() {
		if err == errPanicked {
			s.g.fail(err)
		}
		tell(parts, own, err)
	}()
	err = s.writeParts(parts)
	return err
}

// join adds a part to the batch that takes parts. The one that fills it gets all of them, to be written; else the first one, which is
// told that it is, takes them by parted.
func (s *Store) join(p *part) (full []*part, first bool) {
	s.joining.Lock()
	defer s.joining.Unlock()
	if s.first == nil {
		s.first, p.joined, p.bytes = p, p.joined[:0], 0
	}
	f := s.first
	f.joined = append(f.joined, p)
	if f.bytes += len(p.buf); len(f.joined) < jointCommits && f.bytes < jointBytes {
		return nil, f == p
	}
	s.first = nil
	return f.joined, false
}

// parted lets nobody join the first part any more, and returns those that have; none if another one filled the batch and writes it.
func (s *Store) parted(first *part) []*part {
	s.joining.Lock()
	defer s.joining.Unlock()
	if s.first != first {
		return nil
	}
	s.first = nil
	return first.joined
}

// tell tells the others what came of the parts that one of them has written. The first is told last: the list is its own.
func tell(parts []*part, writer *part, err error) {
	first := parts[0]
	for _, p := range parts[1:] {
		if p != writer {
			p.wrote <- err
		}
	}
	clear(parts)
	if first != writer {
		first.wrote <- err
	}
}

// writeParts writes the rows of all parts in one batch, synced.
func (s *Store) writeParts(parts []*part) error {
	size := 0
	for _, p := range parts {
		size += len(p.buf) + len(p.rows)*rowOverhead
	}
	b := s.db.NewBatchWithSize(batchHeader + size)
	for _, p := range parts {
		if err := p.copyTo(b); err != nil {
			s.g.fail(err)
			return err
		}
	}
	if err := s.write(b); err != nil {
		return err
	}
	return b.Close()
}
