// Bench measures this project against floors, and prints every figure that it claims anywhere.
//
//	go run ./internal/bench                    all of them, as a table
//	go run ./internal/bench -run '^commit/'    those whose name matches
//	go run ./internal/bench -json              one JSON object a line
//	go run ./internal/bench -run '^store/' -tasks 1000000
//	                                           the store's over a million tasks: half an hour
//	go run ./internal/bench -run 'commit/' -sync 480us
//	                                           as on a disk whose sync takes so long
//
// A floor is the least that anybody would have to do: the same bytes into the same engine, the same transition without
// what makes it safe. Both sides are run alternately in one process, so that whatever else the machine does hits both, and
// medians of all repetitions are printed. Judge by the ratios, which are always ours over floor: a rate is good when its ratio
// is near 1 or above, a time when it is near 1 or below. p50 and p99 ratios are of times, whatever the unit. The columns from
// and to are the ratios of the single repetitions; when they lie far apart, the machine was not quiet.
//
// Durable benchmarks write below -dir, by default the directory for temporary files: it must be on a real disk, or both
// sides only measure memory. Samples of a profile carry the labels "benchmark" and "side":
//
//	go run ./internal/bench -run commit/64 -cpuprofile cpu.out && go tool pprof -tagfocus side=ours cpu.out
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/pprof"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The number of repetitions: fewer than minReps have no median worth quoting.
const (
	minReps     = 5
	defaultReps = 7
	maxReps     = 1000
)

// The number of tasks in the stores of the store benchmarks: fewer than minTasks are too few for what grows with them.
const (
	minTasks     = 1000
	defaultTasks = 20_000
	maxTasks     = 100_000_000
)

// maxSync is the slowest disk that can be played.
const maxSync = time.Second

// options are what the command line says.
type options struct {
	names      *regexp.Regexp
	json       bool
	reps       int
	dir        string
	tasks      int
	orders     string
	sync       time.Duration
	cpuProfile string
	memProfile string
}

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, out, help io.Writer) error {
	o, err := parse(args, help)
	if err != nil {
		return err
	}
	w := &warehouse{tasks: o.tasks, orders: o.orders, below: o.dir}
	picked := chosen(all(w), o.names)
	if len(picked) == 0 {
		return fmt.Errorf("no benchmark matches %q", o.names)
	}
	stop, err := o.profile()
	if err != nil {
		return err
	}
	return errors.Join(measure(picked, o, out), w.remove(), stop())
}

// measure prints each JSON line as soon as it is known, the table at the end.
func measure(picked []benchmark, o options, out io.Writer) error {
	var figures []figure
	for _, b := range picked {
		if o.sync > 0 {
			b.disk = slowDisk{vfs.Default, o.sync}
		}
		f, err := compare(b, o.reps, o.dir)
		if err != nil {
			return err
		}
		if figures = append(figures, f); o.json {
			if err := printJSON(out, f); err != nil {
				return err
			}
		}
	}
	if o.json {
		return nil
	}
	return printTable(out, figures)
}

// parse reads the command line. Errors have not been printed yet, but for a request for help.
func parse(args []string, help io.Writer) (options, error) {
	var o options
	var names string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&names, "run", "", "measure only what matches this `regexp`")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line")
	f.IntVar(&o.reps, "reps", defaultReps, fmt.Sprintf("`repetitions` of both sides, %d to %d", minReps, maxReps))
	f.StringVar(&o.dir, "dir", "", "write below this `directory`, which must be on a real disk; empty means the one for temporary files")
	f.IntVar(&o.tasks, "tasks", defaultTasks, fmt.Sprintf("`tasks` in the large stores, %d to %d; a tenth of them in store/bytes", minTasks, maxTasks))
	f.StringVar(&o.orders, "orders", "", "real retail orders for store/bytes, a JSON `file`; empty means drawn ones")
	f.DurationVar(&o.sync, "sync", 0, "let each sync of the disk take at least this `long`, on both sides; 0 means as it is")
	f.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile to this `file`")
	f.StringVar(&o.memProfile, "memprofile", "", "write a profile of allocations to this `file`")
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(help)
		f.Usage()
	}
	if err != nil {
		return options{}, err
	}
	if f.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.reps < minReps || o.reps > maxReps {
		return options{}, fmt.Errorf("-reps %d: %d to %d", o.reps, minReps, maxReps)
	}
	if o.tasks < minTasks || o.tasks > maxTasks {
		return options{}, fmt.Errorf("-tasks %d: %d to %d", o.tasks, minTasks, maxTasks)
	}
	if o.sync < 0 || o.sync > maxSync {
		return options{}, fmt.Errorf("-sync %v: 0 to %v", o.sync, maxSync)
	}
	if o.names, err = regexp.Compile(names); err != nil {
		return options{}, fmt.Errorf("-run: %w", err)
	}
	return o, nil
}

// profile starts what was asked for; the func that it returns ends it.
func (o options) profile() (stop func() error, err error) {
	var cpu *os.File
	if o.cpuProfile != "" {
		if cpu, err = os.Create(o.cpuProfile); err != nil {
			return nil, err
		}
		if err = pprof.StartCPUProfile(cpu); err != nil {
			return nil, errors.Join(err, cpu.Close())
		}
	}
	return func() error {
		var err error
		if cpu != nil {
			pprof.StopCPUProfile()
			err = cpu.Close()
		}
		if o.memProfile == "" {
			return err
		}
		mem, e := os.Create(o.memProfile)
		if e != nil {
			return errors.Join(err, e)
		}
		return errors.Join(err, pprof.Lookup("allocs").WriteTo(mem, 0), mem.Close())
	}, nil
}
