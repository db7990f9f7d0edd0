package pebblestore

import (
	"sync"

	"github.com/pawlgo/pawl/store"
)

// watermark is the instant below which a due order holds no live row, so that scans need not walk over the remains
// of what was already served. Rows are told after they became visible: a scan that missed one began before that, and
// then sees lowest.
//
// A mark is stored with the clock, so that the first scan after an open need not walk over them either. No crash may leave
// a row below the stored mark. So a row is planned before its batch is written: a mark above it is lowered first, and the
// log keeps the order of the two; and a mark is never raised above a row that is planned and not yet told.
type watermark struct {
	scan sync.Mutex // one scan at a time

	mu      sync.Mutex
	at      store.Micros
	lowest  store.Micros // told since the scan began
	stored  store.Micros // what the newest row of the clock says
	planned [2]plans
	current int // of planned
}

// plans are rows that are being written. Of two sets the current one takes new rows; once the other one is empty they
// change places, so that each is empty again and again and forgets its lowest row.
type plans struct {
	rows   int
	lowest store.Micros
}

const (
	never store.Micros = 1<<63 - 1

	// markLag is how far a stored mark may lag behind before a scan stores it; a commit stores it with every tick.
	markLag store.Micros = 1e6
)

// plan says that a row at an instant is about to be written. The caller must end it, and must lower the stored mark
// first if it lies above.
func (w *watermark) plan(at store.Micros) (set int, above bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.planned[w.current].rows > 0 && w.planned[1-w.current].rows == 0 {
		w.current = 1 - w.current
	}
	p := &w.planned[w.current]
	if p.rows++; p.rows == 1 {
		p.lowest = at
	}
	p.lowest = min(p.lowest, at)
	return w.current, at < w.stored
}

// end says that the planned row became visible, or that it was not written after all.
func (w *watermark) end(set int, at store.Micros, visible bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.planned[set].rows--
	if visible {
		w.at = min(w.at, at)
		w.lowest = min(w.lowest, at)
	}
}

// mark is what to store now. The caller stores it, and nobody else does meanwhile.
func (w *watermark) mark() store.Micros {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stored = w.at
	for i := range w.planned {
		if w.planned[i].rows > 0 {
			w.stored = min(w.stored, w.planned[i].lowest)
		}
	}
	return w.stored
}

// begin locks the watermark for a scan and says where to start.
func (w *watermark) begin() store.Micros {
	w.scan.Lock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lowest = never
	return w.at
}

// found ends the scan, which found no live row below first, and says whether the mark should be stored.
func (w *watermark) found(first store.Micros) (lags bool) {
	defer w.scan.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = max(w.at, min(first, w.lowest))
	return w.at-w.stored >= markLag
}

// outlook is the earliest row of each due order that a batch will write.
type outlook [3]struct {
	w   *watermark
	at  store.Micros // never: it writes none
	set int
}

// plan plans rows of the due orders, and lowers the stored marks where they lie above. Each instant is the earliest of its
// order, never if there is none. The caller must end it.
func (s *Store) plan(due, ready, held store.Micros) (p outlook, err error) {
	lower := false
	for i, w := range s.marks() {
		p[i].w, p[i].at = w, [...]store.Micros{due, ready, held}[i]
		if p[i].at == never {
			continue
		}
		var above bool
		p[i].set, above = w.plan(p[i].at)
		lower = lower || above
	}
	if lower {
		if err = s.storeClock(); err != nil {
			p.end(false)
		}
	}
	return p, err
}

// end says that the rows became visible, or that they were not written after all.
func (p *outlook) end(visible bool) {
	for i := range p {
		if p[i].at != never {
			p[i].w.end(p[i].set, p[i].at, visible)
		}
	}
}
