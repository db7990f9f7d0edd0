package resume

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Codes of a [Trouble], beside those of [machine.UnmigratableError]. All are stable.
const (
	CodeUnserved   = "unserved"   // the task's definition is not registered
	CodeUnreadable = "unreadable" // the task cannot be read with its own definition
)

// MigrationReport says what would become of the tasks of a machine if each were migrated now.
type MigrationReport struct {
	Machine  string
	Tasks    int            // looked at
	Current  int            // of the newest version already
	Staying  int            // of an older version that no migration leaves
	Ready    int            // would go over to the newest version; of MigrateAll, has gone over
	Failing  map[string]int // would not, or did not, by the code of the reason
	Troubles []Trouble      // the failing ones by name, at most MaxFound
}

// Trouble is a task that would not go over, or did not, and why.
type Trouble struct {
	Task       string
	Version    uint64 // where the task stands
	State      machine.State
	Definition int // version of its definition; 0 when that cannot be read
	Code       string
	Text       string
}

// DryRunMigration tries the migrations of a machine on every task that the store holds: which would lose a state, fail validation,
// break an invariant or get stuck. Nothing is written. Tasks that change meanwhile may be judged at either version. Errors wrap
// [ErrMachine], or are the store's.
func (c *Controller) DryRunMigration(ctx context.Context, name string) (MigrationReport, error) {
	r := MigrationReport{Machine: name, Failing: map[string]int{}}
	if len(c.machines[name]) == 0 {
		return r, fmt.Errorf("dry run of machine %s: %w", name, ErrMachine)
	}
	now, err := c.now(ctx)
	if err != nil {
		return r, fmt.Errorf("dry run of machine %s: %w", name, err)
	}
	for q := (store.Query{Machine: name}); ; {
		rows, next, err := c.st.Find(ctx, q)
		if err != nil {
			return r, fmt.Errorf("find the tasks of machine %s: %w", name, err)
		}
		for _, row := range rows {
			if err := c.dryRun(ctx, row.Task, now, &r); err != nil {
				return r, err
			}
		}
		if q.After = next; next == "" {
			return r, nil
		}
	}
}

// dryRun tries one task.
func (c *Controller) dryRun(ctx context.Context, task string, now time.Time, r *MigrationReport) error {
	l, err := c.counted(ctx, task, r)
	if err != nil || l.m == nil {
		return err
	}
	switch moved, err := c.advanced(l, now); {
	case err != nil:
		t := Trouble{Task: task, Version: l.tip.Version, State: l.snap.State, Definition: l.snap.Definition}
		t.Code, t.Text = err.Code, err.Text
		r.trouble(t)
	case moved.m != l.m:
		r.Ready++
	default:
		c.standing(l, r)
	}
	return nil
}

// counted reads a task and counts it. One that was erased since it was found, or that cannot be read, comes without a machine.
func (c *Controller) counted(ctx context.Context, task string, r *MigrationReport) (loaded, error) {
	record, _, err := c.st.Load(ctx, task)
	switch {
	case errors.Is(err, store.ErrErased):
		return loaded{}, nil
	case err != nil:
		return loaded{}, fmt.Errorf("task %s: %w", task, err)
	}
	r.Tasks++
	l, err := c.decode(record)
	if err != nil {
		r.trouble(unreadable(record, err))
		return loaded{}, nil
	}
	return l, nil
}

// advanced is the task as all steps would leave it, without a commit.
func (c *Controller) advanced(l loaded, now time.Time) (loaded, *machine.UnmigratableError) {
	for {
		step, older := c.steps[l.m.Stamp()]
		if !older {
			return l, nil
		}
		next, _, err := step.Apply(l.snap, guard.Operator, guard.Principal{}, now)
		if why, is := errors.AsType[*machine.UnmigratableError](err); is {
			return l, why
		}
		l = loaded{l.tip, c.machines.exact(next.Stamp()), next}
	}
}

func unreadable(r store.Record, err error) Trouble {
	t := Trouble{Task: r.Task, Version: r.Tip.Version, State: machine.State(r.Meta.State), Code: CodeUnreadable, Text: err.Error()}
	if other, is := errors.AsType[*machine.OtherDefinitionError](err); is {
		t.Code, t.Definition = CodeUnserved, other.Stored.Version
	}
	return t
}

func (r *MigrationReport) trouble(t Trouble) {
	if r.Failing[t.Code]++; len(r.Troubles) < MaxFound {
		r.Troubles = append(r.Troubles, t)
	}
}
