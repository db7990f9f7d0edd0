package canon

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
)

// structType is what encoding and decoding know of a struct type.
type structType struct {
	fields []field
	byName map[string]int
	byFold map[string]int
}

func (s *structType) parse(p *parser, v reflect.Value) error {
	if err := p.expect(kindObject); err != nil {
		return err
	}
	if err := p.open(); err != nil {
		return err
	}
	var few [32]bool
	seen := few[:]
	if len(s.fields) > len(few) {
		seen = make([]bool, len(s.fields))
	}
	for n := 0; ; n++ {
		more, err := p.more(n, '}')
		if err != nil {
			return err
		}
		if !more {
			return s.complete(p, v, seen)
		}
		key, offset, err := p.key()
		if err != nil {
			return err
		}
		f, err := s.field(p, key, offset, seen)
		if err != nil {
			return err
		}
		if err := f.codec.read(p, f.make(v)); err != nil {
			return at(err, f.name)
		}
	}
}

func (s *structType) field(p *parser, key []byte, offset int, seen []bool) (*field, error) {
	i, ok := s.byName[string(key)]
	if ok && !seen[i] {
		seen[i] = true
		return &s.fields[i], nil
	}
	name := string(key)
	if ok {
		return nil, at(p.fail(offset, CodeDuplicateKey, quoted(name)+" is here already"), name)
	}
	if i, ok := s.byFold[fold(name)]; ok {
		return nil, at(p.fail(offset, CodeCaseVariantKey, quoted(name)+" is written "+quoted(s.fields[i].name)), name)
	}
	return nil, at(p.fail(offset, CodeUnknownField, quoted(name)+" is not declared"), name)
}

// complete reports a missing field; one behind an embedded pointer is required if that is there.
func (s *structType) complete(p *parser, v reflect.Value, seen []bool) error {
	for i := range s.fields {
		f := &s.fields[i]
		if seen[i] || !f.required {
			continue
		}
		if _, ok := f.in(v); ok {
			return at(p.fail(p.pos-1, CodeMissingField, quoted(f.name)+" is required"), f.name)
		}
	}
	return nil
}

func (m compiler) mapCodec(t reflect.Type) codec {
	write, read := mapKeys(t.Key())
	if write == nil {
		return unsupported(fmt.Sprintf("JSON cannot hold keys of type %s", t.Key()))
	}
	elem := m.codec(t.Elem())
	return codec{append: appendMap(write, elem), parse: parseMap(read, elem)}
}

func parseMap(readKey func(string, reflect.Value) error, elem *codec) func(*parser, reflect.Value) error {
	return func(p *parser, v reflect.Value) error {
		if err := p.expect(kindObject); err != nil {
			return err
		}
		if err := p.open(); err != nil {
			return err
		}
		v.Set(reflect.MakeMap(v.Type()))
		var seen keySet
		for n := 0; ; n++ {
			more, err := p.more(n, '}')
			if err != nil || !more {
				return err
			}
			if err := parseMember(p, v, &seen, readKey, elem); err != nil {
				return err
			}
		}
	}
}

func parseMember(p *parser, v reflect.Value, seen *keySet, readKey func(string, reflect.Value) error, elem *codec) error {
	p.space()
	start := p.pos
	name, err := p.uniqueKey(seen)
	if err != nil {
		return err
	}
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	if err := readKey(name, key); err != nil {
		return at(p.fail(start, CodeWrongType, fmt.Sprintf("key is not a %s: %v", key.Type(), err)), name)
	}
	if v.MapIndex(key).IsValid() {
		return at(p.fail(start, CodeDuplicateKey, quoted(name)+" is here already in another spelling"), name)
	}
	if err := elem.read(p, value); err != nil {
		return at(err, name)
	}
	v.SetMapIndex(key, value)
	return nil
}

// mapKeys gives the text of a key and the way back, by the rules of encoding/json, nil if there is none.
func mapKeys(t reflect.Type) (write func(reflect.Value) (string, error), read func(string, reflect.Value) error) {
	switch t.Kind() {
	case reflect.String:
		write = func(v reflect.Value) (string, error) { return v.String(), nil }
		read = func(s string, v reflect.Value) error { v.SetString(s); return nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		write = func(v reflect.Value) (string, error) { return strconv.FormatInt(v.Int(), 10), nil }
		read = readIntKey
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		write = func(v reflect.Value) (string, error) { return strconv.FormatUint(v.Uint(), 10), nil }
		read = readUintKey
	}
	p := reflect.PointerTo(t)
	if t.Kind() != reflect.String && p.Implements(textMarshal) {
		as := method(t, textMarshal)
		write = func(v reflect.Value) (string, error) {
			text, err := as(v).(encoding.TextMarshaler).MarshalText()
			return string(text), err
		}
	}
	if p.Implements(textUnmarshal) {
		read = func(s string, v reflect.Value) error {
			return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
		}
	}
	if write == nil || read == nil {
		return nil, nil
	}
	return write, read
}

func readIntKey(s string, v reflect.Value) error {
	n, err := strconv.ParseInt(s, 10, v.Type().Bits())
	if err == nil && strconv.FormatInt(n, 10) != s {
		err = strconv.ErrSyntax
	}
	v.SetInt(n)
	return err
}

func readUintKey(s string, v reflect.Value) error {
	n, err := strconv.ParseUint(s, 10, v.Type().Bits())
	if err == nil && strconv.FormatUint(n, 10) != s {
		err = strconv.ErrSyntax
	}
	v.SetUint(n)
	return err
}
