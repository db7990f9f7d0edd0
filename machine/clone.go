package machine

import "reflect"

// cloner copies D deeply, so that Apply can never write into a committed version. A D with a method Clone() D brings its
// own. A type that holds no map, slice or pointer is copied by assignment.
func cloner[D any](t reflect.Type) func(any) any {
	if flat(t) {
		return func(v any) any { return v }
	}
	return func(v any) any {
		if c, ok := v.(interface{ Clone() D }); ok {
			return c.Clone()
		}
		return deep(reflect.ValueOf(v)).Interface()
	}
}

// flat tells whether an assignment copies all of a value.
func flat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Map, reflect.Slice, reflect.Pointer, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	case reflect.Array:
		return flat(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !flat(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

func deep(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			m.SetMapIndex(it.Key(), deep(it.Value()))
		}
		return m
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			s.Index(i).Set(deep(v.Index(i)))
		}
		return s
	case reflect.Array:
		a := reflect.New(v.Type()).Elem()
		for i := range v.Len() {
			a.Index(i).Set(deep(v.Index(i)))
		}
		return a
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(deep(v.Elem()))
		return p
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		i := reflect.New(v.Type()).Elem()
		i.Set(deep(v.Elem()))
		return i
	case reflect.Struct:
		return deepStruct(v)
	}
	return v
}

func deepStruct(v reflect.Value) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			n.Field(i).Set(deep(v.Field(i)))
		}
	}
	return n
}
