package machine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// EntryMigrated is the event of the entry by which a task went over to a later definition.
const EntryMigrated = "migrated"

// Migrated is what a migration left behind. What a guard could have stood on is named, so that nothing is lost in silence.
type Migrated struct {
	From      Stamp       `json:"from"`
	Forgotten []guard.Key `json:"forgotten,omitempty"` // facts that the later definition does not have, or has from elsewhere
	Doubted   []guard.Key `json:"doubted,omitempty"`   // facts that would count for longer now: unknown until observed again
	Timers    []string    `json:"timers,omitempty"`    // events of timers that no longer mean anything
	Effects   []string    `json:"effects,omitempty"`   // keys of settled effects that the later definition does not have
}

// ErrUnmigratable is wrapped by errors about a task that cannot go over to a later definition. It stays as it is.
var ErrUnmigratable = errors.New("task cannot be migrated")

// Codes of an [UnmigratableError]. All are stable.
const (
	CodeLosesState     = "loses_state"     // the later definition has no such state, and it is not renamed
	CodeMigratedData   = "data"            // the data function failed, or its result is not valid or too large
	CodeBreaks         = "invariant"       // an invariant of the later definition does not hold
	CodeStuck          = "stuck"           // an effect without an outcome could never be settled there
	CodeOtherMigration = "other_migration" // the task is not of the definition that the step leaves
)

// UnmigratableError says why a task cannot go over. It wraps [ErrUnmigratable].
type UnmigratableError struct {
	Task     string
	Version  uint64 // where the task stands
	State    State
	From, To Stamp
	Code     string
	Text     string
}

// Error names task, version, both definitions and the reason.
func (e *UnmigratableError) Error() string {
	return fmt.Sprintf("task %s, version %d, in %s, from version %d of machine %s to %d: %v: %s: %s", e.Task, e.Version, e.State,
		e.From.Version, e.To.Machine, e.To.Version, ErrUnmigratable, e.Code, e.Text)
}

// Unwrap gives [ErrUnmigratable].
func (e *UnmigratableError) Unwrap() error { return ErrUnmigratable }

// Apply is the version in which the task goes over to the later definition, with its entry: a commit of its own. Every open offer
// is void, since what it would do was judged by the old definition; timers keep their deadlines where the later definition has
// them in that state; effects keep their keys. The error is an [*UnmigratableError]. Pure, and safe for concurrent use.
func (m Migration) Apply(s Snapshot[any], by guard.Actor, who guard.Principal, now time.Time) (Snapshot[any], *Entry, error) {
	a := &crossing{migration: m.m, s: s, now: whole(now)}
	next := s
	next.Definition, next.Digest, next.State = a.to.version, a.to.digest, a.target(s.State)
	next.Version, next.BasedOn, next.UpdatedAt, next.UpdatedBy = s.Version+1, s.Version, a.now, string(by)
	if who.ID != "" {
		next.UpdatedBy += "/" + who.ID
	}
	a.left.From = s.Stamp()
	for _, part := range []func(*Snapshot[any]) *UnmigratableError{a.arrive, a.moveData, a.moveEffects, a.moveOffers, a.moveFacts, a.moveTimers, a.whole} {
		if err := part(&next); err != nil {
			err.Task, err.Version, err.State, err.From, err.To = s.Task, s.Version, s.State, s.Stamp(), a.to.stamp()
			return s, nil, err
		}
	}
	return next, &Entry{Version: next.Version, BasedOn: s.Version, At: a.now.UnixMicro(), Event: EntryMigrated, From: s.State, To: next.State,
		Actor: by, Principal: who.ID, Machine: next.Machine, Definition: next.Definition, Digest: next.Digest, Voided: a.voided, Migrated: &a.left}, nil
}

// crossing is one task on its way to a later definition.
type crossing struct {
	*migration
	s      Snapshot[any]
	now    time.Time
	left   Migrated
	voided []Voided
}

func cannot(code, format string, args ...any) *UnmigratableError {
	return &UnmigratableError{Code: code, Text: fmt.Sprintf(format, args...)}
}

func (a *crossing) arrive(next *Snapshot[any]) *UnmigratableError {
	switch {
	case a.s.Stamp() != a.from.stamp():
		return cannot(CodeOtherMigration, "the step leaves %s", a.from.stamp())
	case !a.to.engine.Knows(string(next.State)):
		return cannot(CodeLosesState, "version %d has no state %s: rename it in the migration", a.to.version, next.State)
	}
	return nil
}

// moveData makes the data, as it will be read again.
func (a *crossing) moveData(next *Snapshot[any]) (f *UnmigratableError) {
	defer func() {
		if p := recover(); p != nil {
			f = cannot(CodeMigratedData, "the data function panicked: %.200v", p)
		}
	}()
	data, err := a.data(a.from.clone(a.s.Data))
	if err != nil {
		return cannot(CodeMigratedData, "%v", err)
	}
	b, err := formed(data, MaxData, false)
	if err == nil {
		next.Data, err = a.to.decode(b)
	}
	if err != nil {
		return cannot(CodeMigratedData, "%v", err)
	}
	return nil
}

// moveEffects keeps the effects under their keys. One without an outcome must be able to get one where the task goes on.
func (a *crossing) moveEffects(next *Snapshot[any]) *UnmigratableError {
	next.Intents = nil
	for _, i := range a.s.Intents {
		info := a.to.effects[i.Effect]
		switch {
		case info == nil && i.Unsettled():
			return cannot(CodeStuck, "version %d has no effect %s, and %s has no outcome yet", a.to.version, i.Effect, i.Key)
		case info == nil:
			a.left.Effects = append(a.left.Effects, i.Key)
			continue
		case i.Unsettled() && (!a.to.leads(next.State, info.confirmed) || !a.to.leads(next.State, info.failed)):
			return cannot(CodeStuck, "%s has no outcome yet, and %s has no edges for both ends of it", i.Key, next.State)
		}
		next.Intents = append(next.Intents, i)
	}
	return nil
}

// leads tells whether an edge for the event leaves the state.
func (c *core) leads(s State, ev *EventInfo) bool { return len(c.ways[s][ev.Name]) > 0 }

func (a *crossing) moveOffers(next *Snapshot[any]) *UnmigratableError {
	next.Offers = nil
	for _, o := range a.s.Offers {
		a.voided = append(a.voided, o.void(VoidDefinition))
	}
	return nil
}

// moveFacts keeps what is evidence of the later definition's facts as well. What would count for longer there than it did is kept
// as unknown: its order mark stays, so that nothing older can pass for news.
func (a *crossing) moveFacts(next *Snapshot[any]) *UnmigratableError {
	var kept []guard.Entry
	for _, e := range a.s.Facts.All() {
		old, new := a.from.facts[e.Key.Fact], a.to.facts[e.Key.Fact]
		if renamed := a.facts[e.Key.Fact]; renamed != nil {
			new = renamed
		}
		if new == nil || new.Volatile || !alike(old, new) {
			a.left.Forgotten = append(a.left.Forgotten, e.Key)
			continue
		}
		if e.Key.Fact = new.Name; !e.Disputed && laxer(old, new) {
			a.left.Doubted = append(a.left.Doubted, e.Key)
			e.Value, e.Ref, e.Disputed = nil, "", true
		}
		kept = append(kept, e)
	}
	next.Facts = guard.FactsOf(kept).Without(a.to.passing(&next.Head)).Bound(a.to.bound(next.Task, next.Data))
	return nil
}

// laxer tells whether evidence counts for longer under the new declaration.
func laxer(old, new *guard.FactInfo) bool {
	return old.MaxAge > 0 && (new.Lasting || new.MaxAge > old.MaxAge)
}

// moveTimers keeps the deadlines that the later definition has in this state as well, and arms the others that it has.
func (a *crossing) moveTimers(next *Snapshot[any]) *UnmigratableError {
	a.to.enter(next, a.now)
	if err := a.to.arm(next); err != nil {
		return cannot(CodeMigratedData, "%s", err)
	}
	next.Entered = a.s.Entered
	next.Timers = slices.DeleteFunc(next.Timers, a.fired)
	for _, t := range a.s.Timers {
		name := t.Event
		if renamed := a.events[name]; renamed != nil {
			name = renamed.Name
		}
		i := slices.IndexFunc(next.Timers, func(n ArmedTimer) bool { return n.Event == name })
		if i < 0 {
			a.left.Timers = append(a.left.Timers, t.Event)
			continue
		}
		next.Timers[i] = ArmedTimer{Event: name, Due: t.Due, First: t.First}
	}
	a.moveWait(next)
	return nil
}

// moveWait keeps since when the task waits, and until when as its timer says; where that has fired, until when it was.
func (a *crossing) moveWait(next *Snapshot[any]) {
	w := next.Waiting
	if w == nil {
		return
	}
	if was := a.s.Waiting; was != nil {
		w.Since = was.Since
	}
	i := slices.IndexFunc(next.Timers, func(t ArmedTimer) bool { return t.Event == a.to.waits[next.State].event.Name })
	switch {
	case i < 0 && a.s.Waiting != nil:
		w.Until = a.s.Waiting.Until
	case i >= 0 && next.Timers[i].First.IsZero():
		w.Until = next.Timers[i].Due
	case i >= 0:
		w.Until = next.Timers[i].First
	}
}

// fired tells whether the old definition had the timer in this stay, and it has fired: once is enough, unless data computes another
// instant now.
func (a *crossing) fired(armed ArmedTimer) bool {
	for _, t := range a.from.times(a.s.State) {
		name := t.event.Name
		if renamed := a.events[name]; renamed != nil {
			name = renamed.Name
		}
		if name != armed.Event || slices.ContainsFunc(a.s.Timers, func(o ArmedTimer) bool { return o.Event == t.event.Name }) {
			continue
		}
		was, err := t.compute(a.s.Data)
		return t.at == nil || err == nil && was.Equal(armed.Due)
	}
	return false
}

// whole judges the snapshot as it would be stored. An invariant between two versions judges a step that changes nothing: the old
// data may be of another type.
func (a *crossing) whole(next *Snapshot[any]) *UnmigratableError {
	if broken := a.to.broken(*next, *next); len(broken) > 0 {
		return cannot(CodeBreaks, "%s", broken[0])
	}
	if _, err := (&Machine[any]{a.to}).Encode(nil, *next); err != nil {
		return cannot(CodeMigratedData, "%v", err)
	}
	return nil
}
