package workingstate_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/machinetest"
	ws "github.com/pawlgo/pawl/machine/workingstate"
)

const (
	plainTable  = "testdata/working_state.txtar"
	provenTable = "testdata/working_state_proven.txtar"
)

// proven is the definition in which complete shows a proof of the test runner's.
func proven(t *testing.T) *machine.Machine[ws.Table] {
	t.Helper()
	m, err := ws.New(ws.Options{Proof: ws.NewProof(guard.From("test_runner"))})
	require.NoError(t, err)
	return m
}

func TestTables(t *testing.T) {
	machinetest.RunTables(t, ws.Machine, plainTable)
	machinetest.RunTables(t, proven(t), provenTable)
}

// TestExplore takes every move that the tables name, two deep: no step breaks an invariant, is open twice, or panics. The
// machine never ends and counts its changes, so there is no last situation.
func TestExplore(t *testing.T) {
	for path, m := range map[string]*machine.Machine[ws.Table]{plainTable: ws.Machine, provenTable: proven(t)} {
		x, err := machinetest.Explore(m, path, machinetest.Limits{Depth: 2})
		require.NoError(t, err)
		require.Empty(t, x.Flaws, x.String())
		require.Equal(t, "nothing beyond 2 steps", x.Cut)
		t.Log(x)
	}
}

// elsewhere are the codes that no row of a table can show, and why.
var elsewhere = map[string]string{
	"unknown_agent":     "the task is not there: vector 40",
	"handoff_too_large": "a row of 16 KiB would not be read: vectors 62, 63 and 66",
}

// TestEveryCode wants each code of a refusal in a row of a table, or a reason why none can show it.
func TestEveryCode(t *testing.T) {
	shown := map[string]bool{}
	for _, path := range []string{plainTable, provenTable} {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			if cells := strings.Split(line, "|"); len(cells) == 10 {
				for why := range strings.SplitSeq(cells[9], ",") {
					code, _, _ := strings.Cut(strings.TrimSpace(why), " ")
					shown[code] = true
				}
			}
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	require.NoError(t, err)
	codes := 0
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			require.NotEqual(t, shown[code], elsewhere[code] != "", "%s: it has a row, or a reason why it has none", code)
			codes++
		}
		return true
	})
	require.Greater(t, codes, 10)
}

var pages = flag.Bool("pages", false, "rewrite the page of the machine under docs/machines")

// TestPage: the page that a reviewer reads is the one that the code makes.
func TestPage(t *testing.T) {
	const file, again = "../../docs/machines/working_state.md", "run go test ./machine/workingstate -run '^TestPage$' -pages and look at the difference"
	if *pages {
		require.NoError(t, os.WriteFile(file, []byte(ws.Machine.Markdown()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, again)
	require.Equal(t, string(want), ws.Machine.Markdown(), again)
}
