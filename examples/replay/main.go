package replay

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Options of a replay.
type Options struct {
	Data    fs.FS    // the databases and the recordings
	Store   string   // an empty directory for the store
	Workers int      // conversations at a time
	Explain string   // tell the conversation with this id, and skip all others
	Only    string   // gold, runs or mutants; "" for all
	Bar     *os.File // where progress is drawn when it is a terminal; nil for nowhere
	Problem func(error)
}

// DefaultWorkers is how many conversations run at a time: so many commits share each sync of the disk.
const DefaultWorkers = 128

// Replay puts all recordings through the domain's machine, writes what it finds, and gives it back.
func Replay(ctx context.Context, d *Domain, o Options, out io.Writer) (*Report, error) {
	g, err := open(ctx, d, o.Data, o.Store, o.Problem)
	if err != nil {
		return nil, err
	}
	g.explain, g.out = o.Explain, out
	if o.Explain != "" {
		o.Workers = 1
	}
	r, begun := newReport(d.Name), time.Now()
	err = errors.Join(g.all(ctx, o, r), g.close())
	if err != nil || o.Explain != "" {
		return r, err
	}
	return r, r.print(out, time.Since(begun))
}

// all replays gold tasks first, since they say which tasks break the policy themselves.
func (g *gate) all(ctx context.Context, o Options, r *Report) error {
	name := g.domain.Name
	golds, err := fs.Glob(o.Data, name+"_gold_*.jsonl")
	if err != nil {
		return err
	}
	bar := watch(o.Bar)
	defer bar.close()
	if o.Only == "" || o.Only == "gold" || o.Only == "runs" {
		for _, file := range golds {
			if err := stream(ctx, o.Data, file, o.Workers, counted(bar, r, g.gold)); err != nil {
				return err
			}
		}
	}
	if o.Only == "" || o.Only == "runs" {
		if err := stream(ctx, o.Data, name+"_runs.jsonl", o.Workers, counted(bar, r, g.run)); err != nil {
			return err
		}
	}
	if o.Only == "" || o.Only == "mutants" {
		return stream(ctx, o.Data, name+"_mutants.jsonl", o.Workers, counted(bar, r, g.variation))
	}
	return nil
}

func counted[T any](bar *progress, r *Report, work func(context.Context, T, *Report) error) func(context.Context, T) error {
	return func(ctx context.Context, record T) error {
		defer bar.done.Add(1)
		return work(ctx, record, r)
	}
}

// Main is the program of a domain: its arguments, the small data that comes with it, and its exit status.
func Main(ctx context.Context, d *Domain, args []string, small fs.FS, out io.Writer, problems *os.File) int {
	flags := flag.NewFlagSet(d.Name, flag.ContinueOnError)
	flags.SetOutput(problems)
	data := flags.String("data", "", "`directory` of the recordings; by default the few that come with the example")
	explain := flags.String("explain", "", "tell the conversation with this `id`, each verdict with its reason")
	only := flags.String("only", "", "replay gold, runs or mutants only")
	check := flags.Bool("check", false, "fail when a bar is missed")
	rate := flags.Float64("rate", 0, "with -check, conversations per second that are asked for")
	workers := flags.Int("workers", DefaultWorkers, "conversations at a time")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *data != "" {
		small = os.DirFS(*data)
	}
	dir, err := os.MkdirTemp("", "pawl-"+d.Name+"-")
	if err != nil {
		fmt.Fprintln(problems, err)
		return 1
	}
	defer os.RemoveAll(dir)
	r, err := Replay(ctx, d, Options{Data: small, Store: dir, Workers: *workers, Explain: *explain, Only: *only, Bar: problems,
		Problem: func(err error) { fmt.Fprintln(problems, err) }}, out)
	if err != nil {
		fmt.Fprintln(problems, err)
		return 1
	}
	if !*check {
		return 0
	}
	bars := d.Bars
	bars.Rate = *rate
	missed := r.Missed(bars)
	for _, m := range missed {
		fmt.Fprintln(problems, "missed:", m)
	}
	return min(len(missed), 1)
}
