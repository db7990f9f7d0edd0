package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
)

// TestStdioEnds ends when the context does, and lets a call that is under way answer first.
func TestStdioEnds(t *testing.T) {
	d := openDesk(t)
	in, out := newPipe(), newPipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.srv.ServeStdio(ctx, both, in, out) }()
	client, options := d.client(sessions)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, options)
	require.NoError(t, err)
	finished := d.underWay([]*sdk.ClientSession{session})
	stop()
	close(d.let)
	requireDone(t, <-finished)
	require.NoError(t, <-ended)
}

// TestStdioOnlyProtocol writes one JSON-RPC message a line and nothing else, whatever comes in.
func TestStdioOnlyProtocol(t *testing.T) {
	for name, input := range map[string]string{
		"no JSON":        "hello\n",
		"a list":         "[1]\n",
		"no method":      `{"jsonrpc":"2.0","id":1}` + "\n",
		"before hello":   `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n",
		"unknown method": `{"jsonrpc":"2.0","id":1,"method":"freeze"}` + "\n",
		"too long":       `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("a", mcp.MaxBody) + `"}` + "\n",
		"hello":          initialize + "\n",
		"half a line":    initialize[:20],
		"nothing":        "",
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			in, out := newPipe(), newPipe()
			_, err := in.Write([]byte(input))
			require.NoError(t, err)
			require.NoError(t, in.Close())
			_ = d.srv.ServeStdio(t.Context(), both, in, out) // a broken client is its own affair
			require.NoError(t, out.Close())
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				var message struct {
					Version string `json:"jsonrpc"`
				}
				require.NoError(t, json.Unmarshal(lines.Bytes(), &message), lines.Text())
				require.Equal(t, "2.0", message.Version)
			}
		})
	}
}
