package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionless is the first version of the protocol that knows no sessions.
const sessionless = "2026-07-28"

// Handler serves the protocol over HTTP, on whatever path it is put at: both eras on one URL, told apart by the header that
// names the version. Every request needs a bearer token of the file. agent, when it is not "", is the only one that is
// served. Take [Server.Serve] for a listener of its own.
func (s *Server) Handler(tokens *Tokens, agent string) http.Handler {
	return s.web(newEnding(), tokens, agent).handler
}

// web is what serves HTTP, and what must be ended with it.
type web struct {
	handler  http.Handler
	protocol []*sdk.Server
}

func (s *Server) web(e *ending, tokens *Tokens, agent string) web {
	var h [2]http.Handler
	var p []*sdk.Server
	for i, stateless := range []bool{false, true} {
		protocol := s.protocol(nil)
		p = append(p, protocol)
		h[i] = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return protocol }, &sdk.StreamableHTTPOptions{
			Stateless: stateless, JSONResponse: true, SessionTimeout: DefaultIdle, MaxRequestBodyBytes: MaxBody,
			PropagateRequestCancellation: true, Logger: slog.New(quiet{s.o.Log.Handler()})})
	}
	eras := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= sessionless {
			h[1].ServeHTTP(w, r)
			return
		}
		h[0].ServeHTTP(w, r)
	})
	return web{s.sameOrigin(s.bounded(e, s.signedIn(tokens, agent, eras))), p}
}

// signedIn lets in who has a token.
func (s *Server) signedIn(tokens *Tokens, agent string, next http.Handler) http.Handler {
	verify := func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
		g, name, err := tokens.Verify(token, s.o.Now())
		switch {
		case errors.Is(err, ErrToken):
			s.o.Log.WarnContext(ctx, "denied", "reason", "token", "from", r.RemoteAddr)
			return nil, auth.ErrInvalidToken
		case err != nil:
			s.o.Log.ErrorContext(ctx, "denied", "reason", "file of tokens", "error", err)
			return nil, errors.New("tokens cannot be checked")
		case agent != "" && g.Agent != agent:
			s.o.Log.WarnContext(ctx, "denied", "reason", "agent", "agent", g.Agent, "token", name)
			return nil, auth.ErrInvalidToken
		}
		return tokenInfo(g, name), nil
	}
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Del("WWW-Authenticate")
		next.ServeHTTP(w, r)
	})
	guarded := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(inner)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="pawl"`) // for a refusal; taken away again inside
		guarded.ServeHTTP(w, r)
	})
}

// bounded bounds how many requests are served at once and how long each may take.
func (s *Server) bounded(e *ending, next http.Handler) http.Handler {
	streams := make(chan struct{}, MaxRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		room := e.calls
		if r.Method != http.MethodPost {
			room = streams
		}
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
			return
		}
		if r.Method != http.MethodPost {
			e.stream(w, r, next)
			return
		}
		limit := time.Now().Add(s.o.Within + oneRequest)
		c := http.NewResponseController(w)
		_, _ = c.SetReadDeadline(limit), c.SetWriteDeadline(limit) // a recorder in a test has none
		next.ServeHTTP(w, r)
	})
}

// ending is the end of a server over HTTP: calls are answered first, then the streams end.
type ending struct {
	calls chan struct{} // one for each request that is under way
	done  context.Context
	end   context.CancelFunc
}

func newEnding() *ending {
	e := &ending{calls: make(chan struct{}, MaxRequests)}
	e.done, e.end = context.WithCancel(context.Background())
	return e
}

// stream serves a request that has no end of its own.
func (e *ending) stream(w http.ResponseWriter, r *http.Request, next http.Handler) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(e.done, cancel)()
	next.ServeHTTP(w, r.WithContext(ctx))
}

// drain waits for the calls that are under way, lets no other in, and ends the streams.
func (e *ending) drain(ctx context.Context) {
	defer e.end()
	for range MaxRequests {
		select {
		case e.calls <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// sameOrigin keeps pages of other origins out. That a loopback address answers to loopback names only, so that no other name can
// be bound to it (DNS rebinding), is seen to by the SDK.
func (s *Server) sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" && !s.mayCall(origin, r.Host) {
			s.o.Log.Warn("denied", "reason", "origin", "origin", origin)
			http.Error(w, "pages of this origin may not call", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) mayCall(origin, host string) bool {
	for _, o := range s.o.Origins {
		if strings.EqualFold(o, origin) {
			return true
		}
	}
	from, err := hostOf(origin)
	return err == nil && strings.EqualFold(from, host)
}

// hostOf is the host and port of a web origin.
func hostOf(origin string) (string, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return "", fmt.Errorf("%.200q is no web origin, such as https://desk.example", origin)
	}
	return u.Host, nil
}

// Serve serves HTTP on a listener until the context ends, and gives calls under way [DefaultGrace] to end. It closes the
// listener. An end by the context is nil. The path is /mcp. agent is as for [Server.Handler].
func (s *Server) Serve(ctx context.Context, l net.Listener, tokens *Tokens, agent string) error {
	e := newEnding()
	defer e.end()
	w := s.web(e, tokens, agent)
	mux := http.NewServeMux()
	mux.Handle("/mcp", w.handler)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: readingHead, IdleTimeout: keptAlive, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), DefaultGrace)
	defer cancel()
	go e.drain(grace)
	err := srv.Shutdown(grace)
	for _, p := range w.protocol {
		for session := range p.Sessions() {
			err = errors.Join(err, session.Close())
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, srv.Close())
	}
	<-failed
	return err
}
