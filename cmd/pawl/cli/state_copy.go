package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/machine/workingstate/files"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// filesVariable stands for --files.
const filesVariable = "PAWL_FILES"

func (a *App) stateExport(w *writer) *cobra.Command {
	var to string
	var all bool
	c := &cobra.Command{
		Use:   "export",
		Short: "Write working state as files that people read and import takes back",
		Long: `Write ` + files.StateName + ` to standard output, or with --to a directory both files of
the agent, or of all agents: DIR/AGENT/state/` + files.StateName + ` and
` + files.HistoryName + `.

The files are for people, and carry the table: what import begins with has a history of its own. To move
an agent with its whole history, byte for byte, use "` + a.tool.Name + ` task export ` + workingstate.Name + `:AGENT".`,
		Example: a.example(`
{} state export --agent trader
{} state export --to agents --agent trader
{} state export --to agents --all`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case all && to == "":
				return Usage("--all needs --to DIR")
			case !all:
				return a.stateOf(c, w, func(s workingstate.Agent, src *source) error { return a.exportState(c, s, src, to) })
			}
			return a.reading(c, func(src *source) error { return a.exportStates(c, src, to) })
		},
	}
	c.Flags().StringVar(&to, "to", "", "write both files below this directory instead of standard output")
	c.Flags().BoolVar(&all, "all", false, "every agent")
	return c
}

// exportState writes one agent's working state.
func (a *App) exportState(c *cobra.Command, s workingstate.Agent, src *source, to string) error {
	t, _, err := s.Table(c.Context())
	if err != nil {
		return err
	}
	if to == "" {
		b, err := files.Encode(t)
		if err == nil {
			_, err = a.io.Out.Write(b)
		}
		return err
	}
	changes, err := stateChanges(c, s, src)
	if err != nil {
		return err
	}
	return files.Write(to, s.ID(), t, changes)
}

// stateChanges are all changes of a working state that its history holds, oldest first.
func stateChanges(c *cobra.Command, s workingstate.Agent, src *source) (changes []workingstate.Change, err error) {
	for r, err := range src.History(c.Context(), s.Task(), 0, 0) {
		if errors.Is(err, store.ErrNotFound) {
			break // older ones were pruned
		}
		if err != nil {
			return nil, err
		}
		e, err := machine.DecodeEntry(r.Entry)
		if err != nil {
			return nil, fmt.Errorf("task %s, version %d: %w", r.Task, r.Tip.Version, err)
		}
		change, ours, err := workingstate.ChangeOf(s.ID(), e)
		if err != nil {
			return nil, fmt.Errorf("task %s, version %d: %w", r.Task, r.Tip.Version, err)
		}
		if ours {
			changes = append(changes, change)
		}
	}
	slices.Reverse(changes)
	return changes, nil
}

// exportStates writes the working state of every agent.
func (a *App) exportStates(c *cobra.Command, src *source, to string) error {
	ctl, err := a.controller(c.Context(), src.store())
	if err != nil {
		return err
	}
	p := a.begin("export", 0)
	defer p.done()
	for q := (store.Query{Machine: workingstate.Name}); ; {
		rows, next, err := src.Find(c.Context(), q)
		if err != nil {
			return err
		}
		for _, id := range agentsOf(rows) {
			s, err := workingstate.NewAgent(ctl, id)
			if err == nil {
				err = a.exportState(c, s, src, to)
			}
			if err != nil {
				return fmt.Errorf("agent %s: %w", id, err)
			}
		}
		if q.After = next; next == "" {
			return nil
		}
	}
}

func (a *App) stateImport(w *writer) *cobra.Command {
	return &cobra.Command{
		Use:   "import FROM",
		Short: "Begin an agent's working state with what a file holds",
		Long: `Begin the working state of an agent that has none yet with the table of FROM: a
` + files.StateName + `, - for standard input, or the directory that export wrote, DIR of
DIR/AGENT/state. The history file is not read back: history is what this store committed.

To move an agent with its whole history, byte for byte, use "` + a.tool.Name + ` task export ` + workingstate.Name + `:AGENT" and
"` + a.tool.Name + ` task import".`,
		Example: a.example(`
{} state import agents --agent trader
{} state import ` + files.StateName + ` --agent trader`),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := w.owned(nil); err != nil {
				return err
			}
			t, err := a.tableIn(args[0], w.agent)
			if err != nil {
				return err
			}
			return a.changing(c, true, func(st *pebblestore.Store) error { return a.importState(c, w, st, t) })
		},
	}
}

// tableIn reads a table from a file, standard input, or a directory of agents.
func (a *App) tableIn(from, agent string) (workingstate.Table, error) {
	if i, err := os.Stat(from); from != "-" && err == nil && i.IsDir() {
		t, err := files.Read(from, agent)
		return t, malformed(err)
	}
	in, _, done, err := a.input(from)
	if err != nil {
		return workingstate.Table{}, err
	}
	defer done()
	b, err := io.ReadAll(io.LimitReader(in, files.MaxState+1))
	if err != nil {
		return workingstate.Table{}, err
	}
	t, err := files.Decode(b)
	return t, malformed(err)
}

// malformed makes an error about a file's form one of usage.
func malformed(err error) error {
	if errors.Is(err, files.ErrFile) || errors.Is(err, workingstate.ErrTable) {
		return Usage("%v", err)
	}
	return err
}

func (a *App) importState(c *cobra.Command, w *writer, st *pebblestore.Store, t workingstate.Table) error {
	ctl, err := a.controller(c.Context(), st)
	if err != nil {
		return err
	}
	s, err := w.owned(a.mirrored(w, ctl))
	if err != nil {
		return err
	}
	started, err := s.StartWith(c.Context(), a.tool.stateMachine(), t)
	switch {
	case err != nil:
		return err
	case !started:
		return &plainError{fmt.Sprintf("agent %s has a working state already", w.agent), resume.ErrExists}
	}
	return a.showOne(map[string]any{"agent": w.agent, "keys": len(t.States), "handoff": t.Handoff != nil},
		&sheet{rows: [][]string{{"agent", w.agent}, {"keys", fmt.Sprint(len(t.States))}}})
}

// mirrored is a committer that keeps the files of --files up to date.
func (a *App) mirrored(w *writer, c workingstate.Committer) workingstate.Committer {
	if w.files == "" {
		return c
	}
	return files.Mirror(c, w.files, func(err error) { a.say("the files in %s are behind: %v", w.files, err) })
}
