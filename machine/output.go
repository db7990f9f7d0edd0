package machine

import (
	"time"

	"github.com/pawlgo/pawl/guard"
)

type outputKind int

const (
	emits outputKind = iota + 1
	offers
	returns
	reserves
)

type output struct {
	kind    outputKind
	effect  *EffectInfo
	offer   *EventInfo
	party   Party
	expires time.Duration
	run     func(s *guard.Scene, data, payload any) []any
	holds   func(s *guard.Scene, data, payload any) []Hold // of reserves, instead of run
}

// Output is something that a commit brings about. Its function must be pure; in its case, Data is from before the commit.
type Output[D, P any] struct{ o output }

// Emit intends an effect.
func Emit[D, P, E, R any](eff Effect[E, R], f func(guard.Case[D, P]) E) Output[D, P] {
	return Output[D, P]{output{kind: emits, effect: eff.info, run: func(s *guard.Scene, data, payload any) []any {
		return []any{f(caseOf[D, P](s, data, payload))}
	}}}
}

// EmitEach intends one effect for each argument; none is fine.
func EmitEach[D, P, E, R any](eff Effect[E, R], f func(guard.Case[D, P]) []E) Output[D, P] {
	return Output[D, P]{output{kind: emits, effect: eff.info, run: func(s *guard.Scene, data, payload any) []any {
		return erase(f(caseOf[D, P](s, data, payload)))
	}}}
}

// Offer puts proposals of an event to a party, word for word. Each is judged as if it were confirmed, and the commit is
// refused when one of them would be. Its function sees the data as the commit leaves it. An offer runs out after
// expires, and never later than the wait of its state; asking again keeps the first deadline.
func Offer[D, P, Q any](ev Event[Q], to Party, expires time.Duration, f func(guard.Case[D, P]) []Q) Output[D, P] {
	return Output[D, P]{output{kind: offers, offer: ev.info, party: to, expires: expires, run: func(s *guard.Scene, data, payload any) []any {
		return erase(f(caseOf[D, P](s, data, payload)))
	}}}
}

// Return answers the proposer, as a tool does; the same answer when the proposal is replayed.
func Return[D, P, R any](f func(guard.Case[D, P]) R) Output[D, P] {
	return Output[D, P]{output{kind: returns, run: func(s *guard.Scene, data, payload any) []any {
		return []any{f(caseOf[D, P](s, data, payload))}
	}}}
}

func erase[T any](vs []T) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}
