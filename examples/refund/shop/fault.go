package shop

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Op is an operation of the shop that faults can be set on.
type Op string

// The operations.
const (
	OpOrder       Op = "order"
	OpEligibility Op = "eligibility"
	OpRefund      Op = "refund"
	OpFindRefund  Op = "find_refund"
	OpLedger      Op = "ledger"
)

var ops = []Op{OpOrder, OpEligibility, OpRefund, OpFindRefund, OpLedger}

// Action is what goes wrong.
type Action string

// The actions. Those named after do the work first, durably, and spoil only the answer.
const (
	// DropBefore closes the connection and does nothing.
	DropBefore Action = "drop_before"
	// ErrorBefore answers 500 and does nothing.
	ErrorBefore Action = "error_before"
	// HangBefore does nothing until the client goes away.
	HangBefore Action = "hang_before"
	// Delay waits for By, then does the work and answers. A client that goes away meanwhile gets nothing done.
	Delay Action = "delay"
	// DropAfter does the work and closes the connection.
	DropAfter Action = "drop_after"
	// ErrorAfter does the work and answers 500.
	ErrorAfter Action = "error_after"
	// HoldAfter does the work and holds the answer until the client goes away.
	HoldAfter Action = "hold_after"
	// OtherOrder answers about OrderID, whatever was asked; of OpOrder and OpEligibility only.
	OtherOrder Action = "other_order"
	// FutureDated dates the answer By ahead of the shop's clock; of OpOrder and OpEligibility only.
	FutureDated Action = "future_dated"
)

var (
	actions = []Action{DropBefore, ErrorBefore, HangBefore, Delay, DropAfter, ErrorAfter, HoldAfter, OtherOrder, FutureDated}
	bending = []Action{OtherOrder, FutureDated}
)

const (
	// MaxFaultTimes is how often one fault can happen.
	MaxFaultTimes = 1000
	// MaxFaults is how many faults one process of the shop takes, used-up ones included.
	MaxFaults = 1000
)

// Fault makes the next requests of one operation go wrong. Faults of one operation happen in the order in
// which they were set.
type Fault struct {
	Op     Op     `json:"op"`
	Action Action `json:"action"`
	// Times is how many requests it spoils, 1 to MaxFaultTimes; 0 means 1.
	Times int `json:"times,omitempty"`
	// By is how long Delay waits, or how far FutureDated goes ahead; positive there, zero elsewhere.
	By time.Duration `json:"by_ns,omitempty"`
	// OrderID is the existing order that OtherOrder answers about; empty elsewhere.
	OrderID string `json:"order_id,omitempty"`
}

func (f Fault) check() error {
	timed, other := f.Action == Delay || f.Action == FutureDated, f.Action == OtherOrder
	switch {
	case !slices.Contains(ops, f.Op):
		return fmt.Errorf("shop: no operation %.80q", f.Op)
	case !slices.Contains(actions, f.Action):
		return fmt.Errorf("shop: no action %.80q", f.Action)
	case slices.Contains(bending, f.Action) && f.Op != OpOrder && f.Op != OpEligibility:
		return fmt.Errorf("shop: %s does not apply to %s", f.Action, f.Op)
	case f.Times < 0 || f.Times > MaxFaultTimes:
		return fmt.Errorf("shop: a fault happens 1 to %d times, not %d", MaxFaultTimes, f.Times)
	case timed != (f.By > 0) || f.By < 0:
		return fmt.Errorf("shop: %s by %s", f.Action, f.By)
	case other != (f.OrderID != ""):
		return fmt.Errorf("shop: %s about order %q", f.Action, f.OrderID)
	}
	return nil
}

// set is a fault with what is left of it.
type set struct {
	Fault
	left  int
	fired chan struct{} // closed when it has happened once: after the work, if the action says so
	once  sync.Once
}

func (s *set) fire() { s.once.Do(func() { close(s.fired) }) }

type faults struct {
	mu  sync.Mutex
	all []*set // an id is an index plus one; used-up ones stay, so that they can be awaited
}

func (f *faults) add(fault Fault) (int, error) {
	if err := fault.check(); err != nil {
		return 0, refuse(CodeMalformed, "%v", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) >= MaxFaults {
		return 0, refuse(CodeMalformed, "%d faults have been set, which is the most", MaxFaults)
	}
	f.all = append(f.all, &set{Fault: fault, left: max(fault.Times, 1), fired: make(chan struct{})})
	return len(f.all), nil
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.all {
		s.left = 0
	}
}

func (f *faults) get(id int) (*set, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id < 1 || id > len(f.all) {
		return nil, refuse(CodeMalformed, "there is no fault %d", id)
	}
	return f.all[id-1], nil
}

// take uses up one time of the first fault that is set on op; nil if there is none.
func (f *faults) take(op Op) *set {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.all {
		if s.Op == op && s.left > 0 {
			s.left--
			return s
		}
	}
	return nil
}

// on serves op with h, unless a fault is set.
func (f *faults) on(op Op, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := f.take(op)
		if s == nil {
			h(w, r)
			return
		}
		s.spoil(h, w, r)
	}
}

// spoil ends most requests by aborting the handler, which closes the connection without an answer.
func (s *set) spoil(h http.HandlerFunc, w http.ResponseWriter, r *http.Request) {
	switch s.Action {
	case DropAfter, ErrorAfter, HoldAfter:
		h(discard{Writer: io.Discard, header: http.Header{}}, r)
	}
	s.fire()
	switch s.Action {
	case ErrorBefore, ErrorAfter:
		answer(w, http.StatusInternalServerError, Refusal{Code: "internal", Message: "a fault was set"})
	case DropBefore, DropAfter:
		panic(http.ErrAbortHandler)
	case HangBefore, HoldAfter:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case Delay:
		timer := time.NewTimer(s.By)
		defer timer.Stop()
		select {
		case <-timer.C:
			h(w, r)
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	case OtherOrder, FutureDated:
		h(w, r.WithContext(context.WithValue(r.Context(), faultKey{}, s.Fault)))
	}
}

type faultKey struct{}

// bend returns what a handler should answer about instead of id, and how far ahead it should date that.
func bend(ctx context.Context, id string) (string, time.Duration) {
	f, _ := ctx.Value(faultKey{}).(Fault)
	switch f.Action {
	case OtherOrder:
		return f.OrderID, 0
	case FutureDated:
		return id, f.By
	}
	return id, 0
}

// discard takes an answer that nobody shall see.
type discard struct {
	io.Writer
	header http.Header
}

func (d discard) Header() http.Header { return d.header }
func (d discard) WriteHeader(int)     {}
