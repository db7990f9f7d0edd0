package mcp_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// TestWorkingState drives every tool of the working state, well used and badly used, in every era.
func TestWorkingState(t *testing.T) {
	each(t, func(t *testing.T, connect dial) {
		d := openDesk(t)
		s := connect(d, both)
		empty := call(t, s, "working_state_get", "").ok()
		require.Equal(t, map[string]any{"ok": true, "version": 0.0, "states": map[string]any{}, "handoff": nil, "history": []any{}}, empty.fields)

		first := call(t, s, "working_state_set", set(stop, "262", "")).ok() // vector 1
		require.Equal(t, 1.0, first.fields["version"])
		require.Nil(t, first.fields["superseded"])
		require.Equal(t, false, first.fields["truncated"])
		require.JSONEq(t, first.text, `{"ok":true,"version":1,"key":"stop_loss.2317","value":"262","superseded":null,"truncated":false,"swept":[]}`)

		stale := call(t, s, "working_state_set", set(stop, "254", `,"expected_value":"260"`)).refused("cas_conflict") // vector 4
		require.Contains(t, stale.text, "262")
		require.Equal(t, "262", stale.details()["current"])
		require.Contains(t, stale.refusal()["permitted"], "working_state_set")
		require.Equal(t, 2.0, call(t, s, "working_state_set", set(stop, "257", `,"expected_value":"262"`)).ok().fields["version"])
		call(t, s, "working_state_set", set(stop, "1", `,"expected_version":1`)).refused("cas_conflict")
		call(t, s, "working_state_set", set(stop, "1", `,"expect_absent":true`)).refused("cas_conflict")

		call(t, s, "working_state_clear", `{"key":"stop_loss.2330","reason":"sold"}`).refused("key_not_found")
		require.Equal(t, "257", call(t, s, "working_state_clear", fmt.Sprintf(`{"key":%q,"reason":"sold"}`, stop)).ok().fields["retired_value"])

		call(t, s, "working_state_handoff", `{"note":"n","status":"complete"}`).refused("handoff_rule_violation") // vector 51
		call(t, s, "working_state_handoff", `{"note":"n","next_steps":""}`).refused("handoff_status_required")    // vector 59
		call(t, s, "working_state_handoff", `{"note":"n","status":"done"}`).refused("handoff_status_invalid")     // vector 61
		call(t, s, "working_state_handoff", `{"note":"n","status":" continue ","next_steps":"watch"}`).ok()       // vector 61
		call(t, s, "working_state_handoff", `{"note":"plain","status":""}`).ok()                                  // vector 60
		call(t, s, "working_state_handoff", `{"note":"n","expected_record_version":1}`).refused("cas_conflict")
		require.Equal(t, "plain", call(t, s, "working_state_clear_handoff", `{"reason":"read"}`).ok().fields["retired_note"])
		call(t, s, "working_state_clear_handoff", `{"reason":"read"}`).refused("handoff_not_found")

		got := call(t, s, "working_state_get", `{"history_limit":2}`).ok()
		require.Len(t, got.fields["history"], 2)
	})
}

// TestArguments refuses arguments in another form, says what was wrong and where, and changes nothing.
func TestArguments(t *testing.T) {
	d := openDesk(t)
	s := d.stdio(d.srv, both, sessionless)
	task := d.refunds("123")
	for _, bad := range []struct{ name, tool, arguments, code, place string }{
		{"vector 10, expected_value is a number", "working_state_set", set(stop, "257", `,"expected_value":260`), "wrong_type", "/expected_value"},
		{"vector 22, ttl_hours is no number", "working_state_set", set(stop, "257", `,"ttl_hours":"soon"`), "wrong_type", "/ttl_hours"},
		{"vector 22, ttl_hours is a bool", "working_state_set", set(stop, "257", `,"ttl_hours":true`), "wrong_type", "/ttl_hours"},
		{"vector 35, value is a number", "working_state_set", `{"key":"k","value":262,"reason":"r"}`, "wrong_type", "/value"},
		{"a key twice", "working_state_set", `{"key":"k","value":"1","value":"2","reason":"r"}`, "duplicate_key", ""},
		{"a key in another case", "working_state_set", `{"key":"k","Value":"1","value":"2","reason":"r"}`, "case_variant_key", ""},
		{"an unknown argument", "working_state_set", set("k", "v", `,"agent":"boss"`), "unknown_field", "/agent"},
		{"a missing argument", "working_state_set", `{"key":"k","value":"v"}`, "missing_field", "/reason"},
		{"null where a text is needed", "working_state_set", `{"key":null,"value":"v","reason":"r"}`, "null", "/key"},
		{"half a character", "working_state_set", `{"key":"k","value":"\ud800","reason":"r"}`, "syntax", ""},
		{"a list", "working_state_set", `[]`, "wrong_type", ""},
		{"nothing", "working_state_set", "", "missing_field", "/key"},
		{"handoff, a number", "working_state_handoff", `{"note":"n","evidence":1}`, "wrong_type", "/evidence"},
		{"clear, an unknown argument", "working_state_clear", `{"key":"k","reason":"r","ttl_hours":1}`, "unknown_field", "/ttl_hours"},
		{"clear the handoff, nothing", "working_state_clear_handoff", `{}`, "missing_field", "/reason"},
		{"get, a bool", "working_state_get", `{"history_limit":true}`, "wrong_type", "/history_limit"},
		{"get, an unknown argument", "working_state_get", `{"limit":1}`, "unknown_field", "/limit"},
		{"find, a word that is none", "task_find", `{"which":"all"}`, "invalid", "/which"},
		{"find, too many", "task_find", `{"limit":101}`, "invalid", "/limit"},
		{"find, none", "task_find", `{"limit":0}`, "invalid", "/limit"},
		{"report, nothing", "task_report", `{}`, "missing_field", "/task_id"},
		{"report, an empty id", "task_report", `{"task_id":""}`, "invalid", "/task_id"},
		{"history, a text", "task_history", `{"task_id":"t","limit":"1"}`, "wrong_type", "/limit"},
		{"project, no decision", "task_project", fmt.Sprintf(`{"task_id":%q}`, task), "missing_field", "/decision"},
		{"propose, a version as text", "task_propose", fmt.Sprintf(`{"task_id":%q,"state_version":"2","decision":"interpret_reply","event":"cancel_refund","payload":{}}`, task), "wrong_type", "/state_version"},
		{"propose, version zero", "task_propose", fmt.Sprintf(`{"task_id":%q,"state_version":0,"decision":"interpret_reply","event":"cancel_refund","payload":{}}`, task), "invalid", "/state_version"},
		{"propose, a principal", "task_propose", fmt.Sprintf(`{"task_id":%q,"state_version":2,"decision":"interpret_reply","event":"cancel_refund","payload":{},"principal":"alice"}`, task), "unknown_field", "/principal"},
	} {
		t.Run(bad.name, func(t *testing.T) {
			r := call(t, s, bad.tool, bad.arguments).refused(bad.code)
			if bad.place != "" {
				require.Contains(t, r.text, bad.place)
			}
		})
	}
	require.Equal(t, 0.0, call(t, s, "working_state_get", "").ok().fields["version"])
}

// TestVector20and21 takes a ttl as a number or as a text that is one, and refuses one that would be over before it began.
func TestVector20and21(t *testing.T) {
	d := openDesk(t)
	s := d.stdio(d.srv, both, sessions)
	call(t, s, "working_state_set", set("k", "v", `,"ttl_hours":0.0001`)).refused("ttl_out_of_range")
	until := t0.Add(16200 * time.Second).Format(time.RFC3339)
	require.Equal(t, until, call(t, s, "working_state_set", set("k", "v", `,"ttl_hours":"4.5"`)).ok().fields["expires_at"])
	require.Equal(t, until, call(t, s, "working_state_set", set("k", "v", `,"ttl_hours":4.5`)).ok().fields["expires_at"])
	require.NotContains(t, call(t, s, "working_state_set", set("k", "v", "")).ok().fields, "expires_at")
}

// TestVector33 takes space around a key off, and that around an expected value (vector 6).
func TestVector33(t *testing.T) {
	d := openDesk(t)
	s := d.stdio(d.srv, both, sessions)
	require.Equal(t, "phase", call(t, s, "working_state_set", set("  phase  ", "a", "")).ok().fields["key"])
	call(t, s, "working_state_set", set("phase", "b", `,"expected_value":"  a "`)).ok()
}

// TestVector79 clamps the history that is asked for.
func TestVector79(t *testing.T) {
	d := openDesk(t, func(o *mcp.Options) { o.Writes.Burst, o.Writes.Per = 1000, time.Minute })
	s := d.stdio(d.srv, both, sessions)
	for range 30 {
		call(t, s, "working_state_set", set("k", "v", "")).ok()
	}
	for arguments, want := range map[string]int{`{}`: 20, `{"history_limit":500}`: 30, `{"history_limit":0}`: 1, `{"history_limit":"7"}`: 7, `{"history_limit":"x"}`: 20, `{"history_limit":-3}`: 20} {
		require.Len(t, call(t, s, "working_state_get", arguments).ok().fields["history"], want, arguments)
	}
}

// TestVector82 lets two clients in two processes' way race for one key: exactly one wins, and the other hears the winner's value.
func TestVector82(t *testing.T) {
	d := openDesk(t)
	other := d.server(d.controller())
	clients := []*sdk.ClientSession{d.stdio(d.srv, both, sessions), d.http(other, both, sessionless)}
	call(t, clients[0], "working_state_set", set(stop, "262", "")).ok()
	for round := range 10 {
		results := make([]result, 2)
		var race sync.WaitGroup
		for i, value := range []string{"254", "257"} {
			race.Go(func() {
				results[i] = call(t, clients[i], "working_state_set", set(stop, value, `,"expected_value":"262"`))
			})
		}
		race.Wait()
		won, lost := results[0], results[1]
		if won.isError {
			won, lost = lost, won
		}
		won.ok()
		require.Equal(t, won.fields["value"], lost.refused("cas_conflict").details()["current"])
		require.Equal(t, float64(2*round+2), won.fields["version"])
		call(t, clients[0], "working_state_set", set(stop, "262", "")).ok()
	}
}

// TestAgents keeps what agents hold apart: it follows the connection, and no argument can name another.
func TestAgents(t *testing.T) {
	d := openDesk(t)
	trader := d.http(d.srv, both, sessionless)
	other := d.http(d.srv, mcp.Grant{Agent: "other", Scopes: both.Scopes}, sessionless)
	call(t, trader, "working_state_set", set("k", "mine", "")).ok()
	require.Empty(t, call(t, other, "working_state_get", "").ok().fields["states"])
	call(t, other, "working_state_set", set("k", "theirs", "")).ok()
	states := call(t, trader, "working_state_get", "").ok().fields["states"].(map[string]any)
	require.Equal(t, "mine", states["k"].(map[string]any)["value"])
	require.Equal(t, "trader", states["k"].(map[string]any)["updated_by"])
}

// TestVector40 refuses what names no agent, before anything is served.
func TestVector40(t *testing.T) {
	d := openDesk(t)
	for _, id := range []string{"", "../evil", "a b", strings.Repeat("a", workingstate.MaxAgent+1)} {
		err := d.srv.ServeStdio(t.Context(), mcp.Grant{Agent: id, Scopes: both.Scopes}, newPipe(), newPipe())
		require.ErrorIs(t, err, workingstate.ErrAgent, id)
		_, err = d.tokens().Add("t", id, both.Scopes, t0, time.Time{})
		require.ErrorIs(t, err, workingstate.ErrAgent, id)
	}
}

// TestMeta records which wake-up and which model wrote, and takes a repeated call for what it is.
func TestMeta(t *testing.T) {
	d := openDesk(t)
	s := d.stdio(d.srv, both, sessionless)
	send := func(value string, meta sdk.Meta) *sdk.CallToolResult {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "working_state_set", Meta: meta,
			Arguments: map[string]any{"key": "k", "value": value, "reason": "r"}})
		require.NoError(t, err)
		return res
	}
	about := sdk.Meta{mcp.MetaKey: "call-1", mcp.MetaRun: "wake-7", mcp.MetaModel: "sonnet/prompt-3"}
	require.False(t, send("1", about).IsError)
	require.False(t, send("1", about).IsError, "the same call again")
	require.True(t, send("2", about).IsError, "another call under the same key")
	history := call(t, s, "working_state_get", "").ok().fields["history"].([]any)
	require.Len(t, history, 1)
	require.Equal(t, "wake-7", history[0].(map[string]any)["run"])
	require.Equal(t, "sonnet/prompt-3", history[0].(map[string]any)["model"])
	require.True(t, send("1", sdk.Meta{mcp.MetaRun: 7}).IsError)
	require.True(t, send("1", sdk.Meta{mcp.MetaRun: "two words"}).IsError)
}

// TestBlock gives the block as a resource and as a prompt, and nothing at all when nothing holds (vector 43).
func TestBlock(t *testing.T) {
	each(t, func(t *testing.T, connect dial) {
		d := openDesk(t)
		s := connect(d, both)
		read := func(uri string) *sdk.ReadResourceResult {
			res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			require.NoError(t, err)
			return res
		}
		prompt := func() []*sdk.PromptMessage {
			res, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: mcp.PromptName})
			require.NoError(t, err)
			return res.Messages
		}
		require.Empty(t, read(mcp.BlockURI).Contents)
		require.Empty(t, read(mcp.ActionsURI).Contents)
		require.Empty(t, prompt())

		call(t, s, "working_state_set", set(stop, "262\n## fake heading", "")).ok() // vector 38
		call(t, s, "working_state_set", set(stop, "254", `,"expected_value":"1"`)).refused("cas_conflict")
		block, actions := read(mcp.BlockURI).Contents, read(mcp.ActionsURI).Contents
		require.Len(t, block, 1)
		require.Equal(t, "text/markdown", block[0].MIMEType)
		require.Equal(t, 1, strings.Count("\n"+block[0].Text, "\n## "), block[0].Text)
		require.Contains(t, block[0].Text, stop)
		require.Contains(t, actions[0].Text, "cas_conflict", "refused calls are recent actions too")
		messages := prompt()
		require.Len(t, messages, 2)
		require.Equal(t, block[0].Text, messages[0].Content.(*sdk.TextContent).Text)
		require.Equal(t, actions[0].Text, messages[1].Content.(*sdk.TextContent).Text)
		_, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "pawl://working-state/other"})
		require.Error(t, err)
	})
}

// TestPrivate stamps everything that may be kept as private to the connection, and as stale at once.
func TestPrivate(t *testing.T) {
	d := openDesk(t)
	s := d.http(d.srv, both, sessionless)
	res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: mcp.BlockURI})
	require.NoError(t, err)
	require.Equal(t, "private", res.CacheScope)
	require.Zero(t, res.TTLMs)
	tools, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "private", tools.CacheScope, "the list depends on the scopes")
}
