package child

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"time"
)

// stopWithin is how long children have to end when they are told to.
const stopWithin = 5 * time.Second

// Part is what an example runs as a process of its own: its Main calls [Run].
type Part func(ctx context.Context, in io.Reader, out io.Writer) error

// Parent is the main function of an example that starts itself once more for each of its parts, whose name is then the only
// argument. Otherwise run gets the arguments; an error that is no cry for help ends the process with 1.
func Parent(name string, parts map[string]Part, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	is, err := Played(ctx, parts)
	if !is {
		err = run(ctx, os.Args[1:])
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		stop()
		os.Exit(1)
	}
}

// Played runs the part that this process is; false when it is none.
func Played(ctx context.Context, parts map[string]Part) (is bool, err error) {
	if len(os.Args) != 2 || parts[os.Args[1]] == nil {
		return false, nil
	}
	return true, parts[os.Args[1]](ctx, os.Stdin, os.Stdout)
}

// Directory is where a story keeps its data: dir, which must be new or empty, since the story begins with a task that nobody has
// started; or when that is "" a temporary one, which done removes.
func Directory(dir, name string) (_ string, done func(), err error) {
	if dir == "" {
		dir, err = os.MkdirTemp("", "pawl-"+name+"-")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", nil, fmt.Errorf("-dir: %w", err)
	case len(entries) > 0:
		return "", nil, fmt.Errorf("-dir: %s is not empty, and the story begins with a new task: give a new or empty directory", dir)
	}
	return dir, func() {}, nil
}

// Stop ends the processes in order; one that is nil is none.
func Stop(processes ...*Process) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	var errs []error
	for _, p := range processes {
		if p != nil {
			errs = append(errs, p.Stop(ctx))
		}
	}
	return errors.Join(errs...)
}
