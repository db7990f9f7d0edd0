package projection

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Schemer is implemented by payload types that have their own JSON: it is the JSON Schema of that JSON.
type Schemer interface {
	JSONSchema() json.RawMessage
}

var (
	rawType         = reflect.TypeFor[json.RawMessage]()
	numberType      = reflect.TypeFor[json.Number]()
	timeType        = reflect.TypeFor[time.Time]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
	textType        = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// schemaOf describes what [guard.Decode] takes for a type. It fails for types that no schema can describe.
func schemaOf(t reflect.Type) (*schema, error) {
	s, err := (&typeReader{}).read(t)
	if err != nil {
		return nil, err
	}
	switch levels, fields := s.size(); {
	case levels > MaxNesting:
		return nil, fmt.Errorf("%v nests %d levels deep, at most %d", t, levels, MaxNesting)
	case fields > MaxFields:
		return nil, fmt.Errorf("%v has %d fields, at most %d", t, fields, MaxFields)
	}
	return s, nil
}

// typeReader remembers which types it is inside of.
type typeReader struct{ above []reflect.Type }

func (r *typeReader) read(t reflect.Type) (*schema, error) {
	if slices.Contains(r.above, t) {
		return nil, fmt.Errorf("%v holds itself", t)
	}
	r.above = append(r.above, t)
	defer func() { r.above = r.above[:len(r.above)-1] }()
	p := reflect.PointerTo(t)
	switch {
	case t == rawType:
		return &schema{}, nil
	case t == numberType:
		return &schema{form: numberForm}, nil
	case t == timeType:
		return &schema{form: stringForm, format: "date-time"}, nil
	case p.Implements(reflect.TypeFor[Schemer]()):
		return &schema{raw: reflect.New(t).Interface().(Schemer).JSONSchema()}, nil
	case p.Implements(unmarshalerType):
		return nil, fmt.Errorf("%v has its own JSON: give it a method JSONSchema", t)
	case p.Implements(textType):
		return &schema{form: stringForm}, nil
	}
	return r.readKind(t)
}

func (r *typeReader) readKind(t reflect.Type) (*schema, error) {
	switch t.Kind() {
	case reflect.Bool:
		return &schema{form: booleanForm}, nil
	case reflect.Int, reflect.Int64:
		return &schema{form: integerForm}, nil
	case reflect.Int8, reflect.Int16, reflect.Int32:
		n := int64(1) << (t.Bits() - 1)
		return &schema{form: integerForm, number: bounds{fmt.Sprint(-n), fmt.Sprint(n - 1)}}, nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return &schema{form: integerForm, number: bounds{"0", fmt.Sprint(uint64(1)<<t.Bits() - 1)}}, nil
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return &schema{form: integerForm, number: bounds{min: "0"}}, nil
	case reflect.Float32, reflect.Float64:
		return &schema{form: numberForm}, nil
	case reflect.String:
		return &schema{form: stringForm}, nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return &schema{}, nil
		}
	case reflect.Pointer:
		s, err := r.read(t.Elem())
		if err == nil {
			s.nullable = true
		}
		return s, err
	case reflect.Slice, reflect.Array:
		return r.readList(t)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("%v has keys that are no strings", t)
		}
		s, err := r.read(t.Elem())
		return &schema{form: objectForm, values: s}, err
	case reflect.Struct:
		return r.readStruct(t)
	}
	return nil, fmt.Errorf("%v is no data", t)
}

func (r *typeReader) readList(t reflect.Type) (*schema, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return &schema{form: stringForm, notes: []string{"base64"}}, nil
	}
	items, err := r.read(t.Elem())
	s := &schema{form: arrayForm, items: items}
	if t.Kind() == reflect.Array {
		s.count = bounds{fmt.Sprint(t.Len()), fmt.Sprint(t.Len())}
	}
	return s, err
}

func (r *typeReader) readStruct(t reflect.Type) (*schema, error) {
	s := &schema{form: objectForm}
	seen := map[string]bool{}
	for i := range t.NumField() {
		properties, err := r.readField(t.Field(i))
		if err != nil {
			return nil, fmt.Errorf("%v.%s: %w", t, t.Field(i).Name, err)
		}
		for _, p := range properties {
			low := strings.ToLower(p.name)
			if seen[low] {
				return nil, fmt.Errorf("%v names %s twice", t, p.name)
			}
			seen[low] = true
			s.properties = append(s.properties, p)
		}
	}
	return s, nil
}

// readField is the property of a field, or those of an embedded struct.
func (r *typeReader) readField(f reflect.StructField) ([]property, error) {
	tag := f.Tag.Get("json")
	name, options, _ := strings.Cut(tag, ",")
	embedded := f.Anonymous && name == "" && tag != "-"
	switch {
	case embedded && f.Type.Kind() == reflect.Struct:
		s, err := r.read(f.Type)
		if err != nil {
			return nil, err
		}
		return s.properties, nil
	case embedded && f.Type.Kind() == reflect.Pointer:
		return nil, errors.New("an embedded pointer has no schema: embed the struct itself")
	case tag == "-" || !f.IsExported():
		return nil, nil
	}
	if name == "" {
		name = f.Name
	}
	has := func(o string) bool { return slices.Contains(strings.Split(options, ","), o) }
	if has("string") {
		return nil, errors.New("a number in a string needs a type of its own")
	}
	s, err := r.read(f.Type)
	if err != nil {
		return nil, err
	}
	s.description = f.Tag.Get("jsonschema")
	needed, err := s.rules(f.Type, f.Tag.Get("validate"))
	if err != nil {
		return nil, err
	}
	optional := has("omitempty") || has("omitzero") || f.Type.Kind() == reflect.Pointer
	s.nullable = s.nullable && !needed
	return []property{{name, s, optional && !needed}}, nil
}
