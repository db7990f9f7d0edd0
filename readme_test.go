package pawl_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the example and its output into the README")

// The README shows the program that is compiled, and the output that its own test checks.
func TestREADME(t *testing.T) {
	program := read(t, "examples/hello/main.go")
	require.Less(t, strings.Count(program, "\n"), 40, "the first program has under 40 lines")
	output := expected(t, read(t, "examples/hello/main_test.go"))

	readme := read(t, "README.md")
	want := block(t, readme, "<!-- examples/hello/main.go -->", "```go\n"+program+"```")
	want = block(t, want, "<!-- examples/hello output -->", "```\n"+output+"```")
	if *update {
		require.NoError(t, os.WriteFile("README.md", []byte(want), 0o644))
		return
	}
	require.Equal(t, want, readme, "rerun with: go test . -update")
}

// The two commands that a newcomer types, and nothing before them.
func TestREADMENamesTheTwoCommands(t *testing.T) {
	readme := read(t, "README.md")
	require.Contains(t, readme, "\ngo run ./examples/refund ")
	require.Contains(t, readme, "\ngo test ./... ")
	require.Contains(t, read(t, ".ci/run"), "go test ./...")
}

// Links lead somewhere.
func TestLinks(t *testing.T) {
	for _, file := range []string{"README.md", "CONTRIBUTING.md", "docs/architecture.md"} {
		dir := ""
		if i := strings.LastIndex(file, "/"); i >= 0 {
			dir = file[:i+1]
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#\s"]+)\)`).FindAllStringSubmatch(read(t, file), -1) {
			if !strings.Contains(m[1], "://") {
				_, err := os.Stat(dir + m[1])
				require.NoError(t, err, "%s links to %s", file, m[1])
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// block replaces the fenced block behind a marker.
func block(t *testing.T, text, marker, with string) string {
	t.Helper()
	at := strings.Index(text, marker)
	require.GreaterOrEqual(t, at, 0, marker)
	head, rest := text[:at+len(marker)+1], text[at+len(marker)+1:]
	end := strings.Index(rest[3:], "\n```") + 3 + len("\n```")
	return head + with + rest[end:]
}

// expected is the output that an example test declares.
func expected(t *testing.T, test string) string {
	t.Helper()
	_, after, found := strings.Cut(test, "// Output:\n")
	require.True(t, found)
	var b strings.Builder
	for line := range strings.Lines(after) {
		text, isComment := strings.CutPrefix(strings.TrimSpace(line), "// ")
		if !isComment {
			break
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}
