package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// expectation are the flags of compare-and-set.
type expectation struct {
	value           string
	version, record uint64
	absent          bool
}

func (e *expectation) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&e.value, "expect", "", "only if the key still holds this value")
	f.Uint64Var(&e.version, "expect-version", 0, "only if the key was last written by this version")
	f.Uint64Var(&e.record, "expect-record", 0, "only if the whole record is still at this version")
}

// read takes the flags that were given; a guard that was given is never left out.
func (e *expectation) read(c *cobra.Command) (x workingstate.Expect) {
	f := c.Flags()
	if f.Changed("expect") {
		x.ExpectedValue = &e.value
	}
	if f.Changed("expect-version") {
		x.ExpectedVersion = &e.version
	}
	if f.Changed("expect-record") {
		x.ExpectedRecordVersion = &e.record
	}
	return x
}

func (a *App) stateSet(w *writer) *cobra.Command {
	var reason, ttl string
	var e expectation
	c := &cobra.Command{
		Use:   "set KEY VALUE --reason WHY",
		Short: "Set a key, superseding what it held",
		Long: `Set a key. The value is one line of at most 400 characters, the key 1 to 64 of a-z 0-9 . _ -. Without
--ttl it holds until it is set again or cleared, also when it had a ttl before. With one of
the expectations it is set only if nobody changed it since it was read.`,
		Example: a.example(`
{} state set stop_loss.2317 262 --reason "exit on break" --ttl 6h --agent trader
{} state set stop_loss.2317 257 --reason "lowered at close" --expect 262 --agent trader
{} state set max_position 5 --reason "desk limit" --expect-absent --by olivia --agent trader`),
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := hours(ttl)
			if err != nil {
				return err
			}
			p := workingstate.Set{Key: args[0], Value: args[1], Reason: reason, TTLHours: h, Expect: e.read(c)}
			if c.Flags().Changed("expect-absent") {
				p.ExpectAbsent = &e.absent
			}
			return a.changeState(c, w, func(ctx context.Context, s workingstate.Agent) (machine.Outcome, error) { return s.Set(ctx, p) }, toldSet)
		},
		ValidArgsFunction: a.completeKey(w),
	}
	f := c.Flags()
	f.StringVar(&reason, "reason", "", "why, at most 200 characters; required")
	f.StringVar(&ttl, "ttl", "", "how long it holds: 90m, 4h30m, or a number of hours")
	f.BoolVar(&e.absent, "expect-absent", false, "only if the key holds nothing now")
	e.flags(c)
	return w.writing(c)
}

func toldSet(out machine.Outcome) (string, error) {
	r, err := machine.ReturnedAs[workingstate.SetReply](out)
	text := fmt.Sprintf("%s = %s, version %d", r.Key, r.Value, r.Version)
	if r.Superseded != nil {
		text += ", supersedes " + *r.Superseded
	}
	if r.Truncated {
		text += ", shortened"
	}
	return text, err
}

func (a *App) stateClear(w *writer) *cobra.Command {
	var reason string
	var e expectation
	var note bool
	c := &cobra.Command{
		Use:   "clear KEY --reason WHY | clear --handoff --reason WHY",
		Short: "Retire a key, or the handoff",
		Long:  `Retire a key that no longer holds, expired or not; or with --handoff the note for the next wake-up.`,
		Example: a.example(`
{} state clear stop_loss.2317 --reason "position closed" --agent trader
{} state clear stop_loss.2317 --reason "position closed" --expect 262 --agent trader
{} state clear --handoff --reason "done" --agent trader`),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || note == (len(args) == 1) {
				return Usage("name one key to clear, or give --handoff")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			x := e.read(c)
			if !note {
				p := workingstate.Clear{Key: args[0], Reason: reason, Expect: x}
				return a.changeState(c, w, func(ctx context.Context, s workingstate.Agent) (machine.Outcome, error) { return s.Clear(ctx, p) }, toldClear)
			}
			if x.ExpectedValue != nil || x.ExpectedVersion != nil {
				return Usage("a handoff is guarded by --expect-record alone")
			}
			p := workingstate.ClearHandoff{Reason: reason, ExpectedRecordVersion: x.ExpectedRecordVersion}
			return a.changeState(c, w, func(ctx context.Context, s workingstate.Agent) (machine.Outcome, error) {
				return s.ClearHandoff(ctx, p)
			}, toldClearHandoff)
		},
		ValidArgsFunction: a.completeKey(w),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, at most 200 characters; required")
	c.Flags().BoolVar(&note, "handoff", false, "the handoff instead of a key")
	e.flags(c)
	return w.writing(c)
}

func toldClear(out machine.Outcome) (string, error) {
	r, err := machine.ReturnedAs[workingstate.ClearReply](out)
	return fmt.Sprintf("cleared %s, version %d, which held %s", r.Key, r.Version, r.Retired), err
}

func toldClearHandoff(out machine.Outcome) (string, error) {
	r, err := machine.ReturnedAs[workingstate.ClearHandoffReply](out)
	return fmt.Sprintf("cleared the handoff, version %d", r.Version), err
}

func (a *App) stateHandoff(w *writer) *cobra.Command {
	var status, next, evidence, blocker, proof, ttl string
	var record uint64
	var limit HandoffLimit
	c := &cobra.Command{
		Use:   "handoff NOTE",
		Short: "Leave the note for the next wake-up",
		Long: `Replace the note for the next wake-up. With only a note it is plain. With any of --status, --next,
--evidence, --blocker and --proof it is a structured report, and --status is required:
continue needs next steps, complete needs evidence, blocked needs a blocker.`,
		Example: a.example(`
{} state handoff "watch the open" --agent trader
{} state handoff "order sent" --status continue --next "confirm the fill" --agent trader
{} state handoff "reconciled" --status complete --evidence "report 17" --agent trader
{} state handoff "no prices" --status blocked --blocker "API answers 403" --agent trader`),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := hours(ttl)
			if err == nil {
				err = a.limitHandoff(c, &limit)
			}
			if err != nil {
				return err
			}
			p := workingstate.Handoff{Note: args[0], TTLHours: h}
			for name, field := range map[string]struct {
				to   **string
				from *string
			}{
				"status": {&p.Status, &status}, "next": {&p.NextSteps, &next}, "evidence": {&p.Evidence, &evidence},
				"blocker": {&p.Blocker, &blocker}, "proof": {&p.Proof, &proof},
			} {
				if c.Flags().Changed(name) {
					*field.to = field.from
				}
			}
			if c.Flags().Changed("expect-record") {
				p.ExpectedRecordVersion = &record
			}
			return a.changeState(c, w, func(ctx context.Context, s workingstate.Agent) (machine.Outcome, error) { return s.Handoff(ctx, p) }, toldHandoff)
		},
	}
	limit.Flag(c)
	f := c.Flags()
	f.StringVar(&status, "status", "", "continue, complete or blocked")
	f.StringVar(&next, "next", "", "with continue: what is to be done next")
	f.StringVar(&evidence, "evidence", "", "with complete: what shows that it is done")
	f.StringVar(&blocker, "blocker", "", "with blocked: what exactly is in the way")
	f.StringVar(&proof, "proof", "", "with complete: the id of a proof that the verifier of this tool knows")
	f.StringVar(&ttl, "ttl", "", "how long it holds: 90m, 4h30m, or a number of hours")
	f.Uint64Var(&record, "expect-record", 0, "only if the whole record is still at this version")
	_ = c.RegisterFlagCompletionFunc("status", fixed(string(workingstate.Continue), string(workingstate.Complete), string(workingstate.Blocked)))
	return w.writing(c)
}

func toldHandoff(out machine.Outcome) (string, error) {
	r, err := machine.ReturnedAs[workingstate.HandoffReply](out)
	text := fmt.Sprintf("left the handoff, version %d", r.Version)
	if r.Truncated {
		text += ", shortened"
	}
	return text, err
}
