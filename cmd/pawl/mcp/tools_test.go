package mcp_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// all are all tools. No other may be added without asking what a model could loosen with it: none observes, confirms for a
// person, overrides, freezes, migrates or switches anything off (laws 2 and 17).
var all = []string{"task_find", "task_history", "task_project", "task_propose", "task_report",
	"working_state_clear", "working_state_clear_handoff", "working_state_get", "working_state_handoff", "working_state_set"}

// writing are those that change something for the agent.
var writing = []string{"task_propose", "working_state_clear", "working_state_clear_handoff", "working_state_handoff", "working_state_set"}

func listed(t *testing.T, s *sdk.ClientSession) []string {
	t.Helper()
	res, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range res.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// TestTools holds the set of tools, and their schemas as clients get them, to what was agreed on.
func TestTools(t *testing.T) {
	each(t, func(t *testing.T, connect dial) {
		s := connect(openDesk(t), both)
		require.Equal(t, all, listed(t, s))
		res, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
		got, err := json.MarshalIndent(res.Tools, "", "  ")
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.WriteFile("testdata/tools.json", append(got, '\n'), 0o644))
		}
		want, err := os.ReadFile("testdata/tools.json")
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got), "run with -update, and read the difference")
		for _, tool := range res.Tools {
			require.NotNil(t, tool.Annotations.DestructiveHint, tool.Name)
			require.NotNil(t, tool.Annotations.OpenWorldHint, tool.Name)
			require.Equal(t, !slices.Contains(writing, tool.Name), !*tool.Annotations.DestructiveHint, tool.Name)
			require.NotEmpty(t, tool.Description, tool.Name)
		}
	})
}

// TestToolsWithout leaves out what a server has nothing for.
func TestToolsWithout(t *testing.T) {
	d := openDesk(t, func(o *mcp.Options) { o.WorkingState, o.Decisions = nil, nil })
	s := d.stdio(d.srv, both, sessions)
	require.Equal(t, []string{"task_find", "task_history", "task_report"}, listed(t, s))
	res, err := s.ListResources(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, res.Resources)
	_, err = tryCall(t, s, "working_state_get", `{}`)
	require.ErrorContains(t, err, `unknown tool "working_state_get"`)
}
