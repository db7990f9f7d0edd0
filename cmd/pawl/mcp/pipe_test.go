package mcp_test

import (
	"bytes"
	"io"
	"sync"
)

// pipe is a stream in memory that holds what was written until it is read, as a pipe of the operating system does.
type pipe struct {
	mu     sync.Mutex
	filled sync.Cond
	b      bytes.Buffer
	closed bool
}

func newPipe() *pipe {
	p := &pipe{}
	p.filled.L = &p.mu
	return p
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, io.ErrClosedPipe
	}
	p.filled.Broadcast()
	return p.b.Write(b)
}

func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.b.Len() == 0 {
		if p.closed {
			return 0, io.EOF
		}
		p.filled.Wait()
	}
	return p.b.Read(b)
}

func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.filled.Broadcast()
	return nil
}
