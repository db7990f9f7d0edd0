package machine

import (
	"fmt"
	"reflect"
	"strings"
)

// Plain writes a value for a person: the fields of a struct by their JSON names, in declared order; a value that has a String
// method by that; nil as unknown.
func Plain(v any) string {
	if v == nil {
		return "unknown"
	}
	return plain(v)
}

func plain(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Struct:
		return plainFields(rv)
	case reflect.Slice:
		parts := make([]string, rv.Len())
		for i := range rv.Len() {
			parts[i] = plain(rv.Index(i).Interface())
		}
		return strings.Join(parts, " and ")
	case reflect.Pointer:
		if rv.IsNil() {
			return "none"
		}
		return plain(rv.Elem().Interface())
	case reflect.String:
		return fmt.Sprintf("%q", rv.String())
	}
	return fmt.Sprint(v)
}

func plainFields(rv reflect.Value) string {
	var parts []string
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
		parts = append(parts, words(name)+" "+plain(rv.Field(i).Interface()))
	}
	return strings.Join(parts, ", ")
}
