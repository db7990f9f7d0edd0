package command

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
)

func page(t *testing.T) string {
	raw, err := os.ReadFile("../../../../docs/mcp.md")
	require.NoError(t, err)
	return string(raw)
}

// block is the code behind a marker.
func block(t *testing.T, marker string) string {
	t.Helper()
	_, after, found := strings.Cut(page(t), "<!-- "+marker+" -->\n```")
	require.True(t, found, marker)
	_, after, _ = strings.Cut(after, "\n")
	code, _, found := strings.Cut(after, "\n```")
	require.True(t, found, marker)
	return code
}

// running is a client of the server as the page's configuration for stdio starts it, with a store of the test's.
func running(t *testing.T) *sdk.ClientSession {
	var c struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	require.NoError(t, json.Unmarshal([]byte(block(t, "config: stdio")), &c))
	server := c.Servers["pawl"]
	require.Equal(t, "pawl", server.Command)
	for i, a := range server.Args {
		if a == "/var/lib/desk" {
			server.Args[i] = filepath.Join(t.TempDir(), "store")
		}
	}
	cmd := process(server.Args...)
	s := dial(t, &sdk.CommandTransport{Command: cmd}, "2026-07-28")
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// TestPageTools holds the table of tools to the tools.
func TestPageTools(t *testing.T) {
	res, err := running(t).ListTools(t.Context(), nil)
	require.NoError(t, err)
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (read|write) \\| (\\w+) \\|").FindAllStringSubmatch(page(t), -1) {
		rows[m[1]] = m[2:]
	}
	require.Len(t, rows, len(res.Tools))
	for _, tool := range res.Tools {
		scope, changes := "read", "evidence"
		switch a := tool.Annotations; {
		case a.ReadOnlyHint:
			changes = "nothing"
		case *a.DestructiveHint:
			scope, changes = "write", "replaces"
		}
		require.Equal(t, []string{scope, changes}, rows[tool.Name], tool.Name)
	}
}

// TestPageRefusal shows the refusal that the page shows.
func TestPageRefusal(t *testing.T) {
	s := running(t)
	set(t, s, map[string]any{"key": "stop_loss.2317", "value": "262", "reason": "exit on break"})
	got, err := json.Marshal(set(t, s, map[string]any{"key": "stop_loss.2317", "value": "254", "reason": "lower", "expected_value": "260"}))
	require.NoError(t, err)
	require.JSONEq(t, block(t, "refusal"), string(got))
}

// TestPageHTTP runs the commands of the page, and calls with its configuration.
func TestPageHTTP(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	commands := strings.Split(strings.ReplaceAll(block(t, "config: shell"), "/var/lib/desk", dir), "\n")
	require.Len(t, commands, 2)
	token := tool(t, strings.Fields(commands[0])[1:]...)
	require.Equal(t, []string{"pawl", "mcp", "--http", "127.0.0.1:7777", "--dir", dir}, strings.Fields(commands[1]))
	url := served(t, dir)
	config := strings.NewReplacer("pawl_THE_TOKEN", token, "http://127.0.0.1:7777/mcp", url).Replace(block(t, "config: http"))
	var c struct {
		Servers map[string]struct {
			URL     string
			Headers map[string]string
		} `json:"mcpServers"`
	}
	require.NoError(t, json.Unmarshal([]byte(config), &c))
	require.Equal(t, url, c.Servers["pawl"].URL)
	_, token, found := strings.Cut(c.Servers["pawl"].Headers["Authorization"], "Bearer ")
	require.True(t, found)
	s := dial(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client(token)}, "2025-11-25")
	defer s.Close()
	require.Equal(t, true, set(t, s, map[string]any{"key": "k", "value": "v", "reason": "r"})["ok"])
}

// TestPageService shows the service that is compiled.
func TestPageService(t *testing.T) {
	raw, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	require.Contains(t, string(raw), "\n"+block(t, "service")+"\n")
}

// TestPageNames explains every code, every key of _meta, every limit and every flag.
func TestPageNames(t *testing.T) {
	text := page(t)
	for _, file := range []string{"refusal.go", "meta.go", "limits.go", "tokens.go", "block.go"} {
		for name, value := range constants(t, "../"+file) {
			switch {
			case !ast.IsExported(name) || name == "CodeTooFast":
			case strings.HasPrefix(name, "Code"), strings.HasPrefix(name, "Meta"), strings.HasSuffix(name, "URI"), name == "PromptName":
				require.Contains(t, text, "`"+value+"`", name)
			default:
				require.Contains(t, text, "`"+name+"`")
			}
		}
	}
	require.Contains(t, text, strings.Replace(fmt.Sprint(mcp.CodeTooFast), "-", "−", 1))
	flags := map[string]bool{}
	for _, m := range regexp.MustCompile("--[a-z][a-z-]+").FindAllString(text, -1) {
		flags[m] = true
	}
	help := tool(t, "mcp", "--help") + tool(t, "mcp", "token", "add", "--help")
	for f := range flags {
		require.Contains(t, help, f+" ", "the page names a flag that there is not")
	}
}

// constants are the constants of a file, with their texts.
func constants(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	out := map[string]string{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			value := ""
			if l, ok := v.Values[0].(*ast.BasicLit); ok && l.Kind == token.STRING {
				value, _ = strconv.Unquote(l.Value)
			}
			out[v.Names[0].Name] = value
		}
	}
	require.NotEmpty(t, out, file)
	return out
}
