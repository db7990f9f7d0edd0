package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/resume"
)

// URIs of the resources, and the name of the prompt.
const (
	BlockURI   = "pawl://working-state/block"          // what holds now, for the end of a prompt
	ActionsURI = "pawl://working-state/recent-actions" // what the agent did last, refused calls included
	PromptName = "working_state"                       // both, as messages
)

// addBlocks adds the blocks of the working state as resources and as a prompt.
func (s *Server) addBlocks(p *sdk.Server) {
	add := func(uri, name, description string, pick func(state, actions string) string) {
		p.AddResource(&sdk.Resource{URI: uri, Name: name, Description: description, MIMEType: "text/markdown"},
			func(ctx context.Context, _ *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				state, actions, err := s.blocks(ctx)
				if err != nil {
					return nil, err
				}
				out := &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{}}
				if text := pick(state, actions); text != "" {
					out.Contents = append(out.Contents, &sdk.ResourceContents{URI: uri, MIMEType: "text/markdown", Text: text})
				}
				return out, nil
			})
	}
	add(BlockURI, "block", "What holds now: put it at the end of the prompt of each wake-up. No contents when nothing holds.",
		func(state, _ string) string { return state })
	add(ActionsURI, "recent-actions", "What you did last, refused calls included. No contents when there is nothing.",
		func(_, actions string) string { return actions })
	p.AddPrompt(&sdk.Prompt{Name: PromptName, Title: "Working state", Description: "What holds now, and what you did last; no messages when there is nothing."}, s.prompt)
}

func (s *Server) prompt(ctx context.Context, _ *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	state, actions, err := s.blocks(ctx)
	if err != nil {
		return nil, err
	}
	out := &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{}}
	for _, text := range []string{state, actions} {
		if text != "" {
			out.Messages = append(out.Messages, &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: text}})
		}
	}
	return out, nil
}

// blocks are the blocks of the agent that asks. What cannot be read is an error, never an empty block.
func (s *Server) blocks(ctx context.Context) (state, actions string, err error) {
	g := grantOf(ctx)
	if !g.Has(Read) {
		s.o.Log.WarnContext(ctx, "denied", "agent", g.Agent, "scope", Read)
		return "", "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("this connection does not have the scope %s", Read)}
	}
	c := call{agent: g.Agent, who: s.o.Principal(g.Agent)}
	a, refusal := s.agent(c)
	if refusal != nil || c.who.Has(guard.OperatorRole) {
		return "", "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "there is no working state for this connection"}
	}
	both, err := started(ctx, s, a, func() (pair, error) {
		state, actions, err := a.Blocks(ctx, s.o.Layout)
		return pair{state, actions}, err
	})
	if errors.Is(err, resume.ErrNoTask) {
		return "", "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "there is no working state for this connection"}
	}
	if err != nil {
		s.o.Log.ErrorContext(ctx, "broken", "agent", g.Agent, "error", err)
		return "", "", &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the working state cannot be read: it is unknown, not empty"}
	}
	return both.state, both.actions, nil
}

type pair struct{ state, actions string }
