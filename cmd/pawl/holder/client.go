package holder

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/pawlgo/pawl/store"
)

// Client reads a store that another process has open. Safe for concurrent use.
type Client struct {
	http  http.Client
	hello greeting
}

var _ Reader = (*Client)(nil)

// ErrSilent says that the holder that a note names does not answer on its socket.
var ErrSilent = errors.New("the holder of the store does not answer")

// ErrGone says that the holder cannot be reached, or no longer: it may have ended in the middle of its answer.
var ErrGone = errors.New("the holder of the store cannot be reached")

// ErrAnswer says that the holder answered what cannot be an answer.
var ErrAnswer = errors.New("malformed answer of the store's holder")

// Dial asks the holder who it is. Errors wrap [ErrSilent] when nobody answers, or somebody else.
func Dial(ctx context.Context, h Holder) (*Client, error) {
	if h.Socket == "" || len(h.Socket) > MaxSocketPath {
		return nil, fmt.Errorf("%s offers no socket: %w", h, ErrSilent)
	}
	d := net.Dialer{Timeout: DialWithin}
	c := &Client{http: http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", h.Socket) },
	}}}
	var err error
	if c.hello, err = ask[greeting](ctx, c, "hello", nil); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", h, ErrSilent, err)
	}
	if c.hello.PID != h.PID {
		return nil, fmt.Errorf("%s: process %d answers for it: %w", h, c.hello.PID, ErrSilent)
	}
	return c, nil
}

// Close lets the connections go.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// get asks a question; the caller closes the answer.
func (c *Client) get(ctx context.Context, method, what string, q url.Values) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://store"+prefix+what+"?"+q.Encode(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %v", ErrGone, err) // a socket that is not there is no file that is not there
	}
	return resp, err
}

// ask reads one answer.
func ask[A any](ctx context.Context, c *Client, what string, q url.Values) (a A, err error) {
	ctx, cancel := context.WithTimeout(ctx, AnswerWithin)
	defer cancel()
	resp, err := c.get(ctx, http.MethodGet, what, q)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	switch {
	case err != nil:
		return a, err
	case len(b) > MaxAnswer:
		return a, &store.TooBigError{Task: q.Get("task"), What: "bytes of an answer", Size: len(b), Most: MaxAnswer}
	case resp.StatusCode != http.StatusOK:
		var f fault
		if err := json.Unmarshal(b, &f); err != nil || f.Text == "" {
			return a, fmt.Errorf("%s: %s: %w", what, resp.Status, ErrAnswer)
		}
		return a, f.unpacked()
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, fmt.Errorf("%s: %w: %w", what, ErrAnswer, err)
	}
	return a, nil
}

// lines reads a stream.
func (c *Client) lines(ctx context.Context, method, what string, q url.Values) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		resp, err := c.get(ctx, method, what, q)
		if err != nil {
			yield(line{}, err)
			return
		}
		defer resp.Body.Close()
		in := bufio.NewScanner(resp.Body)
		in.Buffer(nil, MaxAnswer)
		for in.Scan() {
			var l line
			err := json.Unmarshal(in.Bytes(), &l)
			if err != nil {
				err = fmt.Errorf("%s: %w: %w", what, ErrAnswer, err)
			} else if l.Fault != nil {
				err = l.Fault.unpacked()
			}
			if l.End && err == nil || !yield(l, err) || err != nil {
				return
			}
		}
		if err := in.Err(); err != nil {
			yield(line{}, fmt.Errorf("%s: %w: %w", what, ErrGone, err))
			return
		}
		yield(line{}, fmt.Errorf("%s: %w: it ended in the middle of its answer", what, ErrGone))
	}
}

func about(task string) url.Values { return url.Values{"task": {task}} }

func number(n uint64) []string { return []string{strconv.FormatUint(n, 10)} }

// Info says what the holder's store is.
func (c *Client) Info() store.Info { return c.hello.Store }

// Now is the clock of the holder's store.
func (c *Client) Now(ctx context.Context) (store.Micros, error) {
	return ask[store.Micros](ctx, c, "now", nil)
}

// Tip is that of the holder's store; of an erased task it is the error alone.
func (c *Client) Tip(ctx context.Context, task string) (store.Tip, error) {
	return ask[store.Tip](ctx, c, "tip", about(task))
}

// Load is that of the holder's store.
func (c *Client) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	l, err := ask[loaded](ctx, c, "load", about(task))
	return l.Record, l.Effects, err
}

// History is that of the holder's store, asked for in pages.
func (c *Client) History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for {
			q := about(task)
			q["newest"], q["oldest"] = number(newest), number(oldest)
			p, err := ask[page](ctx, c, "history", q)
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			for _, r := range p.Records {
				if newest > 0 && r.Tip.Version > newest || r.Tip.Version == 0 {
					yield(store.Record{}, fmt.Errorf("version %d came after %d: %w", r.Tip.Version, newest+1, ErrAnswer))
					return
				}
				if !yield(r, nil) {
					return
				}
				newest = r.Tip.Version - 1
			}
			if p.More && len(p.Records) == 0 {
				yield(store.Record{}, fmt.Errorf("a page of nothing, and more to come: %w", ErrAnswer))
				return
			}
			if !p.More || newest == 0 {
				return
			}
		}
	}
}

// Once is that of the holder's store.
func (c *Client) Once(ctx context.Context, task, name string) (uint64, error) {
	return ask[uint64](ctx, c, "once", url.Values{"task": {task}, "name": {name}})
}

// Find is that of the holder's store.
func (c *Client) Find(ctx context.Context, q store.Query) ([]store.Row, string, error) {
	if q.Limit < 0 {
		return nil, "", fmt.Errorf("limit %d: %w", q.Limit, store.ErrInvalid)
	}
	f, err := ask[found](ctx, c, "find", url.Values{"machine": {q.Machine}, "state": {q.State}, "owner": {q.Owner},
		"waits_for": {q.WaitsFor}, "limit": number(uint64(q.Limit)), "after": {q.After}})
	return f.Rows, string(f.Next), err
}

// Effects is that of the holder's store, at most MaxPage at once.
func (c *Client) Effects(ctx context.Context, after string, limit int) ([]store.Effect, string, error) {
	if limit < 0 {
		return nil, "", fmt.Errorf("limit %d: %w", limit, store.ErrInvalid)
	}
	u, err := ask[unsettled](ctx, c, "effects", url.Values{"after": {after}, "limit": number(uint64(limit))})
	return u.Effects, string(u.Next), err
}

// Attempts is that of the holder's store.
func (c *Client) Attempts(ctx context.Context, task string) ([]store.Attempt, error) {
	return ask[[]store.Attempt](ctx, c, "attempts", about(task))
}

// Resource is that of the holder's store; the error wraps [ErrUnsupported] if it has none.
func (c *Client) Resource(ctx context.Context, name string) (store.Resource, error) {
	return ask[store.Resource](ctx, c, "resource", url.Values{"name": {name}})
}

// Watch is that of the holder's store; it ends with an error when the holder does.
func (c *Client) Watch(ctx context.Context) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for l, err := range c.lines(ctx, http.MethodGet, "watch", nil) {
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(store.Row{}, err)
				return
			}
			if l.Row != nil && !yield(*l.Row, nil) {
				return
			}
		}
	}
}

// Verify lets the holder verify its store.
func (c *Client) Verify(ctx context.Context) iter.Seq2[store.Problem, error] {
	return func(yield func(store.Problem, error) bool) {
		for l, err := range c.lines(ctx, http.MethodGet, "verify", nil) {
			if err != nil {
				yield(store.Problem{}, err)
				return
			}
			if l.Problem != nil && !yield(*l.Problem, nil) {
				return
			}
		}
	}
}

// Backup lets the holder write a copy of its store to an absolute path; see store.Copier.
func (c *Client) Backup(ctx context.Context, dir string) error {
	for _, err := range c.lines(ctx, http.MethodPost, "backup", url.Values{"dir": {dir}}) {
		if err != nil {
			return err
		}
	}
	return nil
}
