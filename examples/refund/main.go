// Refund plays the refund of order 123: two days, a service that is killed twice, a payment whose answer is lost, and a model
// that claims what it likes. The shop and the desk are processes of their own; nothing is needed but Go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/refund/desk"
	"github.com/pawlgo/pawl/examples/refund/shop"
)

// timeLimit is how long the story may take.
const timeLimit = 30 * time.Second

// keyVariable names the environment variable with the model's API key.
const keyVariable = "OPENAI_API_KEY"

// parts run as processes of their own.
var parts = map[string]child.Part{"shop": shop.Main, "desk": desk.Main}

func main() { child.Parent("refund", parts, run) }

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, done, err := child.Directory(o.dir, "refund")
	if err != nil {
		return err
	}
	defer done()
	o.dir = dir
	if o.talk {
		return talk(ctx, o, os.Stdin, os.Stdout)
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	return tell(ctx, o, os.Stdout)
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
