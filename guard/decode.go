package guard

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"

	"github.com/pawlgo/pawl/internal/canon"
)

// ErrForm is what every error of Decode, DecodeStored and Validate is.
var ErrForm = errors.New("not in the required form")

// FormError is one fault in the form of a payload. It is ErrForm to errors.Is. Codes are stable:
//
//	too_large         more bytes than the limit
//	not_utf8          invalid UTF-8
//	syntax            not JSON, or half of a surrogate pair
//	trailing          bytes after the value
//	too_deep          nested deeper than the limit
//	duplicate_key     a key given twice in one object
//	case_variant_key  a key that differs only by case from another or from a declared name
//	unknown_field     a key that the type does not declare
//	missing_field     a required field is absent
//	null              null where a value is required
//	wrong_type        JSON of another type, or text that the field's own type refuses
//	lossy_number      a number that the field cannot hold exactly
//	unsupported_type  the Go type or its tags cannot be used: a fault of the program
//	invalid           a validate tag does not hold
type FormError struct {
	Code string // one of the above
	Path string // JSON pointer to the value, "" for the root
	Text string // what is wrong, for people
}

const (
	decodeInvalid     = "invalid"
	decodeStoredSize  = 256 << 10 // bytes; the limit of a task's data (DESIGN section 17)
	decodeStoredDepth = canon.DefaultDepth
)

// Error names code, path and what is wrong.
func (e *FormError) Error() string {
	return fmt.Sprintf("%s: %s at %q: %s", ErrForm, e.Code, e.Path, e.Text)
}

// Is reports whether target is ErrForm.
func (e *FormError) Is(target error) bool { return target == ErrForm }

// Decode reads a payload from outside: at most 64 KiB of strict JSON, nested at most 32 deep, without
// unknown, duplicate, case-variant or missing keys, null or lossy numbers (every field is required
// but pointers and those tagged omitempty or omitzero), whose validate tags hold. Its errors are
// *FormError: the first fault of form in document order, or all tags that do not hold, joined. On
// error the value is the zero T. (Field cases B100 and B102.)
func Decode[T any](raw []byte) (T, error) {
	v, err := decodeForm[T](raw, canon.Limits{Size: canon.DefaultSize, Depth: canon.DefaultDepth})
	if err == nil {
		err = Validate(v)
	}
	if err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}

// DecodeStored reads bytes that this program wrote: as strict as Decode in form, but at most 256 KiB,
// and validate tags are not judged, since what was accepted once must load after they are tightened.
func DecodeStored[T any](raw []byte) (T, error) {
	return decodeForm[T](raw, canon.Limits{Size: decodeStoredSize, Depth: decodeStoredDepth})
}

func decodeForm[T any](raw []byte, lim canon.Limits) (T, error) {
	v, err := canon.DecodeNew[T](raw, lim)
	if e, ok := errors.AsType[*canon.SyntaxError](err); ok {
		return v, &FormError{Code: e.Code, Path: e.Path, Text: e.Text}
	}
	return v, err
}

// decodeEmbedded stands for an embedded struct in the validator's namespaces: JSON has no level for it.
const decodeEmbedded = "\x00"

// decodeValidator is shared: it caches what it learns of each type and is safe for concurrent use.
var decodeValidator = func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(sf reflect.StructField) string {
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case name == "" && sf.Anonymous && decodeHolds(sf.Type, reflect.Struct):
			return decodeEmbedded
		case name == "-":
			return ""
		}
		return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	})
	return v
}()

// Validate judges the validate tags of v: a struct, or a pointer, slice, array or map of structs.
// Other values have no tags and pass. Its error joins one *FormError of code invalid for each tag that
// does not hold, naming field, tag and parameter, in declaration order. A tag that cannot be applied,
// which a value in a field of interface type can bring about, is unsupported_type.
func Validate(v any) (err error) {
	if t := reflect.TypeOf(v); t == nil || !decodeTagged(t) {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = &FormError{Code: canon.CodeUnsupported, Text: fmt.Sprintf("validate tag of %T: %v", v, p)}
		}
	}()
	return errors.Join(decodeFaults(reflect.ValueOf(v), "")...)
}

var decodeKnownTagged sync.Map // reflect.Type to whether a validate tag can stand anywhere in its values

// decodeTagged says whether a validate tag can stand anywhere in the values of a type. Most facts have none, and need no judging.
func decodeTagged(t reflect.Type) bool {
	if known, ok := decodeKnownTagged.Load(t); ok {
		return known.(bool)
	}
	tagged := decodeFindTag(t, map[reflect.Type]bool{})
	decodeKnownTagged.Store(t, tagged)
	return tagged
}

func decodeFindTag(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true // whatever is in there
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map: // the keys of a map are strings or numbers
		return decodeFindTag(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Tag.Get("validate") != "" || decodeFindTag(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

// decodeHolds says whether t is of kind k or points to it.
func decodeHolds(t reflect.Type, k reflect.Kind) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == k
}

func decodeFaults(v reflect.Value, path string) []error {
	var faults []error
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return decodeFaults(v.Elem(), path)
		}
	case reflect.Slice, reflect.Array:
		if decodeHolds(v.Type().Elem(), reflect.Uint8) {
			return nil // bytes: nothing in there has tags
		}
		for i := range v.Len() {
			faults = append(faults, decodeFaults(v.Index(i), fmt.Sprintf("%s/%d", path, i))...)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			faults = append(faults, decodeFaults(v.MapIndex(k), fmt.Sprintf("%s/%v", path, k))...)
		}
	case reflect.Struct:
		return decodeStructFaults(v, path)
	}
	return faults
}

func decodeStructFaults(v reflect.Value, path string) []error {
	err := decodeValidator.Struct(v.Interface())
	if err == nil {
		return nil
	}
	broken, ok := errors.AsType[validator.ValidationErrors](err)
	if !ok {
		return nil // a time.Time, which has no tags
	}
	faults := make([]error, 0, len(broken))
	for _, b := range broken {
		rule := b.Tag()
		if b.Param() != "" {
			rule += "=" + b.Param()
		}
		faults = append(faults, &FormError{
			Code: decodeInvalid,
			Path: path + decodePointer(v.Type().Name(), b.Namespace()),
			Text: fmt.Sprintf("%s does not satisfy %s", b.Field(), rule),
		})
	}
	return faults
}

// decodePointer makes a JSON pointer of a validator's namespace such as Refund.items[0].minor.
func decodePointer(root, namespace string) string {
	namespace = strings.TrimPrefix(namespace, root+".")
	namespace = strings.ReplaceAll(namespace, decodeEmbedded+".", "")
	return "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(namespace)
}
