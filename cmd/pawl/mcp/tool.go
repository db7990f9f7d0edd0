package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/resume"
)

// tool is one tool: what is told of it, and what it does.
type tool struct {
	name, title, text string
	scope             Scope
	hints             sdk.ToolAnnotations
	input, output     *jsonschema.Schema
	// run gives what is answered, or why not. An error is what is broken.
	run func(context.Context, call) (any, *Refusal, error)
}

// call is one call of a tool.
type call struct {
	agent string
	who   guard.Principal
	raw   json.RawMessage // the arguments, as they came; an object at least
	meta  meta
}

// args reads the arguments strictly: the refusal says what is wrong with them.
func args[T any](c call) (T, *Refusal) {
	v, err := guard.Decode[T](c.raw)
	if err != nil {
		return v, refuseForm(err)
	}
	return v, nil
}

// declare is the tool as clients see it.
func (t tool) declare() *sdk.Tool {
	hints := t.hints
	hints.Title = t.title
	return &sdk.Tool{Name: t.name, Title: t.title, Description: t.text, Annotations: &hints, InputSchema: t.input, OutputSchema: t.output}
}

// serve is the tool for the SDK. What it returns is never an error: a model can act on a result.
func (s *Server) serve(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		g := grantOf(ctx)
		out, refusal, err := s.run(ctx, t, g, req)
		if err != nil {
			refusal = s.broken(ctx, t, g, err)
		}
		if refusal != nil {
			s.o.Log.InfoContext(ctx, "refused", "agent", g.Agent, "tool", t.name, "code", refusal.Code)
			return refused(refusal)
		}
		return answered(out)
	}
}

func (s *Server) run(ctx context.Context, t tool, g Grant, req *sdk.CallToolRequest) (out any, refusal *Refusal, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if r := s.denied(ctx, t, g); r != nil {
		return nil, r, nil
	}
	c := call{agent: g.Agent, who: s.o.Principal(g.Agent), raw: req.Params.Arguments}
	switch {
	case c.who.Has(guard.OperatorRole):
		return nil, nil, fmt.Errorf("agent %s is the operator %s: nothing that a model can call is an operator's", g.Agent, c.who.ID)
	case len(c.raw) > MaxArguments:
		return nil, refuse("too_large", "the arguments have %d bytes, at most %d", len(c.raw), MaxArguments), nil
	case len(c.raw) == 0:
		c.raw = json.RawMessage(`{}`)
	}
	if c.meta, refusal = readMeta(req.Params.Meta); refusal != nil {
		return nil, refusal, nil
	}
	return t.run(ctx, c)
}

// denied refuses what the connection may not do.
func (s *Server) denied(ctx context.Context, t tool, g Grant) *Refusal {
	switch {
	case !g.Has(t.scope):
		s.o.Log.WarnContext(ctx, "denied", "agent", g.Agent, "tool", t.name, "scope", t.scope)
		return refuse(CodeScope, "this connection does not have the scope %s", t.scope).with("scope", t.scope)
	case s.o.ReadOnly && t.scope == Write:
		s.o.Log.WarnContext(ctx, "denied", "agent", g.Agent, "tool", t.name, "read_only", true)
		return refuse(CodeReadOnly, "this server only reads")
	}
	return nil
}

// broken is what is told of an error, whose own words stay in the log.
func (s *Server) broken(ctx context.Context, t tool, g Grant, err error) *Refusal {
	switch {
	case errors.Is(err, resume.ErrNoTask):
		return refuse(CodeNoTask, "there is no such task for you; task_find lists yours")
	case ctx.Err() != nil:
		s.o.Log.WarnContext(ctx, "timeout", "agent", g.Agent, "tool", t.name, "error", err)
		return refuse(CodeTimeout, "it took too long, and may have been done all the same: read before you try again")
	}
	s.o.Log.ErrorContext(ctx, "broken", "agent", g.Agent, "tool", t.name, "error", err)
	return refuse(CodeBroken, "something is broken here, and no fault of your call; it may have been done all the same: read before you try again")
}

// document is an answer whose text for the model is not its JSON.
type document interface{ text() string }

func answered(out any) (*sdk.CallToolResult, error) {
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	text := string(raw)
	if d, ok := out.(document); ok {
		text = d.text()
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: json.RawMessage(raw)}, nil
}

func refused(r *Refusal) (*sdk.CallToolResult, error) {
	told := *r
	told.Missing, told.Permitted = append([]string{}, r.Missing...), append([]string{}, r.Permitted...) // never null
	raw, err := json.Marshal(struct {
		OK      bool     `json:"ok"`
		Refusal *Refusal `json:"refusal"`
	}{false, &told})
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: r.String()}}, StructuredContent: json.RawMessage(raw)}, nil
}
