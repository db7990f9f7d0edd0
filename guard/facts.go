package guard

import (
	"slices"
	"time"
)

// Facts is what a task believes: at most one entry for each fact and subject, in order. A value: With and
// Without return changed copies. Looked up here, outside a guard, a recorded value counts whatever its age:
// invariants judge the record, guards judge the present. The zero Facts is empty. Safe for concurrent use.
type Facts struct {
	entries  []Entry
	subjects Subjects
	watch    func(fact string) // hears of each look; nil when nobody listens
}

// Subjects maps a kind of subject to the ids that a payload and the task's data name. Under "" stands the task itself.
type Subjects map[string][]string

// FactsOf rebuilds facts from stored entries. Of several under one key the last stays.
func FactsOf(entries []Entry) Facts {
	var f Facts
	for _, e := range entries {
		i, had := f.find(e.Key)
		if had {
			f.entries[i] = e
			continue
		}
		f.entries = slices.Insert(f.entries, i, e)
	}
	return f
}

func (f Facts) find(k Key) (int, bool) {
	for i := range f.entries {
		switch c := f.entries[i].Key.compare(k); {
		case c == 0:
			return i, true
		case c > 0:
			return i, false
		}
	}
	return len(f.entries), false
}

func (f Facts) look(i *FactInfo, subject string) (*Entry, bool) {
	if i == nil {
		return nil, false
	}
	if f.watch != nil {
		f.watch(i.Name)
	}
	if subject == "" {
		ids := f.subjects[i.About]
		if len(ids) != 1 {
			return nil, false
		}
		subject = ids[0]
	}
	e := f.entry(Key{i.Name, subject})
	return e, e != nil && !e.Disputed
}

// entry is what is recorded under a key, nil when there is nothing. Nobody may change it.
func (f Facts) entry(k Key) *Entry {
	if i, ok := f.find(k); ok {
		return &f.entries[i]
	}
	return nil
}

// Entry is what is recorded under a key.
func (f Facts) Entry(k Key) (Entry, bool) {
	if f.watch != nil {
		f.watch(k.Fact)
	}
	if e := f.entry(k); e != nil {
		return *e, true
	}
	return Entry{}, false
}

// Len is the number of entries.
func (f Facts) Len() int { return len(f.entries) }

// All are the entries, sorted by fact and subject. The caller must not change them.
func (f Facts) All() []Entry { return f.entries }

// Bound is a copy that resolves facts without a subject to these ids.
func (f Facts) Bound(s Subjects) Facts { return Facts{f.entries, s, f.watch} }

// Watched is a copy that tells a function the name of each fact that is looked up in it. For tools that find out what an invariant
// looks at.
func (f Facts) Watched(seen func(fact string)) Facts { return Facts{f.entries, f.subjects, seen} }

// Subjects are the ids that Bound set.
func (f Facts) Subjects() Subjects { return f.subjects }

// Merged says what became of one piece of evidence in With.
type Merged string

// What can become of evidence.
const (
	News      Merged = "news"      // a first value, or another value than the one before
	Renewed   Merged = "renewed"   // the same value, as of a later time
	Duplicate Merged = "duplicate" // the same observation once more
	Late      Merged = "late"      // older than what is believed; kept in the history, not applied
	Dispute   Merged = "dispute"   // another value with the same order mark: the fact is unknown now
)

// With is a copy in which each piece of evidence took its place by its fact's own order (law 6). Of facts that are not
// ordered by arrival, the result is the same for any order and any repetition of the same evidence that was pushed;
// an answer to a question settles a dispute at the moment that it comes in. The second result says what became of
// each. The zero Evidence changes nothing and is [Late].
func (f Facts) With(evidence ...Evidence) (Facts, []Merged) {
	if len(evidence) == 0 {
		return f, nil
	}
	out := Facts{make([]Entry, len(f.entries), len(f.entries)+f.lacks(evidence)), f.subjects, f.watch}
	copy(out.entries, f.entries)
	merged := make([]Merged, len(evidence))
	for n := range evidence {
		ev := &evidence[n]
		if ev.info == nil {
			merged[n] = Late
			continue
		}
		i, had := out.find(ev.entry.Key)
		if !had {
			out.entries = slices.Insert(out.entries, i, ev.entry)
			merged[n] = News
			continue
		}
		out.entries[i], merged[n] = merge(out.entries[i], ev)
	}
	return out, merged
}

// lacks is how many pieces of evidence are about something that nothing is recorded about.
func (f Facts) lacks(evidence []Evidence) int {
	n := 0
	for i := range evidence {
		if _, had := f.find(evidence[i].entry.Key); !had {
			n++
		}
	}
	return n
}

// merge puts one piece of evidence beside what is believed.
func merge(old Entry, ev *Evidence) (Entry, Merged) {
	e := ev.entry
	switch c := e.mark(old, ev.info.Order); {
	case c < 0:
		return old, Late
	case c > 0:
		if old.Disputed || !ev.info.Same(old.Value, e.Value) {
			return e, News
		}
		return e, Renewed
	}
	switch same := !old.Disputed && ev.info.Same(old.Value, e.Value); {
	case same:
		return again(old, ev)
	case ev.pulled || ev.info.Order == ByArrival:
		return e, News // asked anew, the source answered: its word stands
	}
	d := joined(old, e)
	if d.Value, d.Ref, d.Disputed = nil, "", true; old.Disputed {
		return d, Duplicate // the source contradicts itself once more
	}
	return d, Dispute
}

// again is the same value with the same mark: younger evidence when the source says so, or was asked anew.
func again(old Entry, ev *Evidence) (Entry, Merged) {
	d := joined(old, ev.entry)
	if d.At.After(old.At) {
		return d, Renewed
	}
	if ev.pulled {
		d.Seen = later(old.Seen, ev.entry.Seen)
	}
	return d, Duplicate
}

// joined is one entry for two of the same mark, whichever of them came first. The very observation that came in before does
// not become fresh by coming in once more.
func joined(a, b Entry) Entry {
	if c := b.At.Compare(a.At); c > 0 || c == 0 && b.Seen.Before(a.Seen) {
		a.At, a.Seen = b.At, b.Seen
	}
	a.BasedOn, a.Ref = max(a.BasedOn, b.BasedOn), max(a.Ref, b.Ref)
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Without is a copy without the entries that drop picks.
func (f Facts) Without(drop func(Key) bool) Facts {
	if !slices.ContainsFunc(f.entries, func(e Entry) bool { return drop(e.Key) }) {
		return f
	}
	kept := make([]Entry, 0, len(f.entries))
	for _, e := range f.entries {
		if !drop(e.Key) {
			kept = append(kept, e)
		}
	}
	return Facts{kept, f.subjects, f.watch}
}
