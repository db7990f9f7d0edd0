package pebblestore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
)

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	if s.o.Observe == nil {
		return s.commit(ctx, c)
	}
	began := time.Now()
	tip, err := s.commit(ctx, c)
	s.observe("commit", c.Task, len(c.Snapshot)+len(c.Entry), began, err)
	return tip, err
}

// observe tells the observer, which there is.
func (s *Store) observe(call, task string, bytes int, began time.Time, err error) {
	s.o.Observe(Observation{Call: call, Task: task, Bytes: bytes, Took: time.Since(began), Err: err})
}

func (s *Store) commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	if err := c.Check(); err != nil {
		return store.Tip{}, err
	}
	if err := s.enter(ctx); err != nil {
		return store.Tip{}, err
	}
	defer s.leave()
	e := s.tasks.take(c.Task)
	defer s.tasks.give(c.Task, e)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return store.Tip{}, err
	}
	if err := s.learnFor(c, e); err != nil {
		return store.Tip{}, err
	}
	if len(c.Swap)+len(c.Expect) > 0 {
		defer s.lockResources(c)()
	}
	if err := s.judge(c, e); err != nil {
		return store.Tip{}, s.blamed(err)
	}
	turns, err := s.plan(turnsOf(c, e))
	if err != nil {
		return store.Tip{}, err
	}
	if err := s.land(c, e, &turns); err != nil {
		return store.Tip{}, &store.UncertainError{Task: c.Task, Tip: c.Tip, Cause: err}
	}
	s.swapped(c)
	s.feed.Tell(store.Row{Task: c.Task, Meta: c.Meta})
	return c.Tip, nil
}

// learnFor reads what a commit needs to know of its task, which is locked. One that creates the task expects to find nothing.
func (s *Store) learnFor(c *store.Commit, e *entry) error {
	if c.Base.Version == 0 {
		return s.learnBy(c.Task, e, unlikely)
	}
	return s.learn(c.Task, e)
}

// judge decides whether the commit may land on the task, which is locked, and settles its instant.
func (s *Store) judge(c *store.Commit, e *entry) error {
	h := e.head.Load()
	if h.erased {
		return &store.ErasedError{Task: c.Task, Tip: h.tip}
	}
	if err := c.JudgeBase(h.tip); err != nil {
		return err
	}
	now := max(s.clock.Now(), e.at)
	if err := c.JudgeTime(now, e.at); err != nil {
		return err
	}
	for _, name := range c.Once {
		v, err := s.taken(c.Task, name)
		if err != nil {
			return err
		}
		if v != 0 {
			return &store.TakenError{Task: c.Task, Name: name, Version: v}
		}
	}
	for i := range c.Emit {
		if k := e.find(c.Emit[i].ID); k >= 0 {
			return &store.TakenError{Task: c.Task, Name: c.Emit[i].ID, Version: e.effects[k].version}
		}
	}
	for _, st := range c.Settle {
		have := uint64(0)
		if k := e.find(st.Effect); k >= 0 {
			have = e.effects[k].rev
		}
		if have == 0 || have != st.Rev {
			return &store.FencedError{Task: c.Task, Effect: st.Effect, Want: st.Rev, Have: have}
		}
	}
	if err := s.judgeResources(c); err != nil {
		return err
	}
	if err := s.durable(); err != nil {
		return err
	}
	return s.keepTime(now)
}

func (s *Store) judgeResources(c *store.Commit) error {
	for i := range c.Swap {
		r := &c.Swap[i]
		if err := s.judgeResource(c.Task, r.Name, r.Rev); err != nil {
			return err
		}
	}
	for i := range c.Expect {
		if err := s.judgeResource(c.Task, c.Expect[i].Name, c.Expect[i].Rev); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) judgeResource(task, name string, want uint64) error {
	have, err := s.resource(name, s.resources.peek(name))
	if err == nil && have.Rev != want {
		err = &store.SwapError{Task: task, Resource: name, Want: want, Have: have.Rev}
	}
	return err
}

// resource is what a resource is, remembered or read; its entry is locked or shared. The value must not be changed.
func (s *Store) resource(name string, e *entry) (store.Resource, error) {
	if r := e.resource.Load(); r != nil {
		return *r, nil
	}
	rev, value, err := s.numbered(appendResource(nil, name))
	r := store.Resource{Name: name, Rev: rev, Value: value}
	if err == nil && len(value) <= rememberedValue {
		e.resource.Store(&r)
	}
	return r, err
}

// swapped remembers the resources that a commit, which landed, has swapped and still has locked.
func (s *Store) swapped(c *store.Commit) {
	for i := range c.Swap {
		r := c.Swap[i]
		e := s.resources.peek(r.Name)
		e.resource.Store(nil)
		if r.Rev++; len(r.Value) <= rememberedValue {
			r.Value = append([]byte(nil), r.Value...)
			e.resource.Store(&r)
		}
	}
}

// rememberedValue is how many bytes the value of a resource may have that is remembered.
const rememberedValue = 1 << 10

// lockResources locks the resources that a commit swaps, and shares those that it expects, in order of their names; it returns
// what unlocks them. A commit has its task's lock by then and takes no other task's, so nobody waits in a circle.
func (s *Store) lockResources(c *store.Commit) func() {
	taken := make([]resource, 0, len(c.Swap)+len(c.Expect))
	for i := range c.Swap {
		taken = append(taken, resource{name: c.Swap[i].Name, swapped: true})
	}
	for i := range c.Expect {
		taken = append(taken, resource{name: c.Expect[i].Name})
	}
	slices.SortFunc(taken, func(a, b resource) int { return cmp.Compare(a.name, b.name) })
	for i := range taken {
		taken[i].entry = s.resources.take(taken[i].name)
		taken[i].lock()
	}
	return func() {
		for _, r := range taken {
			r.unlock()
			s.resources.give(r.name, r.entry)
		}
	}
}

// resource is one that a commit has locked.
type resource struct {
	name    string
	swapped bool // else it is only expected
	entry   *entry
}

func (r *resource) lock() {
	if !r.swapped {
		r.entry.read.RLock()
		return
	}
	r.entry.mu.Lock()
	r.entry.read.Lock()
	r.entry.flight.Store(anyVersion)
}

func (r *resource) unlock() {
	if !r.swapped {
		r.entry.read.RUnlock()
		return
	}
	r.entry.flight.Store(0)
	r.entry.read.Unlock()
	r.entry.mu.Unlock()
}

// turnsOf are the earliest rows of the due orders that a commit writes.
func turnsOf(c *store.Commit, e *entry) (due, ready, held store.Micros) {
	due, ready = never, never
	if w := c.Meta.Wake; w > 0 && w != e.meta.Wake {
		due = w
	}
	for i := range c.Emit {
		ready = min(ready, c.Emit[i].Ready)
	}
	return due, ready, never
}

// land writes a commit that was judged. If it returns an error the outcome is uncertain.
func (s *Store) land(c *store.Commit, e *entry, turns *outlook) error {
	p := s.parts.Get().(*part)
	defer s.parts.Put(p)
	err := p.fill(c, e, s.sealer)
	if err != nil {
		turns.end(false)
		s.g.fail(err)
		return err
	}
	e.flight.Store(c.Tip.Version)
	defer e.flight.Store(0) // after the head: who has loaded this version must not be told of an older tip
	err = s.writeJoint(p)
	turns.end(err == nil)
	if err != nil {
		return err
	}
	s.landed(c, e)
	return nil
}

// landed remembers what a commit has made of its task.
func (s *Store) landed(c *store.Commit, e *entry) {
	for _, st := range c.Settle {
		k := e.find(st.Effect)
		e.effects = slices.Delete(e.effects, k, k+1)
	}
	for i := range c.Emit {
		full := c.Emitted(i)
		e.effects = append(e.effects, known(&full))
	}
	e.at, e.meta = c.At, c.Meta
	s.setHead(c.Task, e, head{tip: c.Tip, unsettled: len(e.effects) > 0})
}

// target takes rows: a batch, or the part of one. It keeps neither key nor value.
type target interface {
	Set(key, value []byte, o *pebble.WriteOptions) error
	Delete(key []byte, o *pebble.WriteOptions) error
	SingleDelete(key []byte, o *pebble.WriteOptions) error
}

// writer puts rows into a target; keys and values are built in buf. It stops at the first error.
type writer struct {
	to  target
	buf []byte
	err error
}

func (w *writer) set(key, value []byte) {
	if w.err == nil {
		w.err = w.to.Set(key, value, nil)
	}
}

// drop removes a row that was set once.
func (w *writer) drop(key []byte) {
	if w.err == nil {
		w.err = w.to.SingleDelete(key, nil)
	}
}

// move replaces an index row unless it stays the same; either may be empty.
func (w *writer) move(old, now []byte) {
	if string(old) == string(now) {
		return
	}
	if len(old) > 0 {
		w.drop(old)
	}
	if len(now) > 0 {
		w.set(now, nil)
	}
}

// meta moves the index rows of a task from what it was to what it is; the zero Meta is a task that is not.
func (w *writer) meta(old, now *store.Meta, task string) {
	row := func(there bool, m *store.Meta, appendRow func([]byte, *store.Meta, string) []byte) []byte {
		if !there {
			return nil
		}
		start := len(w.buf)
		w.buf = appendRow(w.buf, m, task)
		return w.buf[start:]
	}
	w.move(row(old.Machine != "", old, appendState), row(now.Machine != "", now, appendState))
	w.move(row(old.Owner != "", old, appendOwner), row(now.Owner != "", now, appendOwner))
	w.move(row(old.WaitsFor != "", old, appendWaits), row(now.WaitsFor != "", now, appendWaits))
	w.move(row(old.Wake > 0, old, appendDue), row(now.Wake > 0, now, appendDue))
}

// side writes what a commit changes beside its record and the index.
func (w *writer) side(c *store.Commit, e *entry) {
	for _, name := range c.Once {
		key := appendOnce(w.buf[:0], c.Task, name)
		w.set(key, appendNumbered(nil, key, c.Tip.Version, nil))
	}
	for _, st := range c.Settle {
		old := e.effects[e.find(st.Effect)].whole(c.Task)
		w.forget(&old)
	}
	for i := range c.Emit {
		full := c.Emitted(i)
		w.effect(nil, &full)
	}
	for i := range c.Swap {
		r := &c.Swap[i]
		key := appendResource(nil, r.Name)
		w.set(key, appendNumbered(nil, key, r.Rev+1, r.Value))
	}
}

// forget removes an effect and its turn.
func (w *writer) forget(old *store.Effect) {
	if w.err == nil {
		w.err = w.to.Delete(appendEffect(w.buf[:0], old.Task, old.ID), nil)
	}
	w.drop(appendTurn(w.buf[:0], old))
}

// effect writes an effect; old is what it was, nil if it was not.
func (w *writer) effect(old, now *store.Effect) {
	key := appendEffect(w.buf[:0], now.Task, now.ID)
	row := appendEffectRow(key, key, now)[len(key):]
	w.set(key, row)
	turn := appendTurn(nil, now)
	if old == nil {
		w.set(turn, nil)
		return
	}
	w.move(appendTurn(nil, old), turn)
}
