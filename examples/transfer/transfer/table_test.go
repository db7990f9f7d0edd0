package transfer_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/transfer/transfer"
	"github.com/pawlgo/pawl/machine/machinetest"
)

var pages = flag.Bool("pages", false, "rewrite the page of the machine under docs/machines")

func TestTables(t *testing.T) { machinetest.RunTables(t, transfer.Machine, "testdata/*.txtar") }

// TestExplore visits every situation that the names of the table allow.
func TestExplore(t *testing.T) {
	x, err := machinetest.Explore(transfer.Machine, "testdata/transfer.txtar", machinetest.Limits{})
	require.NoError(t, err)
	require.Empty(t, x.Flaws, x.String())
	require.Empty(t, x.Cut)
	t.Log(x)
}

// TestPage: the page that a reviewer reads is the one that the code makes.
func TestPage(t *testing.T) {
	const file, again = "../../../docs/machines/transfer.md", "run go test ./examples/transfer/transfer -run '^TestPage$' -pages and look at the difference"
	if *pages {
		require.NoError(t, os.WriteFile(file, []byte(transfer.Machine.Markdown()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, again)
	require.Equal(t, string(want), transfer.Machine.Markdown(), again)
}
