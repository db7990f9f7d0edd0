package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// toyDisk keeps a store as a journal of what was done to it, and can keep it wrongly in every way named by fault.
type toyDisk struct {
	fault   string
	mu      sync.Mutex
	journal []action // durable
	pending []action // acknowledged and not synced: only a wrong store has any
	damaged map[string]uint64
	onSync  atomic.Pointer[func()]
}

// action is something that was done at an instant.
type action struct {
	now store.Micros
	do  func(*store.Memory)
}

func (d *toyDisk) Survives() {}

func (d *toyDisk) OnSync(f func()) {
	if f == nil {
		d.onSync.Store(nil)
		return
	}
	d.onSync.Store(&f)
}

func (d *toyDisk) sync() {
	if f := d.onSync.Load(); f != nil {
		(*f)()
	}
}

func (d *toyDisk) Crash(seed uint64) Crasher {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := rand.New(rand.NewPCG(seed, 0)).IntN(len(d.pending) + 1)
	if seed%2 == 0 {
		kept = 0
	}
	return &toyDisk{fault: d.fault, journal: slices.Concat(d.journal, d.pending[:kept])}
}

func (d *toyDisk) Corrupt(task string, version uint64) error {
	d.damaged = map[string]uint64{task: version}
	return nil
}

func (d *toyDisk) Open(now func() time.Time) (store.Store, error) {
	s := &toy{d: d, leaked: map[string]bool{}, states: map[string][]string{}, wakes: map[string]store.Micros{}}
	var replay atomic.Int64
	s.Memory = store.NewMemory(store.MemoryOptions{Now: func() time.Time {
		if at := replay.Load(); at != 0 {
			return time.UnixMicro(at)
		}
		return now()
	}})
	for _, a := range d.journal {
		replay.Store(a.now)
		a.do(s.Memory)
	}
	replay.Store(0)
	return s, nil
}

// toy is a store whose lock is held through the sync.
type toy struct {
	*store.Memory
	d      *toyDisk
	mu     sync.Mutex
	leaked map[string]bool         // resources that a loser left
	states map[string][]string     // tasks by "machine state" they were ever in
	wakes  map[string]store.Micros // first wake-up of each task
}

func (s *toy) wrong(fault string) bool { return s.d.fault == fault }

func (s *toy) Info() store.Info {
	return store.Info{ID: [16]byte{7}, Incarnation: 1, Format: 1, Sole: false, Swap: true}
}

// keep makes an action durable.
func (s *toy) keep(now store.Micros, do func(*store.Memory)) {
	if s.wrong("acknowledges before sync") {
		s.d.sync()
		s.d.mu.Lock()
		s.d.journal = append(s.d.journal, s.d.pending...)
		s.d.pending = []action{{now, do}}
		s.d.mu.Unlock()
		return
	}
	s.d.sync()
	s.d.mu.Lock()
	s.d.journal = append(s.d.journal, action{now, do})
	s.d.mu.Unlock()
}

func (s *toy) corrupt(task string) error {
	v, ok := s.d.damaged[task]
	switch {
	case !ok:
		return nil
	case s.wrong("reads a bad checksum as not found"):
		return store.ErrNotFound
	}
	return &store.CorruptError{Task: task, Version: v, What: "checksum does not match"}
}

func (s *toy) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	if err := c.Check(); err != nil {
		return store.Tip{}, err
	}
	original := *c
	if s.wrong("judges the deadline before the lock") {
		now, err := s.Memory.Now(ctx)
		if err != nil {
			return store.Tip{}, err
		}
		if now < c.From || (c.Until != 0 && now >= c.Until) {
			return store.Tip{}, &store.LapsedError{Task: c.Task, Now: now, From: c.From, Until: c.Until}
		}
		c.From, c.Until = 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.corrupt(c.Task); err != nil {
		return store.Tip{}, err
	}
	s.bend(ctx, c)
	now, _ := s.Memory.Now(ctx)
	tip, err := s.Memory.Commit(ctx, c)
	c.Base, c.From, c.Until, c.Settle, c.Expect = original.Base, original.From, original.Until, original.Settle, original.Expect
	if err != nil {
		return s.lose(c, err)
	}
	s.remember(c)
	s.keepCommit(now, c)
	return tip, nil
}

// bend changes what the commit is compared by.
func (s *toy) bend(ctx context.Context, c *store.Commit) {
	if tip, err := s.Memory.Tip(ctx, c.Task); err == nil && tip.Version == c.Base.Version && s.wrong("compares the version only") {
		c.Base = tip
	}
	if s.wrong("looks away from what it expects") {
		c.Expect = nil
	}
	if s.wrong("settles without looking at the revision") {
		_, es, _ := s.Memory.Load(ctx, c.Task)
		c.Settle = slices.Clone(c.Settle)
		for i := range c.Settle {
			for _, e := range es {
				if e.ID == c.Settle[i].Effect {
					c.Settle[i].Rev = e.Rev
				}
			}
		}
	}
}

// lose is what happens to a commit that was refused.
func (s *toy) lose(c *store.Commit, err error) (store.Tip, error) {
	if s.wrong("leaves a resource of a loser") {
		for _, r := range c.Swap {
			s.leaked[r.Name] = true
		}
	}
	if errors.Is(err, store.ErrErased) && s.wrong("creates an erased id again") && c.Base.Version == 0 {
		return store.Tip{Version: 1}, nil
	}
	return store.Tip{}, err
}

func (s *toy) remember(c *store.Commit) {
	s.states[c.Meta.Machine+" "+c.Meta.State] = append(s.states[c.Meta.Machine+" "+c.Meta.State], c.Task)
	if _, ok := s.wakes[c.Task]; !ok && c.Meta.Wake > 0 {
		s.wakes[c.Task] = c.Meta.Wake
	}
}

func (s *toy) keepCommit(now store.Micros, c *store.Commit) {
	kept := *c
	if s.wrong("keeps used-up names in memory only") {
		kept.Once = nil
	}
	if s.wrong("writes side rows in a second batch") {
		bare := *c
		bare.Emit, bare.Settle, bare.Once, bare.Swap = nil, nil, nil, nil
		s.keep(now, func(m *store.Memory) { _, _ = m.Commit(ctx, &bare) })
		s.d.sync()
		s.d.mu.Lock()
		s.d.journal = s.d.journal[:len(s.d.journal)-1]
		s.d.journal = append(s.d.journal, action{now, func(m *store.Memory) { again := kept; _, _ = m.Commit(ctx, &again) }})
		s.d.mu.Unlock()
		return
	}
	s.keep(now, func(m *store.Memory) { again := kept; _, _ = m.Commit(ctx, &again) })
}

func (s *toy) Update(ctx context.Context, e store.Effect) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, _ := s.Memory.Now(ctx)
	rev, err := s.Memory.Update(ctx, e)
	if err == nil {
		e.Body = slices.Clone(e.Body)
		s.keep(now, func(m *store.Memory) { _, _ = m.Update(context.Background(), e) })
	}
	return rev, err
}

func (s *toy) Claim(ctx context.Context, slots store.Slots, limit int, holder string, hold store.Micros) ([]store.Effect, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, _ := s.Memory.Now(ctx)
	es, err := s.Memory.Claim(ctx, slots, limit, holder, hold)
	if err == nil && len(es) > 0 {
		s.keep(now, func(m *store.Memory) { _, _ = m.Claim(context.Background(), slots, limit, holder, hold) })
	}
	return es, err
}

func (s *toy) Note(ctx context.Context, task string, a store.Attempt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, _ := s.Memory.Now(ctx)
	err := s.Memory.Note(ctx, task, a)
	if err == nil {
		a.Body = slices.Clone(a.Body)
		s.keep(now, func(m *store.Memory) { _ = m.Note(context.Background(), task, a) })
	}
	return err
}

func (s *toy) Erase(ctx context.Context, task string, entry []byte) (store.Tip, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, _ := s.Memory.Now(ctx)
	tip, err := s.Memory.Erase(ctx, task, entry)
	if err == nil {
		s.keep(now, func(m *store.Memory) { _, _ = m.Erase(context.Background(), task, entry) })
	}
	return tip, err
}

// wait waits for a write in flight, unless the store reads what is not synced.
func (s *toy) wait() {
	if !s.wrong("reads what is not synced") {
		s.mu.Lock()
		//lint:ignore SA2001 only to wait for a write in flight
		s.mu.Unlock()
	}
}

func (s *toy) Tip(ctx context.Context, task string) (store.Tip, error) {
	s.wait()
	if err := s.corrupt(task); err != nil {
		return store.Tip{}, err
	}
	return s.Memory.Tip(ctx, task)
}

func (s *toy) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	s.wait()
	if err := s.corrupt(task); err != nil {
		return store.Record{}, nil, err
	}
	return s.Memory.Load(ctx, task)
}

func (s *toy) History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[store.Record, error] {
	if err := s.corrupt(task); err != nil {
		return func(yield func(store.Record, error) bool) { yield(store.Record{}, err) }
	}
	return s.Memory.History(ctx, task, newest, oldest)
}

func (s *toy) Find(ctx context.Context, q store.Query) ([]store.Row, string, error) {
	rows, next, err := s.Memory.Find(ctx, q)
	if err == nil && s.wrong("keeps the old state row") && q.State != "" && q.After == "" {
		for _, task := range s.states[q.Machine+" "+q.State] {
			if !slices.ContainsFunc(rows, func(r store.Row) bool { return r.Task == task }) {
				rows = append(rows, store.Row{Task: task})
			}
		}
	}
	return rows, next, err
}

func (s *toy) Due(ctx context.Context, slots store.Slots, limit int) ([]store.Row, error) {
	rows, err := s.Memory.Due(ctx, slots, limit)
	if err == nil && s.wrong("keeps the old wake-up") {
		now, _ := s.Memory.Now(ctx)
		for task, wake := range s.wakes {
			if wake <= now && !slices.ContainsFunc(rows, func(r store.Row) bool { return r.Task == task }) {
				rows = append(rows, store.Row{Task: task})
			}
		}
	}
	return rows, err
}

func (s *toy) Resource(ctx context.Context, name string) (store.Resource, error) {
	r, err := s.Memory.Resource(ctx, name)
	if s.leaked[name] && r.Rev == 0 {
		r.Rev = 1
	}
	return r, err
}

// verdict runs a promise and says how it failed, or empty.
type verdict struct {
	mu   sync.Mutex
	said []string
}

func (v *verdict) Errorf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said = append(v.said, fmt.Sprintf(format, args...))
}
func (v *verdict) FailNow()            { runtime.Goexit() }
func (v *verdict) Helper()             {}
func (v *verdict) Logf(string, ...any) {}

func check(p Promise, d Disk) string {
	v := &verdict{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Check(v, d)
	}()
	<-done
	return strings.Join(v.said, "\n")
}

func TestARightToyKeepsEveryPromise(t *testing.T) {
	for _, p := range Promises() {
		d := &toyDisk{}
		require.Empty(t, p.Needs(d), p.Name)
		require.Empty(t, check(p, d), p.Name)
	}
}

// TestWrongStoresFail is the suite's own test: each deliberately wrong store breaks the promise that is about it.
func TestWrongStoresFail(t *testing.T) {
	for fault, breaks := range map[string]string{
		"compares the version only":               "ForkConflicts",
		"writes side rows in a second batch":      "CommitIsAtomic",
		"acknowledges before sync":                "AcknowledgedIsDurable",
		"reads what is not synced":                "NoDirtyReads",
		"keeps the old state row":                 "FindFollowsTheTask",
		"keeps the old wake-up":                   "DueFollowsTheTask",
		"settles without looking at the revision": "SettleIsFenced",
		"judges the deadline before the lock":     "DeadlineIsJudgedUnderTheLock",
		"keeps used-up names in memory only":      "OnceSurvives",
		"leaves a resource of a loser":            "LoserLeavesNothing",
		"reads a bad checksum as not found":       "CorruptIsAnError",
		"looks away from what it expects":         "ResourcesAreExpected",
		"creates an erased id again":              "ErasedStaysErased",
	} {
		t.Run(fault, func(t *testing.T) {
			broken := []string{}
			for _, p := range Promises() {
				if check(p, &toyDisk{fault: fault}) != "" {
					broken = append(broken, p.Name)
				}
			}
			require.Contains(t, broken, breaks)
			require.Less(t, len(broken), 8, "one fault breaks few promises: %v", broken)
			t.Log(broken)
		})
	}
}

func TestPromisesAreTold(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Promises() {
		require.NotEmpty(t, p.Means, p.Name)
		require.False(t, names[p.Name], p.Name)
		names[p.Name] = true
	}
}
