package machinetest

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// batchSize is how many situations are left before their results are put together.
const batchSize = 64

// expansion is what the moves from one situation led to.
type expansion struct {
	steps int
	kept  []taken
	err   error
}

// taken is a step that made a version, or that shows a flaw.
type taken struct {
	move move
	to   machine.State
	next *machine.Snapshot[any] // nil when it was known before
	out  machine.Outcome
	key  string // of next, when committed
}

// expand takes every move from each node, on all processors.
func (x *explorer) expand(batch []*node) []expansion {
	out := make([]expansion, len(batch))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(batch)) {
		workers.Go(func() {
			w := &walker{explorer: x, table: x.tb.private()}
			for i := int(next.Add(1)) - 1; i < len(batch); i = int(next.Add(1)) - 1 {
				out[i] = w.leave(batch[i])
			}
		})
	}
	workers.Wait()
	return out
}

// private is a copy whose caches belong to one goroutine.
func (tb *table) private() *table {
	own := *tb
	own.proposed = map[string]machine.Proposal{}
	return &own
}

// walker takes the moves of an explorer, on a table of its own. It only reads the explorer.
type walker struct {
	*explorer
	table *table
	expansion
}

// leave takes every move from a node, unless it lies at the limit.
func (w *walker) leave(n *node) expansion {
	w.expansion, w.table.seen = expansion{}, map[observed]guard.Evidence{}
	if n.depth >= w.limits.Depth {
		return w.expansion
	}
	var movers []string
	for _, mv := range w.observations(n.at) {
		if w.step(n, mv) && mv.after == "" {
			movers = append(movers, mv.facts)
		}
	}
	for _, mv := range w.moves(n.at, movers) {
		w.step(n, mv)
	}
	return w.expansion
}

// step takes one move, and tells whether the state changed.
func (w *walker) step(n *node, mv move) bool {
	if w.err != nil {
		return false
	}
	next, out, err := w.table.step(n.at, mv)
	if err != nil {
		w.err = fmt.Errorf("%s: exploring %q: %w", w.table.path, mv, err)
		return false
	}
	w.steps++
	t := taken{move: mv, to: next.State, out: out}
	if out.Kind == machine.Committed {
		t.key, w.err = w.key(next)
		if w.known[t.key] == nil {
			t.next = &next
		}
	} else if !flawed(out) {
		return false
	}
	w.kept = append(w.kept, t)
	return out.Kind == machine.Committed && next.State != n.at.State
}

// flawed tells whether a refusal shows a flaw of the definition.
func flawed(out machine.Outcome) bool {
	for _, f := range out.Findings {
		if kindOf(f) != "" {
			return true
		}
	}
	return false
}

// kindOf is the kind of flaw that a finding shows, or "".
func kindOf(f machine.Finding) string {
	switch f.Code {
	case machine.CodeInvariant:
		return "invariant"
	case machine.CodeAmbiguous:
		return "ambiguous"
	case machine.CodeEdgeFault, guard.CodeGuardFault:
		return "fault"
	}
	return ""
}
