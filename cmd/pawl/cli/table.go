package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *App) tableCommand() *cobra.Command {
	c := a.group(&cobra.Command{
		Use:   "table",
		Short: "Help with the transition tables of a machine",
		Long: `A transition table shows, row by row, what a machine makes of each event in each state while each
fact is true, false, unknown or stale. Tests run it; see package machinetest.`,
		Example: a.example(`{} table missing working_state testdata/working_state.txtar`),
	})
	c.AddCommand(a.tableMissing())
	return c
}

func (a *App) tableMissing() *cobra.Command {
	return &cobra.Command{
		Use:   "missing MACHINE FILE",
		Short: "Write the rows that a transition table still needs",
		Long: `Write the rows that a table still needs to be complete, ready to be pasted, with ? for what is
expected: look at each before "go test -update" fills it in. When nothing is missing it
writes nothing.`,
		Example: a.example(`{} table missing working_state testdata/working_state.txtar`),
		Args:    cobra.ExactArgs(2),
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.completeMachines(c, args, typed)
			}
			return []string{"txtar"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := a.machineNamed(args[0])
			if err != nil {
				return err
			}
			rows, err := a.tool.Missing(m, args[1])
			if err != nil {
				return err
			}
			if rows == "" {
				a.say("nothing is missing in %s", args[1])
			}
			if a.output != outputTable {
				return a.writeLine(map[string]string{"machine": m.Name(), "file": args[1], "rows": rows})
			}
			_, err = fmt.Fprint(a.io.Out, rows)
			return err
		},
	}
}
