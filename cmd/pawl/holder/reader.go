package holder

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/pawlgo/pawl/store"
)

// Reader is what can be read of a store, wherever it is open: pebblestore.Store is one in this process, [Client] is one
// through the socket of another. The methods mean what they mean in package store.
type Reader interface {
	// Info says what the store is.
	Info() store.Info
	// Now is the store's clock.
	Now(ctx context.Context) (store.Micros, error)
	// Tip is the version and hash of a task's newest record.
	Tip(ctx context.Context, task string) (store.Tip, error)
	// Load is the newest record, and the unsettled effects.
	Load(ctx context.Context, task string) (store.Record, []store.Effect, error)
	// History yields records from newest down to oldest.
	History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[store.Record, error]
	// Once is the version whose commit used a name up.
	Once(ctx context.Context, task, name string) (uint64, error)
	// Find lists tasks in pages.
	Find(ctx context.Context, q store.Query) ([]store.Row, string, error)
	// Effects lists all unsettled effects in pages.
	Effects(ctx context.Context, after string, limit int) ([]store.Effect, string, error)
	// Attempts are the refused attempts that are kept.
	Attempts(ctx context.Context, task string) ([]store.Attempt, error)

	store.Resources
	store.Watcher
	store.Verifier
}

// ErrReadOnly says that a store can only be read here, because another process has it open.
var ErrReadOnly = errors.New("the store can only be read from here")

// ReadOnly is a reader as a whole store, for what takes one: each call that would change something fails with an error that wraps
// [ErrReadOnly]. Closing it does nothing; the reader stays the caller's.
func ReadOnly(r Reader) store.Store { return readOnly{r} }

type readOnly struct{ Reader }

func refuse(what, task string) error { return fmt.Errorf("%s %s: %w", what, task, ErrReadOnly) }

func (readOnly) Commit(_ context.Context, c *store.Commit) (store.Tip, error) {
	return store.Tip{}, refuse("commit task", c.Task)
}

func (readOnly) Due(context.Context, store.Slots, int) ([]store.Row, error) {
	return nil, refuse("work on", "what is due")
}

func (readOnly) Claim(context.Context, store.Slots, int, string, store.Micros) ([]store.Effect, error) {
	return nil, refuse("claim", "effects")
}

func (readOnly) Update(_ context.Context, e store.Effect) (uint64, error) {
	return 0, refuse("update an effect of task", e.Task)
}

func (readOnly) Note(_ context.Context, task string, _ store.Attempt) error {
	return refuse("note an attempt of task", task)
}

func (readOnly) Close() error { return nil }
