package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/store"
)

func (a *App) taskWatch() *cobra.Command {
	var after uint64
	var count int
	c := &cobra.Command{
		Use:   "watch [TASK]",
		Short: "Tell each change as it is committed",
		Long: `Watch one task, from a version on and without missing one, or whatever changes in the store. It
needs a running service that has the store open and offers a socket: when nobody has it open,
nothing can change. Interrupt it to end it, or say after how many changes it shall end.`,
		Example: a.example(`
{} task watch
{} task watch refund_order_123
{} task watch refund_order_123 --after 4 --count 1 -o jsonl`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeTask,
		RunE: func(c *cobra.Command, args []string) error {
			if count < 0 || count == 0 && c.Flags().Changed("count") {
				return Usage("--count %d: at least 1", count)
			}
			if len(args) == 0 && c.Flags().Changed("after") {
				return Usage("--after needs a task")
			}
			return a.reading(c, func(s *source) error {
				if s.local != nil {
					return hint(notFound("nobody has store %s open, so nothing in it changes", a.dir), "start the service first; see also: %s task history", a.tool.Name)
				}
				t := &telling{a: a, c: c, s: s, count: count, after: after}
				if len(args) == 0 {
					return t.all()
				}
				return t.task(args[0], c.Flags().Changed("after"))
			})
		},
	}
	c.Flags().Uint64Var(&after, "after", 0, "begin behind this version instead of behind the newest; needs TASK")
	c.Flags().IntVar(&count, "count", 0, "end after so many changes")
	return c
}

// telling tells changes as they happen.
type telling struct {
	a     *App
	c     *cobra.Command
	s     *source
	count int // changes still to tell; 0: without end
	after uint64
}

// errTold says that all that was to be told has been told.
var errTold = errors.New("told")

// tell writes one change at once. Lines of a table cannot be aligned with what is yet to come.
func (t *telling) tell(item any, cells []string) (err error) {
	if t.a.output != outputTable {
		err = t.a.writeLine(item)
	} else {
		_, err = fmt.Fprintln(t.a.io.Out, printable(joined(cells)))
	}
	if t.count--; err == nil && t.count == 0 {
		err = errTold
	}
	return err
}

func (t *telling) all() error {
	for r, err := range t.s.Watch(t.c.Context()) {
		if err != nil {
			return err
		}
		row := rowOf(r)
		if err := t.tell(row, row.cells(r.Meta)); err != nil {
			return told(err)
		}
	}
	return t.c.Context().Err()
}

func told(err error) error {
	if errors.Is(err, errTold) {
		return nil
	}
	return err
}

// lookAgain is how often a watched task is read when no hint came: a hint can be lost, a version cannot.
const lookAgain = time.Second

func (t *telling) task(task string, given bool) error {
	r, _, err := t.a.load(t.c, t.s, task, 0)
	if err != nil {
		return err
	}
	if !given {
		t.after = r.Tip.Version
	}
	hints, broken := t.hints(task)
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		if err := t.newer(task); err != nil {
			return told(err)
		}
		select {
		case <-hints:
		case <-tick.C:
		case err := <-broken:
			return err
		case <-t.c.Context().Done():
			return t.c.Context().Err()
		}
	}
}

// hints tell that the task may have changed, until the context ends; broken tells why there will be none.
func (t *telling) hints(task string) (hints chan struct{}, broken chan error) {
	hints, broken = make(chan struct{}, 1), make(chan error, 1)
	go func() {
		for r, err := range t.s.Watch(t.c.Context()) {
			if err != nil {
				broken <- err
				return
			}
			if r.Task == task {
				select {
				case hints <- struct{}{}:
				default:
				}
			}
		}
	}()
	return hints, broken
}

// newer tells the versions that are newer than the last one that was told, oldest first.
func (t *telling) newer(task string) error {
	tip, err := t.s.Tip(t.c.Context(), task)
	for err == nil && t.after < tip.Version {
		var page []store.Record
		upTo := min(tip.Version, t.after+listed)
		for r, err := range t.s.History(t.c.Context(), task, upTo, t.after+1) {
			if err != nil {
				return err
			}
			page = append(page, r)
		}
		for _, r := range slices.Backward(page) {
			if err := t.tell(entryOf(r), entryCells(r)); err != nil {
				return err
			}
		}
		t.after = upTo
	}
	return err
}
