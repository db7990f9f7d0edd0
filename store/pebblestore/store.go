package pebblestore

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pawlgo/pawl/store"
)

// Format is the format of the store that this version writes, and the newest it opens.
const Format = 1

// copyMark is a file in a copy that has not been opened yet: at its first open it becomes a new incarnation.
const copyMark = "PAWL-COPY"

// tick is how far the stored clock may lag behind what a commit was judged on.
const tick store.Micros = 10_000

// Store is a store in one directory. It is a store.Store and also a store.Resources, Keeper, Copier, Verifier and
// Watcher. It is safe for concurrent use.
type Store struct {
	dir    string
	o      Options
	fs     vfs.FS // beneath the gate
	g      *gate
	lock   *pebble.Lock
	db     *pebble.DB
	id     identity
	sealer *store.Sealer
	clock  *store.Clock
	feed   store.Feed

	life     sync.RWMutex    // held shared by every call, exclusively to shut
	alive    context.Context // ends when the store fails
	kill     context.CancelFunc
	closed   atomic.Bool // Close was called
	shut     bool        // Pebble is closed; guarded by life
	shutting sync.WaitGroup

	tasks     *locks
	tips      *tips
	resources *locks
	imports   sync.Mutex // one import lands at a time, since it changes the identity
	claims    sync.Mutex // one claim at a time, since it holds the locks of several tasks
	due       watermark
	ready     watermark
	held      watermark

	ticking   sync.Mutex
	persisted atomic.Int64 // newest clock row
	buffers   sync.Pool    // of *[]byte

	joining sync.Mutex
	first   *part     // of the batch that commits join at the moment, nil if there is none; guarded by joining
	parts   sync.Pool // of *part
}

var _ interface {
	store.Store
	store.Resources
	store.Keeper
	store.Copier
	store.Verifier
	store.Watcher
} = (*Store)(nil)

// Open opens the store in dir, or creates it if dir is empty or absent. Only one process can have it open at a time, and only
// once: store.ErrInUse if it is open. store.ErrNewer if a later version wrote it, store.ErrCorrupt if what is there is no store or is damaged,
// store.ErrInvalid if the key is not the one it was created with.
func Open(dir string, o Options) (*Store, error) {
	if dir == "" {
		return nil, fmt.Errorf("directory is empty: %w", store.ErrInvalid)
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Tasks <= 0 {
		o.Tasks = defaultTasks
	}
	home, err := homeOf(o.FS, dir)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	s := &Store{
		dir: home, o: o, fs: o.FS, g: &gate{}, sealer: store.NewSealer(o.Key),
		tasks: newLocks(o.Tasks), tips: newTips(o.Tasks), resources: newLocks(o.Tasks / 16),
	}
	s.alive, s.kill = context.WithCancel(context.Background())
	s.buffers.New = func() any { b := make([]byte, 0, 4096); return &b }
	s.parts.New = newPart
	if err := s.open(); err != nil {
		if pebble.IsCorruptionError(err) && !errors.Is(err, store.ErrCorrupt) {
			err = errors.Join(err, store.ErrCorrupt)
		}
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	s.g.onFail = s.abandon
	return s, nil
}

// open locks the directory, looks through the logs and opens Pebble.
func (s *Store) open() error {
	if err := s.fs.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	lock, err := lockDirectory(s.fs, s.dir)
	if err != nil {
		return err
	}
	s.lock = lock
	if err = checkLogs(s.fs, s.dir); err == nil {
		po := s.o.pebble(&gatedFS{FS: s.fs, g: s.g, dir: s.dir}, s.g)
		po.Lock = lock
		s.db, err = pebble.Open(s.dir, po)
		err = s.checked(err)
	}
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		_ = s.closePebble()
	}
	return err
}

// closePebble closes Pebble, if it is open, and unlocks the directory.
func (s *Store) closePebble() (err error) {
	if s.db != nil {
		err = s.db.Close()
	}
	return errors.Join(err, s.lock.Close())
}

// identity is the row that says what this store is.
type identity struct {
	format      uint32
	id          [16]byte
	incarnation atomic.Uint64
	keyed       [32]byte // MAC of the id under the key of the records, zero if there is none
}

func (s *Store) keyed(id [16]byte) (sum [32]byte) {
	if len(s.o.Key) > 0 {
		mac := hmac.New(sha256.New, s.o.Key)
		mac.Write(id[:])
		mac.Sum(sum[:0])
	}
	return sum
}

// begin reads or writes what a store is, and does what an open means for clock, copies and holds.
func (s *Store) begin() error {
	if err := s.readIdentity(); err != nil {
		return err
	}
	if err := s.startClock(); err != nil {
		return err
	}
	mark := s.fs.PathJoin(s.dir, copyMark)
	if _, err := s.fs.Stat(mark); err == nil {
		if err := s.reincarnate(mark); err != nil {
			return err
		}
	}
	return s.release()
}

func (s *Store) readIdentity() error {
	value, closer, err := s.db.Get(identityKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return s.create()
	}
	if err != nil {
		return err
	}
	defer closer.Close()
	format, rest, err := parseNumbered(identityKey, value)
	if err != nil {
		return err
	}
	if format > Format {
		return &store.NewerError{Format: int(min(format, math.MaxInt32)), Known: Format}
	}
	if len(rest) != 16+8+32 {
		return rowFault(identityKey, "identity is malformed")
	}
	s.id.format = uint32(format)
	copy(s.id.id[:], rest)
	s.id.incarnation.Store(binary.BigEndian.Uint64(rest[16:]))
	copy(s.id.keyed[:], rest[24:])
	if s.id.keyed != s.keyed(s.id.id) {
		return fmt.Errorf("the key is not the one the store was created with: %w", store.ErrInvalid)
	}
	return nil
}

// create makes an empty database a store; one that is not empty is something else.
func (s *Store) create() error {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	foreign := it.First()
	if err := it.Close(); err != nil {
		return err
	}
	if foreign {
		return rowFault(identityKey, "identity is missing")
	}
	s.id.format = Format
	s.id.incarnation.Store(1)
	rand.Read(s.id.id[:])
	s.id.keyed = s.keyed(s.id.id)
	if err := s.writeIdentity(); err != nil {
		return err
	}
	// Pebble began its first log before it took up the pinned format; the next one says what was synced.
	return s.checked(s.db.Flush())
}

func (s *Store) writeIdentity() error {
	return s.checked(s.db.Set(identityKey, s.id.row(), pebble.Sync))
}

func (i *identity) row() []byte {
	rest := binary.BigEndian.AppendUint64(append([]byte(nil), i.id[:]...), i.incarnation.Load())
	return appendNumbered(nil, identityKey, uint64(i.format), append(rest, i.keyed[:]...))
}

// checked is err, or the failure that Pebble was not told of.
func (s *Store) checked(err error) error {
	if err == nil && s.g.failed() {
		err = errors.Join(s.g.err(), store.ErrFailed)
	}
	return err
}

// startClock starts where the clock stopped, and the marks where they were.
func (s *Store) startClock() error {
	value, closer, err := s.db.Get(clockKey)
	if err != nil && !errors.Is(err, pebble.ErrNotFound) {
		return err
	}
	floor, marks := store.Micros(0), [3]store.Micros{}
	if err == nil {
		floor, marks, err = parseClock(value)
		if err := errors.Join(err, closer.Close()); err != nil {
			return err
		}
	}
	for i, w := range s.marks() {
		w.at, w.stored = marks[i], marks[i]
	}
	s.clock = store.NewClock(s.o.Now, floor)
	s.persisted.Store(math.MinInt64 / 2)
	return nil
}

// parseClock decodes the row of the clock: nothing was judged later than until, and the due orders hold nothing below
// their marks.
func parseClock(value []byte) (until store.Micros, marks [3]store.Micros, err error) {
	n, rest, err := parseNumbered(clockKey, value)
	if err != nil {
		return 0, marks, err
	}
	until = store.Micros(n)
	switch len(rest) {
	case 0: // as the first stores wrote it while they served
		until += tick
	case 1: // and when they were closed
	case 1 + 8*len(marks):
		for i := range marks {
			marks[i] = store.Micros(binary.BigEndian.Uint64(rest[1+8*i:]))
		}
	default:
		return 0, marks, rowFault(clockKey, "row of the clock is malformed")
	}
	return until, marks, nil
}

// keepTime sees to it that whatever is made durable from here on makes the clock durable too, to within a tick.
func (s *Store) keepTime(now store.Micros) error {
	if now-s.persisted.Load() < tick {
		return nil
	}
	s.ticking.Lock()
	defer s.ticking.Unlock()
	if now-s.persisted.Load() < tick {
		return nil
	}
	return s.setClock(now)
}

// storeClock stores where the clock and the marks stand.
func (s *Store) storeClock() error {
	s.ticking.Lock()
	defer s.ticking.Unlock()
	return s.setClock(max(s.clock.Now(), s.persisted.Load()))
}

// setClock writes the row of the clock, unsynced. The caller holds ticking.
func (s *Store) setClock(now store.Micros) error {
	if err := s.db.Set(clockKey, s.clockRow(now+tick), pebble.NoSync); err != nil {
		s.g.fail(err)
		return err
	}
	s.persisted.Store(now)
	return nil
}

// clockRow is what parseClock decodes. A version that knows nothing of marks, and would write rows below them, removes them
// by that: it writes the row of the clock before any other.
func (s *Store) clockRow(until store.Micros) []byte {
	rest := []byte{1}
	for _, w := range s.marks() {
		rest = appendInstant(rest, w.mark())
	}
	return appendNumbered(nil, clockKey, uint64(until), rest)
}

func (s *Store) marks() [3]*watermark { return [3]*watermark{&s.due, &s.ready, &s.held} }

// enter begins a call; the caller must leave.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed.Load() {
		return store.ErrClosed
	}
	if s.g.failed() {
		return s.failure()
	}
	s.life.RLock()
	if s.shut || s.closed.Load() {
		s.life.RUnlock()
		if s.g.failed() && !s.closed.Load() {
			return s.failure()
		}
		return store.ErrClosed
	}
	return nil
}

func (s *Store) leave() { s.life.RUnlock() }

// failure is ErrFailed with its cause.
func (s *Store) failure() error { return fmt.Errorf("%w: %w", store.ErrFailed, s.g.err()) }

// durable is nil if what was read or written before the call can be trusted.
func (s *Store) durable() error {
	if s.g.failed() {
		return s.failure()
	}
	return nil
}

// blamed is err, or the failure if the store has failed: what seems damaged then is a file that was never written.
func (s *Store) blamed(err error) error {
	if failed := s.durable(); failed != nil {
		return failed
	}
	return err
}

// write applies a batch, synced. If it returns an error the store has failed and the batch may or may not be there.
func (s *Store) write(b *pebble.Batch) error {
	if err := b.Commit(pebble.Sync); err != nil {
		s.g.fail(err)
	}
	return s.durable()
}

// abandon shuts Pebble after a failure, so that nothing goes on in the background that can no longer be kept.
func (s *Store) abandon() {
	s.kill()
	s.shutting.Add(1)
	go func() {
		defer s.shutting.Done()
		s.life.Lock()
		defer s.life.Unlock()
		if !s.shut {
			s.shut = true
			_ = s.closePebble()
		}
	}()
}

// Close implements store.Store. After a failure it only waits for what is still running.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return store.ErrClosed
	}
	s.feed.Close()
	s.life.Lock()
	var err error
	if !s.shut {
		s.shut = true
		err = s.finish()
	}
	s.life.Unlock()
	s.shutting.Wait()
	s.kill()
	return err
}

// finish closes an open store: everything goes into tables, so that the next open has no log to replay.
func (s *Store) finish() error {
	if s.g.failed() {
		_ = s.closePebble()
		return nil
	}
	err := s.stopClock()
	if err == nil {
		err = s.checked(s.db.Flush())
	}
	err = errors.Join(err, s.db.Close())
	if err == nil && !s.g.failed() {
		err = leaveClosedMark(s.fs, s.dir)
	}
	return errors.Join(s.checked(err), s.lock.Close())
}

// stopClock writes where the clock stands, and that nothing was judged later.
func (s *Store) stopClock() error {
	return s.checked(s.db.Set(clockKey, s.clockRow(s.clock.Now()), pebble.Sync))
}

// Info implements store.Store.
func (s *Store) Info() store.Info {
	return store.Info{ID: s.id.id, Incarnation: s.id.incarnation.Load(), Format: Format, Sole: true, Swap: true}
}

// Now implements store.Store.
func (s *Store) Now(ctx context.Context) (store.Micros, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	return s.clock.Now(), nil
}

// Watch implements store.Watcher.
func (s *Store) Watch(ctx context.Context) iter.Seq2[store.Row, error] { return s.feed.Watch(ctx) }
