package machine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
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
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case fmt.Stringer:
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() {
			return "none"
		}
		return visible(v.String())
	case json.RawMessage:
		return visible(string(v))
	case []byte:
		return strconv.Quote(string(v))
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Struct:
		return plainFields(rv)
	case reflect.Map:
		return plainMap(rv)
	case reflect.Slice, reflect.Array:
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
		return strconv.Quote(rv.String())
	}
	return visible(fmt.Sprint(v))
}

// visible writes out what cannot be seen, and leaves the rest alone.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
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

// plainMap writes the entries in the order of their keys.
func plainMap(rv reflect.Value) string {
	parts := make([]string, 0, rv.Len())
	for it := rv.MapRange(); it.Next(); {
		parts = append(parts, visible(fmt.Sprint(it.Key().Interface()))+" "+plain(it.Value().Interface()))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
