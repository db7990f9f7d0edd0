package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
)

// site is a server over HTTP, to be spoken to by hand.
type site struct {
	*desk
	url    string
	tokens *mcp.Tokens
	token  string
}

func openSite(t *testing.T, agent string, change ...func(*mcp.Options)) *site {
	t.Helper()
	s := &site{desk: openDesk(t, change...)}
	s.tokens = s.desk.tokens()
	var err error
	s.token, err = s.tokens.Add("laptop", "trader", both.Scopes, t0, time.Time{})
	require.NoError(t, err)
	web := httptest.NewServer(s.srv.Handler(s.tokens, agent))
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}}`

// send makes one request; headers come in pairs.
func (s *site) send(method, body string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp, string(raw)
}

// TestSignIn lets nobody in without a token that is valid now, and tells nobody why.
func TestSignIn(t *testing.T) {
	s := openSite(t, "trader")
	other, err := s.tokens.Add("other", "other", both.Scopes, t0, time.Time{})
	require.NoError(t, err)
	brief, err := s.tokens.Add("brief", "trader", both.Scopes, t0, t0.Add(time.Minute))
	require.NoError(t, err)
	for name, header := range map[string]string{"none": "", "unknown": "Bearer pawl_x", "not a bearer": "Basic " + s.token, "another agent's": "Bearer " + other} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			resp, body := s.send(method, initialize, "Authorization", header)
			require.Equal(t, http.StatusUnauthorized, resp.StatusCode, name)
			require.Equal(t, `Bearer realm="pawl"`, resp.Header.Get("WWW-Authenticate"), name)
			require.NotContains(t, body, "pawl_")
		}
	}
	good := func(token string) int {
		resp, _ := s.send(http.MethodPost, initialize, "Authorization", "Bearer "+token)
		require.Empty(t, resp.Header.Get("WWW-Authenticate"))
		return resp.StatusCode
	}
	require.Equal(t, http.StatusOK, good(s.token))
	require.Equal(t, http.StatusOK, good(brief))
	s.sleep(time.Minute)
	resp, _ := s.send(http.MethodPost, initialize, "Authorization", "Bearer "+brief)
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	require.NoError(t, s.tokens.Revoke("laptop", t0))
	resp, _ = s.send(http.MethodPost, initialize)
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	for _, secret := range []string{s.token, other, brief} {
		require.NotContains(t, s.log.String(), secret)
	}
}

// TestSessionOfAnother keeps a session with the token that began it, and each request to the scopes of its own token.
func TestSessionOfAnother(t *testing.T) {
	s := openSite(t, "")
	mallory, err := s.tokens.Add("mallory", "mallory", both.Scopes, t0, time.Time{})
	require.NoError(t, err)
	second, err := s.tokens.Add("second", "trader", both.Scopes, t0, time.Time{})
	require.NoError(t, err)
	resp, _ := s.send(http.MethodPost, initialize)
	id := resp.Header.Get("Mcp-Session-Id")
	require.NotEmpty(t, id)
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	for token, want := range map[string]int{s.token: http.StatusOK, mallory: http.StatusForbidden, second: http.StatusForbidden} {
		resp, _ := s.send(http.MethodPost, list, "Mcp-Session-Id", id, "Mcp-Protocol-Version", sessions, "Authorization", "Bearer "+token)
		require.Equal(t, want, resp.StatusCode)
	}
	resp, _ = s.send(http.MethodPost, list, "Mcp-Session-Id", "other", "Mcp-Protocol-Version", sessions)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	resp, _ = s.send(http.MethodDelete, "", "Mcp-Session-Id", id, "Mcp-Protocol-Version", sessions)
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
}

// TestOrigin keeps pages of other origins out, and names that were bound to a loopback address (DNS rebinding).
func TestOrigin(t *testing.T) {
	s := openSite(t, "", func(o *mcp.Options) { o.Origins = []string{"https://desk.example"} })
	for _, c := range []struct {
		headers []string
		want    int
	}{
		{nil, http.StatusOK},
		{[]string{"Origin", s.url}, http.StatusOK},
		{[]string{"Origin", "https://desk.example"}, http.StatusOK},
		{[]string{"Origin", "http://desk.example"}, http.StatusForbidden},
		{[]string{"Origin", "http://evil.example"}, http.StatusForbidden},
		{[]string{"Origin", "null"}, http.StatusForbidden},
		{[]string{"Origin", "http://127.0.0.1:1"}, http.StatusForbidden},
		{[]string{"Host", "evil.example"}, http.StatusForbidden},
		{[]string{"Host", "evil.example", "Origin", "http://evil.example"}, http.StatusForbidden},
		{[]string{"Host", "localhost:8080"}, http.StatusOK},
		{[]string{"Host", "[::1]:8080"}, http.StatusOK},
	} {
		resp, body := s.send(http.MethodPost, initialize, c.headers...)
		require.Equal(t, c.want, resp.StatusCode, "%v: %s", c.headers, body)
	}
	resp, _ := s.send(http.MethodGet, "", "Origin", "http://evil.example")
	require.Equal(t, http.StatusForbidden, resp.StatusCode, "reading is as bad")
}

// TestBodies refuses what is no message, or too large a one, and survives.
func TestBodies(t *testing.T) {
	s := openSite(t, "")
	for _, version := range []string{"", sessions, sessionless, "1999-01-01", "2099-01-01"} {
		for _, body := range []string{"", "{", "[]", "null", "{}", `{"jsonrpc":"1.0"}`, `{"jsonrpc":"2.0","id":1,"method":"freeze"}`, strings.Repeat("[", 10000)} {
			resp, text := s.send(http.MethodPost, body, "Mcp-Protocol-Version", version)
			require.GreaterOrEqual(t, resp.StatusCode, 400, "%s %q: %s", version, body, text)
			require.Less(t, resp.StatusCode, 500, "%s %q: %s", version, body, text)
		}
		large := strings.Repeat(" ", mcp.MaxBody+1-len(initialize)) + initialize
		resp, _ := s.send(http.MethodPost, large, "Mcp-Protocol-Version", version)
		require.Contains(t, []int{http.StatusRequestEntityTooLarge, http.StatusBadRequest}, resp.StatusCode)
	}
	resp, _ := s.send(http.MethodPost, strings.Repeat(" ", mcp.MaxBody-len(initialize))+initialize)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	resp, _ = s.send(http.MethodPut, initialize)
	require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
}

// TestServe serves /mcp on a listener until its context ends, closes streams that wait, and lets a call that is under way finish.
func TestServe(t *testing.T) {
	d := openDesk(t)
	tokens := d.tokens()
	token, err := tokens.Add("laptop", "trader", both.Scopes, t0, time.Time{})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.srv.Serve(ctx, l, tokens, "") }()
	url := fmt.Sprintf("http://%s/mcp", l.Addr())
	var clients []*sdk.ClientSession
	for _, version := range []string{sessions, sessionless} {
		client, options := d.client(version)
		session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, // with retries: its stream ends first
			HTTPClient: &http.Client{Transport: bearer{token, http.DefaultTransport}}}, options)
		require.NoError(t, err)
		call(t, session, "working_state_set", set("k", version, "")).ok()
		clients = append(clients, session)
	}
	resp, err := http.Get(fmt.Sprintf("http://%s/other", l.Addr()))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	finished := d.underWay(clients)
	stop()
	close(d.let)
	for range clients {
		requireDone(t, <-finished)
	}
	require.NoError(t, <-ended, "although a client of the session era keeps a stream open")
	_, err = net.Dial("tcp", l.Addr().String())
	require.Error(t, err)
}

// TestMaxSessions begins no session beyond the limit, and goes on with those that there are.
func TestMaxSessions(t *testing.T) {
	s := openSite(t, "", func(o *mcp.Options) { o.Reads.Burst, o.Reads.Per = 10*mcp.MaxSessions, time.Minute })
	var first string
	for n := range mcp.MaxSessions {
		resp, body := s.send(http.MethodPost, initialize)
		require.NotContains(t, body, "sessions already", n)
		if first == "" {
			first = resp.Header.Get("Mcp-Session-Id")
		}
	}
	_, body := s.send(http.MethodPost, initialize)
	require.Contains(t, body, fmt.Sprint(mcp.MaxSessions, " sessions already"))
	resp, _ := s.send(http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, "Mcp-Session-Id", first, "Mcp-Protocol-Version", sessions)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	resp, _ = s.send(http.MethodDelete, "", "Mcp-Session-Id", first, "Mcp-Protocol-Version", sessions)
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
	_, body = s.send(http.MethodPost, initialize)
	require.NotContains(t, body, "sessions already")
}

// TestNoSubscription offers nothing that a client could listen to without end.
func TestNoSubscription(t *testing.T) {
	s := openSite(t, "")
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"hand","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	resp, body := s.send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+meta+`}}`,
		"Mcp-Protocol-Version", sessionless, "Mcp-Method", "subscriptions/listen")
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.Contains(t, body, "-32601")
}
