package projection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
	"github.com/pawlgo/pawl/machine"
)

// Read makes a proposal of one raw answer of a model: of exactly one of
//
//   - the envelope {"event": name, "payload": payload}, alone, inside one code fence, or as {"answer": envelope};
//   - a chat message of an OpenAI-compatible server, with one tool call or with an envelope as its content;
//   - a message or the content of one of Anthropic's, with one tool use or with an envelope as its text;
//   - a single call: an OpenAI function call, an Anthropic tool use, the parameters of an MCP tools/call.
//
// What a provider adds around a call is passed over; everything in the envelope and in a payload is read strictly. The
// proposal is the model's, based on the version that was shown, and carries the view's digest. Errors are
// [*RefusedError] and wrap [guard.ErrForm].
func (v View) Read(raw []byte) (machine.Proposal, error) {
	if len(raw) > MaxAnswer {
		return machine.Proposal{}, v.refuse("too_large", fmt.Sprintf("the answer has %d bytes, at most %d", len(raw), MaxAnswer))
	}
	var turn turn
	if err := turn.read(unfence(raw)); err != nil {
		return machine.Proposal{}, v.refused(err, "")
	}
	switch {
	case len(turn.calls) > 1:
		return machine.Proposal{}, v.refuse(CodeSeveralAnswers, fmt.Sprintf("there are %d calls; give exactly one", len(turn.calls)))
	case len(turn.calls) == 1:
		return v.call(turn.calls[0])
	case turn.refusal != "":
		return machine.Proposal{}, v.refuse(CodeNoAnswer, "the model declined to answer")
	}
	text := unfence([]byte(strings.Join(turn.texts, "\n")))
	switch {
	case len(text) == 0:
		return machine.Proposal{}, v.refuse(CodeNoAnswer, "there is no answer")
	case text[0] != '{':
		return machine.Proposal{}, v.refuse(CodeProse, "the answer must be JSON alone, without words around it")
	}
	c, err := readEnvelope(text)
	if err != nil {
		return machine.Proposal{}, v.refused(err, "")
	}
	return v.call(c)
}

// Call makes a proposal of one tool call: the tool is the event, the arguments are its payload, as an object or as a
// string that holds one. Errors are as of Read.
func (v View) Call(tool string, args []byte) (machine.Proposal, error) {
	return v.call(call{name: tool, args: args})
}

// call is one answer as it came.
type call struct {
	name string
	args []byte
	path string // where the arguments stood
}

func (v View) call(c call) (machine.Proposal, error) {
	a := v.answer(c.name)
	if a == nil {
		return machine.Proposal{}, v.refuse(CodeNotAllowed, string(appendQuoted(nil, cutText(c.name, MaxOrigin)))+" is not an answer that is open now")
	}
	args, err := a.arguments(c.args)
	if err != nil {
		return machine.Proposal{}, v.refused(err, c.path)
	}
	p, err := a.event.Decode(args)
	if err != nil {
		return machine.Proposal{}, v.refused(err, c.path)
	}
	if a.offered {
		digest, err := canon.Digest(p.Payload())
		if err != nil || !slices.ContainsFunc(a.offers, func(o offer) bool { return o.digest == digest }) {
			return machine.Proposal{}, v.refuse(machine.CodeOfferDiffers, "the payload must be what was offered, word for word: "+a.shown)
		}
	}
	return p.BasedOn(v.page.version).Shown(v.digest), nil
}

func (v View) answer(name string) *openAnswer {
	if v.page == nil {
		return nil
	}
	for i := range v.page.open {
		if v.page.open[i].event.Name == name {
			return &v.page.open[i]
		}
	}
	return nil
}

// arguments are the payload's own bytes: out of a string that holds them, and without the nulls that strict schemas
// demand for what is left out.
func (a *openAnswer) arguments(raw []byte) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' && a.schema.form == objectForm {
		var text string
		if err := canon.Decode(raw, &text, canon.Limits{Size: MaxAnswer}); err != nil {
			return nil, formError(err)
		}
		raw = bytes.TrimSpace([]byte(text))
	}
	if len(raw) == 0 && a.schema.form == objectForm && len(a.schema.properties) == 0 {
		return []byte("{}"), nil
	}
	return a.schema.withoutNulls(raw), nil
}

// withoutNulls leaves out members that are null and may be left out. Bytes that it cannot read it leaves to the decoder.
func (s *schema) withoutNulls(raw []byte) []byte {
	if !s.hasOptional() || !bytes.Contains(raw, []byte("null")) {
		return raw
	}
	switch {
	case s.items != nil:
		var list []json.RawMessage
		if canon.Decode(raw, &list, canon.Limits{}) != nil {
			return raw
		}
		w := members{}
		w.list(len(list), func(dst []byte, i int) []byte { return append(dst, s.items.withoutNulls(list[i])...) })
		return w.dst
	case s.properties != nil:
		var object map[string]json.RawMessage
		if canon.Decode(raw, &object, canon.Limits{}) != nil {
			return raw
		}
		for _, p := range s.properties {
			value, there := object[p.name]
			switch {
			case there && p.optional && !p.schema.nullable && string(value) == "null":
				delete(object, p.name)
			case there:
				object[p.name] = p.schema.withoutNulls(value)
			}
		}
		if out, err := canon.Append(nil, object); err == nil {
			return out
		}
	}
	return raw
}

func (s *schema) hasOptional() bool {
	some := false
	s.walk(0, func(x *schema, _ int) {
		some = some || slices.ContainsFunc(x.properties, func(p property) bool { return p.optional && !p.schema.nullable })
	})
	return some
}

// readEnvelope reads {"event": name, "payload": payload}, or {"answer": that}.
func readEnvelope(raw []byte) (call, error) {
	var e struct {
		Event   string          `json:"event"`
		Payload json.RawMessage `json:"payload"`
	}
	members, err := object(raw)
	if err != nil {
		return call{}, err
	}
	if inner, wrapped := members["answer"]; wrapped && len(members) == 1 {
		raw = inner
	}
	err = canon.Decode(raw, &e, canon.Limits{Size: MaxAnswer})
	return call{e.Event, e.Payload, "/payload"}, formError(err)
}

// formError is a fault of canon as callers know it.
func formError(err error) error {
	if e, ok := errors.AsType[*canon.SyntaxError](err); ok {
		return &guard.FormError{Code: e.Code, Path: e.Path, Text: e.Text}
	}
	return err
}

// unfence takes away one code fence around all of the text, and space.
func unfence(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	inner, opens := bytes.CutPrefix(raw, []byte("```"))
	inner, closes := bytes.CutSuffix(inner, []byte("```"))
	if !opens || !closes {
		return raw
	}
	first, rest, ok := bytes.Cut(inner, []byte("\n"))
	if tag := strings.TrimSpace(string(first)); !ok || tag != "" && tag != "json" || bytes.Contains(rest, []byte("```")) {
		return raw
	}
	return bytes.TrimSpace(rest)
}

// refuse is an answer that is no proposal.
func (v View) refuse(code, text string) *RefusedError {
	text = string(appendProse(nil, text))
	return &RefusedError{Code: code, Text: text, Allowed: v.Allowed(), Faults: []*guard.FormError{{Code: code, Text: text}}}
}

// refused is refuse for what a decoder said; path is where in the answer it was reading.
func (v View) refused(err error, path string) *RefusedError {
	const most = 4 // faults that are told in words
	faults := formFaults(err, nil)
	if len(faults) == 0 {
		return v.refuse("syntax", err.Error())
	}
	var texts []string
	for i, f := range faults {
		at := &guard.FormError{Code: f.Code, Path: path + f.Path, Text: f.Text}
		if faults[i] = at; i < most {
			texts = append(texts, strings.TrimSpace(at.Text+" ("+at.Code+" at "+at.Path+")"))
		}
	}
	refused := v.refuse(faults[0].Code, strings.Join(texts, "; "))
	refused.Faults = faults
	return refused
}

// formFaults gathers what joined errors hold.
func formFaults(err error, to []*guard.FormError) []*guard.FormError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			to = formFaults(e, to)
		}
		return to
	}
	if f, ok := errors.AsType[*guard.FormError](err); ok {
		return append(to, f)
	}
	return to
}
