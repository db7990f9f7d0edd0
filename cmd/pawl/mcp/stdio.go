package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlgo/pawl/machine/workingstate"
)

// ServeStdio serves one agent on a pair of streams, one JSON message a line, until the client closes its end or the context
// ends; both are a normal end, and give nil. Calls under way are given [DefaultGrace] to be answered. Nothing else may be
// written to out. Errors wrap [workingstate.ErrAgent], or are the streams'.
func (s *Server) ServeStdio(ctx context.Context, g Grant, in io.ReadCloser, out io.WriteCloser) error {
	if err := workingstate.CheckAgent(g.Agent); err != nil {
		return err
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx)) // calls under way may finish when ctx has ended
	defer end()
	t := &answering{Transport: &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: MaxBody}}
	session, err := s.protocol(&g).Connect(serving, t, nil)
	if err != nil {
		return fmt.Errorf("serve agent %s: %w", g.Agent, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		t.conn.settle()
		go session.Close() // a stream that does not let go of its reader is left behind
		return nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("serve agent %s: %w", g.Agent, err)
	}
	return nil
}

// answering is a transport that ends only after each call that came in has been answered: the SDK drops the answers of calls
// that are under way when either end closes.
type answering struct {
	sdk.Transport
	conn *answeringConn
}

// Connect connects the transport within.
func (t *answering) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.conn = &answeringConn{Connection: c, none: make(chan struct{}), late: make(chan struct{})}
	close(t.conn.none)
	return t.conn, nil
}

// answeringConn counts the calls that have no answer yet.
type answeringConn struct {
	sdk.Connection
	mu   sync.Mutex
	open int
	none chan struct{} // closed while no call is open
	late chan struct{} // closed once the grace is over
	over sync.Once
}

// Read reads the next message; the end of the stream only after every answer.
func (c *answeringConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err != nil {
		c.settle()
		return msg, err
	}
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open++; c.open == 1 {
			c.none = make(chan struct{})
		}
	}
	return msg, nil
}

// Write writes a message.
func (c *answeringConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if _, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open--; c.open == 0 {
			close(c.none)
		}
	}
	return err
}

// settle waits until no call is open, for at most DefaultGrace in all: the SDK may drop an answer that comes later.
func (c *answeringConn) settle() {
	c.mu.Lock()
	none := c.none
	c.mu.Unlock()
	grace := time.NewTimer(DefaultGrace)
	defer grace.Stop()
	select {
	case <-none:
	case <-c.late:
	case <-grace.C:
		c.over.Do(func() { close(c.late) })
	}
}
