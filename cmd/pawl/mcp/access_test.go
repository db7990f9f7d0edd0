package mcp_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	"github.com/pawlgo/pawl/resume"
)

// TestVector86 refuses what a connection's scopes do not cover, does not list it, and logs it as denied.
func TestVector86(t *testing.T) {
	each(t, func(t *testing.T, connect dial) {
		d := openDesk(t)
		reader := connect(d, mcp.Grant{Agent: "trader", Scopes: []mcp.Scope{mcp.Read}})
		for _, tool := range writing {
			require.NotContains(t, listed(t, reader), tool)
			r := call(t, reader, tool, `{}`).refused(mcp.CodeScope)
			require.Equal(t, "write", r.details()["scope"])
		}
		require.Contains(t, d.log.String(), "level=WARN msg=denied agent=trader tool=working_state_set scope=write")
		require.Equal(t, 0.0, call(t, reader, "working_state_get", "").ok().fields["version"])
	})
}

// TestWriteAlone does not read.
func TestWriteAlone(t *testing.T) {
	each(t, func(t *testing.T, connect dial) {
		d := openDesk(t)
		writer := connect(d, mcp.Grant{Agent: "trader", Scopes: []mcp.Scope{mcp.Write}})
		require.Equal(t, writing, listed(t, writer))
		call(t, writer, "working_state_set", set("k", "v", "")).ok()
		for _, tool := range all {
			if !slices.Contains(writing, tool) {
				call(t, writer, tool, `{}`).refused(mcp.CodeScope)
			}
		}
		_, err := writer.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: mcp.BlockURI})
		require.ErrorContains(t, err, "scope read")
		_, err = writer.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: mcp.PromptName})
		require.ErrorContains(t, err, "scope read")
	})
}

// TestReadOnly serves no tool that writes, whatever the connection's scopes.
func TestReadOnly(t *testing.T) {
	d := openDesk(t, func(o *mcp.Options) { o.ReadOnly = true })
	s := d.http(d.srv, both, sessions)
	for _, tool := range writing {
		require.NotContains(t, listed(t, s), tool)
		call(t, s, tool, `{}`).refused(mcp.CodeReadOnly)
	}
	call(t, s, "working_state_get", "").refused("unknown_agent")
	_, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: mcp.BlockURI})
	require.ErrorContains(t, err, "no working state")
	call(t, s, "task_find", "").ok()
	call(t, d.stdio(d.server(d.ctl), both, sessions), "working_state_set", set("k", "v", "")).ok()
	require.Equal(t, 1.0, call(t, s, "working_state_get", "").ok().fields["version"])
}

// TestRates bounds reads and writes separately, for each agent, by the JSON-RPC error −32029, which says how long to wait.
func TestRates(t *testing.T) {
	each(t, func(t *testing.T, connect dial) {
		d := openDesk(t, func(o *mcp.Options) {
			o.Reads, o.Writes = resume.Rate{Burst: 10, Per: 10 * time.Second}, resume.Rate{Burst: 2, Per: 10 * time.Second}
		})
		s := connect(d, both)
		tooFast := func(err error, scope string) {
			var wire *jsonrpc.Error
			require.True(t, errors.As(err, &wire), "%v", err)
			require.Equal(t, int64(mcp.CodeTooFast), wire.Code)
			var data struct {
				Scope string `json:"scope"`
				After int64  `json:"retry_after_ms"`
			}
			require.NoError(t, json.Unmarshal(wire.Data, &data))
			require.Equal(t, scope, data.Scope)
			require.Positive(t, data.After)
		}
		call(t, s, "working_state_set", set("k", "1", "")).ok()
		call(t, s, "working_state_set", `{}`).refused("missing_field") // a bad call counts as well
		_, err := tryCall(t, s, "working_state_set", set("k", "2", ""))
		tooFast(err, "write")
		call(t, s, "working_state_get", "").ok()
		for err = nil; err == nil; {
			_, err = tryCall(t, s, "working_state_get", "")
		}
		tooFast(err, "read")
		_, err = s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: mcp.BlockURI})
		tooFast(err, "read")
		d.sleep(5 * time.Second)
		call(t, s, "working_state_set", set("k", "3", "")).ok()
		require.Equal(t, 2.0, call(t, s, "working_state_get", "").ok().fields["version"])
	})
}

// TestOptions reports all that is wrong with the options at once.
func TestOptions(t *testing.T) {
	_, err := mcp.New(mcp.Options{Origins: []string{"desk.example"}, Within: -1, Reads: resume.Rate{Burst: -1, Per: 1}})
	require.ErrorIs(t, err, mcp.ErrOptions)
	for _, part := range []string{"no controller", "desk.example", "rate of reads", "a call may take"} {
		require.ErrorContains(t, err, part)
	}
}
