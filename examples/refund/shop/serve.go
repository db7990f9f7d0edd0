package shop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout = 5 * time.Second
	closeTimeout  = 5 * time.Second
)

// Serve runs the shop until ctx is done, and then returns nil after the answers under way are out. Held and
// hanging requests are cut. An error says why it could not start, or why it stopped by itself; ErrCorrupt is
// among the reasons.
func Serve(ctx context.Context, config Config) (err error) {
	config = config.withDefaults()
	if err := config.check(); err != nil {
		return err
	}
	w, err := openWorld(config.Dir, config.Orders, config.Policy, newClock(config.Now, config.ClockOffset))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()

	listener, err := net.Listen("tcp", config.Listen)
	if err != nil {
		return fmt.Errorf("shop: %w", err)
	}
	h := newHerald(w, config.Webhook)
	return run(ctx, listener, &server{world: w, herald: h, faults: &faults{}}, config.Ready)
}

func run(ctx context.Context, listener net.Listener, s *server, ready func(string)) error {
	// Requests and webhooks end with running, so that a held answer does not hold up the shutdown.
	running, stop := context.WithCancel(ctx)
	defer stop()
	web := &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: headerTimeout,
		BaseContext:       func(net.Listener) context.Context { return running },
	}
	heralded, served := make(chan struct{}), make(chan error, 1)
	go func() { defer close(heralded); s.herald.run(running) }()
	go func() { served <- web.Serve(listener) }()
	ready("http://" + listener.Addr().String())

	select {
	case err := <-served:
		stop()
		<-heralded
		return fmt.Errorf("shop: %w", err)
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := web.Shutdown(closing)
	<-heralded
	if err != nil {
		return fmt.Errorf("shop: shutdown: %w", err)
	}
	return nil
}
