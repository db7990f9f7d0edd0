package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// releasing are the flags of "store release" and "store count".
type releasing struct {
	by, reason string
	commit     bool
	used       []string
}

func (f *releasing) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.by, "by", "", "who says so, an operator; required with --commit")
	c.Flags().StringVar(&f.reason, "reason", "", fmt.Sprintf("why, at most %d bytes; required with --commit", machine.MaxReason))
}

func (f *releasing) check() error {
	switch {
	case strings.TrimSpace(f.by) == "":
		return Usage("--by is required")
	case strings.TrimSpace(f.reason) == "" || len(f.reason) > machine.MaxReason:
		return Usage("--reason is required, and has at most %d bytes", machine.MaxReason)
	}
	return nil
}

func (a *App) storeRelease() *cobra.Command {
	var f releasing
	c := &cobra.Command{
		Use:   "release [--by NAME --reason WHY --commit]",
		Short: "Let a restored, imported or copied store go to work",
		Long: `A store that was restored, imported into or copied is in quarantine: it sends nothing and agrees to
nothing. Release it when you have made sure that the original does not run and never will.

Without --commit nothing is changed: what the imported tasks took of shared resources where
they came from is shown, as each resource would stand here, and what is over its limit or
not known. With --commit it is counted, once, open offers become void, and the store goes to
work. It needs the service's own tool, one that was made with a controller.`,
		Example: a.example(`
{} store release --dir /var/lib/desk
{} store release --by olga --reason "the old desk is switched off" --commit --dir /var/lib/desk`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.commit {
				if err := f.check(); err != nil {
					return err
				}
			}
			return a.operating(c, func(ctl *resume.Controller, _ *pebblestore.Store) error { return a.release(c, ctl, &f) })
		},
	}
	f.flags(c)
	c.Flags().BoolVar(&f.commit, "commit", false, "do it, instead of only showing what it would count")
	return c
}

// releaseRow is what a release counts in JSON.
type releaseRow struct {
	Released  bool               `json:"released"`
	Tasks     []string           `json:"tasks"` // that are counted
	Resources []resume.Brought   `json:"resources"`
	Missing   []resume.Uncounted `json:"missing"`
}

func (a *App) release(c *cobra.Command, ctl *resume.Controller, f *releasing) error {
	brings, err := ctl.Imported(c.Context())
	if err != nil {
		return err
	}
	if f.commit {
		if err := ctl.Release(c.Context(), operator(f.by), f.reason); err != nil {
			if errors.Is(err, resume.ErrUncounted) {
				return hint(err, "\"store count TASK --used RESOURCE=AMOUNT\" says it")
			}
			return err
		}
	}
	row := releaseRow{f.commit, []string{}, []resume.Brought{}, []resume.Uncounted{}}
	row.Tasks, row.Resources, row.Missing = append(row.Tasks, brings.Tasks...), append(row.Resources, brings.Resources...), append(row.Missing, brings.Missing...)
	if a.output != outputTable {
		return a.showOne(row, nil)
	}
	out := &sheet{columns: []string{"RESOURCE", "USED", "IN WINDOW", "HELD", "STANDS AT", "LIMIT", ""}}
	for _, b := range row.Resources {
		over := ""
		if b.Over {
			over = "over the limit"
		}
		out.rows = append(out.rows, []string{b.Resource, count(b.Used), count(b.Taken), count(b.Held), count(b.Total), count(b.Limit), over})
	}
	for _, m := range row.Missing {
		a.say("task %s does not tell what %d operations of %s took of %s: \"store count\" says it", m.Task, m.Operations, m.Effect, strings.Join(m.Resources, ", "))
	}
	if err := a.show(out); err != nil {
		return err
	}
	if f.commit {
		a.say("the store is released")
	} else {
		a.say("%d imported tasks to count; nothing was done: add --commit", len(row.Tasks))
	}
	return nil
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

func (a *App) storeCount() *cobra.Command {
	var f releasing
	c := &cobra.Command{
		Use:   "count TASK [--used RESOURCE=AMOUNT]... --by NAME --reason WHY",
		Short: "Say what pruned operations of an imported task used up",
		Long: `An imported task whose history was pruned before it was exported does not tell all that it used up of
shared resources, and keeps the store in quarantine. Say here what it was, as the provider's
books have it: one --used for each resource, none when there was nothing. The rest of what
the task took is counted with it. Who said so and why is kept.`,
		Example: a.example(`{} store count purse_7 --used account/1=4300 --by olga --reason "as in the books of March"`),
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			used, err := amounts(f.used)
			if err != nil {
				return err
			}
			return a.operating(c, func(ctl *resume.Controller, _ *pebblestore.Store) error {
				if err := ctl.CountImported(c.Context(), args[0], operator(f.by), f.reason, used); err != nil {
					return err
				}
				return a.showOne(map[string]any{"counted": args[0], "used": used}, &sheet{rows: [][]string{{"counted", args[0]}}})
			})
		},
	}
	f.flags(c)
	c.Flags().StringArrayVar(&f.used, "used", nil, "what was used up of a resource")
	return c
}

// amounts reads RESOURCE=AMOUNT; the name is all before the last sign.
func amounts(flags []string) (map[string]int64, error) {
	used := map[string]int64{}
	for _, f := range flags {
		i := strings.LastIndexByte(f, '=')
		if i < 1 {
			return nil, Usage("--used %s: write RESOURCE=AMOUNT", f)
		}
		n, err := strconv.ParseInt(f[i+1:], 10, 64)
		if err != nil || n < 1 {
			return nil, Usage("--used %s: the amount is a whole number from 1 to %d", f, int64(math.MaxInt64))
		}
		if _, twice := used[f[:i]]; twice {
			return nil, Usage("--used names %s twice", f[:i])
		}
		used[f[:i]] = n
	}
	return used, nil
}
