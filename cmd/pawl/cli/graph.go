package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
)

// Formats of a graph.
const (
	mermaid     = "mermaid"
	dot         = "dot"
	markdown    = "markdown"
	description = "description"
)

func (a *App) graphCommand() *cobra.Command {
	var format, task string
	c := &cobra.Command{
		Use:   "graph MACHINE",
		Short: "Draw a machine that is compiled in",
		Long: `Draw a machine that is compiled in, as Mermaid (for Markdown pages), as DOT (for Graphviz), as a page
for people who do not program, or as the description that all of these are made of, in JSON.
With --task the state in which that task stands is marked.`,
		Example: a.example(`
{} graph working_state
{} graph working_state --format dot | dot -Tsvg > working_state.svg
{} graph working_state --format markdown > docs/working_state.md
{} graph working_state --task working_state:trader --dir /var/lib/desk`),
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeMachines(c, args, typed)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if formats := []string{mermaid, dot, markdown, description}; !contains(formats, format) {
				return nearest(Usage("--format %s: choose %s", printable(format), strings.Join(formats, ", ")), format, formats)
			}
			m, err := a.machineNamed(args[0])
			if err != nil || task == "" {
				return a.draw(m, format, "", err)
			}
			return a.reading(c, func(s *source) error {
				r, _, err := a.load(c, s, task, 0)
				if err == nil && r.Meta.Machine != m.Name() {
					err = Usage("task %s is of machine %s", task, r.Meta.Machine)
				}
				return a.draw(m, format, machine.State(r.Meta.State), err)
			})
		},
	}
	c.Flags().StringVar(&format, "format", mermaid, "mermaid, dot, markdown or description")
	c.Flags().StringVar(&task, "task", "", "mark the state of this task")
	_ = c.RegisterFlagCompletionFunc("format", fixed(mermaid, dot, markdown, description))
	_ = c.RegisterFlagCompletionFunc("task", func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.completeTask(c, nil, typed)
	})
	return c
}

func (a *App) draw(m *machine.Machine[any], format string, current machine.State, err error) error {
	if err != nil {
		return err
	}
	var text string
	switch format {
	case mermaid:
		text = m.Mermaid(current)
	case dot:
		text = m.DOT(current)
	case markdown:
		text = m.Markdown()
	default:
		return a.writeJSON(m.Describe())
	}
	if a.output != outputTable {
		return a.writeLine(map[string]json.RawMessage{"machine": quoted(m.Name()), "format": quoted(format), "text": quoted(text)})
	}
	_, err = fmt.Fprintln(a.io.Out, strings.TrimRight(text, "\n"))
	return err
}

func quoted(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always can be
	return b
}
