package machine

import (
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// Machine is a whole definition. Machine[any] is the same with the data's type hidden, as controllers hold it. Safe for
// concurrent use.
type Machine[D any] struct{ c *core }

// Definition is a [Machine] of any data type. Only *Machine implements it.
type Definition interface {
	// Name of the machine.
	Name() string
	// Describe gives the definition as data.
	Describe() Description

	erased() *Machine[any]
}

// Erase hides the data's type; nil for the zero Machine.
func Erase(d Definition) *Machine[any] { return d.erased() }

func (m *Machine[D]) erased() *Machine[any] {
	if m == nil || m.c == nil {
		return nil
	}
	return &Machine[any]{m.c}
}

// Name of the machine; stored with each task.
func (m *Machine[D]) Name() string { return m.c.name }

// Version of the definition.
func (m *Machine[D]) Version() int { return m.c.version }

// Digest of the definition: two definitions of one version and different digests do not serve the same tasks.
func (m *Machine[D]) Digest() string { return m.c.digest }

// EventNamed finds an event that may be proposed from outside; nil when there is none.
func (m *Machine[D]) EventNamed(name string) *EventInfo {
	if i := m.c.events[name]; i != nil && !i.internal {
		return i
	}
	return nil
}

// FactNamed finds a fact; nil when there is none.
func (m *Machine[D]) FactNamed(name string) *guard.FactInfo { return m.c.facts[name] }

// EffectNamed finds an effect; nil when there is none.
func (m *Machine[D]) EffectNamed(name string) *EffectInfo { return m.c.effects[name] }

// Effects are the names of the machine's effects, sorted.
func (m *Machine[D]) Effects() []string { return sorted(m.c.effects) }

// IsFinal tells whether the state ends the task.
func (m *Machine[D]) IsFinal(s State) bool {
	_, ok := m.c.final[s]
	return ok
}

// Due are the proposals of the timers that have come due, earliest first.
func (m *Machine[D]) Due(s Snapshot[D], now time.Time) []Proposal {
	timers := slices.Clone(s.Timers)
	slices.SortStableFunc(timers, func(a, b ArmedTimer) int { return a.Due.Compare(b.Due) })
	var out []Proposal
	for _, t := range timers {
		if ev := m.c.events[t.Event]; ev != nil && !now.Before(t.Due) {
			out = append(out, Proposal{event: ev, payload: None{}, actor: guard.Timer, basedOn: s.Version, checked: true})
		}
	}
	return out
}

// Look is a scene of the snapshot at an instant, for views and reports: it judges ages as a guard does.
func (m *Machine[D]) Look(s Snapshot[D], who guard.Principal, now time.Time) *guard.Scene {
	erased := Snapshot[any]{s.Head, s.Data}
	return guard.NewScene(guard.SceneSpec{Task: s.Task, Now: now, Principal: who, Facts: s.Facts,
		Subjects: m.c.ground(&erased), Effects: atRest{&erased}})
}

// atRest is a snapshot that nobody proposes to: what was sent is not known.
type atRest struct{ s *Snapshot[any] }

// Unsettled implements [guard.Effects].
func (r atRest) Unsettled(effect string) int { return r.s.unsettled(effect, "") }

// MaySent implements [guard.Effects].
func (r atRest) MaySent(effect string) int { return r.s.unsettled(effect, "") }
