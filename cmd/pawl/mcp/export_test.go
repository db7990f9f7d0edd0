package mcp

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Raw calls a tool with bytes as no client would send them.
func (s *Server) Raw(ctx context.Context, name string, g Grant, raw []byte) (*sdk.CallToolResult, error) {
	for _, t := range s.tools {
		if t.name == name {
			ctx = context.WithValue(ctx, grantContext{}, g)
			return s.serve(t)(ctx, &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: name, Arguments: raw}})
		}
	}
	return nil, nil
}

// Schemas are the input and the output schema of a tool.
func (s *Server) Schemas(name string) (input, output *jsonschema.Schema) {
	for _, t := range s.tools {
		if t.name == name {
			return t.input, t.output
		}
	}
	return nil, nil
}
