package command

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func client(token string) *http.Client { return &http.Client{Transport: bearer(token)} }

// process is the service's own command line, to be started.
func process(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), toolVariable+"=1")
	return cmd
}

// dial connects to a server in another process.
func dial(t *testing.T, transport sdk.Transport, version string) *sdk.ClientSession {
	t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	require.Equal(t, version, s.InitializeResult().ProtocolVersion)
	return s
}

// set calls working_state_set, and gives the result's members.
func set(t *testing.T, s *sdk.ClientSession, arguments map[string]any) map[string]any {
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "working_state_set", Arguments: arguments})
	require.NoError(t, err)
	raw, err := json.Marshal(res.StructuredContent)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// TestRace lets two clients of one server process race for one key, each in an era of its own: one wins, and the other hears the
// winner's value (vector 82).
func TestRace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	token := tool(t, "mcp", "token", "add", "both", "--agent", "trader", "--dir", dir)
	url := served(t, dir)
	var clients []*sdk.ClientSession
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		s := dial(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client(token)}, version)
		defer s.Close()
		clients = append(clients, s)
	}
	require.Equal(t, true, set(t, clients[0], map[string]any{"key": "stop_loss.2317", "value": "262", "reason": "exit"})["ok"])
	results := make([]map[string]any, 2)
	var race sync.WaitGroup
	for i, value := range []string{"254", "257"} {
		race.Go(func() {
			results[i] = set(t, clients[i], map[string]any{"key": "stop_loss.2317", "value": value, "reason": "lowered", "expected_value": "262"})
		})
	}
	race.Wait()
	won, lost := results[0], results[1]
	if won["ok"] != true {
		won, lost = lost, won
	}
	require.Equal(t, true, won["ok"])
	require.Equal(t, 2.0, won["version"])
	refusal := lost["refusal"].(map[string]any)
	require.Equal(t, "cas_conflict", refusal["code"])
	require.Equal(t, won["value"], refusal["details"].(map[string]any)["current"])
}

// TestBeside reads beside a running server, through its socket, and is told who has the store when it wants to change it.
func TestBeside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	token := tool(t, "mcp", "token", "add", "both", "--agent", "trader", "--dir", dir)
	url := served(t, dir)
	s := dial(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client(token)}, "2026-07-28")
	defer s.Close()
	require.Equal(t, true, set(t, s, map[string]any{"key": "phase", "value": "watch", "reason": "r"})["ok"])
	require.Contains(t, tool(t, "state", "get", "--agent", "trader", "--dir", dir, "-o", "json"), `"watch"`)
	for _, args := range [][]string{{"mcp", "--agent", "trader", "--dir", dir}, {"state", "set", "phase", "sold", "--reason", "r", "--agent", "trader", "--dir", dir}} {
		cmd := process(args...)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 6, cmd.ProcessState.ExitCode(), "%s", out)
		require.Contains(t, string(out), "is in use by pawl mcp", strings.Join(args, " "))
	}
	tool(t, "mcp", "token", "revoke", "both", "--dir", dir)
	_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "working_state_get"})
	require.ErrorContains(t, err, "Unauthorized", "a token that is revoked beside the server counts no more at once")
}

// TestStdioProcess starts the server as a runtime does, in both eras: what else the process prints does not reach the protocol.
func TestStdioProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		cmd := process("mcp", "-agent", "trader", "-dir", dir)
		s := dial(t, &sdk.CommandTransport{Command: cmd}, version)
		require.Equal(t, true, set(t, s, map[string]any{"key": "phase", "value": version, "reason": "r"})["ok"])
		res, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, res.Tools, 10)
		require.NoError(t, s.Close())
		require.Equal(t, 0, cmd.ProcessState.ExitCode())
	}
}
