package canon

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"
)

// codec encodes and decodes one Go type.
type codec struct {
	append func(dst []byte, v reflect.Value, depth int) ([]byte, error)
	parse  func(p *parser, v reflect.Value) error // into v, which can be set; not called for null unless nullable

	nullable bool
}

var (
	codecs    sync.Map // reflect.Type to *codec, complete ones only
	compiling sync.Mutex

	timeType      = reflect.TypeFor[time.Time]()
	numberType    = reflect.TypeFor[json.Number]()
	rawType       = reflect.TypeFor[json.RawMessage]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
	unmarshaler   = reflect.TypeFor[json.Unmarshaler]()
	textMarshal   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshal = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func codecOf(t reflect.Type) *codec {
	if c, ok := codecs.Load(t); ok {
		return c.(*codec)
	}
	compiling.Lock()
	defer compiling.Unlock()
	made := compiler{}
	c := made.codec(t)
	for t, c := range made {
		codecs.LoadOrStore(t, c)
	}
	return c
}

// compiler holds the codecs of one compilation; those of recursive types are filled before any is used.
type compiler map[reflect.Type]*codec

func (m compiler) codec(t reflect.Type) *codec {
	if c, ok := codecs.Load(t); ok {
		return c.(*codec)
	}
	if c, ok := m[t]; ok {
		return c
	}
	c := &codec{}
	m[t] = c
	*c = m.compile(t)
	return c
}

func (m compiler) compile(t reflect.Type) codec {
	switch t {
	case timeType:
		return codec{append: appendTime, parse: parseUnmarshaler}
	case numberType:
		return codec{append: appendNumber, parse: parseNumber}
	case rawType:
		return codec{append: appendRawMessage, parse: parseRawMessage, nullable: true}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return pointerCodec(m.codec(t.Elem()))
	case reflect.Interface:
		return interfaceCodec(t)
	}
	c := m.compileKind(t)
	m.methods(t, &c)
	return c
}

// methods lets the type's own methods replace what its kind would do, each direction by itself.
func (m compiler) methods(t reflect.Type, c *codec) {
	p := reflect.PointerTo(t)
	switch {
	case p.Implements(marshaler):
		c.append = appendMarshaler(t)
	case p.Implements(textMarshal):
		c.append = appendTextMarshaler(t)
	}
	switch {
	case p.Implements(unmarshaler):
		c.parse = parseUnmarshaler
	case p.Implements(textUnmarshal):
		c.parse = parseTextUnmarshaler
	}
}

func (m compiler) compileKind(t reflect.Type) codec {
	switch t.Kind() {
	case reflect.Bool:
		return codec{append: appendBool, parse: parseBool}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return codec{append: appendInt, parse: parseInt}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return codec{append: appendUint, parse: parseUint}
	case reflect.Float32, reflect.Float64:
		return codec{append: appendFloat, parse: parseFloat}
	case reflect.String:
		return codec{append: appendStringValue, parse: parseString}
	case reflect.Struct:
		return m.structCodec(t)
	case reflect.Map:
		return m.mapCodec(t)
	case reflect.Slice:
		if plainBytes(t.Elem()) {
			return codec{append: appendBytes, parse: parseBytes}
		}
		elem := m.codec(t.Elem())
		return codec{append: appendList(elem), parse: parseSlice(elem)}
	case reflect.Array:
		elem := m.codec(t.Elem())
		return codec{append: appendList(elem), parse: parseArray(elem)}
	}
	return unsupported(fmt.Sprintf("JSON cannot hold a %s", t))
}

func plainBytes(elem reflect.Type) bool {
	p := reflect.PointerTo(elem)
	return elem.Kind() == reflect.Uint8 && !p.Implements(marshaler) && !p.Implements(textMarshal)
}

func unsupported(why string) codec {
	return codec{
		append: func([]byte, reflect.Value, int) ([]byte, error) { return nil, &encodeError{err: fmt.Errorf("%s", why)} },
		parse: func(p *parser, _ reflect.Value) error {
			return p.fail(p.pos, CodeUnsupported, why)
		},
	}
}

func pointerCodec(elem *codec) codec {
	return codec{
		nullable: true,
		append: func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
			if v.IsNil() {
				return append(dst, "null"...), nil
			}
			return elem.append(dst, v.Elem(), depth)
		},
		parse: func(p *parser, v reflect.Value) error {
			if p.kind() == kindNull {
				return p.literal("null")
			}
			v.Set(reflect.New(v.Type().Elem()))
			return elem.read(p, v.Elem())
		},
	}
}

func interfaceCodec(t reflect.Type) codec {
	c := unsupported(fmt.Sprintf("a %s does not say which type to decode", t))
	if t.NumMethod() == 0 {
		c.parse, c.nullable = parseAny, true
	}
	c.append = func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		v = v.Elem()
		return codecOf(v.Type()).append(dst, v, depth)
	}
	return c
}

// structCodec refuses a type with names that differ only by case: no document could name both.
func (m compiler) structCodec(t reflect.Type) codec {
	s := &structType{fields: fieldsOf(t), byName: map[string]int{}, byFold: map[string]int{}}
	for i := range s.fields {
		f := &s.fields[i]
		if other, ok := s.byFold[fold(f.name)]; ok {
			return unsupported(fmt.Sprintf("%s: fields %q and %q differ only by case", t, s.fields[other].name, f.name))
		}
		s.byName[f.name], s.byFold[fold(f.name)] = i, i
		if unsettable(t, f.index) {
			return unsupported(fmt.Sprintf("%s: field %q is, or is behind a pointer to, an embedded unexported type", t, f.name))
		}
		f.codec = m.codec(f.typ)
		switch {
		case f.quoted:
			f.codec = m.quotedCodec(f.typ)
		case f.verbatim:
			f.codec = &codec{append: appendVerbatim, parse: parseRawMessage, nullable: true}
		}
	}
	return codec{append: s.append, parse: s.parse}
}

// unsettable says whether decoding could not fill a field: its last step, or a pointer on the way, is unexported.
func unsettable(t reflect.Type, index []int) bool {
	for i, x := range index {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		sf := t.Field(x)
		t = sf.Type
		if !sf.IsExported() && (i == len(index)-1 || t.Kind() == reflect.Pointer) {
			return true
		}
	}
	return false
}

// quotedCodec is for the ",string" option: the JSON of a scalar inside a string.
func (m compiler) quotedCodec(t reflect.Type) *codec {
	inner := m.codec(t)
	switch t.Kind() {
	case reflect.Pointer:
		c := pointerCodec(m.quotedCodec(t.Elem()))
		return &c
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return &codec{append: appendQuoted(inner), parse: parseQuoted(inner)}
	}
	return inner
}
