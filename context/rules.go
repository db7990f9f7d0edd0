package projection

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// rules adds what a validate tag demands of values of type t, as far as JSON Schema can say it; the rest becomes a
// note. needed tells that the zero value of an absent field would be refused, whatever the json tag allows.
func (s *schema) rules(t reflect.Type, tag string) (needed bool, err error) {
	own, below, dives := cutDive(tag)
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	if err := s.rulesBelow(t, below, dives); err != nil {
		return false, err
	}
	if own == "" || own == "-" {
		return false, nil
	}
	r := ruler{s: s, kind: t.Kind(), pointer: pointer}
	for _, rule := range strings.Split(own, ",") {
		name, param, _ := strings.Cut(rule, "=")
		if err := r.rule(name, param); err != nil {
			return false, fmt.Errorf("validate tag %q: %w", rule, err)
		}
	}
	if r.omits && !pointer {
		s.allowZero(t.Kind())
	}
	if r.omits {
		return false, nil
	}
	return pointer || r.refusesZero, nil
}

// cutDive parts the rules of a list or a map from those of what is in it.
func cutDive(tag string) (own, below string, dives bool) {
	parts := strings.Split(tag, ",")
	for i, p := range parts {
		if p == "dive" {
			return strings.Join(parts[:i], ","), strings.Join(parts[i+1:], ","), true
		}
	}
	return tag, "", false
}

// rulesBelow adds the rules of elements. Without dive nothing judges them, so rules inside would promise what is not kept.
func (s *schema) rulesBelow(t reflect.Type, tag string, dives bool) error {
	below := s.items
	if s.values != nil {
		below = s.values
	}
	switch {
	case below == nil:
		return nil
	case dives:
		_, err := below.rules(t.Elem(), tag)
		if below.nullable && tag != "" && !strings.HasPrefix(tag, "omit") {
			below.nullable = false
		}
		return err
	case hasRules(t.Elem()):
		return fmt.Errorf("%v has validate tags that nothing judges: add dive", t.Elem())
	}
	return nil
}

// hasRules tells whether a type has validate tags of its own.
func hasRules(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == timeType {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("validate") != "" || hasRules(f.Type) {
			return true
		}
	}
	return false
}

// ruler applies the rules of one tag.
type ruler struct {
	s           *schema
	kind        reflect.Kind
	pointer     bool
	omits       bool // the zero value is not judged
	refusesZero bool
}

func (r *ruler) rule(name, param string) error {
	switch name {
	case "omitempty", "omitnil", "omitzero":
		r.omits = true
	case "required":
		return r.required()
	case "min", "gte":
		return r.bound(param, "", 0)
	case "max", "lte":
		return r.bound("", param, 0)
	case "gt":
		return r.bound(param, "", 1)
	case "lt":
		return r.bound("", param, 1)
	case "len":
		return r.length(param)
	case "eq", "oneof":
		return r.values(name, param)
	case "ne":
		return r.except(param)
	case "unique":
		if param != "" || r.s.form != arrayForm {
			r.note(name, param)
			break
		}
		r.s.unique = true
	default:
		if format, ok := formats[name]; ok && param == "" && r.s.form == stringForm {
			r.s.format, r.refusesZero = format, true
		} else if pattern, ok := patterns[name]; ok && r.s.form == stringForm {
			r.s.pattern, r.refusesZero = pattern, true
		} else {
			r.note(name, param)
		}
	}
	return nil
}

var (
	formats  = map[string]string{"email": "email", "uuid": "uuid", "uri": "uri", "url": "uri", "ipv4": "ipv4", "ipv6": "ipv6", "hostname": "hostname"}
	patterns = map[string]string{"alpha": "^[a-zA-Z]+$", "alphanum": "^[a-zA-Z0-9]+$", "number": "^[0-9]+$"}
)

func (r *ruler) note(name, param string) {
	if param != "" {
		name += "=" + param
	}
	r.s.notes = append(r.s.notes, "must satisfy "+name)
}

// required refuses the zero value; of a pointer, only null.
func (r *ruler) required() error {
	r.refusesZero = true
	switch {
	case r.pointer || r.s.form == arrayForm || r.s.values != nil || r.s.form == anyForm:
	case r.s.form == stringForm && r.kind == reflect.String:
		r.s.length.min = "1"
	case r.s.form == booleanForm:
		r.s.enum = []json.RawMessage{[]byte("true")}
	case r.s.form == integerForm || r.s.form == numberForm:
		r.s.not = append(r.s.not, []byte("0"))
	default:
		r.s.notes = append(r.s.notes, "must not be empty")
	}
	return nil
}

// bound sets a lower or an upper bound; by says whether it is exclusive.
func (r *ruler) bound(low, high string, by int64) error {
	if r.s.form == integerForm || r.s.form == numberForm {
		return r.numeric(low, high, by)
	}
	n, err := strconv.ParseInt(low+high, 10, 64)
	if err != nil {
		return err
	}
	b := &r.s.count
	if r.s.form == stringForm {
		b = &r.s.length
	} else if r.s.form != arrayForm && r.s.values == nil {
		r.note("bound", low+high)
		return nil
	}
	if low != "" {
		b.min = strconv.FormatInt(n+by, 10)
		r.refusesZero = r.refusesZero || n+by > 0
	} else {
		b.max = strconv.FormatInt(n-by, 10)
	}
	return nil
}

func (r *ruler) numeric(low, high string, by int64) error {
	n, err := strconv.ParseFloat(low+high, 64)
	if err != nil {
		return err
	}
	switch {
	case low != "" && by == 0:
		r.s.number.min = low
	case low != "":
		r.s.over, r.s.number.min = low, "" // the type's own bound is below it
	case by == 0:
		r.s.number.max = high
	default:
		r.s.under, r.s.number.max = high, ""
	}
	zero := low != "" && (n < 0 || n == 0 && by == 0) || high != "" && (n > 0 || n == 0 && by == 0)
	r.refusesZero = r.refusesZero || !zero
	return nil
}

func (r *ruler) length(param string) error {
	if r.s.form == integerForm || r.s.form == numberForm {
		return r.values("eq", param)
	}
	if err := r.bound(param, "", 0); err != nil {
		return err
	}
	return r.bound("", param, 0)
}

// words of a oneof, as the validator splits them.
var oneofWords = regexp.MustCompile(`'[^']*'|\S+`)

func (r *ruler) values(name, param string) error {
	list := []string{param}
	if name == "oneof" {
		list = oneofWords.FindAllString(param, -1)
	}
	var enum []json.RawMessage
	zero := false
	for _, v := range list {
		raw, ok := r.literal(strings.Trim(v, "'"))
		if !ok {
			r.note(name, param)
			return nil
		}
		enum = append(enum, raw)
		zero = zero || v == "0" || v == "" || v == "false"
	}
	r.s.enum, r.refusesZero = enum, r.refusesZero || !zero
	return nil
}

func (r *ruler) except(param string) error {
	raw, ok := r.literal(param)
	if !ok {
		r.note("ne", param)
		return nil
	}
	r.s.not = append(r.s.not, raw)
	r.refusesZero = r.refusesZero || param == "0" || param == ""
	return nil
}

// literal is a value of a tag as JSON.
func (r *ruler) literal(v string) (json.RawMessage, bool) {
	switch r.s.form {
	case stringForm:
		return appendQuoted(nil, v), true
	case integerForm, numberForm:
		_, err := strconv.ParseFloat(v, 64)
		return json.RawMessage(v), err == nil
	case booleanForm:
		return json.RawMessage(v), v == "true" || v == "false"
	}
	return nil, false
}

// allowZero lets the zero value in beside what the rules allow.
func (s *schema) allowZero(kind reflect.Kind) {
	var zero json.RawMessage
	switch {
	case kind == reflect.String:
		zero = json.RawMessage(`""`)
	case s.form == integerForm || s.form == numberForm:
		zero = json.RawMessage("0")
	case s.form == booleanForm:
		zero = json.RawMessage("false")
	default:
		return
	}
	if len(s.enum) > 0 {
		s.enum = append(s.enum, zero)
		return
	}
	if s.length.min == "" && s.number == (bounds{}) && s.over == "" && s.under == "" && s.format == "" && s.pattern == "" && len(s.not) == 0 {
		return
	}
	ruled := *s
	ruled.description, ruled.nullable = "", false
	*s = schema{description: s.description, nullable: s.nullable, anyOf: []*schema{{form: s.form, enum: []json.RawMessage{zero}}, &ruled}}
}
