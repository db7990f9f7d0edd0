package cli

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// entryRow is a version of a task's history in JSON.
type entryRow struct {
	Task    string     `json:"task"`
	Version uint64     `json:"version"`
	Hash    string     `json:"hash"`
	At      *time.Time `json:"at"`
	State   string     `json:"state"`
	Entry   any        `json:"entry"`
}

var entryColumns = []string{"VERSION", "COMMITTED", "EVENT", "FROM", "TO", "BY"}

func entryOf(r store.Record) entryRow {
	return entryRow{r.Task, r.Tip.Version, hex.EncodeToString(r.Tip.Hash[:]), stamp(r.At), r.Meta.State, raw(r.Entry)}
}

// entryCells tell an entry in a row. One that is no machine's is told by what the store knows.
func entryCells(r store.Record) []string {
	version := strconv.FormatUint(r.Tip.Version, 10)
	e, err := machine.DecodeEntry(r.Entry)
	if err != nil {
		return []string{version, instant(r.At), "?", "", r.Meta.State, ""}
	}
	event := e.Event
	if e.Override {
		event += " (override)"
	}
	return []string{version, instant(r.At), event, string(e.From), string(e.To), who(string(e.Actor), e.Principal)}
}

func who(actor, principal string) string {
	if principal == "" {
		return actor
	}
	return actor + "/" + principal
}

func (a *App) taskHistory() *cobra.Command {
	var newest, oldest uint64
	var limit int
	var refused bool
	c := &cobra.Command{
		Use:   "history TASK",
		Short: "Show how a task came to where it stands, newest first",
		Long: `Show the history of a task, newest first: which event, from which state to which, by whom. As JSON
each entry is whole, with its evidence, guards and payload. --refused shows the newest
proposals that were refused instead; those are kept outside the versions.`,
		Example: a.example(`
{} task history refund_order_123
{} task history refund_order_123 --newest 9 --oldest 5
{} task history refund_order_123 -o jsonl
{} task history refund_order_123 --refused`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeTask,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case limit < 1:
				return Usage("--limit %d: at least 1", limit)
			case newest > 0 && oldest > newest:
				return Usage("--oldest %d is newer than --newest %d", oldest, newest)
			}
			return a.reading(c, func(s *source) error {
				if refused {
					return a.refusals(c, s, args[0], limit)
				}
				return a.history(c, s, args[0], newest, oldest, limit)
			})
		},
	}
	f := c.Flags()
	f.Uint64Var(&newest, "newest", 0, "begin at this version instead of the newest")
	f.Uint64Var(&oldest, "oldest", 0, "end at this version")
	f.IntVar(&limit, "limit", listed, "how many at most")
	f.BoolVar(&refused, "refused", false, "the newest refused proposals instead of the versions")
	return c
}

func (a *App) history(c *cobra.Command, s *source, task string, newest, oldest uint64, limit int) error {
	tip, _, err := a.load(c, s, task, 0)
	if err != nil {
		return err
	}
	if newest > tip.Tip.Version || oldest > tip.Tip.Version {
		return notFound("task %s has no version %d; the newest is %d", task, max(newest, oldest), tip.Tip.Version)
	}
	out := &sheet{columns: entryColumns}
	for r, err := range s.History(c.Context(), task, newest, oldest) {
		if errors.Is(err, store.ErrNotFound) {
			break // older ones were pruned
		}
		if err != nil {
			return err
		}
		if len(out.rows) == limit {
			defer a.say("there are older ones; go on with --newest %d", r.Tip.Version)
			break
		}
		out.add(entryOf(r), entryCells(r)...)
	}
	return a.show(out)
}

// refusalRow is a refused proposal in JSON.
type refusalRow struct {
	Task    string     `json:"task"`
	At      *time.Time `json:"at"`
	Count   int        `json:"count"`
	Attempt any        `json:"attempt"`
}

func (a *App) refusals(c *cobra.Command, s *source, task string, limit int) error {
	if _, _, err := a.load(c, s, task, 0); err != nil {
		return err
	}
	kept, err := s.Attempts(c.Context(), task)
	if err != nil {
		return err
	}
	out := &sheet{columns: []string{"REFUSED", "VERSION", "EVENT", "BY", "KIND", "WHY", "TIMES"}}
	for _, at := range kept[:min(limit, len(kept))] {
		var told machine.Attempt
		if json.Unmarshal(at.Body, &told) != nil {
			told = machine.Attempt{Event: "?"}
		}
		var why string
		if len(told.Findings) > 0 {
			why = told.Findings[0].Code
		}
		out.add(refusalRow{task, stamp(at.At), max(1, at.Count), raw(at.Body)}, instant(at.At), strconv.FormatUint(told.Version, 10),
			told.Event, who(string(told.Actor), told.Principal), string(told.Kind), why, strconv.Itoa(max(1, at.Count)))
	}
	if len(out.rows) == 0 {
		a.say("nothing was refused")
	}
	return a.show(out)
}
