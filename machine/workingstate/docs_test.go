package workingstate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const docs = "../../docs/working-state.md"

// TestDocs: the code in the guide is that of the examples, which are compiled and whose output is checked; every code of a
// refusal and every limit is explained there. The flag -pages rewrites the code.
func TestDocs(t *testing.T) {
	raw, err := os.ReadFile(docs)
	require.NoError(t, err)
	text := string(raw)
	shown := 0
	want := regexp.MustCompile("(?s)<!-- (Example\\w*) -->\n```go\n.*?```").ReplaceAllStringFunc(text, func(block string) string {
		shown++
		name, _, _ := strings.Cut(strings.TrimPrefix(block, "<!-- "), " ")
		return "<!-- " + name + " -->\n```go\n" + exampleBody(t, name) + "```"
	})
	require.Equal(t, 3, shown)
	if *pages {
		require.NoError(t, os.WriteFile(docs, []byte(want), 0o644))
		text = want
	}
	require.Equal(t, want, text, "run go test ./machine/workingstate -run '^TestDocs$' -pages")
	for name, value := range constants(t, "codes.go") {
		require.Contains(t, text, "`"+value+"`", name)
	}
	for name := range constants(t, "limits.go") {
		require.Contains(t, text, "`"+name+"`")
	}
}

// exampleBody is what an example does, as it stands in its file, and its output.
func exampleBody(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(raw), "\nfunc "+name+"() {\n")
	require.True(t, found, name)
	body, _, _ := strings.Cut(after, "\n}\n")
	var b strings.Builder
	for line := range strings.Lines(body + "\n") {
		b.WriteString(strings.TrimPrefix(line, "\t"))
	}
	return b.String()
}

// constants are the constants of a file, with their values as written.
func constants(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			value := ""
			if l, ok := v.Values[0].(*ast.BasicLit); ok && l.Kind == token.STRING {
				value, _ = strconv.Unquote(l.Value)
			}
			out[v.Names[0].Name] = value
		}
		return true
	})
	require.NotEmpty(t, out)
	return out
}
