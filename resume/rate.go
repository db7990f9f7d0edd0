package resume

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pawlgo/pawl/machine"
)

// Rate bounds how often something may happen: Burst times at once, and Burst times in each Per on the average. The zero Rate
// bounds nothing.
type Rate struct {
	Burst int
	Per   time.Duration
}

// maxBuckets is how many tasks and principals are counted at once; who is not counted has its whole burst.
const maxBuckets = 1 << 16

// buckets counts against a rate, by name. Safe for concurrent use.
type buckets struct {
	rate Rate
	mu   sync.Mutex
	m    map[string]bucket
}

// bucket is what is left of the burst, and when that was so.
type bucket struct {
	left float64
	at   time.Time
}

func newBuckets(r Rate) *buckets { return &buckets{rate: r, m: map[string]bucket{}} }

const codeTooFast = "too_fast" // more proposals than the configured rate allows

// tooFast refuses a proposal over the rate of its task or its principal, whatever its form, before anything is read. The zero
// Outcome lets it pass. It is not kept as an attempt: a flood must not wash out what else was tried.
func (s *Session) tooFast(ctx context.Context, event string) (machine.Outcome, error) {
	if !s.c.taskRate.bounds() && !s.c.principalRate.bounds() {
		return machine.Outcome{}, nil
	}
	now, err := s.c.now(ctx)
	if err != nil {
		return machine.Outcome{}, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	wait := s.c.allowed(s.Task(), s.who.ID, now)
	if wait == 0 {
		return machine.Outcome{}, nil
	}
	out := s.refused(machine.Finding{Code: codeTooFast, Text: "too many proposals", Details: map[string]any{"retry_after": wait.String()}})
	out.Event = event
	s.c.tellRefusal(ctx, s.at, "", out)
	return out, nil
}

// allowed uses one of the burst of both, or of neither: a principal who is over their own rate leaves the task's to others, and a task
// that is over its rate leaves the principal theirs for other tasks. Else it says how long to wait.
func (c *Controller) allowed(task, who string, now time.Time) (wait time.Duration) {
	if wait = c.principalRate.take(who, now); wait > 0 {
		return wait
	}
	if wait = c.taskRate.take(task, now); wait > 0 {
		c.principalRate.giveBack(who)
	}
	return wait
}

// bounds tells whether there is a rate at all.
func (b *buckets) bounds() bool { return b.rate.Burst >= 1 && b.rate.Per > 0 }

// take uses one of the name's burst; else it says how long to wait.
func (b *buckets) take(name string, now time.Time) (wait time.Duration) {
	if !b.bounds() {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	each := float64(b.rate.Per) / float64(b.rate.Burst)
	k, counted := b.m[name]
	if !counted {
		b.room(now)
		k = bucket{float64(b.rate.Burst), now}
	}
	k.left = min(float64(b.rate.Burst), k.left+float64(max(now.Sub(k.at), 0))/each)
	if now.After(k.at) {
		k.at = now // callers may come in another order than their instants
	}
	if k.left < 1 {
		b.m[name] = k
		return max(time.Duration((1-k.left)*each), 1)
	}
	k.left--
	b.m[name] = k
	return 0
}

// giveBack gives back what take used.
func (b *buckets) giveBack(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k, counted := b.m[name]; counted {
		k.left = min(k.left+1, float64(b.rate.Burst))
		b.m[name] = k
	}
}

// room forgets who has not been seen for a whole Per, and if that is nobody, anybody.
func (b *buckets) room(now time.Time) {
	if len(b.m) < maxBuckets {
		return
	}
	for name, k := range b.m {
		if now.Sub(k.at) >= b.rate.Per {
			delete(b.m, name)
		}
	}
	for name := range b.m {
		if len(b.m) < maxBuckets {
			return
		}
		delete(b.m, name)
	}
}
