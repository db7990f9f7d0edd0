package projection

import (
	"encoding/json"
	"errors"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

// turn is what a model said in one turn, whatever provider it came through.
type turn struct {
	calls   []call
	texts   []string
	refusal string
}

// part is any object that providers put an answer in: a message, a content block, a call. Which members count depends
// on what is there; what else a provider adds is passed over.
type part struct {
	Type, Text, Refusal, Name                      string
	Content, ToolCalls, Function, Arguments, Input json.RawMessage
}

// read sorts one raw answer into calls and texts. Only the top level may be the envelope or words.
func (t *turn) read(raw []byte) error {
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		t.texts = append(t.texts, string(raw))
		return nil
	}
	if raw[0] == '[' {
		return t.readList(raw)
	}
	members, err := object(raw)
	if err != nil {
		return err
	}
	if !has(members, "role", "content", "tool_calls", "function", "arguments", "input") {
		t.texts = append(t.texts, string(raw))
		return nil
	}
	return t.readPart(members)
}

func has(members map[string]json.RawMessage, names ...string) bool {
	if _, envelope := members["event"]; envelope {
		return false
	}
	for _, n := range names {
		if _, ok := members[n]; ok {
			return true
		}
	}
	return false
}

// object reads an object's members and leaves their values alone.
func object(raw []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	err := canon.Decode(raw, &members, canon.Limits{Size: MaxAnswer})
	return members, formError(err)
}

func (t *turn) readList(raw []byte) error {
	var list []json.RawMessage
	if err := canon.Decode(raw, &list, canon.Limits{Size: MaxAnswer}); err != nil {
		return formError(err)
	}
	for _, item := range list {
		members, err := object(item)
		if err == nil {
			err = t.readPart(members)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) readPart(members map[string]json.RawMessage) error {
	p, err := readMembers(members)
	if err != nil {
		return err
	}
	t.refusal += p.Refusal
	switch one := p.Function != nil || p.Arguments != nil || p.Input != nil; {
	case one && p.ToolCalls != nil:
		return &guard.FormError{Code: CodeSeveralAnswers, Text: "it is a call and holds calls: which one is the answer?"}
	case p.Function != nil: // a tool call of a chat message
		inner, err := object(p.Function)
		if err != nil {
			return err
		}
		return t.readPart(inner)
	case p.Arguments != nil, p.Input != nil: // a call
		return t.readCall(p)
	case p.Type == "text" || p.Type == "output_text":
		t.texts = append(t.texts, p.Text)
		return nil
	}
	if p.ToolCalls != nil {
		if err := t.readList(p.ToolCalls); err != nil {
			return err
		}
	}
	return t.readContent(p.Content)
}

func (t *turn) readContent(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	if raw[0] == '[' {
		return t.readList(raw)
	}
	var text string
	if err := canon.Decode(raw, &text, canon.Limits{Size: MaxAnswer}); err != nil {
		return formError(err)
	}
	t.texts = append(t.texts, text)
	return nil
}

func (t *turn) readCall(p part) error {
	args := p.Arguments
	if args == nil {
		args = p.Input
	}
	if p.Arguments != nil && p.Input != nil || p.Name == "" {
		return &guard.FormError{Code: "wrong_type", Text: "a call has a name, and either arguments or input"}
	}
	t.calls = append(t.calls, call{p.Name, args, ""})
	return nil
}

// readMembers takes the known members, each only in its own type; null counts as absent.
func readMembers(members map[string]json.RawMessage) (part, error) {
	var p part
	for _, m := range []struct {
		name string
		into any
	}{
		{"type", &p.Type}, {"text", &p.Text}, {"refusal", &p.Refusal}, {"name", &p.Name}, {"content", &p.Content},
		{"tool_calls", &p.ToolCalls}, {"function", &p.Function}, {"arguments", &p.Arguments}, {"input", &p.Input},
	} {
		value, ok := members[m.name]
		if !ok || string(value) == "null" {
			continue
		}
		if err := canon.Decode(value, m.into, canon.Limits{Size: MaxAnswer}); err != nil {
			e, _ := errors.AsType[*canon.SyntaxError](err)
			return p, &guard.FormError{Code: e.Code, Path: "/" + m.name + e.Path, Text: e.Text}
		}
	}
	return p, nil
}
