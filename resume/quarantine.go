package resume

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

const (
	codeQuarantined = "quarantined" // the store is a new incarnation that no operator has released
	quarantineText  = "the store was restored, imported into or copied, and no operator has released it"

	incarnationID      = Reserved + "incarnation"
	incarnationMachine = "pawl_incarnation"
	stateReleased      = "released"
)

// Released is an entry of the history of a store's incarnations: who let one go to work, when and why.
type Released struct {
	Store       string    `json:"store"` // its id, in hexadecimal
	Incarnation uint64    `json:"incarnation"`
	By          string    `json:"by"`
	Reason      string    `json:"reason"`
	At          time.Time `json:"at"`
	Over        []Brought `json:"over,omitempty"` // what is over its limit with what imported tasks took
}

// quarantined tells whether the store is a new incarnation, restored, imported into or copied, that no operator has released. The
// original may go on elsewhere: here nothing is sent, no effect is intended and no offer agreed to until somebody has made sure
// (DESIGN, Effects). What may have been sent is looked up and settled all the same.
func (c *Controller) quarantined(ctx context.Context) (bool, error) {
	info := c.st.Info()
	if info.Incarnation <= 1 || c.released.Load() == info.Incarnation {
		return false, nil
	}
	r, _, err := c.st.Load(ctx, incarnationID)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return true, fmt.Errorf("the store's incarnation: %w", err)
	}
	var last Released
	if err := json.Unmarshal(r.Snapshot, &last); err != nil {
		return true, fmt.Errorf("the store's incarnation: %w: %w", store.ErrCorrupt, err)
	}
	if last.Store != hex.EncodeToString(info.ID[:]) || last.Incarnation != info.Incarnation {
		return true, nil
	}
	c.released.Store(info.Incarnation)
	return false, nil
}

// Release lets a restored, imported or copied store go to work, once an operator has made sure that the original will not. Before it
// does, every unsettled effect becomes unknown, so that each is looked up before it is ever sent, and every open offer is void: where
// it came from it may have been answered. Reconcile with the provider's ledger first. It does nothing to a store that is not in
// quarantine; when it fails, the quarantine stays, and it can be called again.
//
// What imported tasks took where they came from is counted here, once: what their confirmed effects used up of resources, what was taken
// of velocity limits, what unsettled effects hold, the messages that have said yes, and the tasks among the children of those above them.
// It counts whether it fits or not, for it has happened. What is over its limit then lets nothing more through; it is told to
// Config.Problem and kept in the history. See [Controller.Imported] for all of that before it is done.
//
// Errors wrap [ErrOperator], are an [UncountedError] when what imported tasks took is not all known, an [UnservedError] when tasks that
// have not ended are of machines that are not served here, or both, or are the store's.
func (c *Controller) Release(ctx context.Context, by guard.Principal, reason string) error {
	if !mayRelease(by, reason) {
		return fmt.Errorf("release the store: %w", ErrOperator)
	}
	info := c.st.Info()
	out, err := c.quarantined(ctx)
	if err == nil && !out {
		return nil
	}
	if err == nil {
		err = c.doubt(ctx)
	}
	var over []Brought
	if err == nil {
		over, err = c.recover(ctx, by, reason)
	}
	if err == nil {
		err = c.recordRelease(ctx, Released{hex.EncodeToString(info.ID[:]), info.Incarnation, by.ID, reason, time.Time{}, over})
	}
	if err != nil {
		return fmt.Errorf("release the store: %w", err)
	}
	if c.heard() {
		c.tell(ctx, Signal{Kind: SignalOperator, Result: stateReleased})
	}
	c.stir()
	return nil
}

func mayRelease(by guard.Principal, reason string) bool {
	return by.Has(guard.OperatorRole) && strings.TrimSpace(reason) != "" && len(reason) <= machine.MaxReason
}

// recover counts what imported tasks took and restores all that are open. What keeps the store in quarantine is told at once; what is
// over a limit is told of each resource once, as it stands in the end.
func (c *Controller) recover(ctx context.Context, by guard.Principal, reason string) ([]Brought, error) {
	over, err := c.countImported(ctx, by, reason)
	if err != nil && !errors.Is(err, ErrUncounted) {
		return nil, err
	}
	more, failed := c.restoreTasks(ctx, by)
	over = append(over, more...)
	slices.Reverse(over)
	slices.SortStableFunc(over, func(a, b Brought) int { return strings.Compare(a.Resource, b.Resource) })
	over = slices.CompactFunc(over, func(a, b Brought) bool { return a.Resource == b.Resource })
	for _, o := range over {
		c.cfg.Problem(errors.New(o.text()))
	}
	return over, errors.Join(err, failed)
}

// doubt makes every effect unknown that would be sent.
func (c *Controller) doubt(ctx context.Context) error {
	for after := ""; ; {
		rows, next, err := c.st.Effects(ctx, after, 0)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.Status != store.Intent {
				continue
			}
			row.Status = store.Unknown
			if _, err := c.st.Update(ctx, row); err != nil && !errors.Is(err, store.ErrFenced) {
				return err
			}
		}
		if after = next; next == "" {
			return nil
		}
	}
}

// restoreTasks voids the open offers of all tasks, and takes what their effects hold; it gives what is over its limit with that. Tasks that
// cannot be read are told all at once.
func (c *Controller) restoreTasks(ctx context.Context, by guard.Principal) (over []Brought, err error) {
	var unserved UnservedError
	for q := (store.Query{}); ; {
		rows, next, err := c.st.Find(ctx, q)
		if err != nil {
			return over, err
		}
		for _, row := range rows {
			if row.Meta.Final || strings.HasPrefix(row.Task, Reserved) {
				continue
			}
			more, err := c.restoreTask(ctx, row.Task, by)
			over = append(over, more...)
			if errors.Is(err, ErrMachine) {
				unserved.add(row, err)
			} else if err != nil {
				return over, err
			}
		}
		if q.After = next; next == "" {
			return over, unserved.orNil()
		}
	}
}

func (c *Controller) restoreTask(ctx context.Context, task string, by guard.Principal) ([]Brought, error) {
	for range maxRaces {
		l, err := c.load(ctx, task)
		if errors.Is(err, store.ErrErased) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		now, err := c.now(ctx)
		if err != nil {
			return nil, err
		}
		lacking, over, err := c.lacksHolds(ctx, l.snap)
		if err != nil || !lacking && len(l.snap.Offers) == 0 {
			return nil, err
		}
		next, entry := l.m.Restored(l.snap, by, now)
		if _, err = c.write(ctx, l, next, entry, nil); !errors.Is(err, store.ErrConflict) {
			return over, err
		}
	}
	return nil, fmt.Errorf("task %s: %w", task, store.ErrConflict)
}

func (c *Controller) recordRelease(ctx context.Context, r Released) error {
	tip, err := c.st.Tip(ctx, incarnationID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if r.At, err = c.now(ctx); err != nil {
		return err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = c.st.Commit(ctx, &store.Commit{Base: tip, Record: store.Record{Task: incarnationID, Nonce: newNonce(),
		Meta: store.Meta{Machine: incarnationMachine, State: stateReleased}, Snapshot: body, Entry: body}})
	return err
}

// agrees tells whether a commit uses up an offer.
func agrees(e *machine.Entry) bool {
	return slices.ContainsFunc(e.Voided, func(v machine.Voided) bool { return v.Reason == machine.VoidUsed })
}
