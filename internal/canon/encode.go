package canon

import (
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

var errDeep = fmt.Errorf("nested deeper than %d", DefaultDepth)

func appendBool(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	return strconv.AppendBool(dst, v.Bool()), nil
}

func appendInt(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	return strconv.AppendInt(dst, v.Int(), 10), nil
}

func appendUint(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	return strconv.AppendUint(dst, v.Uint(), 10), nil
}

// exactIntegers is the size up to which every integer is a float of so many bits. Beyond it a plain
// integer is refused by Decode, so floats are written with an exponent.
func exactIntegers(bits int) float64 {
	if bits == 32 {
		return 1 << 24
	}
	return 1 << 53
}

func appendFloat(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	f, bits := v.Float(), v.Type().Bits()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, &encodeError{err: fmt.Errorf("%v is not a JSON number", f)}
	}
	format := byte('f')
	if abs := math.Abs(f); abs > exactIntegers(bits) || abs != 0 && abs < 1e-6 {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, bits)
	if n := len(dst); format == 'e' && dst[n-4] == 'e' && dst[n-2] == '0' { // e-07 is e-7, as encoding/json writes it
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst, nil
}

func appendStringValue(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	return appendString(dst, v.String())
}

func appendString(dst []byte, s string) ([]byte, error) {
	dst = append(dst, '"')
	from := 0
	for i := plainTo(s, 0); i < len(s); i = plainTo(s, i) {
		if c := s[i]; c < utf8.RuneSelf {
			dst = appendEscape(append(dst, s[from:i]...), c)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return nil, &encodeError{err: fmt.Errorf("invalid UTF-8 at byte %d", i)}
		}
		i += n
	}
	return append(append(dst, s[from:]...), '"'), nil
}

// plain are the bytes that stand for themselves in a JSON string.
var plain = func() (is [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// plainTo is where the next byte at or after i is that does not stand for itself.
func plainTo(s string, i int) int {
	for i < len(s) && plain[s[i]] {
		i++
	}
	return i
}

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

func appendBytes(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, v.Bytes())
	return append(dst, '"'), nil
}

func appendList(elem *codec) func([]byte, reflect.Value, int) ([]byte, error) {
	return func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
		if depth >= DefaultDepth {
			return nil, &encodeError{err: errDeep}
		}
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = elem.append(dst, v.Index(i), depth+1); err != nil {
				return nil, within(err, strconv.Itoa(i))
			}
		}
		return append(dst, ']'), nil
	}
}

func (s *structType) append(dst []byte, v reflect.Value, depth int) ([]byte, error) {
	if depth >= DefaultDepth {
		return nil, &encodeError{err: errDeep}
	}
	dst = append(dst, '{')
	from := 1 // the first label comes without its comma
	for i := range s.fields {
		f := &s.fields[i]
		fv, ok := f.in(v)
		if !ok || f.omitted(fv) {
			continue
		}
		dst = append(dst, f.label[from:]...)
		from = 0
		var err error
		if dst, err = f.codec.append(dst, fv, depth+1); err != nil {
			return nil, within(err, f.name)
		}
	}
	return append(dst, '}'), nil
}

type member[V any] struct {
	key   string
	value V
}

// appendMembers sorts and writes the members of an object without a declared order.
func appendMembers[V any](dst []byte, all []member[V], write func([]byte, V) ([]byte, error)) ([]byte, error) {
	slices.SortFunc(all, func(a, b member[V]) int { return cmp.Compare(a.key, b.key) })
	var seen keySet
	dst = append(dst, '{')
	for i, m := range all {
		if code := seen.add(m.key); code != "" {
			return nil, within(&encodeError{err: errors.New(code)}, m.key)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendString(dst, m.key); err != nil {
			return nil, within(err, m.key)
		}
		if dst, err = write(append(dst, ':'), m.value); err != nil {
			return nil, within(err, m.key)
		}
	}
	return append(dst, '}'), nil
}

func appendMap(key func(reflect.Value) (string, error), elem *codec) func([]byte, reflect.Value, int) ([]byte, error) {
	return func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
		if depth >= DefaultDepth {
			return nil, &encodeError{err: errDeep}
		}
		all := make([]member[reflect.Value], 0, v.Len())
		for it := v.MapRange(); it.Next(); {
			name, err := key(it.Key())
			if err != nil {
				return nil, &encodeError{err: fmt.Errorf("key: %w", err)}
			}
			all = append(all, member[reflect.Value]{name, it.Value()})
		}
		return appendMembers(dst, all, func(dst []byte, v reflect.Value) ([]byte, error) { return elem.append(dst, v, depth+1) })
	}
}

// pointerTo is the address of v, or of a copy of it.
func pointerTo(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v.Addr()
	}
	c := reflect.New(v.Type())
	c.Elem().Set(v)
	return c
}

// method gives v the method set that implements an interface of its type or of a pointer to it.
func method(t, face reflect.Type) func(reflect.Value) any {
	if t.Implements(face) {
		return reflect.Value.Interface
	}
	return func(v reflect.Value) any { return pointerTo(v).Interface() }
}

func appendMarshaler(t reflect.Type) func([]byte, reflect.Value, int) ([]byte, error) {
	as := method(t, marshaler)
	return func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
		raw, err := as(v).(json.Marshaler).MarshalJSON()
		if err != nil {
			return nil, &encodeError{err: fmt.Errorf("%s: %w", t, err)}
		}
		n := len(dst)
		if dst, err = appendRaw(dst, raw, depth); err != nil {
			return nil, &encodeError{err: fmt.Errorf("%s gave JSON that is refused: %w", t, err)}
		}
		if string(dst[n:]) == "null" {
			return nil, &encodeError{err: fmt.Errorf("%s gave null, which is not read back; use a pointer", t)}
		}
		return dst, nil
	}
}

func appendTextMarshaler(t reflect.Type) func([]byte, reflect.Value, int) ([]byte, error) {
	as := method(t, textMarshal)
	return func(dst []byte, v reflect.Value, _ int) ([]byte, error) {
		text, err := as(v).(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return nil, &encodeError{err: fmt.Errorf("%s: %w", t, err)}
		}
		return appendString(dst, string(text))
	}
}

// appendTime writes RFC 3339 as time.Time.MarshalJSON does, without its allocations.
func appendTime(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	dst, err := pointerTo(v).Interface().(*time.Time).AppendText(append(dst, '"'))
	if err != nil {
		return nil, &encodeError{err: err}
	}
	return append(dst, '"'), nil
}

func appendNumber(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	s := v.String()
	if s == "" {
		return append(dst, '0'), nil // as encoding/json does: the zero Number is a number
	}
	p := parser{raw: []byte(s)}
	if _, err := p.number(); err != nil || p.pos < len(s) {
		return nil, &encodeError{err: fmt.Errorf("%s is not a JSON number", quoted(s))}
	}
	return append(dst, s...), nil
}

func appendRawMessage(dst []byte, v reflect.Value, depth int) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	dst, err := appendRaw(dst, v.Bytes(), depth)
	if err != nil {
		return nil, &encodeError{err: err}
	}
	return dst, nil
}

func appendVerbatim(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	return append(dst, v.Bytes()...), nil
}

func appendQuoted(inner *codec) func([]byte, reflect.Value, int) ([]byte, error) {
	return func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
		text, err := inner.append(nil, v, depth)
		if err != nil {
			return nil, err
		}
		return appendString(dst, string(text))
	}
}
