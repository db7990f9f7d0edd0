package cli

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

const listed = 100 // tasks, versions or attempts that a list shows when nobody says how many

// taskRow is a task in JSON.
type taskRow struct {
	Task     string     `json:"task"`
	Machine  string     `json:"machine"`
	State    string     `json:"state"`
	Final    bool       `json:"final"`
	Owner    string     `json:"owner,omitempty"`
	WaitsFor string     `json:"waits_for,omitempty"`
	Since    *time.Time `json:"since"`
	Wake     *time.Time `json:"wake,omitempty"`
}

func rowOf(r store.Row) taskRow {
	m := r.Meta
	return taskRow{r.Task, m.Machine, m.State, m.Final, m.Owner, m.WaitsFor, stamp(m.Since), stamp(m.Wake)}
}

var rowColumns = []string{"TASK", "MACHINE", "STATE", "OWNER", "WAITS FOR", "SINCE", "WAKES"}

func (t taskRow) cells(m store.Meta) []string {
	state := m.State
	if m.Final {
		state += " (final)"
	}
	return []string{t.Task, m.Machine, state, m.Owner, m.WaitsFor, instant(m.Since), instant(m.Wake)}
}

// listing selects tasks.
type listing struct {
	query    store.Query
	limit    int
	after    string
	internal bool
}

func (a *App) taskList() *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List tasks by machine, state, owner or whom they wait for",
		Long: `List tasks. Without a selection these are all, in the order of machine, state and time. With
--owner unfinished tasks come first; with --waits-for those that wait longest.`,
		Example: a.example(`
{} task ls
{} task ls --machine refund --state awaiting_user_confirmation
{} task ls --owner alice
{} task ls --waits-for user/alice -o json
{} task ls --limit 1000 -o jsonl`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.checkListing(&l); err != nil {
				return err
			}
			return a.reading(c, func(s *source) error { return a.list(c, s, l) })
		},
	}
	f := c.Flags()
	f.StringVar(&l.query.Machine, "machine", "", "only tasks of this machine")
	f.StringVar(&l.query.State, "state", "", "only tasks in this state; needs --machine")
	f.StringVar(&l.query.Owner, "owner", "", "only tasks that were started for this principal")
	f.StringVar(&l.query.WaitsFor, "waits-for", "", "only tasks that wait for user/ID or role/ROLE")
	f.IntVar(&l.limit, "limit", listed, "how many at most")
	f.StringVar(&l.after, "after", "", "go on where a list ended, as it said")
	f.BoolVar(&l.internal, "internal", false, "also the controller's own records, whose ids begin with "+resume.Reserved)
	_ = c.RegisterFlagCompletionFunc("machine", a.completeMachines)
	_ = c.RegisterFlagCompletionFunc("state", a.completeStates)
	return c
}

func (a *App) checkListing(l *listing) error {
	if l.limit < 1 {
		return Usage("--limit %d: at least 1", l.limit)
	}
	if l.query.State != "" && l.query.Machine == "" {
		return Usage("--state needs --machine: states of several machines may have one name")
	}
	after, err := base64.RawURLEncoding.DecodeString(l.after)
	if err != nil {
		return Usage("--after %s is not what a list said", printable(l.after))
	}
	l.query.After = string(after)
	if m := a.machine(l.query.Machine); m != nil && l.query.State != "" {
		names := statesOf(m)
		if !contains(names, l.query.State) {
			a.say("machine %s has no state %s", l.query.Machine, l.query.State)
		}
	}
	return nil
}

func (a *App) list(c *cobra.Command, s *source, l listing) error {
	out := &sheet{columns: rowColumns}
	q := l.query
	for len(out.rows) < l.limit {
		q.Limit = min(l.limit-len(out.rows), store.MaxPage)
		rows, next, err := s.Find(c.Context(), q)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if l.internal || !strings.HasPrefix(r.Task, resume.Reserved) {
				t := rowOf(r)
				out.add(t, t.cells(r.Meta)...)
			}
		}
		if q.After = next; next == "" {
			break
		}
	}
	if err := a.show(out); err != nil {
		return err
	}
	switch {
	case q.After != "":
		a.say("there are more; go on with --after %s", base64.RawURLEncoding.EncodeToString([]byte(q.After)))
	case len(out.rows) == 0:
		a.say("no task is like that")
	}
	return nil
}
