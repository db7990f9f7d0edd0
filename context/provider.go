package projection

import "encoding/json"

// OpenAITools are the open answers as function tools of a chat-completions request, strict wherever a strict schema can
// express the payload.
func (v View) OpenAITools() json.RawMessage {
	return v.listTools(func(w *members, a *openAnswer) {
		w.text("type", "function")
		w.key("function")
		in := members{dst: append(w.dst, '{')}
		in.text("name", a.event.Name)
		in.text("description", a.means)
		s, d := a.toolSchema(openAI)
		in.raw("strict", boolean(d.strict))
		in.key("parameters")
		w.dst = append(s.append(in.dst, d, false), '}')
	})
}

// OpenAIFormat is the open answers as the response format of a chat-completions request. Since a root may not have
// alternatives there, the envelope stands in {"answer": envelope}; [View.Read] takes that.
func (v View) OpenAIFormat() json.RawMessage {
	if v.page == nil || len(v.page.open) == 0 {
		return nil
	}
	root, d := &schema{form: objectForm, properties: []property{{"answer", v.page.envelope(), false}}}, openAI
	if !root.strictable() {
		d = standard
	}
	w := members{dst: []byte{'{'}}
	w.text("type", "json_schema")
	w.key("json_schema")
	in := members{dst: append(w.dst, '{')}
	in.text("name", v.Decision())
	in.raw("strict", boolean(d.strict))
	in.key("schema")
	return append(root.append(in.dst, d, false), '}', '}')
}

// AnthropicTools are the open answers as tools of a messages request. Strict tools are compiled to a grammar whose size
// has an undocumented limit, so that strict is for the caller to choose; answers are read strictly in any case.
func (v View) AnthropicTools(strict bool) json.RawMessage {
	want := standard
	if strict {
		want = anthropic
	}
	return v.listTools(func(w *members, a *openAnswer) {
		w.text("name", a.event.Name)
		w.text("description", a.means)
		s, d := a.toolSchema(want)
		if d.strict {
			w.raw("strict", "true")
		}
		w.key("input_schema")
		w.dst = s.append(w.dst, d, false)
	})
}

// MCPTools are the open answers as tools of a tools/list result.
func (v View) MCPTools() json.RawMessage {
	return v.listTools(func(w *members, a *openAnswer) {
		w.text("name", a.event.Name)
		w.text("description", a.means)
		w.key("inputSchema")
		w.dst = a.now().append(w.dst, standard, false)
	})
}

func (v View) listTools(each func(*members, *openAnswer)) json.RawMessage {
	var open []openAnswer
	if v.page != nil {
		open = v.page.open
	}
	w := members{}
	w.list(len(open), func(dst []byte, i int) []byte {
		in := members{dst: append(dst, '{')}
		each(&in, &open[i])
		return append(in.dst, '}')
	})
	return w.dst
}

// toolSchema is the payload's schema without alternatives at its root, in the wanted dialect or, where that cannot
// express it, in the standard one.
func (a *openAnswer) toolSchema(want dialect) (*schema, dialect) {
	s := a.now()
	if len(s.anyOf) > 0 {
		s = merged(s.anyOf)
	}
	if want.strict && !s.strictable() {
		want = standard
	}
	return s, want
}

// merged is one schema that takes what each of the alternatives takes: exact per field, not across fields. The reader
// of answers is exact in any case.
func merged(alternatives []*schema) *schema {
	first := alternatives[0]
	var enum []json.RawMessage
	seen := map[string]bool{}
	for _, s := range alternatives {
		if s.form != first.form || len(s.properties) != len(first.properties) || s.items != nil {
			return &schema{anyOf: alternatives}
		}
		for _, e := range s.enum {
			if !seen[string(e)] {
				seen[string(e)] = true
				enum = append(enum, e)
			}
		}
	}
	out := &schema{form: first.form, enum: enum}
	for i, p := range first.properties {
		below := make([]*schema, len(alternatives))
		for j, s := range alternatives {
			if s.properties[i].name != p.name {
				return &schema{anyOf: alternatives}
			}
			below[j] = s.properties[i].schema
		}
		out.properties = append(out.properties, property{p.name, merged(below), false})
	}
	return out
}

func boolean(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
