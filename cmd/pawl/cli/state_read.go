package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine/workingstate"
)

func (a *App) stateGet(w *writer) *cobra.Command {
	var history int
	c := &cobra.Command{
		Use:   "get [KEY]",
		Short: "Show what holds now, or the value of one key",
		Long: `Show all keys, expired ones included, and the handoff; with --history the newest changes instead.
With a key it writes the value alone, for scripts; a key that is not set, or has expired,
ends it with exit code 3.`,
		Example: a.example(`
{} state get --agent trader
{} state get stop_loss.2317 --agent trader
{} state get --history 20 --agent trader
{} state get --agent trader -o json`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if n := c.Flags().Changed("history"); n && (history < 1 || history > workingstate.MaxHistory) {
				return Usage("--history %d: 1 to %d", history, workingstate.MaxHistory)
			}
			return a.stateOf(c, w, func(s workingstate.Agent, _ *source) error {
				if len(args) == 1 {
					return a.getKey(c, s, args[0])
				}
				return a.getAll(c, s, history)
			})
		},
		ValidArgsFunction: a.completeKey(w),
	}
	c.Flags().IntVar(&history, "history", 0, "the newest changes, oldest first, instead of the keys")
	return c
}

// keyRow is a key in JSON.
type keyRow struct {
	Key string `json:"key"`
	workingstate.Held
}

func (a *App) getKey(c *cobra.Command, s workingstate.Agent, key string) error {
	t, now, err := s.Table(c.Context())
	if err != nil {
		return err
	}
	e, live := t.Get(key, now)
	if !live {
		names, expired := t.Keys(now)
		if contains(expired, key) {
			return notFound("key %s of agent %s has expired", key, s.ID())
		}
		return nearest(notFound("key %s of agent %s is not set", key, s.ID()), key, names)
	}
	if a.output != outputTable {
		return a.showOne(keyRow{key, workingstate.Held{Entry: e}}, nil)
	}
	_, err = fmt.Fprintln(a.io.Out, printable(e.Value))
	return err
}

func (a *App) getAll(c *cobra.Command, s workingstate.Agent, history int) error {
	r, err := s.Get(c.Context(), max(1, history))
	if err != nil {
		return err
	}
	if history > 0 {
		return a.showChanges(r.History)
	}
	if a.output == outputJSON {
		r.History = []workingstate.Change{} // told by --history
		return a.writeJSON(r)
	}
	out := &sheet{columns: []string{"KEY", "VALUE", "REASON", "SET", "BY", "UNTIL", "VERSION"}}
	for _, k := range slices.Sorted(maps.Keys(r.States)) {
		e := r.States[k]
		out.add(keyRow{k, e}, k, e.Value, e.Reason, second(e.UpdatedAt), e.UpdatedBy, until(e.ExpiresAt, e.Expired), strconv.FormatUint(e.Version, 10))
	}
	if err := a.show(out); err != nil || a.output == outputLines {
		return err
	}
	if r.Handoff == nil {
		if len(out.rows) == 0 {
			a.say("nothing is set")
		}
		return nil
	}
	note := &sheet{rows: [][]string{{"handoff", r.Handoff.Note.Note}}}
	for _, p := range [][]string{{"status", string(r.Handoff.Status)}, {"next steps", r.Handoff.NextSteps}, {"evidence", r.Handoff.Evidence},
		{"blocker", r.Handoff.Blocker}, {"left", second(r.Handoff.UpdatedAt)}, {"until", until(r.Handoff.ExpiresAt, r.Handoff.Expired)}} {
		if p[1] != "" {
			note.rows = append(note.rows, p)
		}
	}
	if len(out.rows) > 0 {
		fmt.Fprintln(a.io.Out)
	}
	return a.writeTable(note)
}

func (a *App) showChanges(changes []workingstate.Change) error {
	out := &sheet{columns: []string{"VERSION", "WHEN", "CHANGE", "KEY", "VALUE", "BEFORE", "REASON", "BY", "RUN"}}
	for _, ch := range changes {
		before := ""
		if ch.PrevValue != nil {
			before = *ch.PrevValue
		}
		out.add(ch, strconv.FormatUint(ch.Version, 10), second(ch.At), string(ch.Op), ch.Key, ch.Value, before, ch.Reason, ch.By, ch.Run)
	}
	return a.show(out)
}

func second(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return instant(t.UnixMicro())
}

func until(t time.Time, expired bool) string {
	if expired {
		return second(t) + " (expired)"
	}
	return second(t)
}

func (a *App) stateBlock(w *writer) *cobra.Command {
	var language, zone string
	var l workingstate.Layout
	var withoutActions bool
	c := &cobra.Command{
		Use:   "block",
		Short: "Write the block for the end of an agent's prompt",
		Long: `Write what a wake-up puts at the very end of its prompt, behind everything that a prompt cache keeps:
the working state, then what the agent did last, refused calls included. Nothing at all is
written when there is nothing.`,
		Example: a.example(`
{} state block --agent trader
{} state block --agent trader --language zh-Hant --zone Asia/Taipei
{} state block --agent trader --no-actions`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := time.LoadLocation(zone)
			if err != nil {
				return Usage("--zone %s: give a name like Asia/Taipei: %v", printable(zone), err)
			}
			if !contains(languages(), language) {
				return nearest(Usage("--language %s: choose %s", printable(language), strings.Join(languages(), ", ")), language, languages())
			}
			if l.Budget < workingstate.MinBlock || l.Actions < 1 || l.Actions > workingstate.MaxActions {
				return Usage("--budget is at least %d bytes, --actions 1 to %d", workingstate.MinBlock, workingstate.MaxActions)
			}
			l.Zone, l.Words = at, workingstate.WordsIn(language)
			return a.stateOf(c, w, func(s workingstate.Agent, _ *source) error { return a.block(c, s, l, !withoutActions) })
		},
	}
	f := c.Flags()
	f.StringVar(&language, "language", workingstate.English.Language, strings.Join(languages(), ", "))
	f.StringVar(&zone, "zone", "UTC", "the time zone of the times in it")
	f.IntVar(&l.Budget, "budget", workingstate.DefaultBlock, "bytes of the working state at most")
	f.IntVar(&l.Actions, "actions", workingstate.DefaultActions, "rows of what the agent did last")
	f.BoolVar(&withoutActions, "no-actions", false, "only the working state")
	_ = c.RegisterFlagCompletionFunc("language", fixed(languages()...))
	return c
}

func languages() []string {
	return []string{workingstate.English.Language, workingstate.TraditionalChinese.Language, workingstate.SimplifiedChinese.Language}
}

func (a *App) block(c *cobra.Command, s workingstate.Agent, l workingstate.Layout, withActions bool) error {
	state, actions, err := s.Blocks(c.Context(), l)
	if err != nil {
		return err
	}
	if !withActions {
		actions = ""
	}
	if a.output != outputTable {
		return a.writeLine(map[string]string{"working_state": state, "recent_actions": actions})
	}
	if text := workingstate.Tail("", state, actions); text != "" {
		_, err = fmt.Fprintln(a.io.Out, strings.TrimLeft(text, "\n"))
	}
	return err
}

// completeKey offers the keys that the agent has set.
func (a *App) completeKey(w *writer) completion {
	return func(c *cobra.Command, args []string, _ string) (keys []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) == 0 {
			_ = a.stateOf(c, w, func(s workingstate.Agent, _ *source) error { // a shell has no place for errors
				t, now, err := s.Table(c.Context())
				keys, _ = t.Keys(now)
				return err
			})
		}
		return keys, cobra.ShellCompDirectiveNoFileComp
	}
}
