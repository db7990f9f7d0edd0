package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server serves agents over the Model Context Protocol. Make it with [New]. Safe for concurrent use.
type Server struct {
	o      Options
	tools  []tool
	views  *views
	reads  *buckets
	writes *buckets
}

// New checks the options and makes a server. Errors wrap [ErrOptions].
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Server{o: o, views: newViews(), reads: newBuckets(o.Reads), writes: newBuckets(o.Writes)}
	if o.WorkingState != nil {
		s.tools = s.stateTools()
	}
	s.tools = append(s.tools, s.taskFind(), s.taskReport(), s.taskHistory())
	if len(o.Decisions) > 0 {
		s.tools = append(s.tools, s.taskProject(), s.taskPropose())
	}
	return s, nil
}

// What a client may put into its agent's prompt.
const (
	instructProposals = "What you say here is a proposal: it is checked against evidence and committed, or refused with a reason, and then nothing has changed. " +
		"A refusal tells what is missing and what is open: act on that, and do not repeat the same call."
	instructState = " Read the working state at the start of each wake-up; it is the only authority on what holds. Write back what you decide before you stop."
)

func (s *Server) instructions() string {
	if s.o.WorkingState == nil {
		return instructProposals
	}
	return instructProposals + instructState
}

// protocol is the server that speaks with the clients of one transport. fixed is who they speak for; nil when each request says.
func (s *Server) protocol(fixed *Grant) *sdk.Server {
	p := sdk.NewServer(&sdk.Implementation{Name: "pawl", Version: s.o.Version}, &sdk.ServerOptions{
		Instructions: s.instructions(),
		Logger:       slog.New(quiet{s.o.Log.Handler()}),
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{}},
		// What one agent reads is never another's (the SDK stamps it public).
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope, c.TTLMs = "private", 0 },
	})
	for _, t := range s.tools {
		p.AddTool(t.declare(), s.serve(t))
	}
	if s.o.WorkingState != nil {
		s.addBlocks(p)
	}
	p.AddReceivingMiddleware(s.gate(p, fixed))
	return p
}

// gate lets requests in: it says who asks, holds them to their rate and to their time, and shows each only its own tools.
func (s *Server) gate(p *sdk.Server, fixed *Grant) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			g := grantOfRequest(req)
			if fixed != nil {
				g = *fixed
			}
			ctx = context.WithValue(ctx, grantContext{}, g)
			switch {
			case free(method):
				return next(ctx, method, req)
			case method == "subscriptions/listen":
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "nothing here changes by itself"}
			case method == "initialize" && len(slices.Collect(p.Sessions())) > MaxSessions:
				return nil, &jsonrpc.Error{Code: CodeTooFast, Message: fmt.Sprintf("there are %d sessions already: end one, or wait", MaxSessions)}
			}
			if err := s.tooFast(g, s.scopeOf(req)); err != nil {
				s.o.Log.WarnContext(ctx, "too fast", "agent", g.Agent, "method", method)
				return nil, err
			}
			ctx, cancel := context.WithTimeout(ctx, s.o.Within)
			defer cancel()
			res, err := next(ctx, method, req)
			if list, ok := res.(*sdk.ListToolsResult); ok && err == nil {
				list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *sdk.Tool) bool { return !s.shows(g, t.Name) })
			}
			return res, err
		}
	}
}

// free methods cost nothing.
func free(method string) bool { return method == "ping" || strings.HasPrefix(method, "notifications/") }

// scopeOf is the scope that a request counts for.
func (s *Server) scopeOf(req sdk.Request) Scope {
	if call, ok := req.(*sdk.CallToolRequest); ok {
		for _, t := range s.tools {
			if t.name == call.Params.Name {
				return t.scope
			}
		}
	}
	return Read
}

// shows tells whether a tool is listed for a connection.
func (s *Server) shows(g Grant, name string) bool {
	return slices.ContainsFunc(s.tools, func(t tool) bool {
		return t.name == name && g.Has(t.scope) && (t.scope == Read || !s.o.ReadOnly)
	})
}

// tooFast is the error of a call over the agent's rate.
func (s *Server) tooFast(g Grant, scope Scope) error {
	b := s.reads
	if scope == Write {
		b = s.writes
	}
	wait := b.take(g.Agent, s.o.Now())
	if wait == 0 {
		return nil
	}
	data, err := json.Marshal(map[string]any{"scope": scope, "retry_after_ms": wait.Milliseconds() + 1})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: CodeTooFast, Data: data,
		Message: fmt.Sprintf("too many calls that %s: try again in %s", scope, wait.Round(time.Millisecond))}
}

// quiet keeps what the SDK says of each session out of the log.
type quiet struct{ slog.Handler }

// Enabled tells whether a record is worth it.
func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

// WithAttrs keeps it quiet.
func (q quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(a)} }

// WithGroup keeps it quiet.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
