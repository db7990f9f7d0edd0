package httpeffect_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume/httpeffect"
	"github.com/stretchr/testify/require"
)

// wire is a server that does with each connection what the test says; n counts from 1.
func wire(t *testing.T, serve func(n int, c *net.TCPConn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(n, c.(*net.TCPConn))
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// read takes one whole request off a connection.
func read(c net.Conn) {
	if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
}

func answer(text string) func(int, *net.TCPConn) {
	return func(_ int, c *net.TCPConn) { read(c); _, _ = io.WriteString(c, text) }
}

func post(t *testing.T, url string) *http.Request {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"minor":4300}`))
	require.NoError(t, err)
	req.Header.Set("Idempotency-Key", "refund_order_123/issue_refund/1")
	return req
}

func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// What goes wrong on the wire, at each place, and what is known then.
func TestWire(t *testing.T) {
	reset := func(c *net.TCPConn) { _ = c.SetLinger(0) }
	for _, row := range []struct {
		name, url string
		class     machine.Class
	}{
		{"nobody listens", "http://" + closedPort(t), machine.ClassNotSent},
		{"no such name", "http://pawl.invalid", machine.ClassNotSent},
		{"no handshake", "https://" + wire(t, func(int, *net.TCPConn) {}), machine.ClassNotSent},
		{"no handshake, reset", "https://" + wire(t, func(_ int, c *net.TCPConn) { reset(c) }), machine.ClassNotSent},
		{"reset after one byte", "http://" + wire(t, func(_ int, c *net.TCPConn) { _, _ = c.Read(make([]byte, 1)); reset(c) }), machine.ClassUncertain},
		{"reset after the request", "http://" + wire(t, func(_ int, c *net.TCPConn) { read(c); reset(c) }), machine.ClassUncertain},
		{"closed after the request", "http://" + wire(t, func(_ int, c *net.TCPConn) { read(c) }), machine.ClassUncertain},
		{"half a status", "http://" + wire(t, answer("HTTP/1.1 20")), machine.ClassUncertain},
		{"cut in the header", "http://" + wire(t, answer("HTTP/1.1 200 OK\r\nContent-Le")), machine.ClassUncertain},
		{"cut in the body", "http://" + wire(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}")), machine.ClassUncertain},
		{"cut in a refusal", "http://" + wire(t, answer("HTTP/1.1 422 No\r\nContent-Length: 9\r\n\r\n{}")), machine.ClassUncertain},
		{"cut in a chunk", "http://" + wire(t, answer("HTTP/1.1 201 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}")), machine.ClassUncertain},
		{"no HTTP", "http://" + wire(t, answer("SSH-2.0-OpenSSH\r\n")), machine.ClassUncertain},
		{"over the limit", "http://" + wire(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n"+strings.Repeat("x", 33))), machine.ClassUncertain},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := httpeffect.Client{MaxAnswer: 32}
			a, err := c.Do(post(t, row.url+"/refunds?secret=hunter2"))
			require.Error(t, err)
			require.Zero(t, a)
			require.Equal(t, row.class, machine.ClassOf(err), "%v", err)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestAtTheLimit(t *testing.T) {
	url := "http://" + wire(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 32\r\n\r\n"+strings.Repeat("x", 32)))
	a, err := (&httpeffect.Client{MaxAnswer: 32}).Do(post(t, url))
	require.NoError(t, err)
	require.Len(t, a.Body, 32)
}

// A provider that hangs: given up after the request has arrived nobody knows, given up before anything began it was not sent.
func TestHangs(t *testing.T) {
	arrived, over := make(chan struct{}), make(chan struct{})
	url := "http://" + wire(t, func(_ int, c *net.TCPConn) { read(c); close(arrived); <-over })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err := new(httpeffect.Client).Do(post(t, url).WithContext(ctx))
	close(over)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, machine.ClassUncertain, machine.ClassOf(err))

	_, err = new(httpeffect.Client).Do(post(t, url).WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, machine.ClassNotSent, machine.ClassOf(err))
}

// mute is a transport that says nothing of what it does.
type mute struct{}

func (mute) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

func TestTransportWithoutTraceIsUncertain(t *testing.T) {
	_, err := (&httpeffect.Client{HTTP: &http.Client{Transport: mute{}}}).Do(post(t, "http://shop"))
	require.Equal(t, machine.ClassUncertain, machine.ClassOf(err))
}

// A redirect is an answer, not an order: the second address never hears of the effect.
func TestRedirectIsNotFollowed(t *testing.T) {
	var second atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { second.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		first := httptest.NewServer(http.RedirectHandler(other.URL, status))
		_, err := (&httpeffect.Client{HTTP: first.Client()}).Do(post(t, first.URL))
		require.Equal(t, machine.ClassUncertain, machine.ClassOf(err))
		first.Close()
	}
	require.Zero(t, second.Load())
}

// On a connection that was used before, net/http would send what has an idempotency key again by itself.
func TestOnce(t *testing.T) {
	for _, body := range []string{"with a body", ""} {
		t.Run(body, func(t *testing.T) {
			var requests atomic.Int32
			url := "http://" + wire(t, func(_ int, c *net.TCPConn) {
				r := bufio.NewReader(c)
				for {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, req.Body)
					if requests.Add(1) == 2 {
						return // the answer is lost
					}
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
				}
			})
			transport := &http.Transport{MaxIdleConns: 1}
			defer transport.CloseIdleConnections()
			c := httpeffect.Client{HTTP: &http.Client{Transport: transport}}
			send := func() error {
				req := post(t, url)
				if body == "" {
					req.Body, req.ContentLength, req.GetBody = nil, 0, nil
				}
				_, err := c.Do(req)
				return err
			}
			require.NoError(t, send())
			err := send()
			require.Error(t, err)
			require.Equal(t, machine.ClassUncertain, machine.ClassOf(err))
			require.EqualValues(t, 2, requests.Load())
		})
	}
}
