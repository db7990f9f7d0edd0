package machine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// Migration is one step of a machine's tasks from a version of its definition to a later one. The zero Migration is none, and
// is refused by a controller. Safe for concurrent use.
type Migration struct{ m *migration }

// migration is a Migration with its types erased.
type migration struct {
	from, to *core
	place    string
	data     func(any) (any, error)
	states   map[State]State
	facts    map[string]*guard.FactInfo
	events   map[string]*EventInfo
	faults   []error
}

// MigrationOption says what has another name in the later version. Whatever is not named keeps its name.
type MigrationOption func(*migration)

// RenameState says that tasks in the old state go on in the new one. A task in a state that the later version does not have, and
// that is not renamed, is not migrated.
func RenameState(old, new State) MigrationOption {
	return func(m *migration) {
		if _, twice := m.states[old]; twice {
			m.fault("renamed_twice", "state "+string(old)+" is renamed twice", "keep one")
		}
		m.states[old] = new
	}
}

// RenameFact says that what is believed under the old fact is believed under the new one. Both must have one authority, one
// type, one order and be about the same kind of subject.
func RenameFact(old, new guard.AnyFact) MigrationOption {
	return func(m *migration) {
		if old == nil || new == nil || old.Info() == nil || new.Info() == nil {
			m.fault("zero_fact", "a renamed fact is the zero Fact", "declare it with guard.NewFact")
			return
		}
		if _, twice := m.facts[old.Info().Name]; twice {
			m.fault("renamed_twice", "fact "+old.Info().Name+" is renamed twice", "keep one")
		}
		m.facts[old.Info().Name] = new.Info()
		m.lintFact(old.Info(), new.Info())
	}
}

// RenameEvent says that a timer of the old event is one of the new event.
func RenameEvent(old, new Event[None]) MigrationOption {
	return func(m *migration) {
		if old.info == nil || new.info == nil {
			m.fault("zero_event", "a renamed event is the zero Event", "declare it with NewEvent")
			return
		}
		if _, twice := m.events[old.info.Name]; twice {
			m.fault("renamed_twice", "event "+old.info.Name+" is renamed twice", "keep one")
		}
		m.events[old.info.Name] = new.info
		if m.from.events[old.info.Name] != old.info || m.to.events[new.info.Name] != new.info {
			m.fault("unknown_event", fmt.Sprintf("event %s of version %d is renamed to %s of version %d, and one of them is not declared there",
				old.info.Name, m.from.version, new.info.Name, m.to.version), "name events of the two definitions")
		}
	}
}

// SameData is the data function of a migration that leaves the data as it is.
func SameData[D any](d D) (D, error) { return d, nil }

// Migrate declares how the tasks of one version become tasks of a later one. The data function must be pure; its error keeps a
// task on the old version. Faults are reported all at once, joined; each is a [*Fault] and wraps [ErrDefinition].
func Migrate[A, B any](from *Machine[A], to *Machine[B], data func(A) (B, error), opts ...MigrationOption) (Migration, error) {
	if from == nil || from.c == nil || to == nil || to.c == nil || data == nil {
		return Migration{}, fmt.Errorf("a migration needs two machines that were built, and a data function: %w", ErrDefinition)
	}
	m := &migration{from: from.c, to: to.c, place: place(1), states: map[State]State{}, facts: map[string]*guard.FactInfo{}, events: map[string]*EventInfo{}}
	m.data = func(old any) (any, error) {
		a, ok := old.(A)
		if !ok {
			return nil, fmt.Errorf("the data is %T", old)
		}
		return data(a)
	}
	for _, o := range opts {
		o(m)
	}
	m.lint()
	if len(m.faults) > 0 {
		return Migration{}, fmt.Errorf("migration of machine %s from version %d to %d has %d faults: %w:\n%w",
			m.from.name, m.from.version, m.to.version, len(m.faults), ErrDefinition, errors.Join(m.faults...))
	}
	return Migration{m}, nil
}

// MustMigrate is Migrate for package variables; it panics with all faults.
func MustMigrate[A, B any](from *Machine[A], to *Machine[B], data func(A) (B, error), opts ...MigrationOption) Migration {
	m, err := Migrate(from, to, data, opts...)
	if err != nil {
		panic(err)
	}
	return m
}

// From is the definition that the step leaves, To the one that it leads to; nil for the zero Migration.
func (m Migration) From() *Machine[any] {
	if m.m == nil {
		return nil
	}
	return &Machine[any]{m.m.from}
}

// To is the definition that the step leads to; nil for the zero Migration.
func (m Migration) To() *Machine[any] {
	if m.m == nil {
		return nil
	}
	return &Machine[any]{m.m.to}
}

func (m *migration) fault(code, text, mend string) {
	m.faults = append(m.faults, &Fault{code, m.place, text, mend})
}

func (m *migration) lint() {
	if m.from.name != m.to.name {
		m.fault("other_machine", fmt.Sprintf("it leads from machine %s to machine %s", m.from.name, m.to.name), "migrate within one machine")
	}
	if m.from.version >= m.to.version {
		m.fault("version", fmt.Sprintf("it leads from version %d to version %d", m.from.version, m.to.version), "lead to a later version")
	}
	for _, old := range sorted(m.states) {
		if !slices.Contains(m.from.states(), old) || !slices.Contains(m.to.states(), m.states[old]) {
			m.fault("unknown_state", fmt.Sprintf("state %s is renamed to %s, and one of them has no edge there", old, m.states[old]), "name states of the two definitions")
		}
	}
	for _, s := range m.from.states() {
		m.lintEnd(s)
	}
	m.lintFactNames()
	for _, name := range sorted(m.to.effects) {
		if old := m.from.effects[name]; old != nil && old != m.to.effects[name] {
			m.fault("effect_twice", "effect "+name+" has two declarations", "use one for both versions; other arguments or another receipt are another effect")
		}
	}
}

// lintEnd sees that a migration neither ends a task nor reopens one: only declared edges do.
func (m *migration) lintEnd(s State) {
	to := m.target(s)
	if !slices.Contains(m.to.states(), to) {
		return
	}
	_, was := m.from.final[s]
	if _, is := m.to.final[to]; was != is {
		m.fault("final", fmt.Sprintf("state %s is final: %t, and %s is final: %t", s, was, to, is), "rename it to a state that is the same in this")
	}
}

// lintFact sees that what was evidence of the one fact is evidence of the other.
func (m *migration) lintFact(old, new *guard.FactInfo) {
	switch {
	case m.from.facts[old.Name] != old || m.to.facts[new.Name] != new:
		m.fault("unknown_fact", fmt.Sprintf("fact %s is renamed to %s, and one of them is not declared there", old.Name, new.Name), "name facts of the two definitions")
	case old.About == EffectKind || old.About == guard.OfferKind:
		m.fault("own_fact", "fact "+old.Name+" belongs to its effect or its offers", "keep its name")
	case !alike(old, new):
		m.fault("other_fact", fmt.Sprintf("fact %s is renamed to %s, which has another authority, type, order or kind of subject", old.Name, new.Name),
			"let it be observed anew")
	}
}

// lintFactNames sees that no two facts become one.
func (m *migration) lintFactNames() {
	became := map[string]string{}
	for _, name := range sorted(m.from.facts) {
		to := name
		if renamed := m.facts[name]; renamed != nil {
			to = renamed.Name
		}
		if other := became[to]; other != "" {
			m.fault("fact_twice", fmt.Sprintf("facts %s and %s both become %s", other, name, to), "rename one of them only, and the other to something else")
		}
		became[to] = name
	}
}

// alike tells whether evidence of one fact can count as evidence of the other.
func alike(a, b *guard.FactInfo) bool {
	return a.Source == b.Source && a.Type == b.Type && a.About == b.About && a.Order == b.Order
}

// target is the state in which a task goes on.
func (m *migration) target(s State) State {
	if to, renamed := m.states[s]; renamed {
		return to
	}
	return s
}
