package replay

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// progress draws how far a replay has come, on a terminal and nowhere else.
type progress struct {
	w    io.Writer
	done atomic.Int64
	stop chan struct{}
	end  chan struct{}
}

// watch begins to draw on a file, when that is a terminal. A nil file is none.
func watch(f *os.File) *progress {
	p := &progress{stop: make(chan struct{}), end: make(chan struct{})}
	if !terminal(f) {
		close(p.end)
		return p
	}
	p.w = f
	go p.draw()
	return p
}

func (p *progress) draw() {
	defer close(p.end)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	begun := time.Now()
	for n := 0; ; n++ {
		select {
		case <-p.stop:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		case <-tick.C:
			done := p.done.Load()
			fmt.Fprintf(p.w, "\r\x1b[K%c %d conversations, %.0f/s", `|/-\`[n%4], done, float64(done)/time.Since(begun).Seconds())
		}
	}
}

// close stops drawing and wipes the line.
func (p *progress) close() {
	close(p.stop)
	<-p.end
}

func terminal(f *os.File) bool {
	if f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
