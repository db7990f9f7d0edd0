package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// bench is a store on a disk with a clock, and short ways to say things to it.
type bench struct {
	T
	disk  Disk
	at    store.Micros // read and set with atomic
	s     store.Store
	nonce uint64
}

var ctx = context.Background()

func (b *bench) now() time.Time { return time.UnixMicro(atomic.LoadInt64(&b.at)) }

// pass moves the clock.
func (b *bench) pass(d store.Micros) { atomic.AddInt64(&b.at, d) }

// open is the store, opened at its first use.
func (b *bench) open() store.Store {
	if b.s == nil {
		s, err := b.disk.Open(b.now)
		require.NoError(b, err)
		b.s = s
	}
	return b.s
}

func (b *bench) shut() {
	if b.s != nil {
		_ = b.s.Close()
	}
}

// reopen closes the store and opens it again.
func (b *bench) reopen() store.Store {
	require.NoError(b, b.open().Close())
	b.s = nil
	return b.open()
}

// next is a commit of the task on a base, in state "open" of machine "refund".
func (b *bench) next(task string, base store.Tip) *store.Commit {
	b.nonce++
	return &store.Commit{
		Base: base,
		Record: store.Record{
			Task: task, Nonce: b.nonce,
			Meta:     store.Meta{Machine: "refund", State: "open", Owner: "kim", Since: b.at},
			Snapshot: fmt.Appendf(nil, "snapshot %d of %s", base.Version+1, task),
			Entry:    fmt.Appendf(nil, "entry %d of %s", base.Version+1, task),
		},
	}
}

// commit commits and must succeed.
func (b *bench) commit(c *store.Commit) store.Tip {
	b.Helper()
	tip, err := b.open().Commit(ctx, c)
	require.NoError(b, err)
	require.Equal(b, c.Base.Version+1, tip.Version)
	return tip
}

// create creates a task with the given changes to its commit.
func (b *bench) create(task string, with ...func(*store.Commit)) store.Tip {
	b.Helper()
	return b.step(task, store.Tip{}, with...)
}

// step commits on a base with the given changes.
func (b *bench) step(task string, base store.Tip, with ...func(*store.Commit)) store.Tip {
	b.Helper()
	c := b.next(task, base)
	for _, w := range with {
		w(c)
	}
	return b.commit(c)
}

// refused commits and must fail with err; it returns the error.
func (b *bench) refused(want error, c *store.Commit) error {
	b.Helper()
	_, err := b.open().Commit(ctx, c)
	require.ErrorIs(b, err, want)
	return err
}

// load loads and must succeed.
func (b *bench) load(task string) (store.Record, []store.Effect) {
	b.Helper()
	r, es, err := b.open().Load(ctx, task)
	require.NoError(b, err)
	return r, es
}

// find lists the ids of all tasks that a query selects, over all its pages.
func (b *bench) find(q store.Query) []string {
	b.Helper()
	ids := []string{}
	for {
		rows, next, err := b.open().Find(ctx, q)
		require.NoError(b, err)
		for _, r := range rows {
			ids = append(ids, r.Task)
		}
		if next == "" {
			return ids
		}
		q.After = next
	}
}

// due lists the ids of the tasks that are due.
func (b *bench) due() []string {
	b.Helper()
	rows, err := b.open().Due(ctx, store.Slots{}, 0)
	require.NoError(b, err)
	ids := []string{}
	for _, r := range rows {
		ids = append(ids, r.Task)
	}
	return ids
}

// claim claims everything that is ready for ten seconds.
func (b *bench) claim(holder string) []store.Effect {
	b.Helper()
	es, err := b.open().Claim(ctx, store.Slots{}, 0, holder, 10*second)
	require.NoError(b, err)
	return es
}

// history is the versions from newest to oldest.
func (b *bench) history(task string, newest, oldest uint64) (versions []uint64, err error) {
	for r, err := range b.open().History(ctx, task, newest, oldest) {
		if err != nil {
			return versions, err
		}
		versions = append(versions, r.Tip.Version)
	}
	return versions, nil
}

func emits(ids ...string) func(*store.Commit) {
	return func(c *store.Commit) {
		for _, id := range ids {
			c.Emit = append(c.Emit, store.Effect{ID: id, Body: []byte("body of " + id)})
		}
	}
}

func settles(effect string, rev uint64) func(*store.Commit) {
	return func(c *store.Commit) { c.Settle = append(c.Settle, store.Settle{Effect: effect, Rev: rev}) }
}

func once(names ...string) func(*store.Commit) {
	return func(c *store.Commit) { c.Once = append(c.Once, names...) }
}

func state(s string) func(*store.Commit) { return func(c *store.Commit) { c.Meta.State = s } }
func owner(s string) func(*store.Commit) { return func(c *store.Commit) { c.Meta.Owner = s } }
func waits(s string) func(*store.Commit) { return func(c *store.Commit) { c.Meta.WaitsFor = s } }
func final(c *store.Commit)              { c.Meta.Final = true }

func wake(at store.Micros) func(*store.Commit) { return func(c *store.Commit) { c.Meta.Wake = at } }

func since(at store.Micros) func(*store.Commit) { return func(c *store.Commit) { c.Meta.Since = at } }

// with is a commit with changes.
func (b *bench) with(task string, base store.Tip, changes ...func(*store.Commit)) *store.Commit {
	c := b.next(task, base)
	for _, change := range changes {
		change(c)
	}
	return c
}

func expects(name string, rev uint64) func(*store.Commit) {
	return func(c *store.Commit) { c.Expect = append(c.Expect, store.Revision{Name: name, Rev: rev}) }
}

func expectsMany(n int) func(*store.Commit) {
	return func(c *store.Commit) {
		for i := range n {
			expects(fmt.Sprintf("free-%d", i), 0)(c)
		}
	}
}

func swaps(name string, rev uint64, value string) func(*store.Commit) {
	return func(c *store.Commit) {
		c.Swap = append(c.Swap, store.Resource{Name: name, Rev: rev, Value: []byte(value)})
	}
}
