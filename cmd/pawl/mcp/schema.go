package mcp

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// property is a named member of an object.
type property struct {
	name     string
	schema   *jsonschema.Schema
	optional bool
}

func required(name string, s *jsonschema.Schema) property { return property{name, s, false} }

func optional(name string, s *jsonschema.Schema) property { return property{name, s, true} }

// object is a closed object.
func object(members ...property) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, p := range members {
		s.Properties[p.name] = p.schema
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		if !p.optional {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

// text is a string of at most most characters; 0 bounds nothing.
func text(description string, most int) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: description}
	if most > 0 {
		s.MaxLength = &most
	}
	return s
}

func pattern(s *jsonschema.Schema, form string) *jsonschema.Schema {
	s.Pattern = form
	return s
}

func oneOf(description string, words ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: description}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	return s
}

// integer is a whole number of at least least; most 0 bounds nothing.
func integer(description string, least, most float64) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer", Description: description, Minimum: &least}
	if most > 0 {
		s.Maximum = &most
	}
	return s
}

func flag(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "boolean", Description: description}
}

func instant(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: "date-time", Description: description}
}

func list(of *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: of}
}

func anyObject(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Description: description}
}

// orNull admits null beside the type.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	s.Types, s.Type = []string{s.Type, "null"}, ""
	return s
}

// hours are what a ttl is written as.
func hours() *jsonschema.Schema {
	zero, most := 0.0, 720.0
	return &jsonschema.Schema{Type: "number", ExclusiveMinimum: &zero, Maximum: &most,
		Description: "hours until it no longer holds, fractions allowed, like 4.5; at least a second; leave it out and it holds until it is set again or cleared"}
}

// answer is the schema of a result: what the tool answers with ok true, or a refusal with ok false. It stands in one object,
// since older clients know no other root.
func answer(members ...property) *jsonschema.Schema {
	yes, no := any(true), any(false)
	all := append([]property{required("ok", flag("false: refused, and nothing has changed"))}, members...)
	s := object(all...)
	done := &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"ok": {Const: &yes}}, Required: s.Required}
	s.Required = []string{"ok"}
	s.Properties["refusal"] = refusalSchema()
	s.PropertyOrder = append(s.PropertyOrder, "refusal")
	refused := &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"ok": {Const: &no}}, Required: []string{"ok", "refusal"}}
	s.OneOf = []*jsonschema.Schema{done, refused}
	return s
}

func refusalSchema() *jsonschema.Schema {
	return object(
		required("code", text("stable", 0)),
		required("text", text("what is wrong", 0)),
		required("missing", list(text("a fact that the service must observe first; you cannot", 0))),
		required("permitted", list(text("a tool or an answer that is open now", 0))),
		optional("question", text("what a person must be asked, by the service", 0)),
		optional("state_version", integer("where the task stands", 0, 0)),
		optional("details", anyObject("what the rule says as data")))
}

// number is a default value.
func number(n int) json.RawMessage {
	raw, _ := json.Marshal(n) // an int always encodes
	return raw
}
