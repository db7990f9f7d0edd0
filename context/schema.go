package projection

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// form is the kind of JSON that a schema describes.
type form string

const (
	anyForm     form = ""
	objectForm  form = "object"
	arrayForm   form = "array"
	stringForm  form = "string"
	integerForm form = "integer"
	numberForm  form = "number"
	booleanForm form = "boolean"
	nullForm    form = "null"
)

// schema is one JSON Schema, as far as payloads need it. It is written for a dialect by append.
type schema struct {
	form        form
	nullable    bool // null instead of a value means the same as leaving it out
	description string
	properties  []property
	items       *schema
	values      *schema // of a map
	enum        []json.RawMessage
	anyOf       []*schema
	not         []json.RawMessage // scalars that are refused
	length      bounds            // of a string, in characters
	count       bounds            // of a list or a map
	number      bounds            // of an integer or a number
	over, under string            // exclusive bounds of a number
	unique      bool
	format      string
	pattern     string
	notes       []string        // rules that no dialect can express
	raw         json.RawMessage // the type's own schema instead of all this
}

type property struct {
	name     string
	schema   *schema
	optional bool
}

// bounds hold decimal texts, "" for none.
type bounds struct{ min, max string }

// dialect says what a provider's schemas may hold. What they may not hold is said in descriptions.
type dialect struct {
	strict   bool // every property required, what is optional nullable
	unions   bool // a list of types
	lengths  bool // minLength, maxLength, uniqueItems, not, and bounds of maps
	counts   bool // minItems, maxItems
	numbers  bool // minimum, maximum and their exclusive kin
	patterns bool
	formats  []string // nil: any
}

var (
	// standard is JSON Schema 2020-12 in full: what MCP takes.
	standard = dialect{unions: true, lengths: true, counts: true, numbers: true, patterns: true}
	// openAI is what structured outputs and strict functions take.
	openAI = dialect{strict: true, unions: true, counts: true, numbers: true, patterns: true,
		formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}}
	// anthropic is what strict tools take.
	anthropic = dialect{strict: true,
		formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}}
)

func (d dialect) knows(format string) bool {
	return d.formats == nil || slices.Contains(d.formats, format)
}

// append writes the schema. The order of keys is fixed, so equal schemas have equal bytes.
func (s *schema) append(dst []byte, d dialect, optional bool) []byte {
	null := s.nullable || optional && d.strict
	if null && (!d.unions || s.raw != nil || len(s.enum) > 0 || len(s.anyOf) > 0) {
		dst = append(dst, `{"anyOf":[`...)
		dst = s.bare().append(dst, d, false)
		return append(dst, `,{"type":"null"}]}`...)
	}
	if s.raw != nil {
		return append(dst, s.raw...)
	}
	w := members{dst: append(dst, '{')}
	if s.form != anyForm {
		w.key("type")
		if null {
			w.dst = append(append(append(w.dst, `["`...), s.form...), `","null"]`...)
		} else {
			w.dst = append(append(append(w.dst, '"'), s.form...), '"')
		}
	}
	w.text("description", s.describe(d))
	s.appendValues(&w, d)
	s.appendObject(&w, d)
	s.appendBounds(&w, d)
	return append(w.dst, '}')
}

// bare is the schema of the values that are not null.
func (s *schema) bare() *schema {
	b := *s
	b.nullable = false
	return &b
}

func (s *schema) appendValues(w *members, d dialect) {
	if len(s.enum) > 0 {
		w.key("enum")
		w.list(len(s.enum), func(dst []byte, i int) []byte { return append(dst, s.enum[i]...) })
	}
	if len(s.anyOf) > 0 {
		w.key("anyOf")
		w.list(len(s.anyOf), func(dst []byte, i int) []byte { return s.anyOf[i].append(dst, d, false) })
	}
	if len(s.not) > 0 && d.lengths {
		w.key("not")
		w.dst = append(w.dst, `{"enum":`...)
		w.list(len(s.not), func(dst []byte, i int) []byte { return append(dst, s.not[i]...) })
		w.dst = append(w.dst, '}')
	}
}

func (s *schema) appendObject(w *members, d dialect) {
	if s.items != nil {
		w.key("items")
		w.dst = s.items.append(w.dst, d, false)
	}
	switch {
	case s.values != nil:
		w.key("additionalProperties")
		w.dst = s.values.append(w.dst, d, false)
		return
	case s.form != objectForm || len(s.anyOf) > 0:
		return
	}
	w.key("properties")
	inner := members{dst: append(w.dst, '{')}
	var required []string
	for _, p := range s.properties {
		inner.field(p.name)
		inner.dst = p.schema.append(inner.dst, d, p.optional)
		if d.strict || !p.optional {
			required = append(required, p.name)
		}
	}
	w.dst = append(inner.dst, '}')
	if len(required) > 0 || d.strict {
		w.key("required")
		w.list(len(required), func(dst []byte, i int) []byte { return appendQuoted(dst, required[i]) })
	}
	w.raw("additionalProperties", "false")
}

func (s *schema) appendBounds(w *members, d dialect) {
	if d.lengths {
		w.raw("minLength", s.length.min)
		w.raw("maxLength", s.length.max)
		if s.unique {
			w.raw("uniqueItems", "true")
		}
		if s.values != nil {
			w.raw("minProperties", s.count.min)
			w.raw("maxProperties", s.count.max)
		}
	}
	if d.counts && s.values == nil {
		w.raw("minItems", s.count.min)
		w.raw("maxItems", s.count.max)
	}
	if d.numbers {
		w.raw("minimum", s.number.min)
		w.raw("maximum", s.number.max)
		w.raw("exclusiveMinimum", s.over)
		w.raw("exclusiveMaximum", s.under)
	}
	if d.knows(s.format) {
		w.text("format", s.format)
	}
	if d.patterns {
		w.text("pattern", s.pattern)
	}
}

// describe is the description, with the rules that the dialect cannot express.
func (s *schema) describe(d dialect) string {
	parts := make([]string, 0, 4)
	if s.description != "" {
		parts = append(parts, s.description)
	}
	say := func(can bool, text string) {
		if !can && text != "" {
			parts = append(parts, text)
		}
	}
	say(d.lengths, s.length.say("characters"))
	say(d.lengths && s.values != nil || d.counts && s.values == nil, s.count.say("entries"))
	say(d.numbers, s.number.say(""))
	say(d.numbers || s.over == "", "more than "+s.over)
	say(d.numbers || s.under == "", "less than "+s.under)
	say(d.lengths || !s.unique, "no two alike")
	say(d.knows(s.format) || s.format == "", "format "+s.format)
	say(d.patterns || s.pattern == "", "pattern "+s.pattern)
	for _, n := range s.not {
		say(d.lengths, "not "+string(n))
	}
	return strings.Join(append(parts, s.notes...), "; ")
}

// say is the range in words, "" for none.
func (b bounds) say(what string) string {
	text := ""
	switch {
	case b.min != "" && b.min == b.max:
		text = "exactly " + b.min
	case b.min != "" && b.max != "":
		text = b.min + " to " + b.max
	case b.min != "":
		text = "at least " + b.min
	case b.max != "":
		text = "at most " + b.max
	default:
		return ""
	}
	return strings.TrimSpace(text + " " + what)
}

// walk visits the schema and all below it, depth first; level counts the objects and lists that a value is in, itself
// included.
func (s *schema) walk(level int, visit func(*schema, int)) {
	if s.form == objectForm && len(s.anyOf) == 0 || s.form == arrayForm {
		level++
	}
	visit(s, level)
	for _, p := range s.properties {
		p.schema.walk(level, visit)
	}
	for _, below := range append([]*schema{s.items, s.values}, s.anyOf...) {
		if below != nil {
			below.walk(level, visit)
		}
	}
}

// size is how many levels of objects and lists there are, and how many fields.
func (s *schema) size() (levels, fields int) {
	s.walk(0, func(x *schema, level int) {
		levels, fields = max(levels, level), fields+len(x.properties)
	})
	return levels, fields
}

// What strict schemas may hold, by OpenAI's documentation.
const (
	strictLevels = 10
	strictFields = 5000
)

// strictable tells whether a strict dialect can express the schema at all: no maps, nothing that may be anything, no
// schema of a type's own, and not too much.
func (s *schema) strictable() bool {
	levels, fields := s.size()
	ok := levels <= strictLevels && fields <= strictFields
	s.walk(0, func(x *schema, _ int) {
		if x.raw != nil || x.values != nil || x.form == anyForm && len(x.anyOf) == 0 {
			ok = false
		}
	})
	return ok
}

// members writes the members of an object.
type members struct {
	dst  []byte
	some bool
}

// key begins a member whose name is one of ours.
func (w *members) key(name string) {
	if w.some {
		w.dst = append(w.dst, ',')
	}
	w.some = true
	w.dst = append(append(append(w.dst, '"'), name...), '"', ':')
}

// field begins a member whose name is a user's.
func (w *members) field(name string) {
	if w.some {
		w.dst = append(w.dst, ',')
	}
	w.some = true
	w.dst = append(appendQuoted(w.dst, name), ':')
}

// raw adds a member, unless it has no value.
func (w *members) raw(name, value string) {
	if value != "" {
		w.key(name)
		w.dst = append(w.dst, value...)
	}
}

// text adds a string, unless it is empty.
func (w *members) text(name, value string) {
	if value != "" {
		w.key(name)
		w.dst = appendQuoted(w.dst, value)
	}
}

func (w *members) integer(name string, n int) { w.raw(name, strconv.Itoa(n)) }

func (w *members) list(n int, each func(dst []byte, i int) []byte) {
	w.dst = append(w.dst, '[')
	for i := range n {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = each(w.dst, i)
	}
	w.dst = append(w.dst, ']')
}
