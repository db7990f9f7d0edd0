package workingstate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Commitment is what one key holds, as a value for another machine: the value of a fact whose authority is the working state.
// It is what the agent committed itself to, and no fact about the world: it may forbid and narrow, and it may trigger what
// that machine says it may; amounts and targets come from elsewhere.
type Commitment[T any] struct {
	Key     string    `json:"key"`
	Holds   bool      `json:"holds"` // false: nothing is set, or it has expired; the rest is zero
	Value   T         `json:"value"`
	Reason  string    `json:"reason"`
	By      string    `json:"by"`
	Version uint64    `json:"version"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"` // zero: until it is cleared
}

// ErrCommitment says that what a key holds cannot be read as what was asked for. A fact that is read so stays unknown.
var ErrCommitment = errors.New("not what was to be committed to")

// Read is what a key holds in a table at an instant. parse reads its text; its errors are wrapped with [ErrCommitment].
func Read[T any](t Table, key string, now time.Time, parse func(string) (T, error)) (Commitment[T], error) {
	c := Commitment[T]{Key: key}
	e, live := t.Get(key, now)
	if !live {
		return c, nil
	}
	v, err := parse(e.Value)
	if err != nil {
		return c, fmt.Errorf("key %s holds %q: %w: %w", key, e.Value, ErrCommitment, err)
	}
	return Commitment[T]{key, true, v, e.Reason, e.UpdatedBy, e.Version, e.UpdatedAt, e.ExpiresAt}, nil
}

// ReadNow is what a key of an agent holds now; for resume.Pull. Errors wrap [ErrCommitment], or are the [Committer]'s.
func ReadNow[T any](ctx context.Context, a Agent, key string, parse func(string) (T, error)) (Commitment[T], error) {
	t, now, err := a.Table(ctx)
	if err != nil {
		return Commitment[T]{}, err
	}
	return Read(t, key, now, parse)
}
