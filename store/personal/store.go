package personal

import (
	"context"
	"fmt"
	"iter"

	"github.com/pawlgo/pawl/store"
)

// Inner is what a store must offer to be wrapped; pebblestore.Store does.
type Inner interface {
	store.Store
	store.Resources
	store.Keeper
	store.Copier
	store.Verifier
	store.Watcher
}

// Store is a store whose personal data is encrypted in the one below it. Everything that does not hand out or take in the
// content of records is the store's below; so backups, imports and checks are of encrypted bytes, and to export them is to
// read the store below. It is safe for concurrent use.
type Store struct {
	Inner
	keys   Keys
	fields map[string]bool
}

// Wrap encrypts the named JSON members. The names must be given alike at every start; what was written before a name was
// given stays readable, and plain. store.ErrInvalid without keys or names.
func Wrap(inner Inner, keys Keys, members ...string) (*Store, error) {
	if keys == nil || len(members) == 0 {
		return nil, fmt.Errorf("personal data needs keys and at least one member: %w", store.ErrInvalid)
	}
	s := &Store{Inner: inner, keys: keys, fields: map[string]bool{}}
	for _, name := range members {
		if name == "" {
			return nil, fmt.Errorf("member of personal data has no name: %w", store.ErrInvalid)
		}
		s.fields[name] = true
	}
	return s, nil
}

// Forget destroys the key of a person. What the person owns stays, without its personal data; a commit that would add such
// data under that owner is store.ErrErased from then on.
func (s *Store) Forget(ctx context.Context, owner string) error { return s.keys.Destroy(ctx, owner) }

// Commit implements store.Store. It is store.ErrInvalid if there is personal data and no owner, if what is declared personal
// is no text, or if snapshot or entry is no JSON, and store.ErrErased if the owner's key was destroyed.
func (s *Store) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	hidden := *c
	v := s.veil(ctx, c.Task, c.Meta.Owner)
	var err error
	if hidden.Snapshot, err = v.hide("snapshot", c.Snapshot); err != nil {
		return store.Tip{}, err
	}
	if hidden.Entry, err = v.hide("entry", c.Entry); err != nil {
		return store.Tip{}, err
	}
	tip, err := s.Inner.Commit(ctx, &hidden)
	c.Tip, c.Prev, c.Changes, c.At = hidden.Tip, hidden.Prev, hidden.Changes, hidden.At
	return tip, err
}

// Load implements store.Store. Where a key was destroyed the text is [Erased].
func (s *Store) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	rec, effects, err := s.Inner.Load(ctx, task)
	if err == nil {
		err = s.show(ctx, &rec)
	}
	if err != nil {
		return store.Record{}, nil, err
	}
	return rec, effects, nil
}

// History implements store.Store.
func (s *Store) History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for rec, err := range s.Inner.History(ctx, task, newest, oldest) {
			if err == nil {
				err = s.show(ctx, &rec)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

func (s *Store) show(ctx context.Context, rec *store.Record) (err error) {
	v := s.veil(ctx, rec.Task, rec.Meta.Owner)
	if rec.Snapshot, err = v.show("snapshot", rec.Snapshot); err != nil {
		return err
	}
	rec.Entry, err = v.show("entry", rec.Entry)
	return err
}

// Note implements store.Store. The body belongs to the owner that the task has now.
func (s *Store) Note(ctx context.Context, task string, a store.Attempt) error {
	v, err := s.veilOf(ctx, task)
	if err != nil {
		return err
	}
	if a.Body, err = v.hide("attempt", a.Body); err != nil {
		return err
	}
	return s.Inner.Note(ctx, task, a)
}

// Attempts implements store.Store. What was noted under an earlier owner of the task is [Erased].
func (s *Store) Attempts(ctx context.Context, task string) ([]store.Attempt, error) {
	all, err := s.Inner.Attempts(ctx, task)
	if err != nil || len(all) == 0 {
		return all, err
	}
	v, err := s.veilOf(ctx, task)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Body, err = v.show("attempt", all[i].Body); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *Store) veilOf(ctx context.Context, task string) (*veil, error) {
	rec, _, err := s.Inner.Load(ctx, task)
	return s.veil(ctx, task, rec.Meta.Owner), err
}
