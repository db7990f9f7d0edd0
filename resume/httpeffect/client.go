package httpeffect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	"github.com/pawlgo/pawl/machine"
)

// DefaultMaxAnswer is the longest answer that a Client reads unless it says otherwise, in bytes.
const DefaultMaxAnswer = 1 << 20

// Client sends requests that cause effects. The zero Client is ready: it believes no promise and opens a connection for each
// request. Safe for concurrent use once its fields are set.
type Client struct {
	// HTTP sends the requests; its redirect policy is not used. Nil means a client that keeps no connection: on one that the
	// provider has meanwhile closed nobody can tell whether a request arrived. A transport that does not support
	// net/http/httptrace makes every failure uncertain, and one that sends again by itself breaks the promise of once.
	HTTP *http.Client
	// MaxAnswer is the longest answer that is read, in bytes; a longer one is uncertain. 0 means DefaultMaxAnswer.
	MaxAnswer int64
	// BusyIsNotSent says that the provider promises: a 429 or a 503 with Retry-After did nothing.
	BusyIsNotSent bool
	// Definite says which of the answers that would count as refused are the provider's own, and not those of whatever stands
	// before it. Nil means all of them.
	Definite func(Answer) bool
}

// Answer is what came back, whole.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// errNoConnection says that not one byte can have left.
var errNoConnection = errors.New("there was no connection")

var alone = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}

// Do sends a request once and gives the answer when it says that the effect has happened. Errors carry a class for
// [machine.ClassOf]; those about an answer are a [*StatusError]. The deadline is the request's context's.
func (c *Client) Do(req *http.Request) (Answer, error) {
	a, err := c.Send(req)
	if err != nil {
		return Answer{}, err
	}
	return a, c.Judge(a)
}

// Send sends a request once and gives whatever answer came, unjudged. An error is [machine.NotSent] when no byte can have left,
// else uncertain. It names neither the address nor the query, which may hold secrets.
func (c *Client) Send(req *http.Request) (Answer, error) {
	var asked, connected atomic.Bool
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	if err := ctx.Err(); err != nil {
		return Answer{}, machine.NotSent(fmt.Errorf("%w: %w", errNoConnection, err))
	}
	res, err := c.client().Do(once(req.WithContext(ctx)))
	switch {
	case err != nil && asked.Load() && !connected.Load():
		return Answer{}, machine.NotSent(fmt.Errorf("%w: %w", errNoConnection, bare(err)))
	case err != nil: // from here on a byte may have left, whatever the error says
		return Answer{}, fmt.Errorf("outcome unknown: %w", bare(err))
	}
	defer res.Body.Close()
	return c.read(res)
}

func (c *Client) read(res *http.Response) (Answer, error) {
	most := c.MaxAnswer
	if most == 0 {
		most = DefaultMaxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("outcome unknown: status %d, and then: %w", res.StatusCode, err)
	case int64(len(body)) > most:
		return Answer{}, fmt.Errorf("outcome unknown: status %d, and an answer of more than %d bytes", res.StatusCode, most)
	}
	return Answer{res.StatusCode, res.Header, body}, nil
}

// client is the user's with redirects off: to send the effect to another address is nobody's decision.
func (c *Client) client() *http.Client {
	hc := alone
	if c.HTTP != nil {
		hc = c.HTTP
	}
	own := *hc
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// once keeps net/http from sending a request again by itself: on a connection that was used before it does so with what has an
// idempotency key and a body that can be had again. Reading twice does no harm.
func once(req *http.Request) *http.Request {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return req
	}
	req.GetBody = nil
	if req.Body == nil || req.Body == http.NoBody {
		req.Body = empty{}
	}
	return req
}

// empty is a body without bytes that does not look like one.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.EOF }
func (empty) Close() error             { return nil }

// bare is the error without the address, and with the cause that a context was given.
func bare(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("the attempt was given up: %w", err)
}
