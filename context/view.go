package projection

import (
	"encoding/json"
	"strconv"
	"sync"

	"github.com/pawlgo/pawl/internal/canon"
)

// View is what one model call sees, and alone knows how to read what comes back. It is immutable: what its methods
// return belongs to the caller. The zero View shows nothing and refuses every answer. Safe for concurrent use.
type View struct {
	page     *page
	markdown string
	object   string
	digest   string
}

// scratch holds the buffers of one rendering.
type scratch struct{ markdown, object, seed []byte }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// view renders the page, within the budget.
func (p *page) view() (View, error) {
	b := scratches.Get().(*scratch)
	defer scratches.Put(b)
	if err := p.fit(b); err != nil {
		return View{}, err
	}
	v := View{page: p, markdown: string(b.markdown), object: string(b.object)}
	seed := append(append(b.seed[:0], p.decision.seal...), 0)
	seed = append(append(seed, p.task...), 0)
	seed = append(strconv.AppendUint(seed, p.version, 10), 0)
	seed = append(append(seed, b.markdown[len(p.decision.markdown):]...), 0)
	b.seed = append(seed, b.object[len(p.decision.object):]...)
	v.digest = canon.DigestBytes(b.seed)
	return v, nil
}

// Task is the id of the task, for the controller: it is not shown.
func (v View) Task() string {
	if v.page == nil {
		return ""
	}
	return v.page.task
}

// Decision is the decision's name.
func (v View) Decision() string {
	if v.page == nil {
		return ""
	}
	return v.page.decision.name
}

// Version is the state version that is shown, for the controller: it is never asked of the model.
func (v View) Version() uint64 {
	if v.page == nil {
		return 0
	}
	return v.page.version
}

// Digest covers task, version and everything that was shown, in both renderings and in the schemas. It is recorded with
// each proposal that the view reads.
func (v View) Digest() string { return v.digest }

// Markdown is the view for a prompt: first what is the same for every task and version of the decision, then the rest.
func (v View) Markdown() string { return v.markdown }

// Head is the length of the part of Markdown that is the same for every task and version: where a prompt cache may end.
func (v View) Head() int {
	if v.page == nil {
		return 0
	}
	return len(v.page.decision.markdown)
}

// JSON is the same as one JSON object.
func (v View) JSON() json.RawMessage { return json.RawMessage(v.object) }

// Allowed are the names of the answers that are open, in declared order.
func (v View) Allowed() []string {
	if v.page == nil {
		return nil
	}
	out := make([]string, len(v.page.open))
	for i, a := range v.page.open {
		out[i] = a.event.Name
	}
	return out
}

// Tool is an allowed answer in the shape of a function tool: the tool is the event, its arguments are the payload.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema 2020-12, an object
}

// Tools are the answers that are open.
func (v View) Tools() []Tool {
	if v.page == nil {
		return nil
	}
	out := make([]Tool, len(v.page.open))
	for i, a := range v.page.open {
		out[i] = Tool{a.event.Name, a.means, a.now().append(nil, standard, false)}
	}
	return out
}

// Schema is the JSON Schema 2020-12 of the envelope {"event": name, "payload": payload}: one alternative for each
// answer that is open.
func (v View) Schema() json.RawMessage {
	if v.page == nil {
		return json.RawMessage(`{"not":{}}`)
	}
	return v.page.envelope().append(nil, standard, false)
}

func (p *page) envelope() *schema {
	alternatives := make([]*schema, len(p.open))
	for i, a := range p.open {
		name := &schema{form: stringForm, enum: []json.RawMessage{appendQuoted(nil, a.event.Name)}}
		alternatives[i] = &schema{form: objectForm, description: a.means, properties: []property{{"event", name, false}, {"payload", a.now(), false}}}
	}
	if len(alternatives) == 0 {
		return &schema{raw: json.RawMessage(`{"not":{}}`)}
	}
	return &schema{anyOf: alternatives}
}
