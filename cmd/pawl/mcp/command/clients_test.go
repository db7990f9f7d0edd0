package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// installed are the clients, each in the era that it is of.
type installed struct {
	t    *testing.T
	dir  string // of the clients
	node string
	home string
}

func clientsOf(t *testing.T) installed {
	if *clients == "" {
		t.Skip("runs with -clients") // reason: it needs npm packages and Node.js; .ci/run installs them and sets the flag
	}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	c := installed{t, *clients, filepath.Join(*clients, "node_modules", "node-linux-"+arch, "bin", "node"), t.TempDir()}
	require.FileExists(t, c.node, "run npm ci in a copy of testdata/clients, and give that copy to -clients")
	return c
}

// environment holds nothing of this process's but what a program needs to run, so that nothing is left in anybody's home.
func (c installed) environment(more ...string) []string {
	return append([]string{"PATH=" + filepath.Dir(c.node) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + c.home, "TMPDIR=" + c.home, "NO_COLOR=1"}, more...)
}

// run runs a script, and gives what it prints.
func (c installed) run(env []string, exit int, script string, args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.node, append([]string{filepath.Join(c.dir, script)}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = &out, &errs, c.environment(env...), c.dir
	err := cmd.Run()
	got := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got, err = e.ExitCode(), nil
	}
	require.NoError(c.t, err)
	require.Equal(c.t, exit, got, "%s %s\n%s\n%s", script, strings.Join(args, " "), &out, &errs)
	return out.String() + errs.String()
}

// setting is what a script is told of the server.
func setting(t *testing.T, members map[string]any) string {
	raw, err := json.Marshal(members)
	require.NoError(t, err)
	return "PAWL_CLIENT_SETTING=" + string(raw)
}

// served is "pawl mcp --http" in a process of its own, until the test ends.
func served(t *testing.T, dir string, args ...string) (url string) {
	t.Helper()
	cmd := process(append([]string{"mcp", "--http", "127.0.0.1:0", "--dir", dir, "--reads", "1000/1m", "--writes", "1000/1m"}, args...)...)
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(errs)
	for url == "" {
		line, err := lines.ReadString('\n')
		require.NoError(t, err, line)
		_, url, _ = strings.Cut(strings.TrimSpace(line), "serving ")
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // so that the process never waits for us
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait(), "the server ends well")
	})
	return url
}

// tool runs the service's own command line.
func tool(t *testing.T, args ...string) string {
	t.Helper()
	out, err := process(args...).Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, e.Stderr)
	}
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// TestClientsStdio lets the official clients of both eras start the server and drive it on stdio.
func TestClientsStdio(t *testing.T) {
	c := clientsOf(t)
	for _, script := range []string{"sdk.mjs", "client.mjs"} {
		dir := filepath.Join(t.TempDir(), "store")
		env := map[string]string{toolVariable: "1", "HOME": c.home}
		args := []string{"mcp", "-agent", "trader", "-dir", dir}
		out := c.run([]string{setting(t, map[string]any{"command": os.Args[0], "args": args, "env": env, "task": task})}, 0, script)
		require.Contains(t, out, `"tools":10`)
		out = c.run([]string{setting(t, map[string]any{"command": os.Args[0], "args": append(args, "-scopes", "read"), "env": env, "readOnly": true})}, 0, script)
		require.Contains(t, out, `"tools":5`)
		require.Contains(t, tool(t, "state", "get", "--agent", "trader", "--dir", dir, "-o", "json"), "version")
	}
}

// TestClientsHTTP lets the official clients of both eras drive one server on one URL, each with a token of its own scopes.
func TestClientsHTTP(t *testing.T) {
	c := clientsOf(t)
	dir := filepath.Join(t.TempDir(), "store")
	write := tool(t, "mcp", "token", "add", "writer", "--agent", "trader", "--dir", dir)
	read := tool(t, "mcp", "token", "add", "reader", "--agent", "trader", "--scopes", "read", "--dir", dir)
	url := served(t, dir)
	for _, script := range []string{"sdk.mjs", "client.mjs"} {
		require.Contains(t, c.run([]string{setting(t, map[string]any{"url": url, "token": write, "task": task})}, 0, script), `"tools":10`)
		require.Contains(t, c.run([]string{setting(t, map[string]any{"url": url, "token": read, "readOnly": true})}, 0, script), `"tools":5`)
		require.Contains(t, c.run([]string{setting(t, map[string]any{"url": url, "token": "pawl_wrong", "readOnly": true})}, 1, script), "401")
	}
}

// TestClientsInspector drives the server with the command line of the MCP inspector, on stdio and over HTTP.
func TestClientsInspector(t *testing.T) {
	c := clientsOf(t)
	dir := filepath.Join(t.TempDir(), "store")
	inspector := filepath.Join("node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	stdio := func(exit int, args ...string) string {
		return c.run(nil, exit, inspector, append([]string{"--cli", "-e", toolVariable + "=1", "-e", "HOME=" + c.home,
			os.Args[0], "mcp", "--agent", "trader", "--dir", dir}, args...)...)
	}
	require.Contains(t, stdio(0, "--method", "tools/list", "--strict"), `"working_state_set"`)
	set := []string{"--method", "tools/call", "--tool-name", "working_state_set", "--tool-arg", "key=stop_loss.2317", "reason=exit", `value="262"`}
	require.Contains(t, stdio(0, set...), `\"version\":1`)
	require.Contains(t, stdio(5, append(set, `expected_value="1"`)...), "cas_conflict") // 5 is a result that is an error

	token := tool(t, "mcp", "token", "add", "inspector", "--agent", "trader", "--dir", dir)
	url := served(t, dir)
	web := func(exit int, token string, args ...string) string {
		return c.run(nil, exit, inspector, append([]string{"--cli", url, "--transport", "http", "--header", "Authorization: Bearer " + token}, args...)...)
	}
	require.Contains(t, web(0, token, "--method", "resources/read", "--uri", "pawl://working-state/block"), "stop_loss.2317")
	require.Contains(t, web(0, token, "--method", "prompts/get", "--prompt-name", "working_state"), "stop_loss.2317")
	require.Contains(t, web(0, token, "--method", "tools/call", "--tool-name", "task_project", "--tool-arg", "task_id="+task, "decision=interpret_reply"), "explicit confirmation")
	require.NotContains(t, web(3, "pawl_wrong", "--method", "tools/list"), "working_state_set") // 3 is a failed sign-in
}
