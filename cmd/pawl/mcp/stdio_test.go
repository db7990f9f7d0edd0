package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
)

// TestStdioEnds ends when the context does, and not before a call that is under way has been answered.
func TestStdioEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		synctest.Wait()
		require.Empty(t, ended, "it waits for the answer")
		close(d.let)
		requireDone(t, <-finished)
		require.NoError(t, <-ended)
		require.NoError(t, in.Close())
		require.NoError(t, out.Close())
	})
}

// TestStdioGrace ends all the same when a call is never answered.
func TestStdioGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t)
		in, out := newPipe(), newPipe()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.srv.ServeStdio(ctx, both, in, out) }()
		client, options := d.client(sessions)
		session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, options)
		require.NoError(t, err)
		finished := d.underWay([]*sdk.ClientSession{session})
		begun := time.Now()
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, mcp.DefaultGrace, time.Since(begun), "on the clock of the test")
		close(d.let)
		require.NoError(t, in.Close())
		require.NoError(t, out.Close())
		<-finished
	})
}

// TestStdioHalfClosed answers what came in before the client closed its end, as a client that pipes its requests in does at once.
func TestStdioHalfClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t)
		id := d.refunds("123")
		d.sleep(48 * time.Hour)
		d.asked, d.let = make(chan struct{}, 1), make(chan struct{})
		in, out := newPipe(), newPipe()
		_, err := fmt.Fprintf(in, "%s\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"task_report","arguments":{"task_id":%q}}}`+"\n", initialize, id)
		require.NoError(t, err)
		require.NoError(t, in.Close())
		ended := make(chan error, 1)
		go func() { ended <- d.srv.ServeStdio(t.Context(), both, in, out) }()
		synctest.Wait()
		require.Len(t, d.asked, 1)
		require.Empty(t, ended)
		close(d.let)
		require.NoError(t, <-ended)
		require.NoError(t, out.Close())
		said, err := io.ReadAll(out)
		require.NoError(t, err)
		require.Contains(t, string(said), `{"jsonrpc":"2.0","id":2,"result":`)
	})
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
