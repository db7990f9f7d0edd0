package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// maxReceipt is how many bytes a receipt may have.
const maxReceipt = machine.MaxProposal

// settling are the flags of "effect settle".
type settling struct {
	absent, commit            bool
	receipt, by, reason, text string
	rev                       uint64
}

func (a *App) effectSettle() *cobra.Command {
	var f settling
	c := &cobra.Command{
		Use:   "settle KEY (--absent | --receipt FILE) --rev N --by NAME --reason WHY --proof WHERE [--commit]",
		Short: "Settle an unknown effect by what a person has found out",
		Long: `End an effect of which no lookup can tell whether it has happened. With --receipt it has: the file is
the provider's receipt as JSON, and must match what was intended; - reads standard input.
With --absent it has not, and the task takes the edge that its machine declares for that.
The history keeps who said so, why, and where the proof lies.

Without --commit it is judged and nothing is changed. It is refused while a worker is at it
and when one was since it was listed (--rev), and --absent while the provider may still
carry it out. What was called absent and turns up later is told by a reconciliation with
the provider's ledger.

It needs the store for itself, and the service's own tool: one that was made with a
controller.`,
		Example: a.example(`
{} effect settle refund_order_123/issue_refund/1 --absent --rev 7340034 --by olga \
    --reason "not on the statement of January" --proof "ticket 4711"
{} effect settle refund_order_123/issue_refund/1 --receipt re_1.json --rev 7340034 --by olga \
    --reason "it is on the statement" --proof "ticket 4711" --commit`),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.settle(c, args[0], &f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.absent, "absent", false, "it has not happened")
	flags.StringVar(&f.receipt, "receipt", "", "it has happened: the file with its receipt")
	flags.Uint64Var(&f.rev, "rev", 0, "the revision that \"effect ls\" listed; required")
	flags.StringVar(&f.by, "by", "", "who has found out, an operator; required")
	flags.StringVar(&f.reason, "reason", "", fmt.Sprintf("why it counts, at most %d bytes; required", machine.MaxReason))
	flags.StringVar(&f.text, "proof", "", fmt.Sprintf("where the proof lies: a ticket, a statement; at most %d bytes; required", machine.MaxProof))
	flags.BoolVar(&f.commit, "commit", false, "do it, instead of only judging it")
	return c
}

func (a *App) settle(c *cobra.Command, key string, f *settling) error {
	s, err := f.read(key)
	if err != nil {
		return err
	}
	if f.receipt != "" {
		if s.Receipt, err = a.receipt(f.receipt); err != nil {
			return err
		}
	}
	return a.operating(c, func(ctl *resume.Controller, _ *pebblestore.Store) error {
		out, err := ctl.SettleByHand(c.Context(), operator(f.by), s)
		switch {
		case errors.Is(err, store.ErrFenced):
			return hint(err, "a worker was at it since: list it again, and look whether it is settled")
		case errors.Is(err, resume.ErrNoTask):
			return notFound("there is no task %s", s.Task)
		case err != nil:
			return err
		case out.Err() != nil:
			return refused(out)
		}
		return a.settled(s, out)
	})
}

// read makes of the flags what the controller takes.
func (f *settling) read(key string) (resume.Settlement, error) {
	task, _, ok := strings.Cut(key, "/")
	switch {
	case !ok || machine.CheckTaskID(task) != nil:
		return resume.Settlement{}, hint(Usage("%s is no key of an effect", printable(key)), "\"effect ls\" lists them, such as refund_order_123/issue_refund/1")
	case f.absent == (f.receipt != ""):
		return resume.Settlement{}, Usage("say what was found: --absent, or --receipt FILE")
	}
	for _, r := range []struct {
		name, value string
		most        int
	}{{"by", f.by, machine.MaxPrincipal}, {"reason", f.reason, machine.MaxReason}, {"proof", f.text, machine.MaxProof}} {
		switch {
		case strings.TrimSpace(r.value) == "":
			return resume.Settlement{}, Usage("--%s is required", r.name)
		case len(r.value) > r.most:
			return resume.Settlement{}, Usage("--%s has %d bytes, at most %d", r.name, len(r.value), r.most)
		}
	}
	if f.rev == 0 {
		return resume.Settlement{}, hint(Usage("--rev is required"), "\"effect ls\" lists it")
	}
	return resume.Settlement{Task: task, Key: key, Rev: f.rev, Reason: f.reason, Proof: f.text, Dry: !f.commit}, nil
}

// receipt reads a receipt from a file, or from standard input for "-".
func (a *App) receipt(name string) ([]byte, error) {
	in := a.io.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	b, err := io.ReadAll(io.LimitReader(in, maxReceipt+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--receipt: %w", err)
	case len(b) > maxReceipt:
		return nil, Usage("--receipt %s has more than %d bytes", name, maxReceipt)
	}
	return append([]byte{}, b...), nil // an empty file is no receipt, and not "absent"
}

// settledRow is what came of a settlement in JSON.
type settledRow struct {
	Task    string        `json:"task"`
	Key     string        `json:"key"`
	As      string        `json:"as"`  // confirmed or failed
	Dry     bool          `json:"dry"` // nothing was changed: so it would be
	State   machine.State `json:"state"`
	Version uint64        `json:"version"`
}

func (a *App) settled(s resume.Settlement, out machine.Outcome) error {
	row := settledRow{s.Task, s.Key, string(machine.Failed), s.Dry, out.State, out.Version}
	if s.Receipt != nil {
		row.As = string(machine.Confirmed)
	}
	done := "done"
	if s.Dry {
		done = "not done: add --commit"
	}
	return a.showOne(row, &sheet{rows: [][]string{{"task", row.Task}, {"effect", row.Key}, {"settled as", row.As}, {"state", string(row.State)},
		{"version", strconv.FormatUint(row.Version, 10)}, {"", done}}})
}

// operating calls f with the service's controller on the store of --dir, which it alone has open.
func (a *App) operating(c *cobra.Command, f func(*resume.Controller, *pebblestore.Store) error) error {
	if a.tool.Controller == nil {
		return hint(Usage("%s has no controller for the tasks of a service", a.tool.Name), "use the service's own tool: one that is made with cli.Tool.Controller")
	}
	return a.changing(c, false, func(st *pebblestore.Store) error {
		ctl, err := a.tool.Controller(c.Context(), st)
		if err != nil {
			return err
		}
		return f(ctl, st)
	})
}

func operator(name string) guard.Principal {
	return guard.Principal{ID: name, Roles: []string{guard.OperatorRole}}
}
