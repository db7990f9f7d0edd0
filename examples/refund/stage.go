package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/refund/desk"
	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/shop"
)

var amount = money.Money{Minor: 4300, Currency: "EUR"}

// stage holds the two processes that a story is played with.
type stage struct {
	o        options
	self     string
	secret   []byte
	offset   time.Duration
	worker   bool
	restarts int

	shopProcess *child.Process
	deskProcess *child.Process
	shop        *shop.Client
	desk        *desk.Client
}

func newStage(ctx context.Context, o options) (*stage, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &stage{o: o, self: self, secret: make([]byte, 32)}
	if _, err := rand.Read(s.secret); err != nil {
		return nil, err
	}
	if s.shopProcess, err = shop.Launch(ctx, s.command("shop"), shop.Config{
		Dir:     filepath.Join(o.dir, "shop"),
		Orders:  []shop.Order{{ID: "123", Owner: "alice", Total: amount, Payee: "original_payment"}},
		Policy:  shop.Policy{Version: "v7"},
		Webhook: shop.Webhook{Secret: s.secret},
	}); err != nil {
		return nil, err
	}
	s.shop, err = shop.NewClient(s.shopProcess.URL, 0)
	return s, err
}

func (s *stage) command(part string) *exec.Cmd {
	cmd := exec.Command(s.self, part)
	cmd.Stderr = os.Stderr
	if !s.o.verbose {
		cmd.Stderr = nil
	}
	return cmd
}

// openDesk starts the desk's process.
func (s *stage) openDesk(ctx context.Context) error {
	var err error
	s.deskProcess, err = desk.Launch(ctx, s.command("desk"), desk.Config{
		Dir: filepath.Join(s.o.dir, "desk"), Shop: s.shopProcess.URL, Secret: s.secret, ClockOffset: s.offset, Worker: s.worker,
		ModelURL: s.o.modelURL, Model: s.o.model, APIKey: os.Getenv(keyVariable),
	})
	if err != nil {
		return fmt.Errorf("start the desk: %w", err)
	}
	s.desk = desk.NewClient(s.deskProcess.URL)
	return nil
}

// killDesk ends the desk as a power failure would, and starts another one.
func (s *stage) killDesk(ctx context.Context) error {
	if err := s.deskProcess.Kill(); err != nil {
		return err
	}
	s.restarts++
	return s.openDesk(ctx)
}

// later moves the time of both processes.
func (s *stage) later(ctx context.Context, by time.Duration) error {
	s.offset += by
	if err := s.shop.SetClock(ctx, s.offset); err != nil {
		return err
	}
	return s.desk.SetClock(ctx, s.offset)
}

func (s *stage) close() error { return child.Stop(s.deskProcess, s.shopProcess) }
