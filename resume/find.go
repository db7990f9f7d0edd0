package resume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Found is a task as a search shows it.
type Found struct {
	Task     string
	Machine  string
	State    machine.State
	WaitsFor string // "user/ID" or "role/ROLE", "" when nobody is waited for
	Since    time.Time
	Final    bool
}

// Search selects tasks; empty fields do not restrict. State needs Machine.
type Search struct {
	Machine  string
	State    machine.State
	Owner    string
	WaitsFor string        // "user/ID" or "role/ROLE"
	For      time.Duration // in its state for longer than this; pages may then be short, or empty before the last
	Limit    int           // of one page; 0 means MaxFound
	After    string        // where the page before ended
}

// Find lists tasks in pages: next is empty at the end, and a task that does not change meanwhile is listed exactly once. An
// operator may search for anything; anybody else for what they own, and for what waits for them. Other searches find nothing. What
// Config.May keeps from the principal is not listed: where the configuration says who may, each task that is found is read, and a page
// may be short. Errors are the store's.
func (c *Controller) Find(ctx context.Context, who guard.Principal, q Search) (found []Found, next string, err error) {
	if !maySearch(who, q) {
		return nil, "", nil
	}
	limit := q.Limit
	if limit == 0 {
		limit = MaxFound
	}
	rows, next, err := c.st.Find(ctx, queryOf(who, q, limit))
	if err != nil {
		return nil, "", fmt.Errorf("find tasks: %w", err)
	}
	var now store.Micros
	if q.For > 0 {
		if now, err = c.st.Now(ctx); err != nil {
			return nil, "", fmt.Errorf("find tasks: %w", err)
		}
	}
	for _, r := range rows {
		if !q.finds(r.Task, r.Meta, now) {
			continue
		}
		switch may, err := c.mayFind(ctx, who, r); {
		case err != nil:
			return nil, "", fmt.Errorf("find tasks: %w", err)
		case may:
			found = append(found, foundOf(r))
		}
	}
	return found, next, nil
}

// queryOf is the store's part of a search. Its index must be one of what the principal may see all of: where a page ends names the last
// task that was looked at.
func queryOf(who guard.Principal, q Search, limit int) store.Query {
	out := store.Query{Machine: q.Machine, State: string(q.State), Owner: q.Owner, WaitsFor: q.WaitsFor, Limit: limit, After: q.After}
	if !who.Has(guard.OperatorRole) && !slices.Contains(partiesOf(who), q.WaitsFor) {
		out.WaitsFor = ""
	}
	return out
}

// finds tells whether the search finds a task that stands so.
func (q Search) finds(task string, m store.Meta, now store.Micros) bool {
	return !strings.HasPrefix(task, Reserved) && (q.Machine == "" || q.Machine == m.Machine) && (q.State == "" || string(q.State) == m.State) &&
		(q.Owner == "" || q.Owner == m.Owner) && (q.WaitsFor == "" || q.WaitsFor == m.WaitsFor) &&
		(q.For <= 0 || m.Since < now-q.For.Microseconds())
}

// mayFind tells whether a principal may see a task that a search of theirs has found. What is searched for settles that unless the
// configuration has a rule of its own.
func (c *Controller) mayFind(ctx context.Context, who guard.Principal, r store.Row) (bool, error) {
	if !c.ruled {
		return true, nil
	}
	return c.maySee(ctx, who, r)
}

// maySee asks Config.May about a task as it stands now. Of one that cannot be read here its row has to do.
func (c *Controller) maySee(ctx context.Context, who guard.Principal, r store.Row) (bool, error) {
	l, err := c.load(ctx, r.Task)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrErased):
		return false, nil
	case errors.Is(err, ErrMachine), errors.Is(err, machine.ErrStored), errors.Is(err, store.ErrCorrupt):
		return c.cfg.May(who, headOf(r)), nil
	case err != nil:
		return false, err
	}
	return c.cfg.May(who, l.snap.Head), nil
}

// headOf is a task as far as its row says.
func headOf(r store.Row) machine.Head {
	h := machine.Head{Task: r.Task, Machine: r.Meta.Machine, State: machine.State(r.Meta.State), Owner: r.Meta.Owner,
		Entered: time.UnixMicro(r.Meta.Since).UTC()}
	if role, is := strings.CutPrefix(r.Meta.WaitsFor, "role/"); is {
		h.Waiting = &machine.Waiting{For: machine.Party(role)}
	} else if r.Meta.WaitsFor != "" {
		h.Waiting = &machine.Waiting{For: machine.TaskOwner}
	}
	return h
}

func maySearch(who guard.Principal, q Search) bool {
	return who.Has(guard.OperatorRole) || who.ID != "" && (q.Owner == who.ID || slices.Contains(partiesOf(who), q.WaitsFor))
}

// partiesOf are the principal and each of their roles, once, as a search names them.
func partiesOf(who guard.Principal) []string {
	parties := []string{"user/" + who.ID}
	for _, role := range who.Roles {
		if party := "role/" + role; !slices.Contains(parties, party) {
			parties = append(parties, party)
		}
	}
	return parties
}

func foundOf(r store.Row) Found {
	return Found{r.Task, r.Meta.Machine, machine.State(r.Meta.State), r.Meta.WaitsFor, time.UnixMicro(r.Meta.Since).UTC(), r.Meta.Final}
}

// Waiting finds the tasks that wait for the principal, or for a role that the principal has: "yesterday's one". With more than
// one the person must be asked which. At most [MaxFound].
func (c *Controller) Waiting(ctx context.Context, who guard.Principal) ([]Found, error) {
	if who.ID == "" {
		return nil, nil
	}
	var out []Found
	for _, party := range partiesOf(who) {
		found, err := c.find(ctx, who, store.Query{WaitsFor: party}, MaxFound-len(out))
		if err != nil {
			return nil, fmt.Errorf("find what waits for %s: %w", party, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// Owned finds the principal's tasks, unfinished ones first. At most [MaxFound].
func (c *Controller) Owned(ctx context.Context, who guard.Principal) ([]Found, error) {
	if who.ID == "" {
		return nil, nil
	}
	out, err := c.find(ctx, who, store.Query{Owner: who.ID}, MaxFound)
	if err != nil {
		return nil, fmt.Errorf("find the tasks of %s: %w", who.ID, err)
	}
	return out, nil
}

func (c *Controller) find(ctx context.Context, who guard.Principal, q store.Query, most int) ([]Found, error) {
	var out []Found
	for len(out) < most {
		q.Limit = min(most-len(out), store.MaxPage)
		rows, next, err := c.st.Find(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			switch may, err := c.mayFind(ctx, who, r); {
			case err != nil:
				return nil, err
			case may:
				out = append(out, foundOf(r))
			}
		}
		if next == "" {
			break
		}
		q.After = next
	}
	return slices.Clip(out), nil
}
