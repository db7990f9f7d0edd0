package resume

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Backoff of an effect that could not be sent, or whose outcome could not be looked up: it doubles from the first to the last,
// with jitter of half.
const (
	firstBackoff = time.Second
	lastBackoff  = 10 * time.Minute
	mostWaits    = 5 // doublings while something hinders it that is no fault of the provider
)

// errPanicked says that a handler panicked: what it did before is not known.
var errPanicked = errors.New("the handler panicked")

// job is a claimed effect.
type job struct {
	c       *Controller
	row     store.Effect
	intent  machine.Intent
	handler Handler
	done    progress
	s       *Session
	stop    context.Context // ends when the controller is told to stop; nil when nobody can tell it
}

// stopped tells whether the controller has been told to stop: then nothing new is begun.
func (j *job) stopped() bool { return j.stop != nil && j.stop.Err() != nil }

// unlessStopped ends with the context, and when the controller is told to stop.
func (j *job) unlessStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if j.stop == nil {
		return ctx, cancel
	}
	undo := context.AfterFunc(j.stop, cancel)
	return ctx, func() { undo(); cancel() }
}

// perform brings one claimed effect a step further. The claim is durable: from here on it may have been sent (law 8). What has not begun
// when stop ends is given back.
func (c *Controller) perform(ctx, stop context.Context, row store.Effect) error {
	l, err := c.load(ctx, row.Task)
	if errors.Is(err, ErrMachine) || errors.Is(err, machine.ErrStored) {
		return errors.Join(err, c.giveBack(ctx, row, backoff(row.ID, 1)))
	}
	if err != nil {
		return err
	}
	intent, ok := l.snap.Intent(row.ID)
	if !ok || !intent.Unsettled() {
		return fmt.Errorf("the store holds an effect that the task does not: %w", store.ErrCorrupt)
	}
	j := &job{c: c, row: row, intent: intent, handler: c.handlers[intent.Effect], s: &Session{c: c, own: true, at: l}, stop: stop}
	if j.done, err = decodeProgress(row.Body); err != nil {
		return fmt.Errorf("its progress: %w: %w", store.ErrCorrupt, err)
	}
	away, err := c.quarantined(ctx)
	switch {
	case err != nil:
		return err
	case away && row.Was == store.Intent:
		return j.later(ctx, store.Unknown, 1, quarantineText)
	case j.stopped():
		return c.giveBack(ctx, row, 0)
	case row.Was != store.Intent:
		return j.reconcile(ctx)
	}
	return j.send(ctx)
}

// giveBack leaves an effect to another controller, or to a later run, after a while: nothing was done with it.
func (c *Controller) giveBack(ctx context.Context, row store.Effect, wait time.Duration) error {
	if row.Status = row.Was; row.Was != store.Intent {
		row.Status = store.Unknown
	}
	now, err := c.st.Now(ctx)
	if err != nil {
		return err
	}
	row.Holder, row.Hold, row.Ready = "", 0, now+wait.Microseconds()
	if _, err := c.st.Update(ctx, row); err != nil && !errors.Is(err, store.ErrFenced) {
		return err
	}
	return nil
}

// send makes one attempt.
func (j *job) send(ctx context.Context) error {
	now, err := j.c.now(ctx)
	if err != nil {
		return err
	}
	switch tooLate := j.tooLate(now); {
	case j.done.Maybe && tooLate != "":
		return j.later(ctx, store.Unknown, j.done.Lookups, tooLate) // it was to be sent again, and too much time has passed since
	case tooLate != "":
		return j.settle(ctx, j.handler.effect.Fail(j.intent.Key, "it was not sent in time"))
	}
	switch frozen, err := j.c.frozen(ctx, j.s.at.m.Name()); {
	case err != nil:
		return err
	case frozen:
		return j.putOff(ctx, "an operator has stopped the effects of this machine")
	}
	switch v, err := j.standing(ctx); {
	case j.stopped():
		return j.c.giveBack(ctx, j.row, 0)
	case err != nil || !v.Allowed():
		return j.hinder(ctx, v, err)
	}
	switch late, err := j.leaseOver(ctx); {
	case err != nil:
		return err
	case late:
		return nil
	}
	j.done.Waits = 0
	if j.done.Attempts++; j.done.First == 0 {
		j.done.First = now.UnixMicro()
	}
	receipt, err := j.attempt(ctx)
	if err == nil {
		return j.settle(ctx, j.handler.effect.Confirm(j.intent.Key), receipt)
	}
	j.c.cfg.Problem(fmt.Errorf("task %s, effect %s, attempt %d: %w", j.row.Task, j.row.ID, j.done.Attempts, err))
	switch class := machine.ClassOf(err); {
	case class == machine.ClassNotSent:
		j.done.Last = "it could not be sent"
		return j.update(ctx, store.Intent, max(backoff(j.row.ID, j.done.Attempts), asked(err)))
	case class == machine.ClassRefused && !j.done.Maybe:
		return j.settle(ctx, j.handler.effect.Fail(j.intent.Key, "the provider refused it: "+err.Error()))
	}
	j.done.Maybe = true // also when it was refused: an attempt before may have arrived
	return j.later(ctx, store.Unknown, j.done.Lookups, "no answer came")
}

// reconcile looks up what became of an attempt.
func (j *job) reconcile(ctx context.Context) error {
	j.done.Maybe = true
	j.done.Lookups++
	receipt, found, err := j.find(ctx)
	switch {
	case err != nil:
		j.c.cfg.Problem(fmt.Errorf("task %s, effect %s, lookup %d: %w", j.row.Task, j.row.ID, j.done.Lookups, err))
		return j.later(ctx, store.Unknown, j.done.Lookups, "it could not be looked up")
	case found:
		return j.settle(ctx, j.handler.effect.Confirm(j.intent.Key), receipt)
	}
	return j.again(ctx)
}

// again sends under the same key what the provider surely does not have, for as long as it honours the key. After that a lookup
// that finds nothing proves nothing: somebody must find out.
func (j *job) again(ctx context.Context) error {
	switch away, err := j.c.quarantined(ctx); {
	case err != nil:
		return err
	case away:
		return j.later(ctx, store.Unknown, j.done.Lookups, "the provider has nothing under the key; "+quarantineText)
	}
	if s := j.s.State(); !j.s.at.m.Sends(s) {
		return j.later(ctx, store.Unknown, j.done.Lookups, "the provider has nothing under the key, and in "+string(s)+" nothing is sent")
	}
	now, err := j.c.now(ctx)
	if err != nil {
		return err
	}
	if tooLate := j.tooLate(now); tooLate != "" {
		return j.later(ctx, store.Unknown, j.done.Lookups, tooLate)
	}
	j.done.Last = "the provider has nothing under the key; it is sent again"
	return j.update(ctx, store.Intent, 0)
}

// Why an effect of which the provider has nothing is not sent again.
const (
	forgotten = "the provider has nothing under the key, and may have forgotten it"
	overdue   = "the provider has nothing under the key, and the time to send it is over"
)

// tooLate says why the effect may not be sent any more; "" when it may.
func (j *job) tooLate(now time.Time) string {
	switch within := j.handler.effect.Within; {
	case within > 0 && now.Sub(j.intent.At) > within:
		return overdue
	case j.done.Maybe && !j.mayRepeat(now):
		return forgotten
	}
	return ""
}

// mayRepeat tells whether the provider still honours the key of the first attempt.
func (j *job) mayRepeat(now time.Time) bool {
	first := j.intent.At
	if j.done.First != 0 {
		first = time.UnixMicro(j.done.First)
	}
	return j.handler.effect.MayRepeat(first, now)
}

func (j *job) attempt(ctx context.Context) (guard.Observation, error) {
	intent, attempt := j.intent.Copy(), j.done.Attempts
	h := j.call(ctx, func(ctx context.Context) (guard.Observation, bool, error) {
		o, err := j.handler.send(ctx, j.row.Task, intent, attempt)
		return o, false, err
	})
	return h.receipt, h.err
}

func (j *job) find(ctx context.Context) (o guard.Observation, found bool, err error) {
	intent, attempt := j.intent.Copy(), j.done.Attempts
	h := j.call(ctx, func(ctx context.Context) (guard.Observation, bool, error) {
		return j.handler.find(ctx, j.row.Task, intent, attempt)
	})
	return h.receipt, h.found, h.err
}

// settle ends the effect in one commit with its evidence; the row's revision is the fencing token (case B051).
func (j *job) settle(ctx context.Context, p machine.Proposal, receipts ...guard.Observation) error {
	for range maxRaces {
		out, err := j.s.propose(ctx, p.BasedOn(j.s.Version()), []store.Settle{{Effect: j.row.ID, Rev: j.row.Rev}}, receipts)
		switch {
		case errors.Is(err, store.ErrFenced):
			return nil // somebody else took it over, or settled it
		case err != nil:
			return err
		case out.Kind == machine.Committed:
			settled, _ := j.s.at.snap.Intent(j.intent.Key)
			j.tellEffect(ctx, string(settled.Status))
			return nil
		case out.Code() == machine.CodeNoIntent:
			return nil
		case out.Kind == machine.Conflict:
			continue
		}
		j.c.cfg.Problem(fmt.Errorf("task %s, effect %s: %w", j.row.Task, j.row.ID, out.Err()))
		return j.later(ctx, store.Unknown, j.done.Lookups, "its receipt was not accepted: "+out.Code())
	}
	return j.later(ctx, store.Unknown, 0, "other commits kept coming first")
}

// later gives the effect back, to be taken up after a backoff.
func (j *job) later(ctx context.Context, status store.Status, tries int, why string) error {
	j.done.Last = why
	return j.update(ctx, status, backoff(j.row.ID, tries))
}

// putOff leaves an effect for when what hinders it is over: soon at first, and then every quarter of a minute.
func (j *job) putOff(ctx context.Context, why string) error {
	j.done.Waits = min(j.done.Waits+1, mostWaits)
	return j.later(ctx, store.Intent, j.done.Waits, why)
}

func (j *job) update(ctx context.Context, status store.Status, wait time.Duration) error {
	now, err := j.c.st.Now(ctx)
	if err != nil {
		return err
	}
	switch {
	case status == store.Intent:
		j.done.Latest = 0 // from here on it may be sent
	case j.done.Latest == 0:
		j.done.Latest = now
	}
	row := j.row
	row.Status, row.Holder, row.Ready, row.Body = status, "", now+wait.Microseconds(), j.done.encode()
	if _, err := j.c.st.Update(ctx, row); err != nil && !errors.Is(err, store.ErrFenced) {
		return err
	}
	j.tellEffect(ctx, status.String())
	return nil
}

// asked is how long a provider asks to be left alone, within MaxRetryAfter; 0 when its error does not say.
func asked(err error) time.Duration {
	if says, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err); ok {
		return min(says.RetryAfter(), MaxRetryAfter)
	}
	return 0
}

// backoff spreads the effects by their ids, so that those of one outage do not all come back at once, and is the same again for one
// of them: a simulation sees what a service would.
func backoff(id string, tries int) time.Duration {
	d := firstBackoff << min(max(tries-1, 0), 10)
	d = min(d, lastBackoff)
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", id, tries)
	return d/2 + time.Duration(h.Sum64()%uint64(d/2))
}
