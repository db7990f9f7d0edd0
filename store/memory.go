package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

// MemoryOptions are the options of a Memory. The zero value is ready to use.
type MemoryOptions struct {
	Now func() time.Time // nil means time.Now; clamped so that it never goes back
	Key []byte           // of the MAC of every record; empty means no MAC
}

// Memory is a Store in memory, for tests, examples and simulation: everything is lost with the process, and durable
// means nothing. It is also a Resources, Keeper and Watcher. One lock guards it.
type Memory struct {
	mu        sync.Mutex
	closed    bool
	id        [16]byte
	clock     *Clock
	sealer    *Sealer
	tasks     map[string]*memoryTask
	resources map[string]Resource
	feed      Feed
}

// memoryTask is all that is kept of one task.
type memoryTask struct {
	rows     []memoryRow // oldest first
	tip      Tip
	at       Micros
	meta     Meta
	erased   bool
	once     map[string]uint64
	effects  map[string]*Effect
	attempts []Attempt // oldest first
}

// memoryRow is a sealed version.
type memoryRow struct {
	version uint64
	value   []byte
}

// NewMemory is an empty store.
func NewMemory(o MemoryOptions) *Memory {
	m := &Memory{
		clock:     NewClock(o.Now, 0),
		sealer:    NewSealer(o.Key),
		tasks:     map[string]*memoryTask{},
		resources: map[string]Resource{},
	}
	rand.Read(m.id[:])
	return m
}

// Info implements Store.
func (m *Memory) Info() Info {
	return Info{ID: m.id, Incarnation: 1, Format: RecordFormat, Sole: true, Swap: true}
}

// enter locks the store unless it is closed or the context has ended.
func (m *Memory) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	return nil
}

// task finds a living task.
func (m *Memory) task(id string) (*memoryTask, error) {
	t := m.tasks[id]
	if t == nil {
		return nil, NotFound(id)
	}
	if t.erased {
		return nil, &ErasedError{Task: id, Tip: t.tip}
	}
	return t, nil
}

// Now implements Store.
func (m *Memory) Now(ctx context.Context) (Micros, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	return m.clock.Now(), nil
}

// Tip implements Store.
func (m *Memory) Tip(ctx context.Context, task string) (Tip, error) {
	if err := m.enter(ctx); err != nil {
		return Tip{}, err
	}
	defer m.mu.Unlock()
	t, err := m.task(task)
	if err != nil {
		return erasedTip(err), err
	}
	return t.tip, nil
}

// erasedTip is the tip of the tombstone if that is what err tells.
func erasedTip(err error) Tip {
	if e, ok := err.(*ErasedError); ok {
		return e.Tip
	}
	return Tip{}
}

// Load implements Store.
func (m *Memory) Load(ctx context.Context, task string) (Record, []Effect, error) {
	if err := m.enter(ctx); err != nil {
		return Record{}, nil, err
	}
	defer m.mu.Unlock()
	t, err := m.task(task)
	if err != nil {
		return Record{}, nil, err
	}
	row := t.rows[len(t.rows)-1]
	rec, _, err := m.sealer.Open(task, row.version, row.value)
	if err != nil {
		return Record{}, nil, err
	}
	var es []Effect
	for _, e := range t.sorted() {
		es = append(es, e.clone())
	}
	return rec, es, nil
}

// sorted lists the task's effects by id.
func (t *memoryTask) sorted() []*Effect {
	es := make([]*Effect, 0, len(t.effects))
	for _, e := range t.effects {
		es = append(es, e)
	}
	slices.SortFunc(es, func(a, b *Effect) int { return cmp.Compare(a.ID, b.ID) })
	return es
}

func (e *Effect) clone() Effect {
	out := *e
	out.Body = bytes.Clone(e.Body)
	return out
}

// Commit implements Store.
func (m *Memory) Commit(ctx context.Context, c *Commit) (Tip, error) {
	if err := c.Check(); err != nil {
		return Tip{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Tip{}, err
	}
	defer m.mu.Unlock()
	t := m.tasks[c.Task]
	if t == nil {
		t = &memoryTask{}
	}
	if err := m.judge(c, t); err != nil {
		return Tip{}, err
	}
	out, key := c.Prepare(m.sealer, nil)
	m.apply(c, t, out[key:])
	m.feed.Tell(Row{Task: c.Task, Meta: c.Meta})
	return c.Tip, nil
}

// judge decides whether the commit may land on the task as it is, and settles its instant.
func (m *Memory) judge(c *Commit, t *memoryTask) error {
	if t.erased {
		return &ErasedError{Task: c.Task, Tip: t.tip}
	}
	if err := c.JudgeBase(t.tip); err != nil {
		return err
	}
	if err := c.JudgeTime(max(m.clock.Now(), t.at), t.at); err != nil {
		return err
	}
	for _, name := range c.Once {
		if v := t.once[name]; v != 0 {
			return &TakenError{Task: c.Task, Name: name, Version: v}
		}
	}
	for i := range c.Emit {
		if e := t.effects[c.Emit[i].ID]; e != nil {
			return &TakenError{Task: c.Task, Name: e.ID, Version: e.Version}
		}
	}
	for _, s := range c.Settle {
		have := uint64(0)
		if e := t.effects[s.Effect]; e != nil {
			have = e.Rev
		}
		if have != s.Rev || have == 0 {
			return &FencedError{Task: c.Task, Effect: s.Effect, Want: s.Rev, Have: have}
		}
	}
	for _, r := range c.Swap {
		if have := m.resources[r.Name].Rev; have != r.Rev {
			return &SwapError{Task: c.Task, Resource: r.Name, Want: r.Rev, Have: have}
		}
	}
	for _, r := range c.Expect {
		if have := m.resources[r.Name].Rev; have != r.Rev {
			return &SwapError{Task: c.Task, Resource: r.Name, Want: r.Rev, Have: have}
		}
	}
	return nil
}

// apply writes a commit that was judged.
func (m *Memory) apply(c *Commit, t *memoryTask, value []byte) {
	if t.once == nil {
		t.once, t.effects = map[string]uint64{}, map[string]*Effect{}
		m.tasks[c.Task] = t
	}
	t.rows = append(t.rows, memoryRow{version: c.Tip.Version, value: value})
	t.tip, t.at, t.meta = c.Tip, c.At, c.Meta
	for _, name := range c.Once {
		t.once[name] = c.Tip.Version
	}
	for _, s := range c.Settle {
		delete(t.effects, s.Effect)
	}
	for i := range c.Emit {
		e := c.Emitted(i)
		e.Body = bytes.Clone(e.Body)
		t.effects[e.ID] = &e
	}
	for _, r := range c.Swap {
		m.resources[r.Name] = Resource{Name: r.Name, Rev: r.Rev + 1, Value: bytes.Clone(r.Value)}
	}
}

// History implements Store.
func (m *Memory) History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[Record, error] {
	return Chain(task, newest, func(below uint64) ([]Version, error) {
		if err := m.enter(ctx); err != nil {
			return nil, err
		}
		defer m.mu.Unlock()
		t, err := m.task(task)
		if err != nil {
			return nil, err
		}
		i, found := slices.BinarySearchFunc(t.rows, below, func(r memoryRow, v uint64) int { return cmp.Compare(r.version, v) })
		if !found {
			i--
		}
		var page []Version
		for ; i >= 0 && len(page) < historyPage; i-- {
			row := t.rows[i]
			rec, kind, err := m.sealer.Open(task, row.version, row.value)
			if err != nil {
				return page, err
			}
			page = append(page, Version{Record: rec, Kind: kind})
		}
		return page, nil
	}, oldest)
}

const historyPage = 64

// Once implements Store.
func (m *Memory) Once(ctx context.Context, task, name string) (uint64, error) {
	if err := CheckName(task, "once-name", name); err != nil {
		return 0, err
	}
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	t, err := m.task(task)
	if err != nil {
		return 0, err
	}
	return t.once[name], nil
}

// Find implements Store.
func (m *Memory) Find(ctx context.Context, q Query) ([]Row, string, error) {
	limit, err := q.Check()
	if err != nil {
		return nil, "", err
	}
	if err := m.enter(ctx); err != nil {
		return nil, "", err
	}
	defer m.mu.Unlock()
	type hit struct {
		key string
		row Row
	}
	var hits []hit
	for id, t := range m.tasks {
		if t.erased || !q.Matches(&t.meta) {
			continue
		}
		if key := string(q.Key(&t.meta, id)); key > q.After {
			hits = append(hits, hit{key, Row{Task: id, Meta: t.meta}})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return strings.Compare(a.key, b.key) })
	next := ""
	if len(hits) > limit {
		hits = hits[:limit]
		next = hits[limit-1].key
	}
	rows := make([]Row, len(hits))
	for i := range hits {
		rows[i] = hits[i].row
	}
	return rows, next, nil
}

// Due implements Store.
func (m *Memory) Due(ctx context.Context, s Slots, limit int) ([]Row, error) {
	limit, err := CheckLimit(limit)
	if err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	now := m.clock.Now()
	var rows []Row
	for id, t := range m.tasks {
		if w := t.meta.Wake; !t.erased && w > 0 && w <= now && s.Has(id) {
			rows = append(rows, Row{Task: id, Meta: t.meta})
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Meta.Wake, b.Meta.Wake), cmp.Compare(a.Task, b.Task))
	})
	return rows[:min(limit, len(rows))], nil
}

// Claim implements Store.
func (m *Memory) Claim(ctx context.Context, s Slots, limit int, holder string, hold Micros) ([]Effect, error) {
	limit, err := CheckClaim(s, limit, holder, hold)
	if err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	now := m.clock.Now()
	var due []*Effect
	for id, t := range m.tasks {
		for _, e := range t.effects {
			if e.Next() <= now && s.Has(id) {
				due = append(due, e)
			}
		}
	}
	slices.SortFunc(due, func(a, b *Effect) int {
		return cmp.Or(cmp.Compare(a.Next(), b.Next()), cmp.Compare(a.Task, b.Task), cmp.Compare(a.ID, b.ID))
	})
	var out []Effect
	for _, e := range due[:min(limit, len(due))] {
		out = append(out, e.Claimed(holder, now+hold))
	}
	return out, nil
}

// Update implements Store.
func (m *Memory) Update(ctx context.Context, e Effect) (uint64, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	if err := e.Check(m.clock.Now()); err != nil {
		return 0, err
	}
	t, err := m.task(e.Task)
	if err != nil {
		return 0, err
	}
	old := t.effects[e.ID]
	if err := e.JudgeRev(old); err != nil {
		return 0, err
	}
	old.Take(&e)
	old.Body = bytes.Clone(e.Body)
	return old.Rev, nil
}

// Effects implements Store.
func (m *Memory) Effects(ctx context.Context, after string, limit int) ([]Effect, string, error) {
	limit, err := CheckLimit(limit)
	if err != nil {
		return nil, "", err
	}
	if err := m.enter(ctx); err != nil {
		return nil, "", err
	}
	defer m.mu.Unlock()
	var all []*Effect
	for _, t := range m.tasks {
		for _, e := range t.effects {
			if e.cursor() > after {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Effect) int { return strings.Compare(a.cursor(), b.cursor()) })
	next := ""
	if len(all) > limit {
		all = all[:limit]
		next = all[limit-1].cursor()
	}
	var es []Effect
	for _, e := range all {
		es = append(es, e.clone())
	}
	return es, next, nil
}

func (e *Effect) cursor() string { return e.Task + "\x00" + e.ID }

// Note implements Store.
func (m *Memory) Note(ctx context.Context, task string, a Attempt) error {
	if err := a.Check(task); err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	t, err := m.task(task)
	if err != nil {
		return err
	}
	a.Body = bytes.Clone(a.Body)
	t.attempts = append(t.attempts, a)
	if n := len(t.attempts) - MaxAttempts; n > 0 {
		t.attempts = slices.Delete(t.attempts, 0, n)
	}
	return nil
}

// Attempts implements Store.
func (m *Memory) Attempts(ctx context.Context, task string) ([]Attempt, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	t, err := m.task(task)
	if err != nil {
		return nil, err
	}
	var out []Attempt
	for _, a := range slices.Backward(t.attempts) {
		a.Body = bytes.Clone(a.Body)
		out = append(out, a)
	}
	return out, nil
}

// Resource implements Resources.
func (m *Memory) Resource(ctx context.Context, name string) (Resource, error) {
	if err := CheckName("", "resource", name); err != nil {
		return Resource{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Resource{}, err
	}
	defer m.mu.Unlock()
	r := m.resources[name]
	return Resource{Name: name, Rev: r.Rev, Value: bytes.Clone(r.Value)}, nil
}

// Prune implements Keeper.
func (m *Memory) Prune(ctx context.Context, task string, below uint64) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	t, err := m.task(task)
	if err != nil {
		return err
	}
	if below == 0 || below > t.tip.Version {
		return invalid("task %s: no version %d to prune below", task, below)
	}
	i := slices.IndexFunc(t.rows, func(r memoryRow) bool { return r.version >= below })
	if i == 0 {
		return nil
	}
	last := t.rows[i-1]
	rec, kind, err := m.sealer.Open(task, last.version, last.value)
	if err != nil || (kind == KindBase && i == 1) {
		return err
	}
	out, key := m.sealer.SealBase(nil, task, rec.Tip)
	t.rows = slices.Concat([]memoryRow{{last.version, out[key:]}}, t.rows[i:])
	return nil
}

// Erase implements Keeper.
func (m *Memory) Erase(ctx context.Context, task string, entry []byte) (Tip, error) {
	if err := CheckTombstone(task, entry); err != nil {
		return Tip{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Tip{}, err
	}
	defer m.mu.Unlock()
	t, err := m.task(task)
	if err != nil {
		return erasedTip(err), err
	}
	for id, e := range t.effects {
		return Tip{}, unsettled(task, id, e.Status)
	}
	base, n := m.sealer.SealBase(nil, task, t.tip)
	rec := Tombstone(task, t.tip, max(m.clock.Now(), t.at), entry)
	out, key := m.sealer.Seal(nil, &rec, KindErased)
	m.tasks[task] = &memoryTask{
		rows:   []memoryRow{{t.tip.Version, base[n:]}, {rec.Tip.Version, out[key:]}},
		tip:    rec.Tip,
		at:     rec.At,
		erased: true,
	}
	return rec.Tip, nil
}

// Watch implements Watcher.
func (m *Memory) Watch(ctx context.Context) iter.Seq2[Row, error] { return m.feed.Watch(ctx) }

// Close implements Store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.closed = true
	m.feed.Close()
	return nil
}
