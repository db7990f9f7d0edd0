package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// progress tells on a terminal how far long work has come. On anything else it writes nothing. Safe for concurrent use.
type progress struct {
	w     io.Writer // nil: hidden
	what  string
	total int64 // 0: not known
	begun time.Time
	now   func() time.Time
	did   atomic.Int64
	end   chan struct{}
	drawn sync.WaitGroup
}

// redraw is how often the line is drawn.
const redraw = 100 * time.Millisecond

// begin shows the progress of work of so many steps; 0 means that nobody knows how many. The caller ends it.
func (a *App) begin(what string, total int64) *progress {
	p := &progress{what: what, total: total, now: a.tool.Now, begun: a.tool.Now(), end: make(chan struct{})}
	if !a.allowed(a.progress, a.io.Err) {
		return p
	}
	p.w = a.io.Err
	p.draw()
	p.drawn.Go(func() {
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-p.end:
				return
			case <-tick.C:
				p.draw()
			}
		}
	})
	return p
}

// add counts steps.
func (p *progress) add(n int64) { p.did.Add(n) }

// done takes the line away again.
func (p *progress) done() {
	close(p.end)
	p.drawn.Wait()
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// barWidth is how many characters a whole bar has.
const barWidth = 24

func (p *progress) draw() {
	did, took := p.did.Load(), p.now().Sub(p.begun).Truncate(time.Second)
	if p.total <= 0 {
		fmt.Fprintf(p.w, "\r\x1b[K%s  %s", p.what, took)
		return
	}
	part := min(max(did, 0), p.total)
	full := int(part * barWidth / p.total)
	fmt.Fprintf(p.w, "\r\x1b[K%s  [%s%s] %3d %%  %s", p.what, strings.Repeat("#", full), strings.Repeat(".", barWidth-full),
		part*100/p.total, took)
}

// counted is a reader whose bytes count as progress.
type counted struct {
	io.Reader
	p *progress
}

// Read counts what was read.
func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.p.add(int64(n))
	return n, err
}
