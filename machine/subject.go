package machine

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/pawlgo/pawl/guard"
)

// subjectFields are the fields of a type that name subjects, by kind.
type subjectFields []subjectField

type subjectField struct {
	kind    string
	indexes [][]int // string fields, and slices of strings
}

func findSubjects(t reflect.Type) subjectFields {
	if t.Kind() != reflect.Struct {
		return nil
	}
	var out subjectFields
	for _, f := range reflect.VisibleFields(t) {
		kind := f.Tag.Get("about")
		if kind == "" || !f.IsExported() {
			continue
		}
		if f.Type.Kind() != reflect.String && (f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() != reflect.String) {
			continue
		}
		i := slices.IndexFunc(out, func(s subjectField) bool { return s.kind == kind })
		if i < 0 {
			i, out = len(out), append(out, subjectField{kind: kind})
		}
		out[i].indexes = append(out[i].indexes, f.Index)
	}
	slices.SortFunc(out, func(a, b subjectField) int { return strings.Compare(a.kind, b.kind) })
	return out
}

// names tells whether a field names subjects of the kind.
func (s subjectFields) names(kind string) bool {
	return slices.ContainsFunc(s, func(f subjectField) bool { return f.kind == kind })
}

// ids reads the ids out of a value, each once.
func (f subjectField) ids(rv reflect.Value) []string {
	return f.append(make([]string, 0, len(f.indexes)), rv)
}

// append adds to ids those that are not among them.
func (f subjectField) append(ids []string, rv reflect.Value) []string {
	for _, index := range f.indexes {
		v := rv.FieldByIndex(index)
		if v.Kind() == reflect.String {
			ids = appendID(ids, v.String())
			continue
		}
		for i := range v.Len() {
			ids = appendID(ids, v.Index(i).String())
		}
	}
	return ids
}

func appendID(ids []string, id string) []string {
	if id == "" || slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

// visible wants the ids that a value names to be of characters that can be seen: one that hides or reorders others is no part of an
// identifier (field case B042).
func (s subjectFields) visible(v any) error {
	if len(s) == 0 || v == nil {
		return nil
	}
	for _, f := range s {
		for _, id := range f.ids(reflect.ValueOf(v)) {
			if strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsGraphic(r) }) {
				return fmt.Errorf("the id of %s %+q has a character that cannot be seen", f.kind, clip(id, guard.MaxSubject))
			}
		}
	}
	return nil
}

// same tells whether two values name the same subjects.
func (s subjectFields) same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return !slices.ContainsFunc(s, func(f subjectField) bool { return !slices.Equal(f.ids(x), f.ids(y)) })
}

// narrow adds what a payload names to what the data names. If both name some of a kind, the payload's must be among the
// data's, and are what the proposal is about.
func (s subjectFields) narrow(subjects guard.Subjects, payload any) (guard.Subjects, error) {
	if len(s) == 0 || payload == nil {
		return subjects, nil
	}
	rv, out, own := reflect.ValueOf(payload), subjects, false
	var space [4]string
	for _, f := range s {
		ids, mine := f.append(space[:0], rv), subjects[f.kind]
		if len(ids) == 0 || slices.Equal(ids, mine) {
			continue
		}
		for _, id := range ids {
			if len(mine) > 0 && !slices.Contains(mine, id) {
				return nil, fmt.Errorf("the payload is about %s %q, the task about %q", f.kind, id, mine)
			}
		}
		if !own {
			out, own = maps.Clone(subjects), true
		}
		out[f.kind] = slices.Clone(ids)
	}
	return out, nil
}

// bound are the subjects that a task's data names, and the task itself.
func (c *core) bound(task string, data any) guard.Subjects {
	out := guard.Subjects{"": {task}}
	for _, f := range c.subjects {
		out[f.kind] = f.ids(reflect.ValueOf(data))
	}
	return out
}

// ground are the subjects of a snapshot: it was bound to them when it was made.
func (c *core) ground(s *Snapshot[any]) guard.Subjects {
	if bound := s.Facts.Subjects(); bound != nil {
		return bound
	}
	return c.bound(s.Task, s.Data)
}
