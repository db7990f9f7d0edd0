package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

func (a *App) taskExport() *cobra.Command {
	var to string
	var all bool
	c := &cobra.Command{
		Use:   "export TASK... | --all",
		Short: "Write tasks as JSON Lines that a person can read and import takes back",
		Long: `Write whole tasks, every version of them, as JSON Lines: byte for byte what import takes back. A
file takes its name only when it is whole.` + a.aboutState(`

An agent's working state is the task `+workingstate.Name+`:AGENT: its history goes along, which "state export"
leaves behind.`),
		Example: a.example(`
{} task export refund_order_123
{} task export refund_order_123 refund_order_124 --to tasks.jsonl
{} task export --all --to everything.jsonl`),
		ValidArgsFunction: a.completeTask,
		Args: func(_ *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return Usage("name the tasks to export, or give --all")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.reading(c, func(s *source) error {
				if to == "" {
					return a.export(c, s, args, a.io.Out)
				}
				return a.file(to, func(w io.Writer) error { return a.export(c, s, args, w) })
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "write a new file instead of standard output")
	c.Flags().BoolVar(&all, "all", false, "every task but erased ones")
	return c
}

// aboutState is what is said only where the tool has commands for working state.
func (a *App) aboutState(text string) string {
	if a.tool.stateMachine() == nil {
		return ""
	}
	return text
}

// export writes some tasks, or all.
func (a *App) export(c *cobra.Command, s *source, tasks []string, w io.Writer) error {
	p := a.begin("export", int64(len(tasks)))
	defer p.done()
	if len(tasks) == 0 {
		return store.ExportAll(c.Context(), s.store(), w)
	}
	for _, task := range tasks {
		if _, _, err := a.load(c, s, task, 0); err != nil {
			return err
		}
		if err := store.Export(c.Context(), s.store(), task, w); err != nil {
			return err
		}
		p.add(1)
	}
	return nil
}

// file writes a new file, which takes its name when it is whole. One that is there stays as it is.
func (a *App) file(name string, write func(io.Writer) error) error {
	partial := name + ".partial"
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Link(partial, name) // unlike a rename it replaces nothing
	}
	return errors.Join(err, os.Remove(partial))
}

func (a *App) taskImport() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Take back what export wrote",
		Long: `Import tasks that the store does not have yet: their versions and hashes are kept and checked; one
that is there already with all of its history is passed over. An effect that was unsettled is
unknown afterwards, and is looked up before anything is sent. The store is in quarantine
then: "store release" ends that, and counts what the tasks took of shared resources. It ends
at the first task that cannot be imported; those before it stay. - reads standard input. A
store is made where there is none.` + a.aboutState(`

Working state comes back with its history, of which "state import" takes nothing.`),
		Example: a.example(`
{} task import tasks.jsonl --dir /var/lib/desk
{} task export --all --dir old | {} task import - --dir new`),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			in, size, done, err := a.input(args[0])
			if err != nil {
				return err
			}
			defer done()
			return a.changing(c, true, func(st *pebblestore.Store) error { return a.importTasks(c, st, in, size) })
		},
	}
}

// input is a file, or standard input for "-", and how many bytes it has, 0 when nobody knows.
func (a *App) input(name string) (io.Reader, int64, func() error, error) {
	if name == "-" {
		return a.io.In, 0, func() error { return nil }, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, nil, err
	}
	i, err := f.Stat()
	if err != nil || i.IsDir() {
		return nil, 0, nil, errors.Join(Usage("%s is no file", name), err, f.Close())
	}
	return f, i.Size(), f.Close, nil
}

func (a *App) importTasks(c *cobra.Command, st *pebblestore.Store, in io.Reader, size int64) error {
	p := a.begin("import", size)
	n, err := store.Import(c.Context(), st, counted{in, p})
	p.done()
	if err != nil {
		return hint(err, "%s", imported(n))
	}
	out := &sheet{rows: [][]string{{"imported", fmt.Sprint(n)}}}
	return a.showOne(map[string]int{"imported": n}, out)
}

func imported(n int) string {
	if n == 0 {
		return "nothing was imported"
	}
	return fmt.Sprintf("%d tasks before it were imported", n)
}
