package canon

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// field is one JSON member of a struct type.
type field struct {
	name     string
	label    string // a comma, the name, encoded, and its colon
	index    []int  // as for reflect.Value.FieldByIndex
	typ      reflect.Type
	tagged   bool
	quoted   bool // the ",string" option
	verbatim bool // the tag canon:"verbatim"
	empty    bool // omitempty
	zero     func(reflect.Value) bool
	required bool
	codec    *codec
}

// fieldsOf finds the members of a struct by the rules of encoding/json: of several fields with one
// name the shallowest wins, among those a tagged one, and otherwise none.
func fieldsOf(t reflect.Type) []field {
	all := gather(t, nil, nil)
	byName := map[string][]field{}
	for _, f := range all {
		byName[f.name] = append(byName[f.name], f)
	}
	out := all[:0]
	for _, f := range all {
		if best, ok := dominant(byName[f.name]); ok && slices.Equal(best.index, f.index) {
			out = append(out, f)
		}
	}
	return out
}

func dominant(same []field) (field, bool) {
	depth := len(same[0].index)
	for _, f := range same {
		depth = min(depth, len(f.index))
	}
	var plain, tagged []field
	for _, f := range same {
		switch {
		case len(f.index) > depth:
		case f.tagged:
			tagged = append(tagged, f)
		default:
			plain = append(plain, f)
		}
	}
	if len(tagged) == 1 {
		return tagged[0], true
	}
	if len(tagged) == 0 && len(plain) == 1 {
		return plain[0], true
	}
	return field{}, false
}

func gather(t reflect.Type, prefix []int, inside []reflect.Type) []field {
	if slices.Contains(inside, t) {
		return nil
	}
	inside = append(slices.Clone(inside), t)
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		embedded := embeddedStruct(sf)
		if tag == "-" || !sf.IsExported() && embedded == nil {
			continue
		}
		index := append(slices.Clone(prefix), i)
		f := newField(sf, tag, index)
		if embedded != nil && !f.tagged {
			out = append(out, gather(embedded, index, inside)...)
			continue
		}
		out = append(out, f)
	}
	return out
}

func embeddedStruct(sf reflect.StructField) reflect.Type {
	if !sf.Anonymous {
		return nil
	}
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

func newField(sf reflect.StructField, tag string, index []int) field {
	name, options, _ := strings.Cut(tag, ",")
	has := func(option string) bool { return slices.Contains(strings.Split(options, ","), option) }
	f := field{name: name, index: index, typ: sf.Type, tagged: validName(name), empty: has("omitempty")}
	if !f.tagged {
		f.name = sf.Name
	}
	if has("omitzero") {
		f.zero = zeroTest(sf.Type)
	}
	f.quoted = has("string")
	f.verbatim = sf.Tag.Get("canon") == "verbatim" && sf.Type == rawType
	f.required = sf.Type.Kind() != reflect.Pointer && !f.empty && f.zero == nil
	label, _ := appendString([]byte{','}, f.name)
	f.label = string(label) + ":"
	return f
}

func validName(name string) bool {
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return name != ""
}

type isZeroer interface{ IsZero() bool }

func zeroTest(t reflect.Type) func(reflect.Value) bool {
	zeroer := reflect.TypeFor[isZeroer]()
	switch {
	case t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer:
		return func(v reflect.Value) bool {
			return v.IsNil() || t.Implements(zeroer) && v.Interface().(isZeroer).IsZero()
		}
	case t.Implements(zeroer):
		return func(v reflect.Value) bool { return v.Interface().(isZeroer).IsZero() }
	case reflect.PointerTo(t).Implements(zeroer):
		return func(v reflect.Value) bool { return pointerTo(v).Interface().(isZeroer).IsZero() }
	}
	return reflect.Value.IsZero
}

// omitted says whether the field's own options leave v out.
func (f *field) omitted(v reflect.Value) bool {
	if f.empty && emptyValue(v) {
		return true
	}
	return f.zero != nil && f.zero(v)
}

func emptyValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// in finds the field in v; not ok when an embedded pointer on the way is nil.
func (f *field) in(v reflect.Value) (reflect.Value, bool) {
	if len(f.index) == 1 {
		return v.Field(f.index[0]), true
	}
	for i, x := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v, true
}

// make is in, with the embedded pointers on the way filled.
func (f *field) make(v reflect.Value) reflect.Value {
	for i, x := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v
}
