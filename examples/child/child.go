// Package child runs a part of an example as a process of its own: it is given its configuration, says where it answers, ends
// with its parent, and can be killed.
package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// maxFirstLine bounds the configuration and the ready line, in bytes.
const maxFirstLine = 256 << 10

type readyLine struct {
	URL string `json:"url"`
}

// Run is the whole of a child process that [Launch] started: it reads a C as the first line of in, calls serve, writes one JSON
// line with the URL to out as soon as serve says that it answers there, and runs until ctx is done, SIGINT or SIGTERM comes, or
// in ends. The last one means that a child does not outlive its parent, however that ended.
func Run[C any](ctx context.Context, in io.Reader, out io.Writer, serve func(ctx context.Context, config C, ready func(url string)) error) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	first, err := readFirstLine(in)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	var config C
	if err := decodeStrict(first, &config); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error ends the input as well
		stop()
	}()
	var told error
	err = serve(ctx, config, func(url string) {
		if told = json.NewEncoder(out).Encode(readyLine{URL: url}); told != nil {
			stop()
		}
	})
	return errors.Join(err, told)
}

func decodeStrict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// readFirstLine may read past the line; neither side of a Launch says more than one.
func readFirstLine(r io.Reader) ([]byte, error) {
	text, err := bufio.NewReader(io.LimitReader(r, maxFirstLine)).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("no whole line within %d bytes", maxFirstLine)
	}
	return text, err
}

// Process is a child process that answers.
type Process struct {
	// URL is where it answers.
	URL string

	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed when it has ended
	err   error         // how; readable after ended
}

// Launch starts cmd, which must not have been started, must have its Stdin and Stdout unset, and must come to call [Run] with
// a configuration of config's form. It returns when the child answers; ctx bounds that wait only. On an error no child is left.
func Launch(ctx context.Context, cmd *exec.Cmd, config any) (*Process, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("child: configuration: %w", err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	p := &Process{cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	ready := make(chan error, 1)
	go func() {
		ready <- p.greet(stdin, append(text, '\n'), stdout)
		_, _ = io.Copy(io.Discard, stdout)
		p.err = cmd.Wait()
		close(p.ended)
	}()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("child: it did not get ready: %w", err), p.Kill())
	}
	return p, nil
}

// greet gives the child its configuration and hears where it answers.
func (p *Process) greet(stdin io.Writer, config []byte, stdout io.Reader) error {
	if _, err := stdin.Write(config); err != nil {
		return err
	}
	first, err := readFirstLine(stdout)
	if err != nil {
		return err
	}
	var ready readyLine
	if err := decodeStrict(first, &ready); err != nil {
		return err
	}
	p.URL = ready.URL
	return nil
}

// Stop asks the child to end and waits for it; when ctx is done first, it is killed. It returns an error
// unless the child ended by itself and well.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.stdin.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return errors.Join(fmt.Errorf("child: %w", err), p.Kill())
	}
	select {
	case <-p.ended:
		return p.err
	case <-ctx.Done():
		return errors.Join(ctx.Err(), p.Kill())
	}
}

// Kill ends the child with SIGKILL, at once, and waits until it is gone.
func (p *Process) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("child: %w", err)
	}
	<-p.ended
	return nil
}
