package desk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// Config is what a desk's process is given when it starts.
type Config struct {
	Dir      string    `json:"dir"`      // of the store
	Exchange string    `json:"exchange"` // URL
	Now      time.Time `json:"now"`      // of the story: it does not go on by itself
}

// Main is the whole of a child process that Launch started; see [child.Run].
func Main(ctx context.Context, in io.Reader, out io.Writer) error {
	return child.Run(ctx, in, out, Serve)
}

// Launch starts cmd, which must come to call Main, and returns when the desk answers; see [child.Launch].
func Launch(ctx context.Context, cmd *exec.Cmd, cfg Config) (*child.Process, error) {
	return child.Launch(ctx, cmd, cfg)
}

// Serve runs a desk on a Pebble store until ctx is done, and calls ready with its URL when it answers there.
func Serve(ctx context.Context, cfg Config, ready func(url string)) (err error) {
	var clock atomic.Int64
	clock.Store(cfg.Now.UnixMicro())
	st, err := pebblestore.Open(cfg.Dir, pebblestore.Options{Now: func() time.Time { return time.UnixMicro(clock.Load()) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	d, err := Open(ctx, Options{Store: st, Exchange: exchange.NewClient(cfg.Exchange), Problem: func(err error) { log.Print(err) }})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("desk: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	web := &http.Server{Handler: d.routes(&clock), ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { <-ctx.Done(); _ = web.Close() }() // what web.Close could say, Serve says
	ready("http://" + l.Addr().String())
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("desk: %w", err)
	}
	return nil
}

// none is what a call without arguments carries.
type none struct{}

func (d *Desk) routes(clock *atomic.Int64) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /begin", serve(func(ctx context.Context, _ none) (none, error) { return none{}, d.Begin(ctx) }))
	mux.HandleFunc("POST /allow", serve(d.Allow))
	mux.HandleFunc("POST /call", serve(d.Call))
	mux.HandleFunc("POST /wake", serve(d.Wake))
	mux.HandleFunc("POST /exit", serve(d.Exit))
	mux.HandleFunc("POST /close", serve(d.CloseDay))
	mux.HandleFunc("POST /work", serve(func(ctx context.Context, _ none) (none, error) { return none{}, d.Work(ctx) }))
	mux.HandleFunc("POST /standing", serve(func(ctx context.Context, _ none) (Standing, error) { return d.Standing(ctx) }))
	mux.HandleFunc("POST /now", serve(func(_ context.Context, now time.Time) (none, error) {
		clock.Store(now.UnixMicro())
		return none{}, nil
	}))
	return mux
}

func serve[Q, A any](f func(context.Context, Q) (A, error)) http.HandlerFunc {
	return child.Handler(f, nil)
}

// Client calls a desk. Safe for concurrent use.
type Client struct {
	url  string
	http http.Client
}

// NewClient is a client for the desk at a URL.
func NewClient(url string) *Client { return &Client{url, http.Client{Timeout: 20 * time.Second}} }

// Begin is [Desk.Begin].
func (c *Client) Begin(ctx context.Context) error {
	_, err := call[none](ctx, c, "begin", none{})
	return err
}

// Allow is [Desk.Allow].
func (c *Client) Allow(ctx context.Context, m trading.Mandate) (machine.Outcome, error) {
	return call[machine.Outcome](ctx, c, "allow", m)
}

// Call is [Desk.Call].
func (c *Client) Call(ctx context.Context, t ToolCall) (machine.Outcome, error) {
	return call[machine.Outcome](ctx, c, "call", t)
}

// Wake is [Desk.Wake].
func (c *Client) Wake(ctx context.Context, w Wake) (Woken, error) {
	return call[Woken](ctx, c, "wake", w)
}

// Exit is [Desk.Exit].
func (c *Client) Exit(ctx context.Context, rule string) (machine.Outcome, error) {
	return call[machine.Outcome](ctx, c, "exit", rule)
}

// CloseDay is [Desk.CloseDay].
func (c *Client) CloseDay(ctx context.Context, why string) (machine.Outcome, error) {
	return call[machine.Outcome](ctx, c, "close", why)
}

// Work is [Desk.Work].
func (c *Client) Work(ctx context.Context) error {
	_, err := call[none](ctx, c, "work", none{})
	return err
}

// Standing is [Desk.Standing].
func (c *Client) Standing(ctx context.Context) (Standing, error) {
	return call[Standing](ctx, c, "standing", none{})
}

// SetNow moves the desk's time.
func (c *Client) SetNow(ctx context.Context, now time.Time) error {
	_, err := call[none](ctx, c, "now", now)
	return err
}

func call[A any](ctx context.Context, c *Client, path string, q any) (A, error) {
	return child.Call[A](ctx, &c.http, c.url+"/"+path, q)
}
