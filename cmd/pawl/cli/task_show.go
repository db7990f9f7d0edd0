package cli

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// taskVersion is a version of a task in JSON.
type taskVersion struct {
	taskRow
	Version  uint64           `json:"version"`
	Hash     string           `json:"hash"`
	At       *time.Time       `json:"at"`
	Snapshot any              `json:"snapshot"`
	Effects  []taskEffect     `json:"effects,omitempty"` // unsettled ones, of the newest version
	Permits  []machine.Permit `json:"permits,omitempty"` // of machines that are compiled in
}

// taskEffect is an unsettled effect in JSON.
type taskEffect struct {
	Key     string     `json:"key"`
	Version uint64     `json:"version"`
	Status  string     `json:"status"`
	Ready   *time.Time `json:"ready,omitempty"`
	Holder  string     `json:"holder,omitempty"`
	Hold    *time.Time `json:"hold,omitempty"`
	Body    any        `json:"body"`
}

func (a *App) taskShow() *cobra.Command {
	var version uint64
	c := &cobra.Command{
		Use:   "show TASK",
		Short: "Show where a task stands",
		Long: `Show where a task stands: its state, for whom it waits, its unsettled effects, and its data as
stored. For machines that are compiled in it also tells what may be proposed now.`,
		Example: a.example(`
{} task show refund_order_123
{} task show refund_order_123 --version 3
{} task show refund_order_123 -o json`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeTask,
		RunE: func(c *cobra.Command, args []string) error {
			return a.reading(c, func(s *source) error { return a.showTask(c, s, args[0], version) })
		},
	}
	c.Flags().Uint64Var(&version, "version", 0, "an earlier version instead of the newest")
	return c
}

func (a *App) showTask(c *cobra.Command, s *source, task string, version uint64) error {
	r, effects, err := a.load(c, s, task, version)
	if err != nil {
		return err
	}
	v := taskVersion{taskRow: rowOf(store.Row{Task: r.Task, Meta: r.Meta}), Version: r.Tip.Version,
		Hash: hex.EncodeToString(r.Tip.Hash[:]), At: stamp(r.At), Snapshot: raw(r.Snapshot)}
	for _, e := range effects {
		v.Effects = append(v.Effects, taskEffect{e.ID, e.Version, e.Status.String(), stamp(e.Ready), e.Holder, stamp(e.Hold), raw(e.Body)})
	}
	if version == 0 {
		if v.Permits, err = a.permits(c.Context(), s, r); err != nil {
			a.say("what may be proposed cannot be told: %v", err)
		}
	}
	out := &sheet{}
	for _, p := range v.pairs(r) {
		if p[1] != "" {
			out.rows = append(out.rows, p[:])
		}
	}
	if err := a.showOne(v, out); err != nil || a.output != outputTable {
		return err
	}
	_, err = fmt.Fprintf(a.io.Out, "\n%s\n%s\n", a.bold("snapshot"), printable(indented(r.Snapshot)))
	return err
}

// pairs are names and values for a person.
func (v *taskVersion) pairs(r store.Record) [][2]string {
	state := r.Meta.State
	if r.Meta.Final {
		state += " (final)"
	}
	out := [][2]string{
		{"task", r.Task}, {"machine", r.Meta.Machine}, {"state", state}, {"version", strconv.FormatUint(r.Tip.Version, 10)},
		{"committed", instant(r.At)}, {"owner", r.Meta.Owner}, {"waits for", r.Meta.WaitsFor}, {"since", instant(r.Meta.Since)},
		{"wakes", instant(r.Meta.Wake)}, {"hash", v.Hash},
	}
	for _, e := range v.Effects {
		out = append(out, [2]string{"effect", fmt.Sprintf("%s: %s since version %d", e.Key, e.Status, e.Version)})
	}
	for _, p := range v.Permits {
		out = append(out, [2]string{"may be proposed", permitted(p)})
	}
	return out
}

// permitted is a permit in one line.
func permitted(p machine.Permit) string {
	var by []string
	for _, actor := range p.By {
		by = append(by, string(actor))
	}
	text := p.Event + " by " + strings.Join(by, ", ")
	switch {
	case len(p.Blocked) > 0:
		text += ": blocked: " + p.Blocked[0].Code
	case len(p.Needs) > 0:
		text += ": needs " + p.Needs[0].Fact
	}
	return text
}

// permits is what may be proposed to a task whose machine is compiled in, nil for other tasks.
func (a *App) permits(ctx context.Context, s *source, r store.Record) ([]machine.Permit, error) {
	m := a.machine(r.Meta.Machine)
	if m == nil {
		return nil, nil
	}
	snap, err := m.Decode(r.Snapshot)
	if other, ok := errors.AsType[*machine.OtherDefinitionError](err); ok {
		if m = a.stored(other.Stored); m == nil {
			return nil, err
		}
		snap, err = m.Decode(r.Snapshot)
	}
	if err != nil {
		return nil, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	return m.Permits(snap, machine.Input{Now: time.UnixMicro(now).UTC()}), nil
}

// load reads a version of a task, 0 being the newest, which comes with its unsettled effects. When there is no such task the
// error names one with a similar id.
func (a *App) load(c *cobra.Command, s *source, task string, version uint64) (store.Record, []store.Effect, error) {
	r, effects, err := s.Load(c.Context(), task)
	switch {
	case errors.Is(err, store.ErrNotFound):
		ids, _ := a.tasksLike(c, s, func(string) bool { return true }) // only to help
		return r, nil, nearest(notFound("there is no task %s", task), task, ids)
	case err != nil:
		return r, nil, err
	case version == 0 || version == r.Tip.Version:
		return r, effects, nil
	}
	for old, err := range s.History(c.Context(), task, version, version) {
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return r, nil, err
		}
		if err == nil {
			return old, nil, nil
		}
	}
	return r, nil, notFound("task %s has no version %d; the newest is %d", task, version, r.Tip.Version)
}

// indented is stored JSON for a person; other bytes are told by their number.
func indented(b []byte) string {
	var v json.RawMessage = b
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Sprintf("(%d bytes that are no JSON)", len(b))
	}
	return string(out)
}
