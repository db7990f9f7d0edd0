package store

import "iter"

// Version is what stands at one version of a task: of a base only the tip is known.
type Version struct {
	Record
	Kind Kind
}

// Chain turns pages into a History: it yields records from newest (0: the tip) down to oldest and checks that
// each is the one its successor names. Page returns some versions in falling order, the first at or below its
// argument; an empty page is the end. Nothing is held between pages.
func Chain(task string, newest uint64, page func(below uint64) ([]Version, error), oldest uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		below := newest
		if below == 0 {
			below = MaxVersion
		}
		var next *Version
		for {
			versions, err := page(below)
			for i := range versions {
				v := &versions[i]
				if fault := follows(task, next, v); fault != nil {
					yield(Record{}, fault)
					return
				}
				if v.Tip.Version < oldest || v.Kind == KindBase || !yield(v.Record, nil) {
					return
				}
				next = v
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if len(versions) == 0 {
				if next != nil && next.Tip.Version != 1 {
					yield(Record{}, &CorruptError{Task: task, Version: next.Tip.Version - 1, What: "record is missing"})
				}
				return
			}
			if next.Tip.Version == 1 || next.Tip.Version <= oldest {
				return
			}
			below = next.Tip.Version - 1
		}
	}
}

// follows checks that next, if there is one, was committed on v.
func follows(task string, next, v *Version) error {
	if next == nil {
		return nil
	}
	if next.Tip.Version != v.Tip.Version+1 {
		return &CorruptError{Task: task, Version: next.Tip.Version - 1, What: "record is missing"}
	}
	if next.Prev != v.Tip.Hash {
		return &CorruptError{Task: task, Version: v.Tip.Version, What: "hash is not the one the next version names"}
	}
	return nil
}
