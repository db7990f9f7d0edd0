package main

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"
)

// load is what one side did in one repetition.
type load struct {
	done    int
	elapsed time.Duration
	each    []time.Duration // how long a call took
	allocs  uint64          // of the whole process
}

// time is what p of a hundred calls did not exceed.
func (l load) time(p float64) time.Duration {
	return percentile(slices.Sorted(slices.Values(l.each)), p)
}

// value is the load in the benchmark's unit. A time is that of the call in the middle: a mean would tell how often the rest of
// the machine cut in.
func (l load) value(u unit) float64 {
	if u == perSecond {
		return float64(l.done) / l.elapsed.Seconds()
	}
	return float64(l.time(50).Nanoseconds())
}

// run lets all callers make their calls of one slice, numbered from first to before end, and adds what came of it.
func (l *load) run(b benchmark, s side, first, end int) error {
	batch := max(1, b.batch)
	each := make([][]time.Duration, b.callers)
	errs := make([]error, b.callers)
	for i := range each {
		each[i] = make([]time.Duration, 0, (end-first)/batch+1)
	}
	runtime.GC() // what is left from before must not be collected at the cost of this slice
	before := mallocs()
	begin := time.Now()
	var wg sync.WaitGroup
	for caller := range b.callers {
		wg.Go(func() { each[caller], errs[caller] = callAll(s, caller, first, end, batch, each[caller]) })
	}
	wg.Wait()
	l.elapsed += time.Since(begin)
	l.allocs += mallocs() - before
	l.done += b.callers * (end - first)
	l.each = slices.Concat(l.each, slices.Concat(each...))
	return errors.Join(errs...)
}

// callAll is one caller. It notes the mean of each batch of calls.
func callAll(s side, caller, first, end, batch int, each []time.Duration) ([]time.Duration, error) {
	at := time.Now()
	for n := first; n < end; {
		last := min(n+batch, end)
		calls := time.Duration(last - n)
		for ; n < last; n++ {
			if err := s.call(caller, n); err != nil {
				return each, err
			}
		}
		now := time.Now()
		each, at = append(each, now.Sub(at)/calls), now
	}
	return each, nil
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
