package machine

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Words in the names of fields that are money, or nobody's business.
var (
	moneyWords  = []string{"amount", "price", "money", "total", "balance", "minor", "fee", "cost", "sum", "tax", "payment"}
	secretWords = []string{"password", "passwd", "secret", "token", "apikey", "cvv", "cvc", "pin", "iban", "ssn"}
)

// lintTypes refuses types that would lose money or meaning on the way through JSON.
func (c *core) lintTypes() {
	look := func(t reflect.Type, what, place string, written bool) {
		l := typeLint{c: c, subject: what + " " + t.String(), place: place, written: written}
		l.value(t, nil, nil)
	}
	look(c.dataType, "data", c.place, true)
	seen := map[*EventInfo]bool{}
	for _, e := range c.edges {
		if e.event != nil && !e.event.internal && !seen[e.event] {
			seen[e.event] = true
			look(e.event.Payload, "payload of "+e.event.Name, e.place, true)
		}
	}
	for _, name := range sorted(c.facts) {
		look(c.facts[name].Type, "fact "+name, c.factPlaces[name], false)
	}
	for _, name := range sorted(c.effects) {
		look(c.effects[name].Args, "effect "+name, c.placeOfEffect(c.effects[name]), false)
	}
}

// typeLint looks through one type.
type typeLint struct {
	c              *core
	subject, place string
	written        bool // by a proposer: leaving a field out must not mean something
}

// value looks at a type under a path of field names.
func (l typeLint) value(t reflect.Type, path []string, above []reflect.Type) {
	at := strings.Join(path, ".")
	if slices.Contains(above, t) || marshals(t) {
		if oneWay(t) {
			l.c.rule(LintLossy, l.subject, l.place, "holds a "+t.String()+" in "+at+", which writes itself and does not read itself back, or the other way round",
				"give it both MarshalJSON and UnmarshalJSON, or both text methods (case B058)")
		}
		return
	}
	above = append(slices.Clone(above), t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		l.value(t.Elem(), path, above)
	case reflect.Map:
		if k := t.Key().Kind(); k != reflect.String && (k < reflect.Int || k > reflect.Uintptr) && !marshals(t.Key()) {
			l.c.fault("not_data", l.place, l.subject+" has a "+t.String()+" in "+at, "use texts or whole numbers as keys")
		}
		l.value(t.Elem(), path, above)
	case reflect.Float32, reflect.Float64:
		if hasWord(append(path, l.subject), moneyWords) {
			l.c.rule(LintLossy, l.subject, l.place, "has a float in "+at, "use int64 minor units")
		}
	case reflect.Interface:
		l.c.rule(LintLossy, l.subject, l.place, "has an interface in "+at+", which does not say what to read back", "name the type, or use json.RawMessage")
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		l.c.fault("not_data", l.place, l.subject+" has a "+t.String()+" in "+at, "remove it: only data is stored")
	case reflect.Struct:
		for i := range t.NumField() {
			l.field(t.Field(i), path, above)
		}
	}
}

// oneWay tells whether a type takes only one of the two directions into its own hands.
func oneWay(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	var writes, reads bool
	switch {
	case p.Implements(reflect.TypeFor[json.Marshaler]()):
		writes, reads = true, p.Implements(reflect.TypeFor[json.Unmarshaler]())
	case p.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		writes, reads = true, p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	default:
		reads = true
	}
	return writes != reads
}

func (l typeLint) field(f reflect.StructField, path []string, above []reflect.Type) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	path = append(slices.Clone(path), f.Name)
	at := strings.Join(path, ".")
	switch {
	case name == "-" || !f.IsExported() && !f.Anonymous:
		l.c.rule(LintLossy, l.subject, l.place, "has the field "+at+", which is not stored: it is gone when the task is read again", "export it and give it a JSON name")
		return
	case l.written && strings.Contains(options, "omitempty") && f.Type.Kind() != reflect.Pointer:
		l.c.rule(LintOptional, l.subject, l.place, "leaves out "+at+" when it is zero, which reads like unknown", "remove omitempty, or use a pointer")
	}
	if hasWord([]string{f.Name}, secretWords) {
		l.c.rule(LintSecret, l.subject, l.place, "keeps what looks like a secret in "+at, "keep a reference to it instead")
	}
	l.value(f.Type, path, above)
}

// hasWord tells whether one of the names has one of the words: whole words, in snake_case or CamelCase.
func hasWord(names, words []string) bool {
	for _, name := range names {
		for _, w := range splitWords(name) {
			if slices.Contains(words, w) {
				return true
			}
		}
	}
	return false
}

// splitWords splits api_token, apiToken and APIToken into api and token.
func splitWords(name string) []string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
