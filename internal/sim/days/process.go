package days

import (
	"context"
	"errors"
	"iter"

	"github.com/pawlgo/pawl/store"
)

// errDead is what everything in a dead process gets.
var errDead = errors.New("the process is dead")

// process is one controller's way to the store. It dies before or after some of its calls, and from then on nothing that it does
// reaches the store.
type process struct {
	store.Store
	chance chance
	name   string
	deadly int // of a thousand calls
	calls  uint64
	dead   bool
}

// survives says whether the process gets past a point.
func (p *process) survives(point string) bool {
	p.calls++
	if !p.dead && p.chance.number("%s %s %d", p.name, point, p.calls)%1000 < uint64(p.deadly) {
		p.dead = true
	}
	return !p.dead
}

// do is a call between two points at which the process may die.
func do[T any](p *process, name string, f func() (T, error)) (T, error) {
	var none T
	if !p.survives(name + "/before") {
		return none, errDead
	}
	v, err := f()
	if !p.survives(name + "/after") {
		return none, errDead
	}
	return v, err
}

func (p *process) Now(ctx context.Context) (store.Micros, error) {
	if p.dead {
		return 0, errDead
	}
	return p.Store.Now(ctx)
}

func (p *process) Tip(ctx context.Context, task string) (store.Tip, error) {
	return do(p, "tip", func() (store.Tip, error) { return p.Store.Tip(ctx, task) })
}

func (p *process) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	var effects []store.Effect
	r, err := do(p, "load", func() (r store.Record, err error) {
		r, effects, err = p.Store.Load(ctx, task)
		return r, err
	})
	return r, effects, err
}

func (p *process) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	return do(p, "commit", func() (store.Tip, error) { return p.Store.Commit(ctx, c) })
}

func (p *process) History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[store.Record, error] {
	if !p.survives("history") {
		return func(yield func(store.Record, error) bool) { yield(store.Record{}, errDead) }
	}
	return p.Store.History(ctx, task, newest, oldest)
}

func (p *process) Due(ctx context.Context, s store.Slots, limit int) ([]store.Row, error) {
	return do(p, "due", func() ([]store.Row, error) { return p.Store.Due(ctx, s, limit) })
}

// Claim takes one effect at a time, so that there is one order in which things happen.
func (p *process) Claim(ctx context.Context, s store.Slots, _ int, holder string, hold store.Micros) ([]store.Effect, error) {
	return do(p, "claim", func() ([]store.Effect, error) { return p.Store.Claim(ctx, s, 1, holder, hold) })
}

func (p *process) Update(ctx context.Context, e store.Effect) (uint64, error) {
	return do(p, "update", func() (uint64, error) { return p.Store.Update(ctx, e) })
}

func (p *process) Note(ctx context.Context, task string, a store.Attempt) error {
	_, err := do(p, "note", func() (struct{}, error) { return struct{}{}, p.Store.Note(ctx, task, a) })
	return err
}

func (p *process) Resource(ctx context.Context, name string) (store.Resource, error) {
	return do(p, "resource", func() (store.Resource, error) { return p.Store.(store.Resources).Resource(ctx, name) })
}
