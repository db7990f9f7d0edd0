package pebblestore

import (
	"sync"

	"github.com/pawlgo/pawl/store"
)

// watermark is the instant below which a due order holds no live row, so that scans need not walk over the remains
// of what was already served. Rows are told after they became visible: a scan that missed one began before that, and
// then sees lowest.
type watermark struct {
	scan   sync.Mutex // one scan at a time
	mu     sync.Mutex
	at     store.Micros
	lowest store.Micros // told since the scan began
}

const never store.Micros = 1<<63 - 1

// tell says that a row at an instant became visible.
func (w *watermark) tell(at store.Micros) {
	w.mu.Lock()
	w.at = min(w.at, at)
	w.lowest = min(w.lowest, at)
	w.mu.Unlock()
}

// begin locks the watermark for a scan and says where to start.
func (w *watermark) begin() store.Micros {
	w.scan.Lock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lowest = never
	return w.at
}

// end ends the scan, which found no live row below first.
func (w *watermark) end(first store.Micros) {
	w.mu.Lock()
	w.at = max(w.at, min(first, w.lowest))
	w.mu.Unlock()
	w.scan.Unlock()
}
