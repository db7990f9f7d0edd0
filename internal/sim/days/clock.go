package days

import "time"

// clock is the virtual time. It moves only between two steps, and now and then a little back.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }
