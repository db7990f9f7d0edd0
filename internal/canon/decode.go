package canon

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Decode reads one JSON document into dst, a pointer, and is strict about both form (all that Scan
// refuses) and type: an unknown key, a declared name in other case, a missing field (all are required
// but pointers and those tagged omitempty or omitzero), null for anything but a pointer, an any or a
// json.RawMessage, JSON of another type, an array of another length, and a number that the field
// cannot hold exactly. Numbers in an any stay json.Number. It reports the first fault as a
// *SyntaxError, and then dst is unchanged. What a json.Unmarshaler does with its own bytes, once they
// have passed Scan, is its own affair.
func Decode(raw []byte, dst any, lim Limits) error {
	target := reflect.ValueOf(dst)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return &SyntaxError{Code: CodeUnsupported, Text: fmt.Sprintf("cannot decode into a %T", dst)}
	}
	v := reflect.New(target.Type().Elem()).Elem()
	if err := decodeWhole(raw, v, lim); err != nil {
		return err
	}
	target.Elem().Set(v)
	return nil
}

// DecodeNew is Decode into a new T.
func DecodeNew[T any](raw []byte, lim Limits) (T, error) {
	v := new(T)
	if err := decodeWhole(raw, reflect.ValueOf(v).Elem(), lim); err != nil {
		var none T
		return none, err
	}
	return *v, nil
}

// decodeWhole reads the whole document into a zero value; after an error that holds some of it.
func decodeWhole(raw []byte, v reflect.Value, lim Limits) error {
	p, err := newParser(raw, lim)
	if err != nil {
		return err
	}
	defer p.free()
	if err := codecOf(v.Type()).read(p, v); err != nil {
		return err
	}
	return p.end()
}

// read is parse, behind the check for null.
func (c *codec) read(p *parser, v reflect.Value) error {
	if p.kind() != kindNull || c.nullable {
		return c.parse(p, v)
	}
	start := p.pos
	if err := p.literal("null"); err != nil {
		return err
	}
	return p.fail(start, CodeNull, "null where a value is required")
}

// expect passes over a value of another kind, to report what is not JSON at all as such.
func (p *parser) expect(want kind) error {
	got, start := p.kind(), p.pos
	if got == want {
		return nil
	}
	if err := p.skip(); err != nil {
		return err
	}
	return p.fail(start, CodeWrongType, fmt.Sprintf("%s where %s is expected", got, want))
}

func parseBool(p *parser, v reflect.Value) error {
	if err := p.expect(kindBool); err != nil {
		return err
	}
	b, err := p.boolean()
	v.SetBool(b)
	return err
}

func (p *parser) expectText() ([]byte, error) {
	if err := p.expect(kindString); err != nil {
		return nil, err
	}
	return p.text()
}

func parseString(p *parser, v reflect.Value) error {
	s, err := p.expectText()
	v.SetString(string(s))
	return err
}

func parseBytes(p *parser, v reflect.Value) error {
	start := p.pos
	s, err := p.expectText()
	if err != nil {
		return err
	}
	b, err := base64.StdEncoding.Strict().DecodeString(string(s))
	if err != nil || strings.ContainsAny(string(s), "\r\n") {
		return p.fail(start, CodeWrongType, "not base64")
	}
	v.SetBytes(b)
	return nil
}

func parseUnmarshaler(p *parser, v reflect.Value) error {
	p.space()
	start := p.pos
	if err := p.skip(); err != nil {
		return err
	}
	err := v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(slices.Clone(p.raw[start:p.pos]))
	if err != nil {
		return p.fail(start, CodeWrongType, fmt.Sprintf("not a %s: %v", v.Type(), err))
	}
	return nil
}

func parseTextUnmarshaler(p *parser, v reflect.Value) error {
	start := p.pos
	s, err := p.expectText()
	if err != nil {
		return err
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(slices.Clone(s)); err != nil {
		return p.fail(start, CodeWrongType, fmt.Sprintf("not a %s: %v", v.Type(), err))
	}
	return nil
}

func parseRawMessage(p *parser, v reflect.Value) error {
	p.space()
	start := p.pos
	if err := p.skip(); err != nil {
		return err
	}
	v.SetBytes(slices.Clone(p.raw[start:p.pos]))
	return nil
}

func parseSlice(elem *codec) func(*parser, reflect.Value) error {
	return func(p *parser, v reflect.Value) error {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return p.elements(func(n int) error {
			v.Grow(1)
			v.SetLen(n + 1)
			return elem.read(p, v.Index(n))
		})
	}
}

func parseArray(elem *codec) func(*parser, reflect.Value) error {
	return func(p *parser, v reflect.Value) error {
		start, length := p.pos, 0
		err := p.elements(func(n int) error {
			if n >= v.Len() {
				return p.fail(p.pos, CodeWrongType, fmt.Sprintf("more than %d elements", v.Len()))
			}
			length = n + 1
			return elem.read(p, v.Index(n))
		})
		if err == nil && length < v.Len() {
			return p.fail(start, CodeWrongType, fmt.Sprintf("%d elements where %d are expected", length, v.Len()))
		}
		return err
	}
}

func (p *parser) elements(each func(n int) error) error {
	if err := p.expect(kindArray); err != nil {
		return err
	}
	if err := p.open(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		more, err := p.more(n, ']')
		if err != nil || !more {
			return err
		}
		if err := each(n); err != nil {
			return at(err, strconv.Itoa(n))
		}
	}
}

func parseAny(p *parser, v reflect.Value) error {
	value, err := p.any()
	if err == nil && value != nil {
		v.Set(reflect.ValueOf(value))
	}
	return err
}

func (p *parser) any() (any, error) {
	switch p.kind() {
	case kindNull:
		return nil, p.literal("null")
	case kindBool:
		return p.boolean()
	case kindNumber:
		n, err := p.number()
		return json.Number(n), err
	case kindString:
		s, err := p.text()
		return string(s), err
	case kindArray:
		out := []any{}
		return out, read(p, &out)
	case kindObject:
		out := map[string]any{}
		return out, read(p, &out)
	}
	return nil, p.unexpected("a value")
}

func read[T any](p *parser, dst *T) error {
	return codecOf(reflect.TypeFor[T]()).read(p, reflect.ValueOf(dst).Elem())
}

func parseQuoted(inner *codec) func(*parser, reflect.Value) error {
	return func(p *parser, v reflect.Value) error {
		start := p.pos
		s, err := p.expectText()
		if err != nil {
			return err
		}
		q := &parser{raw: s, maxDepth: 1}
		err = inner.read(q, v)
		if err == nil {
			err = q.end()
		}
		if e, ok := err.(*SyntaxError); ok {
			e.Offset = start
		}
		return err
	}
}
