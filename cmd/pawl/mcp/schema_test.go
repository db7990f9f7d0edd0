package mcp_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
)

// members are the names of a payload's members as JSON, in declared order.
func members(t reflect.Type) (all, required []string) {
	for f := range t.Fields() {
		if f.Anonymous {
			a, r := members(f.Type)
			all, required = append(all, a...), append(required, r...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, name)
		if f.Type.Kind() != reflect.Pointer {
			required = append(required, name)
		}
	}
	return all, required
}

// TestSchemasAreThePayloads holds the schemas of the tools that are events to the payloads of these events: no argument is
// missing, none is one too many, and the same ones are required.
func TestSchemasAreThePayloads(t *testing.T) {
	d := openDesk(t)
	for name, payload := range map[string]any{
		"working_state_set": workingstate.Set{}, "working_state_clear": workingstate.Clear{}, "working_state_handoff": workingstate.Handoff{},
		"working_state_clear_handoff": workingstate.ClearHandoff{}, "working_state_get": workingstate.GetArguments{},
	} {
		input, _ := d.srv.Schemas(name)
		all, required := members(reflect.TypeOf(payload))
		var have []string
		for p := range input.Properties {
			have = append(have, p)
		}
		require.ElementsMatch(t, all, have, name)
		require.ElementsMatch(t, required, input.Required, name)
	}
	for name, reply := range map[string]any{
		"working_state_set": workingstate.SetReply{}, "working_state_clear": workingstate.ClearReply{}, "working_state_handoff": workingstate.HandoffReply{},
		"working_state_clear_handoff": workingstate.ClearHandoffReply{}, "working_state_get": workingstate.Report{},
	} {
		_, output := d.srv.Schemas(name)
		all, _ := members(reflect.TypeOf(reply))
		var have []string
		for p := range output.Properties {
			if p != "ok" && p != "refusal" {
				have = append(have, p)
			}
		}
		require.ElementsMatch(t, slices.DeleteFunc(all, func(s string) bool { return s == "ok" }), have, name)
	}
}

// lenient are arguments that are accepted beyond the schemas, since the specification has it so: numbers as text and a history
// limit that is clamped (vectors 21 and 79), text around which there is space (33, 61), and null for what may be left out.
func lenient(tool string, raw []byte) bool {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return len(raw) == 0
	}
	for _, v := range args {
		if v == nil {
			return true
		}
	}
	_, hours := args["ttl_hours"].(string)
	_, limit := args["history_limit"]
	return hours || limit || args["key"] != nil || args["status"] != nil
}

// FuzzArguments calls every tool with any bytes: nothing panics, what comes back is what the output schema says, what the input
// schema does not admit is refused, and a refusal has changed nothing.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{``, `{}`, `[]`, `null`, `{"key":"k","value":"v","reason":"r"}`, `{"key":"k","value":"v","reason":"r","ttl_hours":4.5,"expected_value":"v"}`,
		`{"key":"k","reason":"r","expected_version":1}`, `{"note":"n","status":"complete","evidence":"e"}`, `{"reason":"r"}`, `{"history_limit":3}`,
		`{"which":"owned","limit":1}`, `{"task_id":"refund_123"}`, `{"task_id":"refund_123","limit":1}`, `{"task_id":"refund_123","decision":"interpret_reply"}`,
		`{"task_id":"refund_123","state_version":2,"decision":"interpret_reply","event":"ask_again","payload":{"text":"x"}}`,
		`{"key":"k","value":"v","value":"w","reason":"r"}`, `{"key":"\ud800"}`, `{"ttl_hours":1e400}`, `{"payload":{"payload":{"payload":[]}}}`} {
		for i := range all {
			f.Add(uint8(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, raw []byte) {
		d := openDesk(t, func(o *mcp.Options) { o.Writes = resume.Rate{Burst: 1000, Per: time.Second} })
		tool := all[int(which)%len(all)]
		id := d.refunds("123")
		before := d.versions(t, id)
		if strings.HasPrefix(tool, "task_pro") {
			_, err := d.srv.Raw(t.Context(), "task_project", both, []byte(`{"task_id":"refund_123","decision":"interpret_reply"}`))
			require.NoError(t, err)
		}
		res, err := d.srv.Raw(t.Context(), tool, both, raw)
		require.NoError(t, err)
		d.fits(t, tool, raw, res)
		if res.IsError {
			require.Equal(t, before, d.versions(t, id), "%s", res.StructuredContent)
		}
	})
}

// versions are where the agent's task and working state stand.
func (d *desk) versions(t *testing.T, task string) [2]uint64 {
	snap, _, err := d.ctl.Latest(context.WithoutCancel(t.Context()), task, d.who())
	require.NoError(t, err)
	a, err := workingstate.NewAgent(d.ctl, "trader")
	require.NoError(t, err)
	table, _, err := a.Table(t.Context())
	if err != nil {
		require.ErrorIs(t, err, resume.ErrNoTask)
	}
	return [2]uint64{snap.Version, table.Version}
}

// fits holds a result to the schemas of its tool.
func (d *desk) fits(t *testing.T, tool string, raw []byte, res *sdk.CallToolResult) {
	input, output := d.srv.Schemas(tool)
	resolved, err := output.Resolve(nil)
	require.NoError(t, err)
	var out any
	require.NoError(t, json.Unmarshal(res.StructuredContent.(json.RawMessage), &out))
	require.NoError(t, resolved.Validate(out), "%s", res.StructuredContent)
	require.Len(t, res.Content, 1)
	require.NotEmpty(t, res.Content[0].(*sdk.TextContent).Text)
	if res.IsError || lenient(tool, raw) {
		return
	}
	resolved, err = input.Resolve(&jsonschema.ResolveOptions{})
	require.NoError(t, err)
	var in any
	require.NoError(t, json.Unmarshal(raw, &in), "%q was accepted", raw)
	require.NoError(t, resolved.Validate(in), "%q was accepted", raw)
}
