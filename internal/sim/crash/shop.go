package crash

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/pawlgo/pawl/examples/refund/refund"
)

// shop is the payment service: once per key, and it remembers every request.
type shop struct {
	mu       sync.Mutex
	ledger   map[string]refund.Record
	requests []string
	lose     int // answers still to be lost after the refund was applied
}

// ServeHTTP applies a refund, or looks one up.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	if r.Method == http.MethodGet {
		s.answer(w, key)
		return
	}
	s.requests = append(s.requests, key)
	var p refund.Payment
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if _, paid := s.ledger[key]; !paid {
		s.ledger[key] = refund.Record{ID: fmt.Sprintf("re_%d", len(s.ledger)+1), OrderID: p.OrderID, Amount: p.Amount}
	}
	if s.lose > 0 {
		s.lose--
		panic(http.ErrAbortHandler)
	}
	s.answer(w, key)
}

func (s *shop) answer(w http.ResponseWriter, key string) {
	r, ok := s.ledger[key]
	if !ok {
		http.Error(w, "nothing under the key", http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(r) // an error here is the desk's to see
}
