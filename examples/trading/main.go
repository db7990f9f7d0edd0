// Trading plays the day of the three stop-losses: an agent's notes hold three contradicting numbers for one rule, and the price touches
// the first. With notes alone the rule is lost. With pawl it fires, once, although the desk is killed before the order is sent and
// again after it. The exchange and the desk are processes of their own; nothing is needed but Go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"time"

	"github.com/pawlgo/pawl/examples/trading/desk"
	"github.com/pawlgo/pawl/examples/trading/exchange"
)

// timeLimit is how long the story may take.
const timeLimit = 30 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "trading:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 1 {
		switch args[0] { // the story's own processes
		case "exchange":
			return exchange.Main(ctx, os.Stdin, os.Stdout)
		case "desk":
			return desk.Main(ctx, os.Stdin, os.Stdout)
		}
	}
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "pawl-trading-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.dir)
	} else if err := vacant(o.dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	return tell(ctx, o, os.Stdout)
}

// vacant refuses a directory that holds something: the story begins with a task that nobody has started.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("-dir: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("-dir: %s is not empty, and the story begins with a new task: give a new or empty directory", dir)
	}
	return nil
}

// options of the command line.
type options struct {
	dir     string
	verbose bool
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("trading", flag.ContinueOnError)
	f.StringVar(&o.dir, "dir", "", "keep the desk's data in this new or empty directory")
	f.BoolVar(&o.verbose, "v", false, "show each prompt and each outcome in full")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, nil
}
