package machine

import (
	"reflect"
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// subjectFields maps a kind of subject to the fields that carry its ids.
type subjectFields map[string][][]int

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
		if f.Type.Kind() == reflect.String || f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.String {
			if out == nil {
				out = subjectFields{}
			}
			out[kind] = append(out[kind], f.Index)
		}
	}
	return out
}

// of reads the ids out of a value.
func (s subjectFields) of(v any) guard.Subjects {
	if len(s) == 0 || v == nil {
		return nil
	}
	out := make(guard.Subjects, len(s))
	rv := reflect.ValueOf(v)
	for kind, fields := range s {
		ids := make([]string, 0, len(fields))
		for _, index := range fields {
			f := rv.FieldByIndex(index)
			if f.Kind() == reflect.String {
				ids = appendID(ids, f.String())
				continue
			}
			for i := range f.Len() {
				ids = appendID(ids, f.Index(i).String())
			}
		}
		out[kind] = ids
	}
	return out
}

func appendID(ids []string, id string) []string {
	if id == "" || slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}
