package exchange

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// Op is a service that a fault can befall.
type Op string

// The services.
const (
	OpPlace Op = "place"
	OpFind  Op = "find"
)

// Action is what a fault does.
type Action string

// The actions.
const (
	HoldAfter Action = "hold_after" // do it, and never answer
	CutAfter  Action = "cut_after"  // do it, and cut the connection instead of an answer
	Fail      Action = "fail"       // do nothing, and answer 503: the caller cannot tell
)

// Fault befalls one request.
type Fault struct {
	Op     Op     `json:"op"`
	Action Action `json:"action"`
}

type pending struct {
	Fault
	id    int
	fired chan struct{}
}

// faults are those that wait for their request, and how to wait for them. Safe for concurrent use.
type faults struct {
	mu   sync.Mutex
	wait []*pending
	all  []*pending
}

func (f *faults) add(fault Fault) (int, error) {
	if fault.Op != OpPlace && fault.Op != OpFind || !slices.Contains([]Action{HoldAfter, CutAfter, Fail}, fault.Action) {
		return 0, refuse(CodeMalformed, "there is no fault %.40q of %.40q", fault.Action, fault.Op)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &pending{Fault: fault, id: len(f.all) + 1, fired: make(chan struct{})}
	f.wait, f.all = append(f.wait, p), append(f.all, p)
	return p.id, nil
}

func (f *faults) take(op Op) *pending {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.wait, func(p *pending) bool { return p.Op == op })
	if i < 0 {
		return nil
	}
	p := f.wait[i]
	f.wait = slices.Delete(f.wait, i, i+1)
	return p
}

// on lets a fault befall a service.
func (f *faults) on(op Op, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := f.take(op)
		switch {
		case p == nil:
			next.ServeHTTP(w, r)
		case p.Action == Fail:
			close(p.fired)
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			next.ServeHTTP(discard{}, r)
			close(p.fired)
			if p.Action == HoldAfter {
				<-r.Context().Done() // until the caller is gone
			}
			panic(http.ErrAbortHandler)
		}
	})
}

// await returns when the fault has happened.
func (f *faults) await(ctx context.Context, id string) error {
	n, err := strconv.Atoi(id)
	f.mu.Lock()
	var fired chan struct{}
	if err == nil && n >= 1 && n <= len(f.all) {
		fired = f.all[n-1].fired
	}
	f.mu.Unlock()
	if fired == nil {
		return refuse(CodeMalformed, "there is no fault %.20q", id)
	}
	select {
	case <-fired:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// discard is an answer that nobody gets.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
