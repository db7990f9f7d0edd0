package cli

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

func (a *App) effectCommand() *cobra.Command {
	c := a.group(&cobra.Command{
		Use:   "effect",
		Short: "List effects without an outcome, and settle what no lookup can tell",
		Long: `An effect is what a task has decided to do in the world: a payment, a message. Until its receipt is
observed it has no outcome, and whatever its age it is never dropped: somebody must find out.`,
		Example: a.example(`
{} effect ls --older 10m
{} effect settle refund_order_123/issue_refund/1 --absent --rev 7340034 --by olga \
    --reason "not on the statement of January" --proof "ticket 4711"`),
	})
	c.AddCommand(a.effectList(), a.effectSettle())
	return c
}

// effectRow is an effect without an outcome in JSON.
type effectRow struct {
	Task     string     `json:"task"`
	Key      string     `json:"key"`
	Effect   string     `json:"effect,omitempty"`
	Status   string     `json:"status"`
	Rev      uint64     `json:"rev"`
	Version  uint64     `json:"version"` // that intended it
	Since    *time.Time `json:"since"`
	Ready    *time.Time `json:"ready"`
	Holder   string     `json:"holder,omitempty"`
	Hold     *time.Time `json:"hold,omitempty"`
	Progress any        `json:"progress"`
}

// tried is what of an effect's progress a table shows.
type tried struct {
	Attempts int    `json:"attempts"`
	Lookups  int    `json:"lookups"`
	Last     string `json:"last"`
}

func (a *App) effectList() *cobra.Command {
	var older time.Duration
	var unknown bool
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List effects without an outcome",
		Long: `List the effects that have no outcome, in the order of the store. An intent waits to be sent, what is
sent is in a worker's hands, and of what is unknown nobody can tell whether it has happened:
"effect settle" ends that by what a person has found out. The revision in the list is what
it must be told; it rises whenever a worker takes the effect up.`,
		Example: a.example(`
{} effect ls
{} effect ls --unknown --older 10m
{} effect ls -o jsonl`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if older < 0 {
				return Usage("--older %s: a time cannot be negative", older)
			}
			return a.reading(c, func(s *source) error { return a.effects(c, s, older, unknown) })
		},
	}
	c.Flags().DurationVar(&older, "older", 0, "only those that were intended longer ago")
	c.Flags().BoolVar(&unknown, "unknown", false, "only those of which nobody can tell")
	return c
}

func (a *App) effects(c *cobra.Command, s *source, older time.Duration, unknown bool) error {
	now, err := s.Now(c.Context())
	if err != nil {
		return err
	}
	out := &sheet{columns: []string{"KEY", "STATUS", "SINCE", "REV", "ATTEMPTS", "LOOKUPS", "WHY"}}
	for after := ""; ; {
		es, next, err := s.Effects(c.Context(), after, 0)
		if err != nil {
			return err
		}
		for _, e := range es {
			name, since, err := intended(c, s, e)
			if err != nil {
				return err
			}
			if unknown && e.Status != store.Unknown || older > 0 && since > 0 && now-since <= older.Microseconds() {
				continue
			}
			var p tried
			_ = json.Unmarshal(e.Body, &p) // another's bytes are shown as JSON only
			out.add(effectRow{e.Task, e.ID, name, e.Status.String(), e.Rev, e.Version, stamp(since), stamp(e.Ready), e.Holder, stamp(e.Hold), raw(e.Body)},
				e.ID, e.Status.String(), instant(since), strconv.FormatUint(e.Rev, 10), strconv.Itoa(p.Attempts), strconv.Itoa(p.Lookups), p.Last)
		}
		if after = next; next == "" {
			break
		}
	}
	if len(out.rows) == 0 {
		a.say("no effect is without an outcome")
	}
	return a.show(out)
}

// intended is the name of an effect and when it was intended, as far as its task's record tells.
func intended(c *cobra.Command, s *source, e store.Effect) (name string, since store.Micros, err error) {
	r, _, err := s.Load(c.Context(), e.Task)
	if errors.Is(err, store.ErrErased) || errors.Is(err, store.ErrNotFound) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	h, err := machine.DecodeHead(r.Snapshot)
	if err != nil {
		return "", 0, nil // no machine's task
	}
	i, ok := h.Intent(e.ID)
	if !ok {
		return "", 0, nil
	}
	return i.Effect, i.At.UnixMicro(), nil
}
