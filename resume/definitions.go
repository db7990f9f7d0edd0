package resume

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// definitions are the registered versions of each machine, by name, the newest first.
type definitions map[string][]*machine.Machine[any]

// add registers a definition. Of one version there is one digest: a change of meaning needs a version of its own.
func (d definitions) add(m *machine.Machine[any]) error {
	for _, other := range d[m.Name()] {
		switch {
		case other.Digest() == m.Digest():
			return fmt.Errorf("machine %s is there twice, as version %d", m.Name(), m.Version())
		case other.Version() == m.Version():
			return fmt.Errorf("machine %s, version %d, is there with two digests, %s and %s: raise its Version with every change of meaning",
				m.Name(), m.Version(), other.Digest(), m.Digest())
		}
	}
	d[m.Name()] = append(d[m.Name()], m)
	slices.SortFunc(d[m.Name()], func(a, b *machine.Machine[any]) int { return cmp.Compare(b.Version(), a.Version()) })
	return nil
}

// all are the definitions by name, the newest first.
func (d definitions) all() []*machine.Machine[any] {
	var out []*machine.Machine[any]
	for _, name := range slices.Sorted(maps.Keys(d)) {
		out = append(out, d[name]...)
	}
	return out
}

// exact is the definition that a stamp names; nil when it is not registered.
func (d definitions) exact(s machine.Stamp) *machine.Machine[any] {
	i := slices.IndexFunc(d[s.Machine], func(m *machine.Machine[any]) bool { return m.Stamp() == s })
	if i < 0 {
		return nil
	}
	return d[s.Machine][i]
}

// decode reads a record with the definition that it was stored under. The newest is tried first: most tasks are of it.
func (d definitions) decode(r store.Record) (*machine.Machine[any], machine.Snapshot[any], error) {
	versions := d[r.Meta.Machine]
	if len(versions) == 0 {
		return nil, machine.Snapshot[any]{}, fmt.Errorf("task %s is of machine %s: %w", r.Task, r.Meta.Machine, ErrMachine)
	}
	m := versions[0]
	snap, err := m.Decode(r.Snapshot)
	if other, is := errors.AsType[*machine.OtherDefinitionError](err); is {
		if m = d.exact(other.Stored); m == nil {
			return nil, snap, fmt.Errorf("task %s, version %d: %w: %s: %w", r.Task, r.Tip.Version, ErrMachine, d.advice(other.Stored), err)
		}
		snap, err = m.Decode(r.Snapshot)
	}
	if err == nil {
		err = m.Legal(snap)
	}
	if err != nil {
		return nil, snap, fmt.Errorf("task %s, version %d: %w", r.Task, r.Tip.Version, err)
	}
	return m, snap, nil
}

// advice says what to do about a task of a definition that is not registered.
func (d definitions) advice(s machine.Stamp) string {
	newest := 0
	for _, m := range d[s.Machine] {
		if m.Version() == s.Version {
			return fmt.Sprintf("version %d has been changed: register it as it was, and give the change a version of its own", s.Version)
		}
		newest = max(newest, m.Version())
	}
	if s.Version > newest {
		return fmt.Sprintf("version %d is newer than all that are served here: use a controller that has it", s.Version)
	}
	return fmt.Sprintf("register version %d beside version %d in Config.Machines, with a migration if the task shall move on", s.Version, newest)
}
