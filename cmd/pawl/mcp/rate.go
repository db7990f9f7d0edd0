package mcp

import (
	"sync"
	"time"

	"github.com/pawlgo/pawl/resume"
)

// buckets count calls against a rate, by agent. Safe for concurrent use.
type buckets struct {
	rate resume.Rate
	mu   sync.Mutex
	m    map[string]bucket
}

// bucket is when the burst will be whole again, and so how much of it is used.
type bucket struct{ whole time.Time }

func newBuckets(r resume.Rate) *buckets { return &buckets{rate: r, m: map[string]bucket{}} }

// take uses one of the agent's burst; else it says how long to wait. One call is paid back every Per/Burst.
func (b *buckets) take(agent string, now time.Time) (wait time.Duration) {
	if b.rate.Burst < 1 || b.rate.Per <= 0 {
		return 0
	}
	each := max(b.rate.Per/time.Duration(b.rate.Burst), 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	whole := b.m[agent].whole
	if whole.Before(now) {
		whole = now
	}
	if wait = whole.Add(each).Sub(now) - b.rate.Per; wait > 0 {
		return wait
	}
	if _, known := b.m[agent]; !known && len(b.m) >= MaxBuckets {
		b.forget(now)
	}
	b.m[agent] = bucket{whole.Add(each)}
	return 0
}

// forget drops who has a whole burst again, and everybody when that is nobody.
func (b *buckets) forget(now time.Time) {
	for agent, c := range b.m {
		if !c.whole.After(now) {
			delete(b.m, agent)
		}
	}
	if len(b.m) >= MaxBuckets {
		clear(b.m)
	}
}
