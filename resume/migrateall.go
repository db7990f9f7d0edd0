package resume

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// MigrateAll leads the tasks of a machine to the newest definition that Config.Migrations lead to, a page at a time: it looks at no
// more than limit tasks, 0 means [MaxFound], begins where the page before ended, "" at the beginning, and says where the next
// one begins, "" at the end. The report counts as Ready what has gone over; what cannot is told as in a dry run, and stays as it is. A
// page that failed half-way can be taken again: what has gone over is current then. A task that goes over may be looked at
// once more under its new state. Try [Controller.DryRunMigration] first. Errors wrap [ErrOperator], [ErrMachine], or are the store's.
func (c *Controller) MigrateAll(ctx context.Context, name string, by guard.Principal, after string, limit int) (r MigrationReport, next string, err error) {
	r = MigrationReport{Machine: name, Failing: map[string]int{}}
	switch {
	case !by.Has(guard.OperatorRole):
		return r, after, fmt.Errorf("migrate the tasks of machine %s: %w", name, ErrOperator)
	case len(c.machines[name]) == 0:
		return r, after, fmt.Errorf("migrate the tasks of machine %s: %w", name, ErrMachine)
	case limit == 0:
		limit = MaxFound
	}
	rows, next, err := c.st.Find(ctx, store.Query{Machine: name, Limit: limit, After: after})
	if err != nil {
		return r, after, fmt.Errorf("find the tasks of machine %s: %w", name, err)
	}
	for _, row := range rows {
		if err := c.migrate(ctx, row.Task, by, &r); err != nil {
			return r, after, err
		}
	}
	return r, next, nil
}

// migrate leads one task over, and counts it.
func (c *Controller) migrate(ctx context.Context, task string, by guard.Principal, r *MigrationReport) error {
	l, err := c.counted(ctx, task, r)
	if err != nil || l.m == nil {
		return err
	}
	moved, err := c.advance(ctx, l, guard.Operator, by)
	switch why, is := errors.AsType[*machine.UnmigratableError](err); {
	case is:
		r.trouble(Trouble{why.Task, why.Version, why.State, why.From.Version, why.Code, why.Text})
	case err != nil:
		return err
	case moved.m != l.m:
		r.Ready++
	default:
		c.standing(l, r)
	}
	return nil
}

// standing counts a task that no migration leads on.
func (c *Controller) standing(l loaded, r *MigrationReport) {
	if l.m == c.machines[l.m.Name()][0] {
		r.Current++
		return
	}
	r.Staying++
}
