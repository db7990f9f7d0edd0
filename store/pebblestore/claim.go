package pebblestore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pawlgo/pawl/store"
)

// candidate is an effect whose turn seems to have come.
type candidate struct {
	at           store.Micros
	task, effect string
}

// candidates reads up to limit of them from one of the two orders.
func (s *Store) candidates(space byte, w *watermark, now store.Micros, slots store.Slots, limit int) (cs []candidate, err error) {
	first := now + 1
	from := w.begin()
	defer func() {
		if w.found(first) && err == nil {
			err = s.storeClock()
		}
	}()
	it, err := s.scan(space, from, now)
	if err != nil {
		first = from
		return nil, err
	}
	for ok := it.First(); ok && len(cs) < limit; ok = it.Next() {
		at, task, effect, ok := turn(it.Key())
		if !ok {
			first = from
			return nil, errors.Join(rowFault(it.Key(), "row of a due order is malformed"), it.Close())
		}
		first = min(first, at)
		if slots.Has(task) {
			cs = append(cs, candidate{at: at, task: task, effect: effect})
		}
	}
	if err := it.Close(); err != nil {
		first = from
		return nil, readFault([]byte{space}, err)
	}
	return cs, nil
}

// scan walks a due order over [from, now].
func (s *Store) scan(space byte, from, now store.Micros) (*pebble.Iterator, error) {
	bound := func(at store.Micros) []byte { return appendInstant([]byte{space}, at) }
	return s.db.NewIter(&pebble.IterOptions{LowerBound: bound(max(from, 0)), UpperBound: bound(now + 1)})
}

// Claim implements store.Store.
func (s *Store) Claim(ctx context.Context, slots store.Slots, limit int, holder string, hold store.Micros) ([]store.Effect, error) {
	if s.o.Observe == nil {
		return s.claimDue(ctx, slots, limit, holder, hold)
	}
	began := time.Now()
	es, err := s.claimDue(ctx, slots, limit, holder, hold)
	s.observe("claim", "", 0, began, err)
	return es, err
}

func (s *Store) claimDue(ctx context.Context, slots store.Slots, limit int, holder string, hold store.Micros) ([]store.Effect, error) {
	limit, err := store.CheckClaim(slots, limit, holder, hold)
	if err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	s.claims.Lock()
	defer s.claims.Unlock()
	now := s.clock.Now()
	ready, err := s.candidates(readySpace, &s.ready, now, slots, limit)
	if err != nil {
		return nil, err
	}
	lapsed, err := s.candidates(heldSpace, &s.held, now, slots, limit)
	if err != nil {
		return nil, err
	}
	all := append(ready, lapsed...)
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.task, b.task), cmp.Compare(a.effect, b.effect))
	})
	return s.claim(all[:min(limit, len(all))], holder, now, now+hold)
}

// claim locks the tasks of the candidates and claims those whose turn has really come, in one batch. It waits for the
// first task only: one that is busy is left for the next claim, so that a claim never holds up many for one.
func (s *Store) claim(cs []candidate, holder string, now, until store.Micros) ([]store.Effect, error) {
	taken := map[string]*entry{}
	defer func() {
		for task, e := range taken {
			e.flight.Store(0)
			e.mu.Unlock()
			s.tasks.give(task, e)
		}
	}()
	b := s.db.NewBatch()
	defer b.Close()
	w := writer{to: b, buf: make([]byte, 0, 1024)}
	var out []store.Effect
	for i := range cs {
		e := taken[cs[i].task]
		if e == nil {
			if e = s.lockFor(cs[i].task, len(taken) == 0); e == nil {
				continue
			}
			taken[cs[i].task] = e
		}
		claimed, err := s.claimOne(&w, &cs[i], e, holder, now, until)
		if err != nil {
			return nil, err
		}
		if claimed != nil {
			out = append(out, *claimed)
		}
	}
	if len(out) == 0 || w.err != nil {
		return nil, w.err
	}
	return out, s.landClaims(b, taken, out, now, until)
}

// lockFor locks a task, or gives up if it is busy and need not be waited for.
func (s *Store) lockFor(task string, wait bool) *entry {
	e := s.tasks.take(task)
	if wait {
		e.mu.Lock()
	} else if !e.mu.TryLock() {
		s.tasks.give(task, e)
		return nil
	}
	return e
}

// claimOne puts one claim into the batch; nil if its turn has not come after all.
func (s *Store) claimOne(w *writer, c *candidate, e *entry, holder string, now, until store.Micros) (*store.Effect, error) {
	if err := s.learn(c.task, e); err != nil {
		return nil, err
	}
	k := e.find(c.effect)
	if k < 0 {
		return nil, nil
	}
	if old := e.effects[k].whole(c.task); old.Next() > now {
		return nil, nil
	}
	full, err := s.effect(c.task, appendEffect(nil, c.task, c.effect))
	if err != nil {
		return nil, err
	}
	old := full
	claimed := full.Claimed(holder, until)
	w.effect(&old, &full)
	return &claimed, w.err
}

// landClaims makes claims durable and remembers them.
func (s *Store) landClaims(b *pebble.Batch, taken map[string]*entry, out []store.Effect, now, until store.Micros) error {
	if err := s.keepTime(now); err != nil {
		return err
	}
	turns, err := s.plan(never, never, until)
	if err != nil {
		return err
	}
	for _, e := range taken {
		e.flight.Store(anyVersion)
	}
	err = s.write(b)
	turns.end(err == nil)
	if err != nil {
		return &store.UncertainError{Task: out[0].Task, Cause: err}
	}
	for i := range out {
		e := taken[out[i].Task]
		e.effects[e.find(out[i].ID)] = known(&out[i])
	}
	return nil
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, u store.Effect) (uint64, error) {
	if s.o.Observe == nil {
		return s.update(ctx, u)
	}
	began := time.Now()
	rev, err := s.update(ctx, u)
	s.observe("update", u.Task, len(u.Body), began, err)
	return rev, err
}

func (s *Store) update(ctx context.Context, u store.Effect) (uint64, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	if err := store.CheckTask(u.Task); err != nil {
		return 0, err
	}
	e := s.tasks.take(u.Task)
	defer s.tasks.give(u.Task, e)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := s.clock.Now()
	if err := u.Check(now); err != nil {
		return 0, err
	}
	if err := s.learn(u.Task, e); err != nil {
		return 0, err
	}
	if err := e.alive(u.Task); err != nil {
		return 0, err
	}
	k := e.find(u.ID)
	if k < 0 {
		return 0, u.JudgeRev(nil)
	}
	old := e.effects[k].whole(u.Task)
	if err := u.JudgeRev(&old); err != nil {
		return 0, err
	}
	full := old
	full.Take(&u)
	if err := s.landEffect(e, &old, &full, now); err != nil {
		return 0, err
	}
	e.effects[k] = known(&full)
	return full.Rev, nil
}

// landEffect writes one changed effect, synced.
func (s *Store) landEffect(e *entry, old, full *store.Effect, now store.Micros) error {
	if err := s.keepTime(now); err != nil {
		return err
	}
	b := s.db.NewBatch()
	defer b.Close()
	w := writer{to: b}
	w.effect(old, full)
	if w.err != nil {
		return w.err
	}
	ready, held := full.Next(), never
	if full.Status == store.Sent {
		ready, held = held, ready
	}
	turns, err := s.plan(never, ready, held)
	if err != nil {
		return err
	}
	e.flight.Store(anyVersion)
	err = s.write(b)
	e.flight.Store(0)
	turns.end(err == nil)
	if err != nil {
		return &store.UncertainError{Task: full.Task, Cause: err}
	}
	return nil
}

// alive is an error if the task is absent or erased.
func (e *entry) alive(task string) error {
	h := e.head.Load()
	if h.tip.Version == 0 {
		return store.NotFound(task)
	}
	if h.erased {
		return &store.ErasedError{Task: task, Tip: h.tip}
	}
	return nil
}

// Effects implements store.Store.
func (s *Store) Effects(ctx context.Context, from string, limit int) ([]store.Effect, string, error) {
	limit, err := store.CheckLimit(limit)
	if err != nil {
		return nil, "", err
	}
	if err := s.enter(ctx); err != nil {
		return nil, "", err
	}
	defer s.leave()
	turns, err := s.turns([]byte(from), limit+1)
	if err != nil {
		return nil, "", err
	}
	next := ""
	if len(turns) > limit {
		turns = turns[:limit]
		next = string(turns[limit-1])
	}
	es, err := s.effectsOf(turns)
	return es, next, err
}

// turns are the keys of the two orders after one of them, those that are held first.
func (s *Store) turns(from []byte, limit int) ([][]byte, error) {
	var all [][]byte
	for _, space := range []byte{heldSpace, readySpace} {
		lower := []byte{space}
		if bytes.Compare(from, lower) > 0 {
			lower = append(bytes.Clone(from), 0)
		}
		if len(from) > 0 && from[0] > space {
			continue
		}
		keys, err := s.keys(lower, []byte{space + 1}, limit-len(all))
		if err != nil {
			return nil, readFault(lower, err)
		}
		all = append(all, keys...)
	}
	return all, nil
}

// effectsOf reads the effects that had these turns; one that was settled since is left out.
func (s *Store) effectsOf(turns [][]byte) ([]store.Effect, error) {
	var es []store.Effect
	for _, key := range turns {
		_, task, id, ok := turn(key)
		if !ok {
			return nil, rowFault(key, "row of a due order is malformed")
		}
		row := appendEffect(nil, task, id)
		value, closer, err := s.db.Get(row)
		if err == pebble.ErrNotFound {
			continue
		}
		if err != nil {
			return nil, readFault(row, err)
		}
		e, err := parseEffect(task, row, value)
		closer.Close()
		if err != nil {
			return nil, err
		}
		es = append(es, e)
		if held := s.tasks.peek(task); held != nil {
			held.settled(anyVersion)
		}
	}
	return es, s.durable()
}
