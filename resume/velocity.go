package resume

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pawlgo/pawl/machine"
)

// velocityParts is into how many parts a window is cut: what was taken within one counts as one.
const velocityParts = 16

// velocity is what has been taken of a limit within a window, the oldest first.
type velocity struct {
	Window time.Duration `json:"window,omitempty"` // the longest that was asked for
	Taken  []taken       `json:"taken,omitempty"`
}

// taken is what commits took that lie close together; instants in microseconds.
type taken struct {
	First  int64 `json:"first"`
	Last   int64 `json:"last"`
	Amount int64 `json:"amount"`
}

// take adds a hold as of an instant, unless it does not fit into the window that ends then. No instant counts as earlier than the one
// before, so that a clock that steps back frees nothing.
func (v *velocity) take(h machine.Hold, at time.Time) error {
	now := v.now(at)
	v.Window = max(v.Window, h.Window)
	sum, _ := v.within(h.Window, at)
	if sum > h.Limit || h.Amount > h.Limit-sum {
		return &shortError{hold: h, left: max(h.Limit-sum, 0), fits: v.fits(h, sum, now)}
	}
	if n := len(v.Taken); n > 0 && now-v.Taken[n-1].First < v.part() && v.Taken[n-1].Amount <= math.MaxInt64-h.Amount {
		v.Taken[n-1].Last, v.Taken[n-1].Amount = now, v.Taken[n-1].Amount+h.Amount
		return nil
	}
	v.Taken = append(v.Taken, taken{now, now, h.Amount})
	return nil
}

// now is an instant, or the newest before it that anything was taken at.
func (v *velocity) now(at time.Time) int64 {
	if n := len(v.Taken); n > 0 {
		return max(at.UnixMicro(), v.Taken[n-1].Last)
	}
	return at.UnixMicro()
}

// pass lets go of what no window holds any more.
func (v *velocity) pass(at time.Time) {
	now := v.now(at)
	v.Taken = slices.DeleteFunc(v.Taken, func(t taken) bool { return t.left(v.Window, now) })
	if len(v.Taken) == 0 {
		v.Window = 0
	}
}

// left tells whether all of it has left the window that ends at an instant.
func (t taken) left(window time.Duration, now int64) bool { return now-t.Last >= window.Microseconds() }

// part is how many microseconds count as one instant.
func (v *velocity) part() int64 { return v.Window.Microseconds() / velocityParts }

// fits is when so much will have left the window that the hold fits, if nothing else is taken; zero when it never will.
func (v *velocity) fits(h machine.Hold, sum, now int64) time.Time {
	if h.Amount > h.Limit {
		return time.Time{}
	}
	for _, t := range v.Taken {
		if t.left(h.Window, now) {
			continue
		}
		if sum -= t.Amount; sum <= h.Limit-h.Amount {
			return time.UnixMicro(t.Last).Add(h.Window)
		}
	}
	return time.Time{}
}

// bring adds what was taken elsewhere, each at its own instant, but none ahead of the newest that counts here: a clock that ran ahead
// there must not let go of what was taken here. What lies close together counts as one.
func (v *velocity) bring(window time.Duration, more []taken, at time.Time) {
	now := v.now(at)
	v.Window = max(v.Window, window)
	all := slices.Clone(v.Taken)
	for _, t := range more {
		all = append(all, taken{min(t.First, now), min(t.Last, now), t.Amount})
	}
	slices.SortStableFunc(all, func(a, b taken) int { return cmp.Compare(a.Last, b.Last) })
	v.Taken = nil
	for _, t := range all {
		if n := len(v.Taken); n > 0 && t.Last-min(t.First, v.Taken[n-1].First) < v.part() && v.Taken[n-1].Amount <= math.MaxInt64-t.Amount {
			last := &v.Taken[n-1]
			last.First, last.Last, last.Amount = min(t.First, last.First), t.Last, last.Amount+t.Amount
			continue
		}
		v.Taken = append(v.Taken, t)
	}
}

// within is what was taken within the window that ends at an instant.
func (v *velocity) within(window time.Duration, at time.Time) (sum int64, most bool) {
	now := v.now(at)
	for _, t := range v.Taken {
		if !t.left(window, now) {
			sum, most = add(sum, t.Amount, most)
		}
	}
	return sum, most
}
