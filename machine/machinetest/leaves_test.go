package machinetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const leavingTable = `
-- facts --
safe = safe(g1) true
-- situation shut --
start gate_1 alice {"id":"g1","marks":[]}
-- situation seen --
from shut
observer with safe
-- table --
`

// TestMissingWithFacts writes skeleton rows that fit the sections of their table: with a column for the facts only where one has it.
func TestMissingWithFacts(t *testing.T) {
	for _, c := range []struct{ column, want string }{{"", ""}, {" | leaves", " | ?"}} {
		path := filepath.Join(t.TempDir(), "t.txtar")
		row := "shut | | safe | observer | | | committed | = | |" + strings.ReplaceAll(c.column, "leaves", "safe")
		text := leavingTable + strings.Join(columns, " | ") + c.column + "\n" + row + "\n-- impossible --\nasking | * | * | * | not here\n"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		rows, err := Missing(newGate(), path)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(rows), "\n")
		require.Equal(t, strings.Split(strings.Join(columns, " | ")+c.column, " | "), cells(lines[0]))
		for _, l := range lines[1:] {
			require.Len(t, cells(l), len(cells(lines[0])), l)
		}
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(text, "-- impossible", rows[strings.Index(rows, "\n")+1:]+"-- impossible", 1)), 0o644))
		_, err = readTable(newGate(), path)
		require.NoError(t, err, "they can be pasted")
	}
}

// TestUnnamedFactIsShown names what no line of the table names by its fact, its subject and its value.
func TestUnnamedFactIsShown(t *testing.T) {
	tb := parseTable(newGate(), "t.txtar", leavingTable+strings.Join(columns, " | ")+"\nshut | | | timer | lapsed | | | | |\n")
	require.Empty(t, tb.faults)
	seen := tb.situationNamed("seen").at
	shut := tb.situationNamed("shut").at
	tb.facts[0].value = false
	require.Equal(t, "safe(g1) true", tb.leaves(shut, seen, seen.UpdatedAt))
	require.Equal(t, none, tb.leaves(seen, shut, seen.UpdatedAt))
	require.Equal(t, "=", tb.leaves(seen, seen, seen.UpdatedAt))
	tb.facts = nil
	require.Equal(t, "safe(g1) true", tb.leaves(shut, seen, seen.UpdatedAt))
}
