package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlgo/pawl/machine/workingstate"
)

// ServeStdio serves one agent on a pair of streams, one JSON message a line, until the client closes its end or the context
// ends; both are a normal end, and give nil. Calls under way are given [DefaultGrace] to finish. Nothing else may be written
// to out. Errors wrap [workingstate.ErrAgent], or are the streams'.
func (s *Server) ServeStdio(ctx context.Context, g Grant, in io.ReadCloser, out io.WriteCloser) error {
	if err := workingstate.CheckAgent(g.Agent); err != nil {
		return err
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx)) // calls under way may finish when ctx has ended
	defer end()
	session, err := s.protocol(&g).Connect(serving, &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: MaxBody}, nil)
	if err != nil {
		return fmt.Errorf("serve agent %s: %w", g.Agent, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		return hangUp(session, in, ended)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("serve agent %s: %w", g.Agent, err)
	}
	return nil
}

// hangUp ends a session whose context has ended. Closing it waits for the calls that are under way; a reader that does not
// let go of a closed stream, as a terminal, is left behind.
func hangUp(session *sdk.ServerSession, in io.Closer, ended <-chan error) error {
	closed := make(chan error, 1)
	go func() { closed <- errors.Join(session.Close(), in.Close()) }()
	grace := time.NewTimer(DefaultGrace)
	defer grace.Stop()
	select {
	case <-closed:
	case <-ended:
	case <-grace.C:
	}
	return nil
}
