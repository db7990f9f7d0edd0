package projection

import (
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// dateForm is how instants are shown: exact to the minute, with their zone.
const dateForm = "2006-01-02 15:04 MST"

// maxListed is how many values of one list are shown; the rest is counted.
const maxListed = 32

// atom is one value that can be shown, and how long it was before it was cut.
type atom struct {
	text string
	free bool // shown without quotes: made by a program, of calm characters
	size int
}

// value is what a line shows: one atom, or a list of them.
type value struct {
	one  atom
	many []atom
	list bool
	more int // values of the list that are not shown
}

// shown makes a value of what a field, a fact or its Show gave.
func (d *Decision) shown(v any) (value, error) {
	if a, ok := d.scalar(v); ok {
		return value{one: a}, nil
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Pointer:
		if rv.IsNil() {
			return value{one: d.word(d.words.None)}, nil
		}
		return d.shown(rv.Elem().Interface())
	case reflect.Slice, reflect.Array:
		out := value{list: true, many: make([]atom, 0, min(rv.Len(), maxListed))}
		for i := range min(rv.Len(), maxListed) {
			a, ok := d.scalar(rv.Index(i).Interface())
			if !ok {
				return value{}, fmt.Errorf("%v: %w", rv.Type(), ErrValue)
			}
			out.many = append(out.many, a)
		}
		out.more = rv.Len() - len(out.many)
		return out, nil
	}
	return value{}, fmt.Errorf("%T: %w", v, ErrValue)
}

func (d *Decision) word(text string) atom { return atom{text: text, free: true, size: len(text)} }

// scalar makes an atom. A string is always quoted, whatever it says; only what a program made may stand free.
func (d *Decision) scalar(v any) (atom, bool) {
	switch x := v.(type) {
	case string:
		return cutAtom(x, false), true
	case bool:
		if x {
			return d.word(d.words.Yes), true
		}
		return d.word(d.words.No), true
	case int:
		return d.word(strconv.Itoa(x)), true
	case int64:
		return d.word(strconv.FormatInt(x, 10)), true
	case time.Time:
		if x.IsZero() {
			return d.word(d.words.None), true
		}
		return d.word(x.In(d.zone).Format(dateForm)), true
	case nil:
		return d.word(d.words.None), true
	}
	rv := reflect.ValueOf(v)
	if s, ok := v.(fmt.Stringer); ok && !(rv.Kind() == reflect.Pointer && rv.IsNil()) {
		text := s.String()
		return cutAtom(text, rv.Kind() != reflect.String && calm(text)), true
	}
	switch rv.Kind() {
	case reflect.String:
		return cutAtom(rv.String(), false), true
	case reflect.Bool:
		return d.scalar(rv.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return d.word(strconv.FormatInt(rv.Int(), 10)), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return d.word(strconv.FormatUint(rv.Uint(), 10)), true
	case reflect.Float32, reflect.Float64:
		return d.word(strconv.FormatFloat(rv.Float(), 'g', -1, rv.Type().Bits())), true
	}
	return atom{}, false
}

func cutAtom(text string, free bool) atom {
	return atom{cutText(text, MaxValue), free, len(text)}
}

// appendTo writes the value for Markdown.
func (v value) appendTo(dst []byte, w *Words) []byte {
	if !v.list {
		return v.one.appendTo(dst, w)
	}
	if len(v.many) == 0 {
		return append(dst, w.None...)
	}
	for i, a := range v.many {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = a.appendTo(dst, w)
	}
	if v.more > 0 {
		dst = fill(append(dst, ' '), w.More, number(v.more))
	}
	return dst
}

func (a atom) appendTo(dst []byte, w *Words) []byte {
	if a.free {
		return append(dst, a.text...)
	}
	dst = appendQuoted(dst, a.text)
	if a.size > len(a.text) {
		dst = fill(append(dst, ' '), w.Cut, numbers(len(a.text), a.size))
	}
	return dst
}

// appendJSON writes the value as a string or a list of strings.
func (v value) appendJSON(dst []byte) []byte {
	if !v.list {
		return appendQuoted(dst, v.one.text)
	}
	w := members{dst: dst}
	w.list(len(v.many), func(dst []byte, i int) []byte { return appendQuoted(dst, v.many[i].text) })
	return w.dst
}

// canShow tells whether every value of a type can be shown.
func canShow(t reflect.Type) bool {
	if t == timeType || t.Implements(reflect.TypeFor[fmt.Stringer]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer:
		return canShow(t.Elem())
	case reflect.Slice, reflect.Array:
		return t.Elem().Kind() != reflect.Slice && canShow(t.Elem())
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return true
	}
	return false
}
