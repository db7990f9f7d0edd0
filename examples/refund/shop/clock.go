package shop

import (
	"sync/atomic"
	"time"
)

// clock is the machine's time plus an offset. Safe for concurrent use.
type clock struct {
	source func() time.Time
	offset atomic.Int64 // nanoseconds
}

func newClock(source func() time.Time, offset time.Duration) *clock {
	c := &clock{source: source}
	c.set(offset)
	return c
}

func (c *clock) set(offset time.Duration) { c.offset.Store(int64(offset)) }

// now is in UTC and whole microseconds, so that what is stored and read again is equal.
func (c *clock) now() time.Time {
	return c.source().Add(time.Duration(c.offset.Load())).UTC().Truncate(time.Microsecond)
}
