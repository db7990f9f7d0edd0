package machine

import (
	"maps"
	"reflect"
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// Copy is the snapshot in memory of its own: whoever writes into it changes no committed version. For runtimes that hand
// snapshots out.
func (m *Machine[D]) Copy(s Snapshot[D]) Snapshot[D] {
	if data := any(s.Data); data != nil {
		s.Data = m.c.clone(data).(D)
	}
	s.Facts = copyFacts(s.Facts)
	if s.Waiting != nil {
		w := *s.Waiting
		s.Waiting = &w
	}
	s.Offers, s.Intents = slices.Clone(s.Offers), slices.Clone(s.Intents)
	for i := range s.Offers {
		s.Offers[i] = s.Offers[i].Copy()
	}
	for i := range s.Intents {
		s.Intents[i] = s.Intents[i].Copy()
	}
	s.Operations, s.Timers = slices.Clone(s.Operations), slices.Clone(s.Timers)
	return s
}

// Copy is the offer in memory of its own.
func (o OpenOffer) Copy() OpenOffer {
	o.Payload, o.Effects, o.Stands = copied(o.Payload), slices.Clone(o.Effects), slices.Clone(o.Stands)
	o.Barred, o.Answers = slices.Clone(o.Barred), slices.Clone(o.Answers)
	return o
}

// Copy is the intent in memory of its own.
func (i Intent) Copy() Intent {
	i.Args, i.Holds = copied(i.Args), slices.Clone(i.Holds)
	return i
}

func copyFacts(f guard.Facts) guard.Facts {
	entries := slices.Clone(f.All())
	for i := range entries {
		entries[i].Value = copied(entries[i].Value)
	}
	subjects := maps.Clone(f.Subjects())
	for kind, ids := range subjects {
		subjects[kind] = slices.Clone(ids)
	}
	return guard.FactsOf(entries).Bound(subjects)
}

// copied is a value in memory of its own.
func copied(v any) any {
	if v == nil || flat(reflect.TypeOf(v)) {
		return v
	}
	return deep(reflect.ValueOf(v)).Interface()
}
