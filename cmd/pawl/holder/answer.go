package holder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pawlgo/pawl/store"
)

// routes are the questions that are answered.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for name, f := range map[string]func(context.Context, url.Values) (any, error){
		"hello": func(context.Context, url.Values) (any, error) {
			return greeting{s.note.PID, s.note.Program, s.st.Info()}, nil
		},
		"now":      func(ctx context.Context, _ url.Values) (any, error) { return s.st.Now(ctx) },
		"tip":      func(ctx context.Context, q url.Values) (any, error) { return s.st.Tip(ctx, q.Get("task")) },
		"attempts": func(ctx context.Context, q url.Values) (any, error) { return s.st.Attempts(ctx, q.Get("task")) },
		"once": func(ctx context.Context, q url.Values) (any, error) {
			return s.st.Once(ctx, q.Get("task"), q.Get("name"))
		},
		"load": s.load, "history": s.history, "find": s.find, "effects": s.effects, "resource": s.resource,
	} {
		mux.HandleFunc("GET "+prefix+name, answer(f))
	}
	mux.HandleFunc("GET "+prefix+"watch", s.watch)
	mux.HandleFunc("GET "+prefix+"verify", s.verify)
	mux.HandleFunc("POST "+prefix+"backup", s.backup)
	return mux
}

// answer is a handler that writes what f returns as JSON.
func answer(f func(context.Context, url.Values) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), AnswerWithin)
		defer cancel()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(AnswerWithin)) // every connection here has deadlines
		a, err := f(ctx, r.URL.Query())
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			fault, status := faultOf(err)
			w.WriteHeader(status)
			a = fault
		}
		_ = json.NewEncoder(w).Encode(a) // an error here is the reader's to see
	}
}

func (s *Server) load(ctx context.Context, q url.Values) (any, error) {
	r, es, err := s.st.Load(ctx, q.Get("task"))
	return loaded{r, es}, err
}

func (s *Server) history(ctx context.Context, q url.Values) (any, error) {
	newest, oldest, err := numbers(q, "newest", "oldest")
	if err != nil {
		return nil, err
	}
	var p page
	for r, err := range s.st.History(ctx, q.Get("task"), newest, oldest) {
		if err != nil {
			return nil, err
		}
		if p.More = len(p.Records) == MaxPage; p.More {
			break
		}
		p.Records = append(p.Records, r)
	}
	return p, nil
}

func (s *Server) find(ctx context.Context, q url.Values) (any, error) {
	limit, _, err := numbers(q, "limit", "")
	if err != nil {
		return nil, err
	}
	rows, next, err := s.st.Find(ctx, store.Query{Machine: q.Get("machine"), State: q.Get("state"), Owner: q.Get("owner"),
		WaitsFor: q.Get("waits_for"), Limit: int(limit), After: q.Get("after")})
	return found{rows, []byte(next)}, err
}

func (s *Server) effects(ctx context.Context, q url.Values) (any, error) {
	limit, _, err := numbers(q, "limit", "")
	if err != nil {
		return nil, err
	}
	if limit == 0 || limit > MaxPage {
		limit = MaxPage
	}
	es, next, err := s.st.Effects(ctx, q.Get("after"), int(limit))
	return unsettled{es, []byte(next)}, err
}

func (s *Server) resource(ctx context.Context, q url.Values) (any, error) {
	r, ok := s.st.(store.Resources)
	if !ok {
		return nil, fmt.Errorf("read resource: %w", ErrUnsupported)
	}
	return r.Resource(ctx, q.Get("name"))
}

// numbers reads two arguments; absent ones are zero.
func numbers(q url.Values, a, b string) (n, m uint64, err error) {
	read := func(name string) uint64 {
		if q.Get(name) == "" || err != nil {
			return 0
		}
		v, bad := strconv.ParseUint(q.Get(name), 10, 44)
		if bad != nil {
			err = fmt.Errorf("%s %.40q is no number: %w", name, q.Get(name), store.ErrInvalid)
		}
		return v
	}
	n, m = read(a), read(b)
	return n, m, err
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	watcher, ok := s.st.(store.Watcher)
	if !ok {
		stream(w, r, none, fmt.Errorf("watch: %w", ErrUnsupported))
		return
	}
	stream(w, r, func(send func(line) bool) error {
		for row, err := range watcher.Watch(r.Context()) {
			if err != nil {
				return err
			}
			if !send(line{Row: &row}) {
				return nil
			}
		}
		return nil
	}, nil)
}

func (s *Server) verify(w http.ResponseWriter, r *http.Request) {
	verifier, ok := s.st.(store.Verifier)
	if !ok {
		stream(w, r, none, fmt.Errorf("verify: %w", ErrUnsupported))
		return
	}
	stream(w, r, func(send func(line) bool) error {
		return each(verifier.Verify(r.Context()), func(p store.Problem) bool { return send(line{Problem: &p}) })
	}, nil)
}

// each hands on what a sequence yields, until send is false or an error ends it.
func each[T any](seq iter.Seq2[T, error], send func(T) bool) error {
	for v, err := range seq {
		if err != nil || !send(v) {
			return err
		}
	}
	return nil
}

func (s *Server) backup(w http.ResponseWriter, r *http.Request) {
	dir, c := r.URL.Query().Get("dir"), store.Copier(nil)
	if c, _ = s.st.(store.Copier); c == nil {
		stream(w, r, none, fmt.Errorf("back up: %w", ErrUnsupported))
		return
	}
	if !filepath.IsAbs(dir) {
		stream(w, r, none, fmt.Errorf("back up to %.160q, which is no absolute path: %w", dir, store.ErrInvalid))
		return
	}
	stream(w, r, func(func(line) bool) error { return c.Backup(r.Context(), dir) }, nil)
}

func none(func(line) bool) error { return nil }

// stream writes the lines that f sends and then how it ended. A reader that takes none of them for AnswerWithin is let go.
// Nothing is said at the end of one that was cut off: it did not end.
func stream(w http.ResponseWriter, r *http.Request, f func(send func(line) bool) error, err error) {
	out, control := json.NewEncoder(w), http.NewResponseController(w)
	send := func(l line) bool {
		return errors.Join(control.SetWriteDeadline(time.Now().Add(AnswerWithin)), out.Encode(l), control.Flush()) == nil
	}
	w.Header().Set("Content-Type", "application/jsonl")
	_ = control.SetWriteDeadline(time.Time{}) // between two lines there may lie any time
	if control.Flush() != nil {
		return
	}
	if err == nil {
		err = f(send)
	}
	if r.Context().Err() != nil {
		return
	}
	if err != nil {
		fault, _ := faultOf(err)
		send(line{Fault: fault})
		return
	}
	send(line{End: true})
}
