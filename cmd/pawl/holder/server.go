package holder

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pawlgo/pawl/store"
)

// Options of a server. The zero value is ready to use.
type Options struct {
	// Program is how people know the process; "" means the name of its executable.
	Program string
	// Now is the clock that says since when; nil means time.Now.
	Now func() time.Time
}

// Server answers the questions of other processes about a store. Safe for concurrent use.
type Server struct {
	st     store.Store
	dir    string
	note   Holder
	hole   string // the directory of the socket
	http   *http.Server
	served chan error
	once   sync.Once
	end    context.CancelFunc
	closed error
}

// Listen leaves the note in the directory of a store that this process has open, and answers questions about the store until the
// context ends or the server is closed. Close it before the store. What a killed process left behind is cleared away.
// Errors are the file system's; the store serves no less without a socket.
func Listen(ctx context.Context, dir string, st store.Store, o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Program == "" {
		o.Program = filepath.Base(os.Args[0])
	}
	l, hole, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("listen for readers of store %s: %w", dir, err)
	}
	ctx, end := context.WithCancel(ctx)
	s := &Server{st: st, dir: dir, hole: hole, end: end, served: make(chan error, 1),
		note: Holder{PID: os.Getpid(), Program: o.Program, Started: o.Now().UTC(), Socket: l.Addr().String()}}
	s.http = &http.Server{
		Handler: s.routes(), MaxHeaderBytes: MaxHeader, ReadHeaderTimeout: QuestionWithin, IdleTimeout: AnswerWithin,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	if err := s.note.leave(dir); err != nil {
		end()
		return nil, errors.Join(fmt.Errorf("leave a note in store %s: %w", dir, err), l.Close(), os.RemoveAll(hole))
	}
	go func() { s.served <- s.http.Serve(bounded(l)) }()
	context.AfterFunc(ctx, func() { _ = s.Close() }) // whoever closes hears what went wrong
	return s, nil
}

// Holder is the note that the server left.
func (s *Server) Holder() Holder { return s.note }

// Close takes the note back, ends every answer and removes the socket. Closing twice gives the first error again.
func (s *Server) Close() error {
	s.once.Do(func() {
		err := s.note.takeBack(s.dir)
		s.end()
		err = errors.Join(err, s.http.Close())
		if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		s.closed = errors.Join(err, os.RemoveAll(s.hole))
	})
	return s.closed
}

// hole is the directory of the socket in the directory of a store.
const hole = "PAWL-SOCKET"

// listen opens a socket that only this user can reach: nobody else can enter its directory, at no time.
func listen(dir string) (net.Listener, string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	at := filepath.Join(abs, hole)
	if err := os.RemoveAll(at); err != nil {
		return nil, "", err
	}
	if path := filepath.Join(at, "s"); len(path) > MaxSocketPath {
		at, err = os.MkdirTemp("", "pawl-")
	} else {
		err = os.Mkdir(at, 0o700)
	}
	if err != nil {
		return nil, "", err
	}
	path := filepath.Join(at, "s")
	l, err := net.Listen("unix", path)
	if err == nil {
		if err = os.Chmod(path, 0o600); err != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(at))
	}
	return l, at, nil
}

// bounded accepts so many connections at once; more wait until one ends.
func bounded(l net.Listener) net.Listener {
	return &boundedListener{Listener: l, places: make(chan struct{}, MaxConnections), closed: make(chan struct{})}
}

type boundedListener struct {
	net.Listener
	places chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept waits for a place, and then for a connection.
func (b *boundedListener) Accept() (net.Conn, error) {
	select {
	case b.places <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.places
		return nil, err
	}
	return &boundedConn{Conn: c, free: func() { <-b.places }}, nil
}

// Close ends a wait for a place.
func (b *boundedListener) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

type boundedConn struct {
	net.Conn
	once sync.Once
	free func()
}

// Close gives the place back.
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.free)
	return err
}
