package shop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume/httpeffect"
)

const (
	// MaxAnswer is the longest answer that a Client reads, in bytes.
	MaxAnswer = 1 << 20
	// DialTimeout bounds how long a Client waits for a connection.
	DialTimeout = time.Second
)

// Client talks to a shop. It is safe for concurrent use and holds no connection between calls.
//
// It never retries. An error of any method is one of three kinds: it matches ErrNotSent (not one byte left),
// it matches ErrDeclined (the shop refused, definitely; see *Refusal), or it matches neither, and then nobody
// knows whether the request was carried out: it timed out, was cut, got a 5xx, or an answer that makes no
// sense. A context's own error is wrapped in whichever applies.
type Client struct {
	base    string
	timeout time.Duration
	http    httpeffect.Client
}

// NewClient makes a client for a shop's URL. Each call but AwaitFault is given up after timeout, or when its
// context is done if that is earlier; 0 means DefaultTimeout.
func NewClient(base string, timeout time.Duration) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("shop: %w", err)
	}
	if u.Scheme != "http" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("shop: %q is not the URL of a shop, http://HOST:PORT", base)
	}
	if timeout < 0 {
		return nil, fmt.Errorf("shop: a timeout of %s", timeout)
	}
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	return &Client{base: base, timeout: timeout, http: onConnectionsOfTheirOwn(timeout)}, nil
}

// onConnectionsOfTheirOwn sends each request on a new connection: whether one arrived on a connection that the shop has meanwhile
// closed, nobody could tell.
func onConnectionsOfTheirOwn(timeout time.Duration) httpeffect.Client {
	return httpeffect.Client{MaxAnswer: MaxAnswer, HTTP: &http.Client{Transport: &http.Transport{
		DialContext:           (&net.Dialer{Timeout: DialTimeout}).DialContext,
		ResponseHeaderTimeout: timeout,
		DisableKeepAlives:     true,
	}}}
}

// Order reads one order. The caller checks the answer's ID: it is what the order service talks about. An order
// that does not exist is ErrDeclined with CodeNoOrder.
func (c *Client) Order(ctx context.Context, id string) (Order, error) {
	var o Order
	err := c.call(ctx, http.MethodGet, "/orders/"+url.PathEscape(id), nil, nil, &o)
	if err == nil && (o.ID == "" || o.Owner == "" || o.Status == "" || o.At.IsZero()) {
		err = errors.New("shop: the answer is not an order")
	}
	return orZero(o, err)
}

// Eligibility asks the policy service about one order. The caller checks the answer's OrderID and time.
func (c *Client) Eligibility(ctx context.Context, id string) (Eligibility, error) {
	var e Eligibility
	err := c.call(ctx, http.MethodGet, "/policy/eligibility?order="+url.QueryEscape(id), nil, nil, &e)
	if err == nil && (e.OrderID == "" || e.PolicyVersion == "" || e.EvaluatedAt.IsZero()) {
		err = errors.New("shop: the answer is not an eligibility")
	}
	return orZero(e, err)
}

// Refund asks for money to go back, once per key whatever happens: the same key and request get the stored
// refund again, the same key with another request is ErrDeclined with CodeKeyReused.
func (c *Client) Refund(ctx context.Context, key string, req RefundRequest) (Refund, error) {
	if err := checkKey(key); err != nil {
		return Refund{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	var r Refund
	err := c.call(ctx, http.MethodPost, "/payments/refunds", http.Header{"Idempotency-Key": {key}}, req, &r)
	if err == nil && (r.ID == "" || r.Key != key || r.RefundRequest != req) {
		err = errors.New("shop: the answer is not about this refund")
	}
	return orZero(r, err)
}

// FindRefund looks a refund up by its key. False without an error means that surely nothing was refunded
// under the key by the time of the answer; a request that is still on its way may yet be.
func (c *Client) FindRefund(ctx context.Context, key string) (Refund, bool, error) {
	var r Refund
	err := c.call(ctx, http.MethodGet, "/payments/refunds?key="+url.QueryEscape(key), nil, nil, &r)
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) && refusal.Code == CodeNoRefund {
		return Refund{}, false, nil
	}
	if err == nil && (r.ID == "" || r.Key != key) {
		err = errors.New("shop: the answer is not about this key")
	}
	r, err = orZero(r, err)
	return r, err == nil, err
}

// Ledger lists all refunds, oldest first.
func (c *Client) Ledger(ctx context.Context) ([]Refund, error) {
	var all []Refund
	err := c.call(ctx, http.MethodGet, "/payments/ledger", nil, nil, &all)
	return orZero(all, err)
}

// SetClock sets how far the shop's clock is ahead of the machine's.
func (c *Client) SetClock(ctx context.Context, offset time.Duration) error {
	return c.call(ctx, http.MethodPut, "/admin/clock", nil, clockBody{Offset: offset}, &nothing{})
}

// MovePolicy puts another policy in force, durably.
func (c *Client) MovePolicy(ctx context.Context, p Policy) error {
	return c.call(ctx, http.MethodPut, "/admin/policy", nil, p, &nothing{})
}

// MarkHandled settles an order through another channel, durably: it is not eligible any more, and takes no
// refund. To do so twice changes nothing.
func (c *Client) MarkHandled(ctx context.Context, order, channel string) error {
	path := "/admin/orders/" + url.PathEscape(order) + "/handled"
	return c.call(ctx, http.MethodPost, path, nil, handledBody{Channel: channel}, &nothing{})
}

// RegisterWebhook sends all events that nobody has acknowledged to a loopback http URL from now on, old ones
// first and with their full number of attempts. An empty URL stops them.
func (c *Client) RegisterWebhook(ctx context.Context, url string) error {
	return c.call(ctx, http.MethodPut, "/admin/webhook", nil, webhookBody{URL: url}, &nothing{})
}

// SetFault makes requests go wrong and returns the fault's id for AwaitFault.
func (c *Client) SetFault(ctx context.Context, f Fault) (id int, err error) {
	var body faultBody
	err = c.call(ctx, http.MethodPost, "/admin/faults", nil, f, &body)
	return body.ID, err
}

// ClearFaults takes back what is left of all faults. Requests that are held or hang stay so.
func (c *Client) ClearFaults(ctx context.Context) error {
	return c.call(ctx, http.MethodDelete, "/admin/faults", nil, nil, &nothing{})
}

// AwaitFault returns nil as soon as the fault has happened for the first time; after HoldAfter, DropAfter and
// ErrorAfter that means that the work is done and durable. Only ctx bounds the wait.
func (c *Client) AwaitFault(ctx context.Context, id int) error {
	patient := &Client{base: c.base, http: onConnectionsOfTheirOwn(0)}
	return patient.call(ctx, http.MethodGet, "/admin/faults/"+strconv.Itoa(id)+"/fired", nil, nil, &nothing{})
}

// call sends one request, once, and reads its answer into out.
func (c *Client) call(ctx context.Context, method, path string, header http.Header, in, out any) error {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	req, err := c.request(ctx, method, path, header, in)
	if err != nil {
		return fmt.Errorf("%w: %s %s: %w", ErrNotSent, method, path, err)
	}
	answer, err := c.http.Send(req)
	switch {
	case machine.ClassOf(err) == machine.ClassNotSent:
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	case err != nil:
		return fmt.Errorf("shop: %s %s: %w", method, path, err)
	}
	if err := understand(answer, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

func (c *Client) request(ctx context.Context, method, path string, header http.Header, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func understand(a httpeffect.Answer, out any) error {
	status, body := a.Status, a.Body
	if status == http.StatusOK || status == http.StatusCreated {
		if err := decodeStrict(body, out); err != nil {
			return fmt.Errorf("shop: outcome unknown: the answer is not understood: %w", err)
		}
		return nil
	}
	refusal := Refusal{Status: status}
	// Only a code of ours with its own status is definite. Another 404 may come from whoever listens on a port
	// that the shop had, and 408 or 429 leave open what happened.
	if decodeStrict(body, &refusal) == nil && statuses[refusal.Code] == status {
		return &refusal
	}
	return fmt.Errorf("shop: outcome unknown: the answer was %d %.200q", status, body)
}

func orZero[T any](v T, err error) (T, error) {
	if err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}
