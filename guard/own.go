package guard

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/internal/canon"
)

// ownFor is how a verified value comes into memory of its own, in the form in which it will be stored. raw is its canonical JSON.
func ownFor[T any](i *FactInfo) func(v any, raw []byte) (any, error) {
	decode := func(_ any, raw []byte) (any, error) { return i.decode(raw) }
	switch t := reflect.TypeFor[T](); {
	case t == reflect.TypeFor[Reply]():
		return func(v any, raw []byte) (any, error) {
			if own, plain := v.(Reply).own(); plain {
				return own, nil
			}
			return decode(v, raw)
		}
	case !decodesToItself(t):
		return decode
	case t.Kind() != reflect.Struct:
		return func(v any, _ []byte) (any, error) { return v, nil }
	}
	return func(v any, _ []byte) (any, error) {
		if err := Validate(v); err != nil {
			return nil, err
		}
		return v, nil
	}
}

// decodesToItself tells whether each value of a type that can be encoded decodes to an equal one, and an assignment copies all of it:
// no memory that another could change, no methods that encode, nothing that is left out.
func decodesToItself(t reflect.Type) bool {
	if t == reflect.TypeFor[json.Number]() || encodesItself(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Struct:
		return fieldsDecodeToThemselves(t)
	}
	return false
}

func fieldsDecodeToThemselves(t reflect.Type) bool {
	named := map[string]bool{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name = cmp.Or(name, f.Name); name == "-" || named[name] || !f.IsExported() || f.Anonymous || !decodesToItself(f.Type) {
			return false
		}
		named[name] = true
	}
	return true
}

func encodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// sameFor compares two values of a type, by their canonical bytes unless that comes to the same: two values that would be stored alike are
// the same, whatever their memory looks like.
func sameFor[T any]() func(a, b any) bool {
	if decodesToItself(reflect.TypeFor[T]()) {
		return func(a, b any) bool { return a == b }
	}
	return canon.Equal
}

// own is the reply as it would be decoded, when its validate tags plainly hold and its instant is one that decodes to itself; else false,
// and decoding decides.
func (r Reply) own() (Reply, bool) {
	if !fits(r.By, MaxMessage) || len(r.Text) > MaxReplyText || r.Choice != ChoiceNone && r.Choice != ChoiceYes && r.Choice != ChoiceNo {
		return r, false
	}
	if r.Roles = slices.Clone(r.Roles); len(r.Roles) == 0 {
		r.Roles = nil
	}
	if r.Shown == nil {
		return r, true
	}
	shown := *r.Shown
	if !fits(shown.Message, MaxMessage) || shown.At.IsZero() || shown.At.Location() != time.UTC {
		return r, false
	}
	shown.At = shown.At.Round(0)
	r.Shown = &shown
	return r, true
}

func fits(text string, most int) bool { return text != "" && len(text) <= most }
