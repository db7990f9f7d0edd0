package resume

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Reconciliation is what a provider's whole ledger and our own record say of each other. Keys are sorted.
type Reconciliation struct {
	Agree   int      // confirmed here, and there
	Settled []string // without an outcome here, and there: settled now
	Absent  []string // confirmed here, and not there
	Failed  []string // failed or withdrawn here, and there all the same
	Differs []string // there with another amount, currency or payee than was intended
	Foreign []string // there, and no task here has the key
}

// Clean tells whether nothing is left for a person to look at.
func (r Reconciliation) Clean() bool {
	return len(r.Absent)+len(r.Failed)+len(r.Differs)+len(r.Foreign) == 0
}

// Reconcile holds the provider's whole ledger against our record of one effect, both ways. The ledger yields the receipt of each
// key, made with the authority of the effect's receipt. What has no outcome here and is found there is settled by it; nothing
// else is changed: what disagrees is for a person. Errors are the ledger's or the store's.
func (c *Controller) Reconcile(ctx context.Context, effect machine.AnyEffect, ledger iter.Seq2[guard.Observation, error]) (Reconciliation, error) {
	var r Reconciliation
	there := map[string]bool{}
	for o, err := range ledger {
		if err != nil {
			return r, fmt.Errorf("the ledger of %s: %w", effect.Info().Name, err)
		}
		there[o.Key().Subject] = true
		if err := c.reconcileLine(ctx, effect.Info(), o, &r); err != nil {
			return r, err
		}
	}
	err := c.eachConfirmed(ctx, effect.Info(), func(key string) {
		if there[key] {
			r.Agree++
		} else {
			r.Absent = append(r.Absent, key)
		}
	})
	for _, keys := range [][]string{r.Settled, r.Absent, r.Failed, r.Differs, r.Foreign} {
		slices.Sort(keys)
	}
	return r, err
}

func (c *Controller) reconcileLine(ctx context.Context, info *machine.EffectInfo, o guard.Observation, r *Reconciliation) error {
	key := o.Key().Subject
	task, number := taskOf(key, info.Name)
	var l loaded
	if task != "" {
		var err error
		l, err = c.load(ctx, task)
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrErased) {
			return err
		}
	}
	if l.m == nil || l.m.EffectNamed(info.Name) != info || number == 0 || number > l.snap.Operation(info.Name) {
		r.Foreign = append(r.Foreign, key)
		return nil
	}
	intent, kept := l.snap.Intent(key)
	if kept && intent.Unsettled() {
		out, err := c.Observe(ctx, task, o)
		switch {
		case err != nil:
			return err
		case out.Kind == machine.Committed:
			r.Settled = append(r.Settled, key)
		default:
			r.Differs = append(r.Differs, key)
		}
		return nil
	}
	confirmed, err := c.confirmed(ctx, l, info, key)
	if err == nil && !confirmed {
		r.Failed = append(r.Failed, key)
	}
	return err
}

// taskOf reads the task and the number out of an effect's key.
func taskOf(key, effect string) (string, uint64) {
	task, rest, _ := strings.Cut(key, "/")
	name, number, _ := strings.Cut(rest, "/")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || name != effect || machine.CheckTaskID(task) != nil {
		return "", 0
	}
	return task, n
}

// confirmed tells whether an operation that is over was confirmed. The snapshot keeps the last one; the history has them all.
func (c *Controller) confirmed(ctx context.Context, l loaded, info *machine.EffectInfo, key string) (bool, error) {
	if i, kept := l.snap.Intent(key); kept {
		return i.Status == machine.Confirmed, nil
	}
	found := false
	err := c.confirmations(ctx, l.snap.Task, info, func(k string) { found = found || k == key })
	return found, err
}

// confirmations visits the keys that a task's history confirms.
func (c *Controller) confirmations(ctx context.Context, task string, info *machine.EffectInfo, visit func(key string)) error {
	for r, err := range c.st.History(ctx, task, 0, 0) {
		if err != nil {
			return fmt.Errorf("task %s: %w", task, err)
		}
		e, err := machine.DecodeEntry(r.Entry)
		if err != nil {
			return fmt.Errorf("task %s, version %d: %w", task, r.Tip.Version, err)
		}
		if key, ok := info.ConfirmedBy(e); ok {
			visit(key)
		}
	}
	return nil
}

// eachConfirmed visits the keys that any task has confirmed.
func (c *Controller) eachConfirmed(ctx context.Context, info *machine.EffectInfo, visit func(key string)) error {
	for name, versions := range c.machines {
		if !slices.ContainsFunc(versions, func(m *machine.Machine[any]) bool { return m.EffectNamed(info.Name) == info }) {
			continue
		}
		for q := (store.Query{Machine: name}); ; {
			rows, next, err := c.st.Find(ctx, q)
			if err != nil {
				return fmt.Errorf("find the tasks of machine %s: %w", name, err)
			}
			for _, row := range rows {
				if err := c.confirmations(ctx, row.Task, info, visit); err != nil {
					return err
				}
			}
			if q.After = next; next == "" {
				break
			}
		}
	}
	return nil
}
