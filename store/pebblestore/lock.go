package pebblestore

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"

	"github.com/pawlgo/pawl/store"
)

// entry is the lock of one task, and what is known of the task while it is held or remembered.
type entry struct {
	mu   sync.Mutex   // held by every durable write of the task, through its sync
	read sync.RWMutex // of a resource: held by who swaps it, and shared by who expects it, through the sync; taken after mu
	note sync.Mutex   // held by Note, and by Erase together with mu; taken after mu
	refs int          // guarded by the shard

	// Guarded by mu; valid if loaded.
	loaded  bool
	at      store.Micros
	meta    store.Meta
	effects []effect

	// attempts is the number of the newest attempt plus one, 0 if not looked up; guarded by note.
	attempts uint64

	// head is the newest durable tip, nil if not looked up.
	head atomic.Pointer[head]

	// resource is what a resource durably is, nil if not looked up. Set under mu, or while read is shared.
	resource atomic.Pointer[store.Resource]

	// flight is the version that is being written, anyVersion if no version is but something else, or 0.
	flight atomic.Uint64
}

// head is a durable tip; of an absent task it is zero.
type head struct {
	tip       store.Tip
	erased    bool
	unsettled bool // it has unsettled effects
}

// effect is what a commit needs to know of an unsettled effect.
type effect struct {
	id      string
	version uint64
	rev     uint64
	status  store.Status
	ready   store.Micros
	hold    store.Micros
}

const anyVersion = math.MaxUint64

// whole is the effect without holder and body.
func (e *effect) whole(task string) store.Effect {
	return store.Effect{Task: task, ID: e.id, Version: e.version, Rev: e.rev, Status: e.status, Ready: e.ready, Hold: e.hold}
}

func known(e *store.Effect) effect {
	return effect{id: e.ID, version: e.Version, rev: e.Rev, status: e.Status, ready: e.Ready, hold: e.Hold}
}

// find is the index of an effect, -1 if it is not unsettled.
func (e *entry) find(id string) int {
	for i := range e.effects {
		if e.effects[i].id == id {
			return i
		}
	}
	return -1
}

// know remembers what was read of the task, which is locked.
func (s *Store) know(e *entry, rec *store.Record, kind store.Kind, es []store.Effect) {
	e.effects = nil
	for i := range es {
		e.effects = append(e.effects, known(&es[i]))
	}
	e.at, e.meta = rec.At, rec.Meta
	s.setHead(rec.Task, e, head{tip: rec.Tip, erased: kind == store.KindErased, unsettled: len(es) > 0})
	e.loaded = true
}

// setHead says what the durable head of the task, which is locked, has become. Whoever wants to know a tip looks into the tips
// first, so that nobody sees an older one after a newer one.
func (s *Store) setHead(task string, e *entry, h head) {
	e.head.Store(&h)
	s.tips.put(task, &h)
}

// settled waits until what was read at version is durable: if it may be part of a write in flight, until that is over.
func (e *entry) settled(version uint64) {
	if f := e.flight.Load(); f == 0 || (f != anyVersion && version < f) {
		return
	}
	e.mu.Lock()
	//lint:ignore SA2001 only to wait for what is in flight
	e.mu.Unlock()
}

const shards = 64

// locks are the entries of all tasks in use and of some that are remembered.
type locks struct {
	seed   maphash.Seed
	most   int64 // beside those in use
	count  atomic.Int64
	shards [shards]struct {
		mu sync.Mutex
		m  map[string]*entry
		_  [40]byte // keeps the mutexes of two shards on two cache lines
	}
}

func newLocks(most int) *locks {
	l := &locks{seed: maphash.MakeSeed(), most: int64(most)}
	for i := range l.shards {
		l.shards[i].m = map[string]*entry{}
	}
	return l
}

// take is the task's entry; it stays until it is given back.
func (l *locks) take(task string) *entry {
	s := &l.shards[maphash.String(l.seed, task)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.m[task]
	if e == nil {
		e = &entry{}
		s.m[task] = e
		l.count.Add(1)
	}
	e.refs++
	return e
}

// give gives an entry back. If there are too many, one that nobody uses is forgotten.
func (l *locks) give(task string, e *entry) {
	s := &l.shards[maphash.String(l.seed, task)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	e.refs--
	if l.count.Load() <= l.most {
		return
	}
	for t, old := range s.m {
		if old.refs == 0 {
			delete(s.m, t)
			l.count.Add(-1)
			return
		}
	}
}

// peek is the task's entry if there is one; only its atomics may be looked at.
func (l *locks) peek(task string) *entry {
	s := &l.shards[maphash.String(l.seed, task)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[task]
}
