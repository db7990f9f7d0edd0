package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
)

// The rows that a table of working state still needs; a table that needs none; one that is no table; none at all.
func TestTableMissing(t *testing.T) {
	const table = `The working state of an agent is set.

-- situation new --
start working_state:trader trader {"version":0,"states":{},"handoff":null}
-- table --
given | after | facts | by           | event             | payload                                | outcome | state | brings | why
new   |       |       | model/trader | working_state_set | {"key":"k","value":"1","reason":"why"} | ?       | ?     | ?      | ?
`
	file := filepath.Join(t.TempDir(), "table.txtar")
	run := func() (int, string, string) {
		var out, errs bytes.Buffer
		exit := cli.Run(t.Context(), tool(), []string{"table", "missing", "working_state", file}, cli.Streams{Out: &out, Err: &errs})
		return exit, out.String(), errs.String()
	}
	require.NoError(t, os.WriteFile(file, []byte(table), 0o600))
	exit, out, errs := run()
	require.Equal(t, cli.ExitOK, exit, errs)
	require.Regexp(t, `(?m)^new .*\| working_state_clear `, out)
	require.Regexp(t, `(?m)^new .*\| working_state_handoff `, out)
	require.NotRegexp(t, `\| working_state_set `, out)

	require.NoError(t, os.WriteFile(file, []byte(table+"-- impossible --\n* | * | * | * | not of this page\n"), 0o600))
	exit, out, errs = run()
	require.Equal(t, cli.ExitOK, exit, errs)
	require.Empty(t, out)
	require.Contains(t, errs, "nothing is missing")

	require.NoError(t, os.WriteFile(file, []byte("no table\n"), 0o600))
	exit, _, errs = run()
	require.Equal(t, cli.ExitFailed, exit)
	require.Contains(t, errs, "table.txtar:1: ")

	require.NoError(t, os.Remove(file))
	exit, _, _ = run()
	require.Equal(t, cli.ExitNotFound, exit)

	t.Setenv("PATH", "")
	require.NoError(t, os.WriteFile(file, []byte(table), 0o600))
	exit, _, errs = run()
	require.Equal(t, cli.ExitFailed, exit)
	require.Contains(t, errs, "the go tool, which is not there")
}
