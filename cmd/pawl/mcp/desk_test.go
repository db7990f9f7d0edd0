package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// t0 is the clock of the specification's vectors.
var t0 = time.Date(2026, 8, 13, 1, 4, 0, 0, time.UTC)

const stop = "stop_loss.2317"

// The eras of the protocol.
const (
	sessions    = "2025-11-25"
	sessionless = "2026-07-28"
)

// desk is a server over a controller that serves working state and the refund desk, with a clock that stands until it is moved.
type desk struct {
	t    *testing.T
	st   store.Store
	ctl  *resume.Controller
	srv  *mcp.Server
	chat *guard.Authority
	log  *lines

	asked, let chan struct{} // when made: the order service says that it was asked, and answers when it is let

	mu  sync.Mutex
	now time.Time
}

func (d *desk) clock() time.Time { d.mu.Lock(); defer d.mu.Unlock(); return d.now }

func (d *desk) sleep(by time.Duration) { d.mu.Lock(); defer d.mu.Unlock(); d.now = d.now.Add(by) }

// lines are what was logged.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.b.Write(p) }

func (l *lines) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

func openDesk(t *testing.T, change ...func(*mcp.Options)) *desk {
	t.Helper()
	d := &desk{t: t, now: t0, chat: guard.NewAuthority("customer_channel"), log: &lines{}}
	d.st = store.NewMemory(store.MemoryOptions{Now: d.clock})
	d.ctl = d.controller()
	d.srv = d.server(d.ctl, change...)
	return d
}

func (d *desk) controller() *resume.Controller {
	d.t.Helper()
	ctl, err := resume.Open(d.t.Context(), d.st, resume.Config{
		Machines: []machine.Definition{workingstate.Machine, refund.Machine},
		Observers: []resume.Observer{
			resume.Pull(refund.OrderOwner, answers("trader")),
			resume.Pull(refund.OrderStatus, func(ctx context.Context, q guard.Query) (guard.Observed[string], error) {
				if d.asked != nil {
					d.asked <- struct{}{}
					<-d.let
				}
				return answers(refund.OrderOpen)(ctx, q)
			}),
			resume.Pull(refund.Eligible, answers(refund.Eligibility{Eligible: true, Policy: "v7"})),
		},
		Effects: []resume.Handler{resume.Perform(refund.IssueRefund,
			func(context.Context, machine.Job[refund.Payment]) (refund.Record, error) {
				return refund.Record{}, machine.NotSent(context.Canceled)
			},
			func(context.Context, machine.Job[refund.Payment]) (refund.Record, bool, error) {
				return refund.Record{}, false, nil
			})},
		Trust: []*guard.Authority{d.chat},
	})
	require.NoError(d.t, err)
	return ctl
}

func answers[T any](v T) func(context.Context, guard.Query) (guard.Observed[T], error) {
	return func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		return guard.Observed[T]{Value: v, Subject: q.Subject, Ref: "secret_reference"}, nil
	}
}

func (d *desk) server(ctl *resume.Controller, change ...func(*mcp.Options)) *mcp.Server {
	d.t.Helper()
	o := mcp.Options{Tasks: ctl, Decisions: []*projection.Decision{refund.InterpretReply}, WorkingState: workingstate.Machine,
		Now: d.clock, Log: slog.New(slog.NewTextHandler(d.log, nil))}
	for _, c := range change {
		c(&o)
	}
	srv, err := mcp.New(o)
	require.NoError(d.t, err)
	return srv
}

// refunds starts a refund that is the agent's own, and asks its owner.
func (d *desk) refunds(order string) string {
	d.t.Helper()
	who := guard.Principal{ID: "trader"}
	amount := money.Money{Minor: 4300, Currency: "EUR"}
	s, err := d.ctl.Start(d.t.Context(), refund.Machine.Task("refund_"+order, who, refund.Refund{OrderID: order, Amount: amount, Notes: []string{}}), who)
	require.NoError(d.t, err)
	out, err := s.Propose(d.t.Context(), refund.RequestRefund.With(machine.None{}).As(guard.User))
	require.NoError(d.t, err)
	require.NoError(d.t, out.Err())
	return s.Task()
}

// underWay gives each client a call whose source does not answer before it is let, and waits until it was asked.
func (d *desk) underWay(clients []*sdk.ClientSession) <-chan *sdk.CallToolResult {
	d.t.Helper()
	id := d.refunds("under_way")
	d.sleep(48 * time.Hour)
	d.asked, d.let = make(chan struct{}), make(chan struct{})
	finished := make(chan *sdk.CallToolResult)
	for _, s := range clients {
		go func() {
			res, err := s.CallTool(d.t.Context(), &sdk.CallToolParams{Name: "task_report", Arguments: map[string]any{"task_id": id}})
			if err != nil {
				res = &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}
			}
			finished <- res
		}()
		<-d.asked
	}
	return finished
}

// who is the agent as the controller knows it.
func (d *desk) who() guard.Principal { return guard.Principal{ID: "trader"} }

// both may read and write.
var both = mcp.Grant{Agent: "trader", Scopes: []mcp.Scope{mcp.Read, mcp.Write}}

// dial is a client of an agent, over HTTP, in one era.
type dial func(*desk, mcp.Grant) *sdk.ClientSession

// eras are the ways in which a client can be connected.
func eras() map[string]dial {
	return map[string]dial{
		"stdio " + sessions:    func(d *desk, g mcp.Grant) *sdk.ClientSession { return d.stdio(d.srv, g, sessions) },
		"stdio " + sessionless: func(d *desk, g mcp.Grant) *sdk.ClientSession { return d.stdio(d.srv, g, sessionless) },
		"http " + sessions:     func(d *desk, g mcp.Grant) *sdk.ClientSession { return d.http(d.srv, g, sessions) },
		"http " + sessionless:  func(d *desk, g mcp.Grant) *sdk.ClientSession { return d.http(d.srv, g, sessionless) },
	}
}

// each runs a test in every era.
func each(t *testing.T, test func(t *testing.T, connect dial)) {
	for name, connect := range eras() {
		t.Run(name, func(t *testing.T) { test(t, connect) })
	}
}

func (d *desk) client(version string) (*sdk.Client, *sdk.ClientSessionOptions) {
	return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil), &sdk.ClientSessionOptions{ProtocolVersion: version}
}

// stdio is a client on streams in memory.
func (d *desk) stdio(srv *mcp.Server, g mcp.Grant, version string) *sdk.ClientSession {
	d.t.Helper()
	in, out := newPipe(), newPipe()
	ended := make(chan error, 1)
	go func() { ended <- srv.ServeStdio(d.t.Context(), g, in, out) }()
	client, options := d.client(version)
	session, err := client.Connect(d.t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, options)
	require.NoError(d.t, err)
	require.Equal(d.t, version, session.InitializeResult().ProtocolVersion)
	d.t.Cleanup(func() {
		require.NoError(d.t, session.Close())
		require.NoError(d.t, <-ended)
	})
	return session
}

// bearer adds a token to each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func (d *desk) tokens() *mcp.Tokens {
	return mcp.NewTokens(filepath.Join(d.t.TempDir(), "tokens.jsonl"))
}

// http is a client over HTTP.
func (d *desk) http(srv *mcp.Server, g mcp.Grant, version string) *sdk.ClientSession {
	d.t.Helper()
	tokens := d.tokens()
	token, err := tokens.Add("laptop", g.Agent, g.Scopes, d.clock(), time.Time{})
	require.NoError(d.t, err)
	web := httptest.NewServer(srv.Handler(tokens, ""))
	d.t.Cleanup(web.Close)
	client, options := d.client(version)
	session, err := client.Connect(d.t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearer{token, http.DefaultTransport}}}, options)
	require.NoError(d.t, err)
	require.Equal(d.t, version, session.InitializeResult().ProtocolVersion)
	d.t.Cleanup(func() { _ = session.Close() })
	return session
}

// result is a tool's result, for tests to look at.
type result struct {
	t       *testing.T
	text    string
	isError bool
	fields  map[string]any
}

// call calls a tool with arguments as raw JSON.
func call(t *testing.T, s *sdk.ClientSession, tool, arguments string) result {
	t.Helper()
	r, err := tryCall(t, s, tool, arguments)
	require.NoError(t, err)
	return r
}

func tryCall(t *testing.T, s *sdk.ClientSession, tool, arguments string) (result, error) {
	t.Helper()
	params := &sdk.CallToolParams{Name: tool}
	if arguments != "" {
		params.Arguments = json.RawMessage(arguments)
	}
	res, err := s.CallTool(t.Context(), params)
	if err != nil {
		return result{}, err
	}
	require.Len(t, res.Content, 1)
	r := result{t: t, text: res.Content[0].(*sdk.TextContent).Text, isError: res.IsError}
	raw, err := json.Marshal(res.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &r.fields))
	require.Equal(t, !r.isError, r.fields["ok"], "%s", raw)
	return r, nil
}

// ok wants a success.
func (r result) ok() result {
	r.t.Helper()
	require.False(r.t, r.isError, r.text)
	return r
}

// refused wants a refusal of a code.
func (r result) refused(code string) result {
	r.t.Helper()
	require.True(r.t, r.isError, r.text)
	require.Equal(r.t, code, r.refusal()["code"], r.text)
	require.Contains(r.t, r.text, code)
	require.NotEmpty(r.t, r.refusal()["text"])
	return r
}

func (r result) refusal() map[string]any {
	r.t.Helper()
	m, _ := r.fields["refusal"].(map[string]any)
	require.NotNil(r.t, m, r.text)
	return m
}

func (r result) details() map[string]any {
	m, _ := r.refusal()["details"].(map[string]any)
	return m
}

// set is the arguments of working_state_set.
func set(key, value, more string) string {
	return fmt.Sprintf(`{"key":%q,"value":%q,"reason":"exit on break"%s}`, key, value, more)
}

func requireDone(t *testing.T, res *sdk.CallToolResult) {
	t.Helper()
	require.False(t, res.IsError, "%s", res.Content[0].(*sdk.TextContent).Text)
}
