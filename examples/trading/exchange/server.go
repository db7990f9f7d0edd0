package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"time"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/trading/price"
)

// MaxBody is the largest request or answer, in bytes.
const MaxBody = 1 << 20

// Main is the whole of a child process that Launch started; see [child.Run].
func Main(ctx context.Context, in io.Reader, out io.Writer) error {
	return child.Run(ctx, in, out, Serve)
}

// Launch starts cmd, which must come to call Main, and returns when the exchange answers; see [child.Launch].
func Launch(ctx context.Context, cmd *exec.Cmd, day Config) (*child.Process, error) {
	return child.Launch(ctx, cmd, day)
}

// Serve runs an exchange on a free port of loopback until ctx is done, and calls ready with its URL when it answers there.
func Serve(ctx context.Context, day Config, ready func(url string)) error {
	if err := day.check(); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("exchange: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{book: newBook(day), faults: &faults{}}
	web := &http.Server{Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { <-ctx.Done(); _ = web.Close() }() // what web.Close could say, Serve says
	ready("http://" + l.Addr().String())
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("exchange: %w", err)
	}
	return nil
}

type server struct {
	book   *book
	faults *faults
}

// What the admin calls carry.
type (
	sharesBody struct {
		Symbol   string        `json:"symbol"`
		Quantity price.Decimal `json:"quantity"`
	}
	nowBody struct {
		Now time.Time `json:"now"`
	}
	cashBody struct {
		Cash price.Decimal `json:"cash"`
	}
	faultBody struct {
		ID int `json:"id"`
	}
	nothing struct{}
)

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /quotes/{symbol}", handle(func(r *http.Request) (any, error) { return s.book.quote(r.PathValue("symbol")) }))
	mux.Handle("GET /positions/{symbol}", handle(func(r *http.Request) (any, error) { return s.book.position(r.PathValue("symbol")), nil }))
	mux.Handle("POST /orders", s.faults.on(OpPlace, handle(with(func(r Request) (any, error) {
		o, _, err := s.book.place(r)
		return o, err
	}))))
	mux.Handle("GET /orders", s.faults.on(OpFind, handle(func(r *http.Request) (any, error) {
		return s.book.find(r.URL.Query().Get("client_order_id"))
	})))
	mux.Handle("GET /orders/open", handle(func(*http.Request) (any, error) { return []Order{}, nil })) // whatever is not filled at once is cancelled
	mux.Handle("GET /orders/all", handle(func(*http.Request) (any, error) { return s.book.all(), nil }))
	mux.Handle("PUT /admin/now", handle(with(func(b nowBody) (any, error) { s.book.setNow(b.Now); return nothing{}, nil })))
	mux.Handle("PUT /admin/cash", handle(with(func(b cashBody) (any, error) { s.book.setCash(b.Cash); return nothing{}, nil })))
	mux.Handle("PUT /admin/depth", handle(with(func(b sharesBody) (any, error) { s.book.setDepth(b.Symbol, b.Quantity); return nothing{}, nil })))
	mux.Handle("POST /admin/transfer", handle(with(func(b sharesBody) (any, error) { return nothing{}, s.book.transfer(b.Symbol, b.Quantity) })))
	mux.Handle("POST /admin/faults", handle(with(func(f Fault) (any, error) {
		id, err := s.faults.add(f)
		return faultBody{id}, err
	})))
	mux.Handle("GET /admin/faults/{id}/fired", handle(func(r *http.Request) (any, error) {
		return nothing{}, s.faults.await(r.Context(), r.PathValue("id"))
	}))
	return buffered(mux)
}

// buffered reads the whole body first: only then does net/http notice a client that goes away.
func buffered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
		if err != nil {
			fail(w, refuse(CodeMalformed, "the request could not be read: %v", err))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func handle(do func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		value, err := do(r)
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, http.StatusOK, value)
	})
}

// with reads the body of a request, strictly.
func with[T any](do func(T) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var v T
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			return nil, refuse(CodeMalformed, "%v", err)
		}
		return do(v)
	}
}

// fail answers a refusal as one, and anything else as 500: the request may then have been carried out.
func fail(w http.ResponseWriter, err error) {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		answer(w, refusal.Status, refusal)
		return
	}
	answer(w, http.StatusInternalServerError, Refusal{Code: "internal", Message: err.Error()})
}

func answer(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // every answer is a type of this package that can be encoded
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone learns nothing, and the book has it
}
