package store

import (
	"sync/atomic"
	"time"
)

// Clock is a store's clock: it follows now and never goes back. It is safe for concurrent use.
type Clock struct {
	now  func() time.Time
	last atomic.Int64
}

// NewClock follows now, nil meaning time.Now, and never shows less than floor.
func NewClock(now func() time.Time, floor Micros) *Clock {
	if now == nil {
		now = time.Now
	}
	c := &Clock{now: now}
	c.last.Store(floor)
	return c
}

// Now is the present instant: the greatest that was ever seen.
func (c *Clock) Now() Micros {
	t := c.now().UnixMicro()
	for {
		last := c.last.Load()
		if t <= last {
			return last
		}
		if c.last.CompareAndSwap(last, t) {
			return t
		}
	}
}
