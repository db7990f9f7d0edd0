package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/pawlgo/pawl/examples/trading/price"
)

// DefaultTimeout bounds a call of a Client.
const DefaultTimeout = 5 * time.Second

// Client talks to an exchange. It never retries. An error of any method is one of three kinds: it matches ErrNotSent, it matches
// ErrRefused, or neither, and then nobody knows whether the request was carried out. Safe for concurrent use.
type Client struct {
	base string
	http *http.Client
}

// NewClient makes a client for an exchange's URL.
func NewClient(base string) *Client {
	return &Client{base, &http.Client{
		Timeout: DefaultTimeout,
		// On a connection that was used before, net/http may send a request once more: an attempt that nobody decided on.
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Quote is the last price of an instrument.
func (c *Client) Quote(ctx context.Context, symbol string) (Quote, error) {
	return call[Quote](ctx, c, http.MethodGet, "/quotes/"+url.PathEscape(symbol), nil)
}

// Position is what the broker holds of an instrument.
func (c *Client) Position(ctx context.Context, symbol string) (Position, error) {
	return call[Position](ctx, c, http.MethodGet, "/positions/"+url.PathEscape(symbol), nil)
}

// Place places an order, once for each client order id whatever happens: the same request gets the stored order, another one under
// the same id is refused.
func (c *Client) Place(ctx context.Context, r Request) (Order, error) {
	if err := r.check(); err != nil {
		return Order{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	o, err := call[Order](ctx, c, http.MethodPost, "/orders", r)
	if err == nil && o.Request != r {
		return Order{}, errors.New("exchange: the answer is not about this order")
	}
	return o, err
}

// Find looks an order up by its client order id, filled and rejected ones included. False without an error means that surely
// there was none by the time of the answer.
func (c *Client) Find(ctx context.Context, clientOrderID string) (Order, bool, error) {
	o, err := call[Order](ctx, c, http.MethodGet, "/orders?client_order_id="+url.QueryEscape(clientOrderID), nil)
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) && refusal.Code == CodeNoOrder {
		return Order{}, false, nil
	}
	if err == nil && o.ClientOrderID != clientOrderID {
		err = errors.New("exchange: the answer is not about this order")
	}
	return o, err == nil, err
}

// Open are the orders that can still be filled. That one is not among them says nothing about it.
func (c *Client) Open(ctx context.Context) ([]Order, error) {
	return call[[]Order](ctx, c, http.MethodGet, "/orders/open", nil)
}

// All are all orders that the exchange ever took or rejected, oldest first.
func (c *Client) All(ctx context.Context) ([]Order, error) {
	return call[[]Order](ctx, c, http.MethodGet, "/orders/all", nil)
}

// SetNow moves the exchange's time.
func (c *Client) SetNow(ctx context.Context, now time.Time) error {
	_, err := call[nothing](ctx, c, http.MethodPut, "/admin/now", nowBody{now})
	return err
}

// SetCash says what the account can pay with.
func (c *Client) SetCash(ctx context.Context, cash price.Decimal) error {
	_, err := call[nothing](ctx, c, http.MethodPut, "/admin/cash", cashBody{cash})
	return err
}

// SetDepth says how much of an instrument can be traded at once from now on.
func (c *Client) SetDepth(ctx context.Context, symbol string, most price.Decimal) error {
	_, err := call[nothing](ctx, c, http.MethodPut, "/admin/depth", sharesBody{symbol, most})
	return err
}

// Transfer brings shares in from elsewhere, without an order.
func (c *Client) Transfer(ctx context.Context, symbol string, quantity price.Decimal) error {
	_, err := call[nothing](ctx, c, http.MethodPost, "/admin/transfer", sharesBody{symbol, quantity})
	return err
}

// SetFault lets a fault befall the next request of its service; the id is for AwaitFault.
func (c *Client) SetFault(ctx context.Context, f Fault) (int, error) {
	b, err := call[faultBody](ctx, c, http.MethodPost, "/admin/faults", f)
	return b.ID, err
}

// AwaitFault returns when the fault has happened.
func (c *Client) AwaitFault(ctx context.Context, id int) error {
	_, err := call[nothing](ctx, c, http.MethodGet, "/admin/faults/"+strconv.Itoa(id)+"/fired", nil)
	return err
}

func call[A any](ctx context.Context, c *Client, method, path string, body any) (A, error) {
	var a A
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return a, fmt.Errorf("%w: %w", ErrNotSent, err)
		}
	}
	var left atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { left.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(raw))
	if err != nil {
		return a, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	resp, err := c.http.Do(req)
	switch {
	case err != nil && !left.Load():
		return a, fmt.Errorf("%w: %w", ErrNotSent, err)
	case err != nil:
		return a, fmt.Errorf("exchange: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody))
	if err != nil {
		return a, fmt.Errorf("exchange: %w", err)
	}
	if err := read(resp.StatusCode, text, &a); err != nil {
		var none A
		return none, err
	}
	return a, nil
}

// read is an answer: a value, a definite refusal, or something that says nothing.
func read(status int, text []byte, into any) error {
	if status >= 400 && status < 500 {
		refusal := Refusal{Status: status}
		if err := json.Unmarshal(text, &refusal); err != nil || statuses[refusal.Code] != status {
			return fmt.Errorf("exchange: answered %d, and no refusal that it knows", status)
		}
		return &refusal
	}
	if status != http.StatusOK {
		return fmt.Errorf("exchange: answered %d", status)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("exchange: %w", err)
	}
	return nil
}
