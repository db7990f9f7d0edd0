package desk

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/refund/shop"
	"github.com/pawlgo/pawl/resume"
)

// maxBody is the largest request or answer of the desk, in bytes.
const maxBody = 1 << 20

// Serve runs a desk until ctx is done, and calls ready with its URL when it answers there.
func Serve(ctx context.Context, cfg Config, ready func(url string)) error {
	if err := cfg.check(); err != nil {
		return err
	}
	d, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, d.st.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := &http.Server{Handler: d.routes(), ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	worked := make(chan error, 1)
	go func() {
		if !cfg.Worker {
			<-ctx.Done()
			worked <- nil
			return
		}
		worked <- d.ctl.Run(ctx)
	}()
	go func() { <-ctx.Done(); _ = srv.Close() }() // what srv.Close could say, Serve says
	ready("http://" + l.Addr().String())
	err = srv.Serve(l)
	cancel()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	if w := <-worked; w != nil && !errors.Is(w, context.Canceled) {
		err = errors.Join(err, w)
	}
	return errors.Join(err, d.st.Close())
}

func (d *desk) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /begin", serve(d.begin))
	mux.HandleFunc("POST /turn", serve(d.turn))
	mux.HandleFunc("POST /note", serve(d.note))
	mux.HandleFunc("POST /confirm", serve(d.confirm))
	mux.HandleFunc("POST /race", serve(d.race))
	mux.HandleFunc("POST /standing", serve(d.standing))
	mux.HandleFunc("POST /lookup", serve(d.lookup))
	mux.HandleFunc("POST /work", serve(func(ctx context.Context, a Ask) (Standing, error) {
		if err := d.ctl.Work(ctx); err != nil {
			return Standing{}, err
		}
		return d.standing(ctx, a)
	}))
	mux.HandleFunc("POST /clock", serve(func(_ context.Context, offset time.Duration) (time.Time, error) {
		d.offset.Store(int64(offset))
		return d.now(), nil
	}))
	mux.HandleFunc("POST /receipt", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err == nil {
			_, err = d.receipt(r.Context(), body, r.Header.Get(shop.SignatureHeader))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	return mux
}

// serve is a handler of the desk: what a principal may not see is not there.
func serve[Q, A any](f func(context.Context, Q) (A, error)) http.HandlerFunc {
	return child.Handler(f, func(err error) int {
		if errors.Is(err, resume.ErrNoTask) {
			return http.StatusNotFound
		}
		return http.StatusInternalServerError
	})
}

// Client calls a desk. Safe for concurrent use.
type Client struct {
	url  string
	http http.Client
}

// NewClient is a client for the desk at a URL.
func NewClient(url string) *Client { return &Client{url, http.Client{Timeout: 20 * time.Second}} }

// Begin starts the story's task.
func (c *Client) Begin(ctx context.Context, b Begin) (Said, error) {
	return call[Said](ctx, c, "begin", b)
}

// Turn says something to the desk.
func (c *Client) Turn(ctx context.Context, t Turn) (Said, error) {
	return call[Said](ctx, c, "turn", t)
}

// Note leaves a remark.
func (c *Client) Note(ctx context.Context, n Note) (Said, error) {
	return call[Said](ctx, c, "note", n)
}

// Confirm proposes the refund once more.
func (c *Client) Confirm(ctx context.Context, who string) (Said, error) {
	return call[Said](ctx, c, "confirm", Ask{who})
}

// Race leaves two remarks from one version, through two controllers at once.
func (c *Client) Race(ctx context.Context, n Note) ([]Said, error) {
	return call[[]Said](ctx, c, "race", n)
}

// Standing asks where the task stands.
func (c *Client) Standing(ctx context.Context, who string) (Standing, error) {
	return call[Standing](ctx, c, "standing", Ask{who})
}

// Lookup asks the payment service what became of the refund.
func (c *Client) Lookup(ctx context.Context, who string) (Standing, error) {
	return call[Standing](ctx, c, "lookup", Ask{who})
}

// Work lets the desk's worker do once what is due.
func (c *Client) Work(ctx context.Context, who string) (Standing, error) {
	return call[Standing](ctx, c, "work", Ask{who})
}

// SetClock moves the desk's clock.
func (c *Client) SetClock(ctx context.Context, offset time.Duration) error {
	_, err := call[time.Time](ctx, c, "clock", offset)
	return err
}

func call[A any](ctx context.Context, c *Client, path string, q any) (A, error) {
	return child.Call[A](ctx, &c.http, c.url+"/"+path, q)
}
