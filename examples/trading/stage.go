package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/trading/desk"
	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/price"
)

// stage holds the two processes that the story is played with, and its time.
type stage struct {
	o    options
	self string
	now  time.Time

	exchangeProcess *child.Process
	deskProcess     *child.Process
	exchange        *exchange.Client
	desk            *desk.Client
}

func newStage(ctx context.Context, o options) (*stage, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &stage{o: o, self: self, now: opens}
	if s.exchangeProcess, err = exchange.Launch(ctx, s.command("exchange"), exchange.Config{
		Now: opens, Opens: opens, Closes: closes, Prices: prices, Positions: map[string]price.Decimal{desk.Symbol: held}, Cash: price.Decimal{},
	}); err != nil {
		return s, fmt.Errorf("start the exchange: %w", err)
	}
	s.exchange = exchange.NewClient(s.exchangeProcess.URL)
	return s, s.openDesk(ctx)
}

func (s *stage) command(part string) *exec.Cmd {
	cmd := exec.Command(s.self, part)
	if s.o.verbose {
		cmd.Stderr = os.Stderr
	}
	return cmd
}

// openDesk starts the desk's process.
func (s *stage) openDesk(ctx context.Context) error {
	var err error
	s.deskProcess, err = desk.Launch(ctx, s.command("desk"), desk.Config{
		Dir: filepath.Join(s.o.dir, "desk"), Exchange: s.exchangeProcess.URL, Now: s.now,
	})
	if err != nil {
		return fmt.Errorf("start the desk: %w", err)
	}
	s.desk = desk.NewClient(s.deskProcess.URL)
	return s.desk.Begin(ctx)
}

// killDesk ends the desk as a power failure would, and starts another one.
func (s *stage) killDesk(ctx context.Context) error {
	if err := s.deskProcess.Kill(); err != nil {
		return err
	}
	return s.openDesk(ctx)
}

// at moves the time of both processes.
func (s *stage) at(ctx context.Context, now time.Time) error {
	s.now = now
	if err := s.exchange.SetNow(ctx, now); err != nil {
		return err
	}
	return s.desk.SetNow(ctx, now)
}

func (s *stage) close() error { return child.Stop(s.deskProcess, s.exchangeProcess) }
