package resume

import (
	"context"
	"fmt"
	"sync"

	"github.com/pawlgo/pawl/machine"
)

// maxKnocking is how many pairs of a task and a stranger are counted at once.
const maxKnocking = 1 << 14

// knocking counts how often each principal was turned away from each task. Who keeps trying is noted at the first, second, fourth, eighth
// time and so on, and must not wash out of the kept attempts what else was tried. Safe for concurrent use.
type knocking struct {
	mu sync.Mutex
	n  map[knock]int
}

type knock struct{ task, who string }

func newKnocking() *knocking { return &knocking{n: map[knock]int{}} }

// again counts one more, and tells how many a note stands for now; 0 when none is due.
func (k *knocking) again(task, who string) int {
	at := knock{task, cut(who, machine.MaxPrincipal)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, counted := k.n[at]; !counted && len(k.n) >= maxKnocking {
		clear(k.n)
	}
	k.n[at]++
	if n := k.n[at]; n&(n-1) == 0 {
		return n - n/2
	}
	return 0
}

// turnAway refuses a principal a task that there is, and keeps that they tried.
func (c *Controller) turnAway(ctx context.Context, l loaded, a Attempt) {
	a.Version = l.snap.Version
	if a.Count = c.knocking.again(l.snap.Task, a.Principal); a.Count > 0 {
		c.note(ctx, l, a)
	}
	c.tellRefusal(ctx, l, "", machine.Outcome{Kind: a.Kind, Findings: a.Findings})
}

// lookFor asks the store for all that a forbidden task would be asked for, so that a caller does not tell an unknown one by the work that
// is saved. The store keeps no attempt at what is not there.
func (c *Controller) lookFor(ctx context.Context, task string, a Attempt) {
	_, _, _ = c.st.Load(ctx, task)
	if a.Count = c.knocking.again(task, a.Principal); a.Count > 0 {
		_ = c.keep(ctx, task, a)
	}
	if c.heard() {
		c.tell(ctx, Signal{Kind: SignalRefusal, Result: string(a.Kind), Code: codeNoTask})
	}
}

// noTask says so of a task that is not there, and of one that the principal may not see.
func noTask(task string) error { return fmt.Errorf("task %s: %w", task, ErrNoTask) }
