package resume

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlgo/pawl/guard"
)

// Observer is one fact's way to ask its source. Make it with [Pull].
type Observer struct {
	fact *guard.FactInfo
	ask  func(context.Context, guard.Query) (guard.Observation, error)
	by   *guard.Authority
	busy chan struct{} // has room for MaxAsking
}

// errOtherSubject says that an observer answered about something else than it was asked about.
var errOtherSubject = errors.New("it answered about another subject")

// Pull asks fn whenever a guard needs the fact. fn is called from several goroutines at once, under a deadline; when it
// fails, hangs, panics, or answers about another subject, the fact stays unknown. The subject of the answer must be what
// the source says that it looked at, not a copy of the question.
func Pull[T any](f guard.Fact[T], fn func(context.Context, guard.Query) (guard.Observed[T], error)) Observer {
	if f.Info() == nil || fn == nil {
		return Observer{}
	}
	by := guard.NewAuthority(f.Info().Source)
	return Observer{f.Info(), func(ctx context.Context, q guard.Query) (guard.Observation, error) {
		o, err := fn(ctx, q)
		switch {
		case err != nil:
			return guard.Observation{}, err
		case o.Subject != q.Subject:
			return guard.Observation{}, fmt.Errorf("asked about %q, got %q: %w", q.Subject, o.Subject, errOtherSubject)
		}
		return f.Observe(by, o), nil
	}, by, make(chan struct{}, MaxAsking)}
}
