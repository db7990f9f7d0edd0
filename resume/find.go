package resume

import (
	"context"
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
// operator may search for anything; anybody else for what they own, and for what waits for them. Other searches find nothing.
// Errors are the store's.
func (c *Controller) Find(ctx context.Context, who guard.Principal, q Search) (found []Found, next string, err error) {
	if !maySearch(who, q) {
		return nil, "", nil
	}
	limit := q.Limit
	if limit == 0 {
		limit = MaxFound
	}
	rows, next, err := c.st.Find(ctx, store.Query{Machine: q.Machine, State: string(q.State), Owner: q.Owner, WaitsFor: q.WaitsFor,
		Limit: limit, After: q.After})
	if err != nil {
		return nil, "", fmt.Errorf("find tasks: %w", err)
	}
	var before store.Micros
	if q.For > 0 {
		now, err := c.st.Now(ctx)
		if err != nil {
			return nil, "", fmt.Errorf("find tasks: %w", err)
		}
		before = now - q.For.Microseconds()
	}
	for _, r := range rows {
		if q.For > 0 && r.Meta.Since >= before {
			continue
		}
		if !strings.HasPrefix(r.Task, Reserved) {
			found = append(found, foundOf(r))
		}
	}
	return found, next, nil
}

func maySearch(who guard.Principal, q Search) bool {
	return who.Has(guard.OperatorRole) || who.ID != "" && (q.Owner == who.ID || slices.Contains(partiesOf(who), q.WaitsFor))
}

// partiesOf are the principal and each of their roles, as a search names them.
func partiesOf(who guard.Principal) []string {
	parties := []string{"user/" + who.ID}
	for _, role := range who.Roles {
		parties = append(parties, "role/"+role)
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
		found, err := c.find(ctx, store.Query{WaitsFor: party}, MaxFound-len(out))
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
	out, err := c.find(ctx, store.Query{Owner: who.ID}, MaxFound)
	if err != nil {
		return nil, fmt.Errorf("find the tasks of %s: %w", who.ID, err)
	}
	return out, nil
}

func (c *Controller) find(ctx context.Context, q store.Query, most int) ([]Found, error) {
	var out []Found
	for len(out) < most {
		q.Limit = min(most-len(out), store.MaxPage)
		rows, next, err := c.st.Find(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			out = append(out, foundOf(r))
		}
		if next == "" {
			break
		}
		q.After = next
	}
	return slices.Clip(out), nil
}
