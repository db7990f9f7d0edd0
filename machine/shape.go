package machine

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

var ownForms = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

// marshals tells whether a type writes or reads itself, so that its fields say nothing about its JSON.
func marshals(t reflect.Type) bool {
	return slices.ContainsFunc(ownForms, reflect.PointerTo(t).Implements)
}

// shape writes a type as its JSON has it, with the rules of its fields: two types of one shape accept and store the same.
func shape(t reflect.Type) string { return shapeWithin(t, nil) }

func shapeWithin(t reflect.Type, above []reflect.Type) string {
	if slices.Contains(above, t) || marshals(t) {
		return t.String()
	}
	above = append(slices.Clone(above), t)
	switch t.Kind() {
	case reflect.Pointer:
		return "optional " + shapeWithin(t.Elem(), above)
	case reflect.Slice, reflect.Array:
		return "[" + shapeWithin(t.Elem(), above) + "]"
	case reflect.Map:
		return "{" + shapeWithin(t.Key(), above) + ": " + shapeWithin(t.Elem(), above) + "}"
	case reflect.Struct:
		var fields []string
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fields = append(fields, shapeField(f, above))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return t.Kind().String()
}

func shapeField(f reflect.StructField, above []reflect.Type) string {
	name := f.Tag.Get("json")
	if name == "" {
		name = f.Name
	}
	text := name + " " + shapeWithin(f.Type, above)
	for _, tag := range []string{"about", "validate"} {
		if v := f.Tag.Get(tag); v != "" {
			text += " " + tag + ":" + v
		}
	}
	return text
}
