package cli

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// App is what the commands of one run share. Not safe for concurrent use.
type App struct {
	tool Tool
	io   Streams

	dir, output, color, progress, keyFile string
	wait                                  time.Duration
}

// Environment variables that stand for flags.
const (
	dirVariable = "PAWL_DIR"
	keyVariable = "PAWL_KEY_FILE"
)

func (a *App) root() *cobra.Command {
	c := a.group(&cobra.Command{
		Use:   a.tool.Name,
		Short: "Look at tasks and change working state, also beside a running service",
		Long: `Look at the tasks of a store, keep it whole, and change an agent's working state.

A store is a directory; say which one with --dir or ` + dirVariable + `. Commands that only read work
beside a service that has the store open, through the socket that it offers. Commands that
change something need the store for themselves.

The model proposes. Evidence decides. The controller commits.`,
		Example: a.example(`
{} task ls --dir /var/lib/desk
{} task show refund_order_123 --dir /var/lib/desk
{} store verify --dir /var/lib/desk`),
		Version:       a.tool.version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	c.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	f := c.PersistentFlags()
	f.StringVar(&a.dir, "dir", os.Getenv(dirVariable), "the directory of the store (or set "+dirVariable+")")
	f.StringVarP(&a.output, "output", "o", outputTable, "how results are written: table, json or jsonl")
	f.StringVar(&a.color, "color", auto, "colours: auto (on a terminal, unless NO_COLOR is set), always or never")
	f.StringVar(&a.progress, "progress", auto, "progress of long work on standard error: auto (on a terminal), always or never")
	f.StringVar(&a.keyFile, "key-file", os.Getenv(keyVariable), "the file with the key of a store whose records carry a MAC (or set "+keyVariable+")")
	f.DurationVar(&a.wait, "wait", 0, "how long to wait for a store that another process has open")
	c.PersistentPreRunE = func(*cobra.Command, []string) error { return a.check() }
	c.SetFlagErrorFunc(flagError)
	_ = c.RegisterFlagCompletionFunc("output", fixed(outputTable, outputJSON, outputLines)) // fails for unknown flags only
	_ = c.RegisterFlagCompletionFunc("color", fixed(auto, always, never))
	_ = c.RegisterFlagCompletionFunc("progress", fixed(auto, always, never))
	a.add(c)
	return c
}

// Groups of commands in the help, for the GroupID of commands that a tool adds.
const (
	ForAgents    = "agents"
	ForOperators = "operators"
	ForAuthors   = "authors"
)

// add adds the commands to the root, each under the heading of its group.
func (a *App) add(root *cobra.Command) {
	all := []*cobra.Command{in(ForOperators, a.taskCommand()), in(ForOperators, a.effectCommand()), in(ForOperators, a.storeCommand()), a.versionCommand()}
	if a.tool.stateMachine() != nil {
		all = append(all, in(ForAgents, a.stateCommand()))
	}
	if len(a.tool.Machines) > 0 {
		all = append(all, in(ForAuthors, a.graphCommand()))
		if a.tool.Missing != nil {
			all = append(all, in(ForAuthors, a.tableCommand()))
		}
	}
	if a.tool.Commands != nil {
		all = append(all, a.tool.Commands(a)...)
	}
	for _, g := range []*cobra.Group{{ID: ForAgents, Title: "For agents:"}, {ID: ForOperators, Title: "For operators:"}, {ID: ForAuthors, Title: "For authors of machines:"}} {
		if slices.ContainsFunc(all, func(c *cobra.Command) bool { return c.GroupID == g.ID }) {
			root.AddGroup(g)
		}
	}
	root.AddCommand(all...)
	for _, c := range descendants(root) {
		if c.Args != nil {
			c.Args = usageArgs(c.Args)
		}
	}
}

func in(group string, c *cobra.Command) *cobra.Command {
	c.GroupID = group
	return c
}

// example writes the name of the tool for {}, and indents.
func (a *App) example(text string) string {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "{}", a.tool.Name)), "\n")
	return "  " + strings.Join(lines, "\n  ")
}

// check says whether the flags that all commands share make sense.
func (a *App) check() error {
	for _, f := range []struct {
		name, value string
		of          []string
	}{
		{"output", a.output, []string{outputTable, outputJSON, outputLines}},
		{"color", a.color, []string{auto, always, never}},
		{"progress", a.progress, []string{auto, always, never}},
	} {
		if !slices.Contains(f.of, f.value) {
			bad := f.value
			a.output = map[bool]string{true: outputTable, false: a.output}[f.name == "output"]
			return nearest(Usage("--%s %s: choose %s", f.name, printable(bad), strings.Join(f.of, ", ")), bad, f.of)
		}
	}
	if a.wait < 0 {
		return Usage("--wait %s: a time cannot be negative", a.wait)
	}
	return nil
}

// group makes a command that only holds others.
func (a *App) group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		var names []string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		return nearest(Usage("%s has no command %s", c.CommandPath(), printable(args[0])), args[0], names)
	}
	return c
}

// flagError names the flag that was meant.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return hint(&plainError{err.Error(), ErrUsage}, "see %s --help", c.CommandPath())
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	name := "--" + unknown.GetSpecifiedName()
	if len(unknown.GetSpecifiedName()) == 1 {
		name = name[1:]
	}
	return nearest(Usage("%s has no flag %s", c.CommandPath(), printable(name)), name, names)
}

// usageArgs makes the errors about the number of arguments usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err == nil || errors.Is(err, ErrUsage) {
			return err
		}
		return hint(&plainError{err.Error(), ErrUsage}, "usage: %s", c.UseLine())
	}
}

// descendants are all commands below a command.
func descendants(c *cobra.Command) (all []*cobra.Command) {
	for _, sub := range c.Commands() {
		all = append(append(all, sub), descendants(sub)...)
	}
	return all
}

// doubled lets one dash stand for two before the name of a flag that has more than one letter: -dir is --dir. What follows a flag
// that takes a value is that value, and what follows a bare -- is left alone.
func (a *App) doubled(root *cobra.Command, args []string) []string {
	takes := map[string]bool{} // by name: whether a value follows
	note := func(f *pflag.Flag) {
		takes[f.Name] = takes[f.Name] || f.NoOptDefVal == ""
		if f.Shorthand != "" {
			takes[f.Shorthand] = takes[f.Shorthand] || f.NoOptDefVal == ""
		}
	}
	for _, c := range append(descendants(root), root) {
		c.Flags().VisitAll(note)
		c.PersistentFlags().VisitAll(note)
	}
	out := slices.Clone(args)
	for i := 0; i < len(out) && out[i] != "--"; i++ {
		if len(out[i]) < 2 || out[i][0] != '-' {
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(out[i], "-"), "=")
		takesValue, known := takes[name]
		if single := out[i][1] != '-'; single && len(name) > 1 {
			if _, letters := takes[name[:1]]; known || !letters {
				out[i] = "-" + out[i]
			}
		}
		if takesValue && !hasValue {
			i++
		}
	}
	return out
}
