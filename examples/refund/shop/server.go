package shop

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// MaxBody is the largest request that the shop reads, in bytes.
const MaxBody = 16 << 10

// server is the HTTP face of the world.
type server struct {
	world  *world
	herald *herald
	faults *faults
}

// result is what a handler says: a value with its status, or an error.
type result func(r *http.Request) (status int, value any, err error)

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	services := map[string]struct {
		op Op
		do result
	}{
		"GET /orders/{id}":        {OpOrder, s.order},
		"GET /policy/eligibility": {OpEligibility, s.eligibility},
		"POST /payments/refunds":  {OpRefund, s.refund},
		"GET /payments/refunds":   {OpFindRefund, s.find},
		"GET /payments/ledger":    {OpLedger, s.ledger},
	}
	for pattern, service := range services {
		mux.Handle(pattern, s.faults.on(service.op, handle(service.do)))
	}
	admin := map[string]result{
		"PUT /admin/clock":                s.setClock,
		"PUT /admin/policy":               s.movePolicy,
		"PUT /admin/webhook":              s.setWebhook,
		"POST /admin/orders/{id}/handled": s.markHandled,
		"POST /admin/faults":              s.addFault,
		"DELETE /admin/faults":            s.clearFaults,
		"GET /admin/faults/{id}/fired":    s.awaitFault,
	}
	for pattern, do := range admin {
		mux.Handle(pattern, handle(do))
	}
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

func handle(do result) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, value, err := do(r)
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, status, value)
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
	_, _ = w.Write(body) // a client that is gone learns nothing, and the ledger is durable
}

func read[T any](r *http.Request) (T, error) {
	var v T
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return v, err
	}
	if err := decodeStrict(body, &v); err != nil {
		return v, refuse(CodeMalformed, "%v", err)
	}
	return v, nil
}

func (s *server) order(r *http.Request) (int, any, error) {
	id, ahead := bend(r.Context(), r.PathValue("id"))
	o, err := s.world.order(id)
	o.At = o.At.Add(ahead)
	return http.StatusOK, o, err
}

func (s *server) eligibility(r *http.Request) (int, any, error) {
	id, ahead := bend(r.Context(), r.URL.Query().Get("order"))
	e, err := s.world.eligibility(id)
	e.EvaluatedAt = e.EvaluatedAt.Add(ahead)
	return http.StatusOK, e, err
}

func (s *server) refund(r *http.Request) (int, any, error) {
	req, err := read[RefundRequest](r)
	if err != nil {
		return 0, nil, err
	}
	refund, replayed, err := s.world.refund(r.Header.Get("Idempotency-Key"), req)
	if err != nil {
		return 0, nil, err
	}
	if replayed {
		return http.StatusOK, refund, nil
	}
	s.herald.notify()
	return http.StatusCreated, refund, nil
}

func (s *server) find(r *http.Request) (int, any, error) {
	refund, err := s.world.find(r.URL.Query().Get("key"))
	return http.StatusOK, refund, err
}

func (s *server) ledger(*http.Request) (int, any, error) {
	return http.StatusOK, s.world.all(), nil
}

// What the admin calls carry.
type (
	clockBody struct {
		Offset time.Duration `json:"offset_ns"`
	}
	webhookBody struct {
		URL string `json:"url"`
	}
	handledBody struct {
		Channel string `json:"channel"`
	}
	faultBody struct {
		ID int `json:"id"`
	}
	nothing struct{}
)

func (s *server) setClock(r *http.Request) (int, any, error) {
	body, err := read[clockBody](r)
	if err == nil {
		s.world.clock.set(body.Offset)
	}
	return http.StatusOK, nothing{}, err
}

func (s *server) movePolicy(r *http.Request) (int, any, error) {
	policy, err := read[Policy](r)
	if err == nil {
		err = s.world.movePolicy(policy)
	}
	return http.StatusOK, nothing{}, err
}

func (s *server) setWebhook(r *http.Request) (int, any, error) {
	body, err := read[webhookBody](r)
	if err == nil {
		err = s.herald.register(body.URL)
	}
	return http.StatusOK, nothing{}, err
}

func (s *server) markHandled(r *http.Request) (int, any, error) {
	body, err := read[handledBody](r)
	if err == nil {
		err = s.world.handle(r.PathValue("id"), body.Channel)
	}
	return http.StatusOK, nothing{}, err
}

func (s *server) addFault(r *http.Request) (int, any, error) {
	fault, err := read[Fault](r)
	if err != nil {
		return 0, nil, err
	}
	if fault.OrderID != "" {
		if _, err := s.world.order(fault.OrderID); err != nil {
			return 0, nil, err
		}
	}
	id, err := s.faults.add(fault)
	return http.StatusCreated, faultBody{ID: id}, err
}

func (s *server) clearFaults(*http.Request) (int, any, error) {
	s.faults.clear()
	return http.StatusOK, nothing{}, nil
}

// awaitFault answers when the fault has happened, however long that takes; a client that is tired goes away.
func (s *server) awaitFault(r *http.Request) (int, any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return 0, nil, refuse(CodeMalformed, "%.80q is no number", r.PathValue("id"))
	}
	fault, err := s.faults.get(id)
	if err != nil {
		return 0, nil, err
	}
	select {
	case <-fault.fired:
		return http.StatusOK, nothing{}, nil
	case <-r.Context().Done():
		return 0, nil, r.Context().Err()
	}
}
