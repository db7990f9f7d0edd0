// Trading plays the day of the three stop-losses: an agent's notes hold three contradicting numbers for one rule, and the price touches
// the first. With notes alone the rule is lost. With pawl it fires, once, although the desk is killed before the order is sent and
// again after it. The exchange and the desk are processes of their own; nothing is needed but Go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/trading/desk"
	"github.com/pawlgo/pawl/examples/trading/exchange"
)

// timeLimit is how long the story may take.
const timeLimit = 30 * time.Second

// parts run as processes of their own.
var parts = map[string]child.Part{"exchange": exchange.Main, "desk": desk.Main}

func main() { child.Parent("trading", parts, run) }

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, done, err := child.Directory(o.dir, "trading")
	if err != nil {
		return err
	}
	defer done()
	o.dir = dir
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	return tell(ctx, o, os.Stdout)
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
