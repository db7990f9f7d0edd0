package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// agentVariable stands for --agent.
const agentVariable = "PAWL_AGENT"

// stateMachine is the working state of the tool's machines, nil without one.
func (t Tool) stateMachine() *machine.Machine[workingstate.Table] {
	for _, d := range t.Machines {
		if m, ok := d.(*machine.Machine[workingstate.Table]); ok && m.Name() == workingstate.Name {
			return m
		}
	}
	return nil
}

// writer is who changes a working state, and when.
type writer struct {
	agent, files, by, run, model, callKey string
}

func (a *App) stateCommand() *cobra.Command {
	w := &writer{}
	c := a.group(&cobra.Command{
		Use:   "state",
		Short: "Read and change the working state of an agent",
		Long: `The working state is one table per agent: the rules and commitments that hold now, and the note
that one wake-up leaves for the next. It is injected at every wake-up (state block) and is
changed only here or by the tools of the same names. What it holds is the agent's claim and
no fact.

Say whose it is with --agent or ` + agentVariable + `. A change counts as the agent's own, or with --by as that
person's, in the role of an operator.`,
		Example: a.example(`
{} state set stop_loss.2317 262 --reason "exit on break" --ttl 6h --agent trader
{} state get --agent trader
{} state set stop_loss.2317 257 --reason "lowered at close" --expect 262 --agent trader
{} state handoff "watch the open" --agent trader
{} state block --agent trader`),
	})
	f := c.PersistentFlags()
	f.StringVar(&w.agent, "agent", os.Getenv(agentVariable), "whose working state (or set "+agentVariable+")")
	f.StringVar(&w.files, "files", os.Getenv(filesVariable), "keep readable files of it below this directory up to date (or set "+filesVariable+")")
	c.AddCommand(a.stateGet(w), a.stateSet(w), a.stateClear(w), a.stateHandoff(w), a.stateBlock(w), a.stateExport(w), a.stateImport(w))
	_ = c.RegisterFlagCompletionFunc("agent", a.completeAgents)
	return c
}

// writing adds the flags of a command that changes something.
func (w *writer) writing(c *cobra.Command) *cobra.Command {
	f := c.Flags()
	f.StringVar(&w.by, "by", "", "act as this person, an operator, instead of as the agent")
	f.StringVar(&w.run, "run", "", "the id of the wake-up that writes, for the history")
	f.StringVar(&w.model, "model", "", "the revision of model and prompt that writes, for the history")
	f.StringVar(&w.callKey, "idempotency-key", "", "the same key with the same arguments gives the first outcome again")
	return c
}

// owned is the agent's working state, for whoever acts.
func (w *writer) owned(c workingstate.Committer) (workingstate.Agent, error) {
	if w.agent == "" {
		return workingstate.Agent{}, hint(Usage("no agent was named"), "say whose working state it is with --agent ID, or set %s", agentVariable)
	}
	s, err := workingstate.NewAgent(c, w.agent)
	if err != nil {
		return s, Usage("--agent: %v", err)
	}
	if s, err = s.During(w.run, w.model); err != nil {
		return s, Usage("--run, --model: %v", err)
	}
	if len(w.callKey) > machine.MaxKey {
		return s, Usage("--idempotency-key has %d bytes, at most %d", len(w.callKey), machine.MaxKey)
	}
	if w.by != "" {
		s = s.As(guard.Principal{ID: w.by, Roles: []string{guard.OperatorRole}}, guard.Operator)
	}
	return s.Keyed(w.callKey), nil
}

// controller opens a controller of working state on a store.
func (a *App) controller(ctx context.Context, st store.Store) (*resume.Controller, error) {
	return resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{a.tool.stateMachine()}, Observers: a.tool.Observers})
}

// stateOf calls f with an agent's working state, wherever the store is open, to read it.
func (a *App) stateOf(c *cobra.Command, w *writer, f func(workingstate.Agent, *source) error) error {
	if _, err := w.owned(nil); err != nil {
		return err
	}
	return a.reading(c, func(s *source) error {
		ctl, err := a.controller(c.Context(), s.store())
		if err != nil {
			return err
		}
		agent, err := w.owned(ctl)
		if err != nil {
			return err
		}
		err = f(agent, s)
		if errors.Is(err, resume.ErrNoTask) {
			ids, _ := a.agents(c, s) // only to help
			return nearest(notFound("agent %s has no working state in %s; the first state set begins one", w.agent, a.dir), w.agent, ids)
		}
		return err
	})
}

// changeFunc proposes a change to a working state.
type changeFunc func(context.Context, workingstate.Agent) (machine.Outcome, error)

// changeState changes an agent's working state, and tells what came of it. One that was never begun is begun, in a new store if
// need be, but only for a change that will be committed: what is refused leaves nothing behind.
func (a *App) changeState(c *cobra.Command, w *writer, change changeFunc, tell func(machine.Outcome) (string, error)) error {
	if _, err := w.owned(nil); err != nil {
		return err
	}
	if a.there(false) != nil {
		if err := a.rehearse(c.Context(), w, change); err != nil {
			return err
		}
	}
	return a.changing(c, true, func(st *pebblestore.Store) error {
		ctl, err := a.controller(c.Context(), st)
		if err != nil {
			return err
		}
		agent, err := w.owned(a.mirrored(w, ctl))
		if err != nil {
			return err
		}
		if err := a.ensure(c.Context(), w, agent, change); err != nil {
			return err
		}
		out, err := change(c.Context(), agent)
		if err != nil {
			return err
		}
		return a.outcome(out, tell)
	})
}

// ensure begins a working state that was never begun, if the change would be committed to it.
func (a *App) ensure(ctx context.Context, w *writer, agent workingstate.Agent, change changeFunc) error {
	_, _, err := agent.Table(ctx)
	if !errors.Is(err, resume.ErrNoTask) {
		return err
	}
	if err := a.rehearse(ctx, w, change); err != nil {
		return err
	}
	started, err := agent.Start(ctx, a.tool.stateMachine())
	if started {
		a.say("began the working state of agent %s", w.agent)
	}
	return err
}

// rehearse tries a change on an empty working state in memory; the error is that of a refusal.
func (a *App) rehearse(ctx context.Context, w *writer, change changeFunc) error {
	st := store.NewMemory(store.MemoryOptions{Now: a.tool.Now})
	ctl, err := a.controller(ctx, st)
	if err != nil {
		return err
	}
	agent, err := w.owned(ctl)
	if err != nil {
		return err
	}
	if _, err := agent.Start(ctx, a.tool.stateMachine()); err != nil {
		return err
	}
	out, err := change(ctx, agent)
	if err == nil && out.Kind != machine.Committed {
		err = refused(out)
	}
	return errors.Join(err, st.Close())
}

// outcome writes what came of a change: the reply of the tool of the same name, or a sentence.
func (a *App) outcome(out machine.Outcome, tell func(machine.Outcome) (string, error)) error {
	if out.Kind != machine.Committed {
		return refused(out)
	}
	if a.output != outputTable {
		return a.writeLine(out.Returned)
	}
	text, err := tell(out)
	if err != nil {
		return err
	}
	if out.Replayed {
		text += " (committed before)"
	}
	_, err = fmt.Fprintln(a.io.Out, printable(text))
	return err
}

// RefusedError is a change that the rules did not allow.
type RefusedError struct {
	Outcome machine.Outcome
	kind    error
}

// Error names all that is wrong.
func (e *RefusedError) Error() string {
	var why []string
	for _, f := range e.Outcome.Findings {
		why = append(why, strings.TrimSuffix(f.Code+": "+f.Text, ": "))
	}
	return string(e.Outcome.Kind) + ": " + strings.Join(why, "; ")
}

// Unwrap tells the kind, for the exit code.
func (e *RefusedError) Unwrap() error { return e.kind }

// refused says which exit code a refusal has.
func refused(out machine.Outcome) error {
	e := &RefusedError{out, out.Err()}
	switch out.Code() {
	case workingstate.CodeConflict:
		e.kind = machine.ErrConflict
		return hint(e, "%s", details(out.Findings[0].Details))
	case workingstate.CodeKeyNotFound, workingstate.CodeNoHandoff:
		e.kind = ErrNotFound
	}
	return e
}

// details are the facts of a finding in one line, in order of their names.
func details(of map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+": "+machine.Plain(of[name]))
	}
	return strings.Join(parts, ", ")
}

// hours reads a time to live: a duration like 90m, or a number of hours.
func hours(s string) (*workingstate.Hours, error) {
	if s == "" {
		return nil, nil
	}
	h := workingstate.Hours(s)
	if d, err := time.ParseDuration(s); err == nil {
		h = workingstate.HoursOf(d)
	} else if h.UnmarshalJSON([]byte(s)) != nil {
		return nil, Usage("--ttl %s: give a duration like 90m or 4h30m, or a number of hours", printable(s))
	}
	return &h, nil
}

// agents are the agents whose working state the store holds, as one page of its list shows them.
func (a *App) agents(c *cobra.Command, s *source) ([]string, error) {
	rows, _, err := s.Find(c.Context(), store.Query{Machine: workingstate.Name})
	return agentsOf(rows), err
}

// agentsOf are the agents whose tasks a list shows.
func agentsOf(rows []store.Row) (ids []string) {
	for _, r := range rows {
		ids = append(ids, strings.TrimPrefix(r.Task, workingstate.Name+":"))
	}
	return ids
}

func (a *App) completeAgents(c *cobra.Command, _ []string, _ string) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
	_ = a.reading(c, func(s *source) (err error) { // a shell has no place for errors
		ids, err = a.agents(c, s)
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}
