package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// keysOfGet are the keys that hold while mcp/stdio reads.
const keysOfGet = 8

// mcpStdio measures one tool call as a client sees it, over pipes of the operating system: working_state_get of 8 keys on a
// Pebble store, with its newest change. A call that writes costs what workingstate/set costs, on top. The floor is a tool of
// the same SDK that does nothing, called by the same client.
func mcpStdio() benchmark {
	return benchmark{name: "mcp/stdio", unit: nanoseconds, callers: 1, calls: 1800, ours: openServer, floor: openIdle}
}

// client is a client on pipes, and what it talks to.
type client struct {
	session *sdk.ClientSession
	served  chan error
	closing []func() error
}

// connect starts a server on pipes, and a client of it.
func connect(ctx context.Context, serve func(in, out *os.File) error) (*client, error) {
	toServer, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, fromServer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &client{served: make(chan error, 1)}
	go func() { c.served <- serve(toServer, fromServer) }()
	c.session, err = sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).
		Connect(ctx, &sdk.IOTransport{Reader: out, Writer: in}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	return c, err
}

// side calls one tool.
func (c *client) side(ctx context.Context, tool string, arguments json.RawMessage) side {
	return side{
		call: func(_, _ int) error {
			res, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
			if err == nil && res.IsError {
				err = fmt.Errorf("%s: %s", tool, res.Content[0].(*sdk.TextContent).Text)
			}
			return err
		},
		close: func() error {
			err := errors.Join(c.session.Close(), <-c.served)
			for _, f := range c.closing {
				err = errors.Join(err, f())
			}
			return err
		},
	}
}

// openServer is our server over one agent's working state.
func openServer(at place) (side, error) {
	ctx := context.Background()
	st, err := pebblestore.Open(at.dir, pebblestore.Options{FS: at.fs})
	if err != nil {
		return side{}, err
	}
	ctl, err := resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{workingstate.Machine}})
	if err != nil {
		return side{}, errors.Join(err, st.Close())
	}
	srv, err := mcp.New(mcp.Options{Tasks: ctl, WorkingState: workingstate.Machine, Reads: resume.Rate{Burst: 1 << 30, Per: 1 << 30}})
	if err != nil {
		return side{}, errors.Join(err, st.Close())
	}
	c, err := connect(ctx, func(in, out *os.File) error {
		return srv.ServeStdio(ctx, mcp.Grant{Agent: trader, Scopes: []mcp.Scope{mcp.Read, mcp.Write}}, in, out)
	})
	if err != nil {
		return side{}, errors.Join(err, st.Close())
	}
	c.closing = append(c.closing, st.Close)
	for n := range keysOfGet {
		set := c.side(ctx, "working_state_set", fmt.Appendf(nil, `{"key":"stop_loss.%d","value":"262","reason":"exit on break","ttl_hours":4.5}`, n))
		if err := set.call(0, n); err != nil {
			return side{}, errors.Join(err, set.close())
		}
	}
	return c.side(ctx, "working_state_get", json.RawMessage(`{"history_limit":1}`)), nil
}

// openIdle is a server of the SDK with a tool that does nothing.
func openIdle(place) (side, error) {
	ctx := context.Background()
	srv := sdk.NewServer(&sdk.Implementation{Name: "idle", Version: "1"}, nil)
	srv.AddTool(&sdk.Tool{Name: "nothing", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{}, nil
	})
	c, err := connect(ctx, func(in, out *os.File) error { return srv.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out}) })
	if err != nil {
		return side{}, err
	}
	return c.side(ctx, "nothing", json.RawMessage(`{}`)), nil
}
