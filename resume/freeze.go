package resume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Reserved is what the ids of the controller's own records begin with; no task may.
const Reserved = "pawl."

const (
	codeFrozen    = "frozen" // effects of the machine are stopped by an operator
	freezeMachine = "pawl_freeze"
	stateFrozen   = "frozen"
	stateThawed   = "thawed"
)

// ErrOperator says that only an operator may do that, and only with a reason (law 17).
var ErrOperator = errors.New("needs an operator and a reason")

// Frozen is an entry of a freeze's own history: who stopped or released the effects of a machine, when and why.
type Frozen struct {
	Machine string    `json:"machine"`
	Stopped bool      `json:"stopped"`
	By      string    `json:"by"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}

// Freeze stops every effect of a machine at once, for all controllers on the store: once it has returned no new one is committed,
// and none that was committed and not sent is sent; the commit itself compares that nothing was frozen meanwhile, where the store
// can. What may have been sent is still looked up and settled. It survives restarts, until Thaw. Errors wrap [ErrOperator] or
// [ErrMachine], or are the store's.
func (c *Controller) Freeze(ctx context.Context, machine string, by guard.Principal, reason string) error {
	return c.setFreeze(ctx, machine, by, reason, true)
}

// Thaw ends a Freeze.
func (c *Controller) Thaw(ctx context.Context, machine string, by guard.Principal, reason string) error {
	return c.setFreeze(ctx, machine, by, reason, false)
}

func (c *Controller) setFreeze(ctx context.Context, name string, by guard.Principal, reason string, stop bool) error {
	switch {
	case !by.Has(guard.OperatorRole) || strings.TrimSpace(reason) == "":
		return fmt.Errorf("freeze of machine %s: %w", name, ErrOperator)
	case len(reason) > machine.MaxReason:
		return fmt.Errorf("freeze of machine %s: a reason of %d bytes, at most %d: %w", name, len(reason), machine.MaxReason, ErrOperator)
	case c.machines[name] == nil:
		return fmt.Errorf("freeze of machine %s: %w", name, ErrMachine)
	}
	for range maxRaces {
		swap, err := c.freezeRevision(ctx, name)
		if err != nil {
			return fmt.Errorf("freeze of machine %s: %w", name, err)
		}
		tip, err := c.st.Tip(ctx, freezeID(name))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("freeze of machine %s: %w", name, err)
		}
		now, err := c.now(ctx)
		if err != nil {
			return fmt.Errorf("freeze of machine %s: %w", name, err)
		}
		body, err := json.Marshal(Frozen{name, stop, by.ID, reason, now})
		if err != nil {
			return err
		}
		state := stateThawed
		if stop {
			state = stateFrozen
		}
		_, err = c.st.Commit(ctx, &store.Commit{Base: tip, Record: store.Record{Task: freezeID(name), Nonce: newNonce(),
			Meta: store.Meta{Machine: freezeMachine, State: state}, Snapshot: body, Entry: body}, Swap: swap})
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrSwap) {
			c.freezes.forget(name)
			if err == nil && c.heard() {
				c.tell(ctx, Signal{Kind: SignalOperator, Machine: name, Result: state})
			}
			return err
		}
	}
	return fmt.Errorf("freeze of machine %s: %w", name, store.ErrConflict)
}

func freezeID(machine string) string { return Reserved + "freeze." + machine }

// frozen tells whether the effects of a machine are stopped. The store is asked each time: another controller may have done it.
func (c *Controller) frozen(ctx context.Context, machine string) (bool, error) {
	switch _, err := c.st.Tip(ctx, freezeID(machine)); {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("freeze of machine %s: %w", machine, err)
	}
	r, _, err := c.st.Load(ctx, freezeID(machine))
	return r.Meta.State == stateFrozen, err
}

// freeze is whether the effects of a machine are stopped, and the revision of the resource that every Freeze and Thaw changes.
type freeze struct {
	frozen bool
	expect []store.Revision // that revision, as a condition; none where the store cannot compare
}

// freezes remembers those that are not frozen: a commit that causes effects expects the revision, so it is not taken on trust.
type freezes struct {
	mu sync.Mutex
	m  map[string]freeze
}

func (f *freezes) forget(machine string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.m, machine)
}

// freezeRevision is the swap of a machine's freeze; none where the store has no resources.
func (c *Controller) freezeRevision(ctx context.Context, machine string) ([]store.Resource, error) {
	rs, can := c.st.(store.Resources)
	if !can || !c.st.Info().Swap {
		return nil, nil
	}
	r, err := rs.Resource(ctx, freezeID(machine))
	return []store.Resource{r}, err
}

// freeze looks up how it stands with a machine's effects. The revision is read before the record: who freezes in between makes a
// commit that expects it fail.
func (c *Controller) freeze(ctx context.Context, machine string) (freeze, error) {
	c.freezes.mu.Lock()
	known, ok := c.freezes.m[machine]
	c.freezes.mu.Unlock()
	if ok {
		return known, nil
	}
	var f freeze
	swap, err := c.freezeRevision(ctx, machine)
	if err != nil {
		return f, fmt.Errorf("freeze of machine %s: %w", machine, err)
	}
	if f.frozen, err = c.frozen(ctx, machine); err != nil || f.frozen || swap == nil {
		return f, err
	}
	f.expect = []store.Revision{{Name: freezeID(machine), Rev: swap[0].Rev}}
	c.freezes.mu.Lock()
	defer c.freezes.mu.Unlock()
	c.freezes.m[machine] = f
	return f, nil
}
