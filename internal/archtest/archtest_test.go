package archtest_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/internal/archtest"
)

// TestModule is the architecture test itself: the module keeps every rule.
func TestModule(t *testing.T) {
	root := os.DirFS("../..")
	mod, err := fs.ReadFile(root, "go.mod")
	require.NoError(t, err)
	require.Contains(t, string(mod), "module "+archtest.Module+"\n", "the rules are about another module")
	faults, err := archtest.Check(root)
	require.NoError(t, err)
	for _, f := range faults {
		t.Error(f)
	}
}

// TestRules feeds small modules to the rules. Each archive in testdata holds files, and as "want" the faults that
// must be found in them, one a line: rule, place, and some words of the message.
func TestRules(t *testing.T) {
	names, err := fs.Glob(os.DirFS("testdata"), "*.txtar")
	require.NoError(t, err)
	wanted := map[string]bool{}
	for _, name := range names {
		a, err := txtar.ParseFile(path.Join("testdata", name))
		require.NoError(t, err)
		files, want := unpack(a)
		for _, w := range want {
			rule, _, _ := strings.Cut(w, " ")
			wanted[rule] = true
		}
		t.Run(strings.TrimSuffix(name, ".txtar"), func(t *testing.T) {
			got, err := archtest.Check(files)
			require.NoError(t, err)
			requireFaults(t, want, got)
		})
	}
	for _, r := range archtest.Rules() {
		require.True(t, wanted[r], "no archive in testdata breaks the rule %s", r)
	}
}

// requireFaults compares what was found, in order, with the wanted lines.
func requireFaults(t *testing.T, want []string, got []archtest.Fault) {
	t.Helper()
	for i, f := range got {
		require.NotEmpty(t, f.Mend, "%v does not say what to do instead", f)
		require.Less(t, i, len(want), "not expected: %v", f)
		w := strings.SplitN(want[i], " ", 3)
		require.Equal(t, w[0]+" "+w[1], f.Rule+" "+f.File+":"+strconv.Itoa(f.Line), "%v", f)
		if len(w) == 3 {
			require.Contains(t, f.String(), w[2])
		}
	}
	require.Equal(t, len(want), len(got), "not found: %v", want[min(len(got), len(want)):])
}

// unpack is the module in an archive, and the lines that are wanted of it.
func unpack(a *txtar.Archive) (files fstest.MapFS, want []string) {
	files = fstest.MapFS{}
	for _, f := range a.Files {
		if f.Name != "want" {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
			continue
		}
		if text := strings.TrimSpace(string(f.Data)); text != "" {
			want = strings.Split(text, "\n")
		}
	}
	return files, want
}

// TestEveryEdgeOfTheTable imports everything into every package and wants a report exactly where DESIGN's table,
// written down here a second time and from the other side, has no such edge.
func TestEveryEdgeOfTheTable(t *testing.T) {
	may := map[string]string{
		"internal/canon":       "",
		"internal/clock":       "",
		"internal/visible":     "",
		"guard":                "validator canon",
		"internal/engine":      "stateless",
		"machine":              "guard canon clock engine visible",
		"context":              "machine guard canon",
		"machine/workingstate": "machine guard context",
		"store":                "canon",
		"store/pebblestore":    "store pebble",
		"store/personal":       "store",
		"resume":               "machine guard context store canon clock engine visible",
		"examples/refund/desk": "guard machine workingstate context store pebblestore resume model",
		"examples/hello":       "guard machine workingstate context store pebblestore resume",
		"cmd/pawl":             "guard machine workingstate context store pebblestore resume cobra",
		"cmd/pawl/cli":         "guard machine workingstate context store pebblestore resume cobra pretty",
		"cmd/pawl/holder":      "store",
		".":                    "",
	}
	const module = archtest.Module
	imports := map[string]string{
		"canon": module + "/internal/canon", "clock": module + "/internal/clock", "engine": module + "/internal/engine",
		"visible": module + "/internal/visible",
		"guard":   module + "/guard", "machine": module + "/machine", "workingstate": module + "/machine/workingstate",
		"context": module + "/context", "store": module + "/store", "pebblestore": module + "/store/pebblestore",
		"resume": module + "/resume", "model": module + "/examples/refund/model", "pawl": module,
		"sim": module + "/internal/sim", "archtest": module + "/internal/archtest", "cmd": module + "/cmd/pawl",
		"validator": "github.com/go-playground/validator/v10", "pebble": "github.com/cockroachdb/pebble/v2/vfs",
		"stateless": "github.com/qmuntal/stateless", "openai": "github.com/openai/openai-go/v3",
		"cobra": "github.com/spf13/cobra", "pretty": "github.com/jedib0t/go-pretty/v6/table",
		"uuid": "github.com/google/uuid", "near": "github.com/cockroachdb/pebble/v20", "cgo": "C",
	}
	for pkg, allowed := range may {
		for short, imported := range imports {
			if imported == module+"/"+pkg || imported == module && pkg == "." {
				continue
			}
			faults := importing(t, pkg, imported)
			ok := strings.Contains(" "+allowed+" ", " "+short+" ")
			require.Equal(t, ok, len(faults) == 0, "%s imports %s: %v", pkg, imported, faults)
		}
	}
}

// importing is what the import rule says of a package that imports a path.
func importing(t *testing.T, pkg, imported string) []archtest.Fault {
	t.Helper()
	src := "// Package p is a probe.\npackage p\n\nimport _ \"" + imported + "\"\n"
	faults, err := archtest.Check(fstest.MapFS{path.Join(pkg, "p.go"): {Data: []byte(src)}})
	require.NoError(t, err)
	var out []archtest.Fault
	for _, f := range faults {
		if f.Rule == "import" {
			out = append(out, f)
		}
	}
	return out
}

// TestLongestFunction is the limit from both sides.
func TestLongestFunction(t *testing.T) {
	for lines, faults := range map[int]int{70: 0, 71: 1} {
		src := "// Package canon is a probe.\npackage canon\n\nfunc f() {" + strings.Repeat("\n", lines-1) + "}\n"
		got, err := archtest.Check(fstest.MapFS{"internal/canon/f.go": {Data: []byte(src)}})
		require.NoError(t, err)
		require.Len(t, got, faults, "%d lines: %v", lines, got)
	}
}

// TestFieldCases counts the rows of the page of field cases: none gets lost.
func TestFieldCases(t *testing.T) {
	page, err := os.ReadFile("../../docs/field_cases.md")
	require.NoError(t, err)
	require.Len(t, regexp.MustCompile(`(?m)^\| B\d{3} \|`).FindAll(page, -1), 83)
}
