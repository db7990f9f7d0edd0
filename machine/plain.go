package machine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlgo/pawl/internal/visible"
)

// Plain writes a value for a person, as questions and reports do: the fields of a struct by their JSON names, in declared order; a
// value that has a String method by that; nil as unknown.
func Plain(v any) string {
	if v == nil {
		return "unknown"
	}
	return plain(v)
}

// plain writes a value for a person: the fields of a struct by their JSON names, in declared order; a value that has a
// String method by that. Characters that cannot be seen, or that reorder others, are written out (field case B042).
func plain(v any) string { return string(appendPlain(nil, v)) }

func appendPlain(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "none"...)
	case fmt.Stringer:
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() {
			return append(b, "none"...)
		}
		return append(b, visible.Text(v.String())...)
	case json.RawMessage:
		return append(b, visible.Text(string(v))...)
	case []byte:
		return strconv.AppendQuote(b, string(v))
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Struct:
		return appendPlainFields(b, rv)
	case reflect.Map:
		return append(b, plainMap(rv)...)
	case reflect.Slice, reflect.Array:
		for i := range rv.Len() {
			if i > 0 {
				b = append(b, " and "...)
			}
			b = appendPlain(b, rv.Index(i).Interface())
		}
		return b
	case reflect.Pointer:
		if rv.IsNil() {
			return append(b, "none"...)
		}
		return appendPlain(b, rv.Elem().Interface())
	case reflect.String:
		return strconv.AppendQuote(b, rv.String())
	}
	return append(b, visible.Text(fmt.Sprint(v))...)
}

func appendPlainFields(b []byte, rv reflect.Value) []byte {
	before := ""
	for i := range rv.NumField() {
		f := rv.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch name {
		case "-":
			continue
		case "":
			name = f.Name
		}
		b = append(append(append(b, before...), words(name)...), ' ')
		b, before = appendPlain(b, rv.Field(i).Interface()), ", "
	}
	return b
}

// plainMap writes the entries in the order of their keys.
func plainMap(rv reflect.Value) string {
	parts := make([]string, 0, rv.Len())
	for it := rv.MapRange(); it.Next(); {
		parts = append(parts, visible.Text(fmt.Sprint(it.Key().Interface()))+" "+plain(it.Value().Interface()))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
