// Refund plays the refund of order 123: two days, a service that is killed twice, a payment whose answer is lost, and a model
// that claims what it likes. The shop and the desk are processes of their own; nothing is needed but Go.
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

	"github.com/pawlgo/pawl/examples/refund/desk"
	"github.com/pawlgo/pawl/examples/refund/shop"
)

// timeLimit is how long the story may take.
const timeLimit = 30 * time.Second

// keyVariable names the environment variable with the model's API key.
const keyVariable = "OPENAI_API_KEY"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "refund:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 1 {
		switch args[0] { // the story's own processes
		case "shop":
			return shop.Main(ctx, os.Stdin, os.Stdout)
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
		if o.dir, err = os.MkdirTemp("", "pawl-refund-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.dir)
	} else if err := vacant(o.dir); err != nil {
		return err
	}
	if o.talk {
		return talk(ctx, o, os.Stdin, os.Stdout)
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
	dir         string
	verbose     bool
	talk        bool
	policyMoves bool
	modelURL    string
	model       string
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("refund", flag.ContinueOnError)
	f.StringVar(&o.dir, "dir", "", "keep the data of shop and desk in this new or empty directory")
	f.BoolVar(&o.verbose, "v", false, "show each projection and each outcome in full")
	f.BoolVar(&o.talk, "talk", false, "type the customer's side yourself")
	f.BoolVar(&o.policyMoves, "policy-moves", false, "the policy goes from v7 to v8 in the night")
	f.StringVar(&o.modelURL, "model-url", "", "base URL of an OpenAI-compatible server to use instead of the script; the key is read from "+keyVariable)
	f.StringVar(&o.model, "model", "", "name of the model there")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case (o.modelURL == "") != (o.model == ""):
		return o, errors.New("-model-url and -model go together")
	}
	return o, nil
}
