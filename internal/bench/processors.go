package main

import "runtime"

// oversubscribed is a benchmark whose both sides run with twice as many of Go's processors as there are cores: a thread that waits in
// the log's sync keeps one of them, and with the usual number a core stands idle meanwhile.
func oversubscribed(b benchmark) benchmark {
	b.name += "/oversubscribed"
	b.ours, b.floor = onProcessors(b.ours, 2*runtime.NumCPU()), onProcessors(b.floor, 2*runtime.NumCPU())
	return b
}

// onProcessors sets up a side that runs on a number of processors, which is as before after it.
func onProcessors(s setup, processors int) setup {
	return func(at place) (side, error) {
		out, err := s(at)
		if err != nil {
			return side{}, err
		}
		ready, done, before := out.ready, out.close, runtime.GOMAXPROCS(0)
		out.ready = func() error {
			runtime.GOMAXPROCS(processors)
			if ready == nil {
				return nil
			}
			return ready()
		}
		out.close = func() error {
			defer runtime.GOMAXPROCS(before)
			if done == nil {
				return nil
			}
			return done()
		}
		return out, nil
	}
}
