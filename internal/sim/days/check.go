package days

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Check is the oracle: what must hold of a world at rest, whatever happened in it.
func (w *World) Check() error {
	var faults []error
	w.result.Tasks, w.result.Payments, w.result.Calls = len(w.tasks), len(w.service.ledger), 0
	for _, n := range w.service.calls {
		w.result.Calls += n
	}
	paidFor := map[string]int{}
	perOrder, perAccount := map[string]int{}, map[string]int64{}
	for _, e := range w.service.ledger {
		task, _, _ := strings.Cut(e.Key, "/")
		paidFor[task]++
		perOrder[e.Order]++
		if c := w.byTask(task); c == nil || e.payment != (payment{c.Order, c.Amount}) {
			faults = append(faults, fmt.Errorf("law 2: a payment of %d for %s under %s, which nobody asked for", e.Amount, e.Order, e.Key))
		} else {
			perAccount[c.Account] += e.Amount
		}
	}
	for order, n := range perOrder {
		if n > 1 {
			faults = append(faults, fmt.Errorf("law 8: %s was paid %d times", order, n))
		}
	}
	for account, sum := range perAccount {
		if sum > accountLimit {
			faults = append(faults, fmt.Errorf("law 16: %s gave %d, its limit is %d", account, sum, accountLimit))
		}
	}
	for _, c := range w.tasks {
		if err := w.checkTask(c, paidFor[c.task]); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", c.task, err))
		}
	}
	return errors.Join(faults...)
}

func (w *World) byTask(task string) *customer {
	for _, c := range w.tasks {
		if c.task == task {
			return c
		}
	}
	return nil
}

// checkTask reads a task back from the store, and holds it against what the world knows.
func (w *World) checkTask(c *customer, payments int) error {
	r, _, err := w.store.Load(w.ctx, c.task)
	if errors.Is(err, store.ErrNotFound) {
		if len(w.acked[c.task]) > 0 || payments > 0 {
			return errors.New("law 7: it is gone")
		}
		return nil // its beginning was lost with a process, and nobody was told that it had begun
	}
	if err != nil {
		return err
	}
	snap, err := machine.Erase(w.machine).Decode(r.Snapshot)
	if err != nil {
		return err
	}
	w.result.States[snap.State]++
	return errors.Join(w.checkEnd(snap, payments), w.checkHistory(c, snap))
}

// checkEnd holds the state that a task came to rest in against the ledger.
func (w *World) checkEnd(s machine.Snapshot[any], payments int) error {
	switch {
	case s.State == paid && payments != 1, s.State != paid && s.State != paying && payments > 0:
		return fmt.Errorf("law 8: it is %s, and the ledger has %d payments", s.State, payments)
	case s.State == paying && payments > 0:
		return errors.New("law 8: it was paid, and the task does not know")
	case s.State == paying:
		// Nothing is in the ledger, and the key is not honoured any more: a person has to find out. It must be on their list.
		w.result.Stuck++
		return w.listed(s.Task)
	case s.State == asking || s.State == waiting:
		return fmt.Errorf("law 11: it still waits in %s", s.State)
	}
	return nil
}

func (w *World) listed(task string) error {
	unsettled, err := w.ctls[0].Unsettled(w.ctx, keysKept)
	for _, u := range unsettled {
		if u.Task == task {
			return err
		}
	}
	return errors.Join(err, errors.New("law 8: its effect has no outcome, and is on nobody's list"))
}

// checkHistory walks the versions: none is missing, none that was acknowledged is another one, a final state is not left, and an
// intent stands on an explicit yes.
func (w *World) checkHistory(c *customer, snap machine.Snapshot[any]) error {
	next := snap.Version
	for r, err := range w.store.History(w.ctx, c.task, 0, 0) {
		if err != nil {
			return err
		}
		e, err := machine.DecodeEntry(r.Entry)
		switch {
		case err != nil:
			return err
		case e.Version != next:
			return fmt.Errorf("law 1: version %d where %d was to be", e.Version, next)
		case w.acked[c.task][e.Version] != "" && w.acked[c.task][e.Version] != e.Event:
			return fmt.Errorf("law 7: version %d is %q, a caller was told %q", e.Version, e.Event, w.acked[c.task][e.Version])
		case final(e.From) && e.To != e.From:
			return fmt.Errorf("law 1: version %d leaves %s", e.Version, e.From)
		case e.To == paying && e.From == waiting && !w.agreed(c, e):
			return fmt.Errorf("law 9: version %d intends a payment that the customer did not agree to", e.Version)
		case len(e.Broken) > 0:
			return fmt.Errorf("version %d broke %v", e.Version, e.Broken)
		}
		next--
	}
	for v := range w.acked[c.task] {
		if v > snap.Version {
			return fmt.Errorf("law 7: version %d was acknowledged and is gone", v)
		}
	}
	if next != 0 {
		return fmt.Errorf("law 1: the history ends at version %d", next+1)
	}
	return nil
}

func final(s machine.State) bool { return s == paid || s == failed || s == ended }

// agreed tells whether the offer that an intent used up is one that the customer said an explicit yes to.
func (w *World) agreed(c *customer, e machine.Entry) bool {
	for _, v := range e.Voided {
		if c.yes[v.Offer] {
			return true
		}
	}
	return false
}
