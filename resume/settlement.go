package resume

import (
	"context"
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

// DefaultAbsentAfter is how long an effect must have been out of everybody's hands before a person may say that it has not happened.
const DefaultAbsentAfter = time.Hour

// Errors of a settlement by hand.
var (
	// ErrNotUnknown says that the effect's outcome is not unknown: nobody has tried it yet, a worker is at it, or it is settled.
	ErrNotUnknown = errors.New("the effect is not unknown")
	// ErrEarly says that the effect may still happen at the provider ([EarlyError]).
	ErrEarly = errors.New("the effect may still happen")
	// ErrThere says that the provider has the effect: its own lookup finds it, and a worker will settle it by that.
	ErrThere = errors.New("the provider has the effect")
	// ErrQuarantined says that the store was restored, imported into or copied, and is not released: what it does not know the original
	// may be doing.
	ErrQuarantined = errors.New(quarantineText)
)

// EarlyError says from when on a person may say that an effect has not happened. It wraps [ErrEarly].
type EarlyError struct {
	Key  string
	From time.Time // zero while no worker has looked it up, so that nobody knows when it was last sent
}

// Error names the effect and the time.
func (e *EarlyError) Error() string {
	if e.From.IsZero() {
		return fmt.Sprintf("effect %s: when it was last sent is not known before a worker has looked it up once: %v", e.Key, ErrEarly)
	}
	return fmt.Sprintf("effect %s can be called absent from %s on: %v", e.Key, e.From.UTC().Format(time.RFC3339), ErrEarly)
}

// Unwrap is ErrEarly.
func (e *EarlyError) Unwrap() error { return ErrEarly }

// Settlement is what a person has found out about an effect that no lookup settles.
type Settlement struct {
	Task, Key string
	Rev       uint64 // of the effect, as [Controller.Unsettled] listed it: the fencing token
	Reason    string // why it counts: at most machine.MaxReason bytes
	Proof     string // where the proof lies: a ticket, a statement of the provider; at most machine.MaxProof bytes
	// Receipt is the provider's, as the JSON of the effect's receipt: it has happened. Nil says that it has not.
	Receipt []byte
	// Dry judges all of it, and changes nothing.
	Dry bool
}

// SettleByHand ends an effect whose outcome is unknown by what an operator has found out, where the provider's lookup cannot tell (law 8: a
// person looks instead). With a receipt it is confirmed, if that matches what was intended; without one it has failed, and the edge is taken
// that the machine declares for that. What it holds of resources is used up or given back as by any outcome. The history keeps who said
// so, why, and where the proof lies.
//
// It is refused while a worker is at it, and when one has been since it was listed (the revision). An effect is called absent only when it is
// out of everybody's hands: Config.AbsentAfter must have passed since it may last have been sent and since the store was released, and the
// time within which it may be sent at all ([machine.SendWithin]) must be over; the provider's own lookup is asked once more. A receipt
// that comes later all the same is found by [Controller.Reconcile], and uses up again what it was given back.
//
// The outcome is the machine's. Errors wrap [ErrOperator] (without a reason and a proof as well), [ErrNoTask], [ErrNotUnknown],
// [store.ErrFenced] for another revision, [ErrEarly], [ErrThere], [ErrQuarantined], [guard.ErrForm] for a receipt that is none, or are
// the store's.
func (c *Controller) SettleByHand(ctx context.Context, by guard.Principal, s Settlement) (machine.Outcome, error) {
	out, err := c.settleByHand(ctx, by, s)
	if err != nil {
		return out, fmt.Errorf("settle effect %.300q by hand: %w", s.Key, err)
	}
	return out, nil
}

func (c *Controller) settleByHand(ctx context.Context, by guard.Principal, s Settlement) (machine.Outcome, error) {
	said := func(text string, most int) bool { return strings.TrimSpace(text) != "" && len(text) <= most }
	if !by.Has(guard.OperatorRole) || by.ID == "" || !said(s.Reason, machine.MaxReason) || !said(s.Proof, machine.MaxProof) {
		return machine.Outcome{}, fmt.Errorf("%w, and a proof", ErrOperator)
	}
	l, err := c.enter(ctx, s.Task, by)
	if err != nil {
		return machine.Outcome{}, err
	}
	j, err := c.byHand(ctx, l, by, s)
	if err != nil {
		return machine.Outcome{}, err
	}
	p, receipts := j.handler.effect.Fail(s.Key, s.Reason), []guard.Observation(nil)
	if s.Receipt != nil {
		o, err := j.handler.effect.Receipt.Observe(j.handler.by, s.Receipt, s.Key, s.Proof, time.Time{})
		if err != nil {
			return machine.Outcome{}, err
		}
		p, receipts = j.handler.effect.Confirm(s.Key), []guard.Observation{o}
	} else if err := j.surelyAbsent(ctx); err != nil {
		return machine.Outcome{}, err
	}
	p = p.FoundByHand(machine.ByHand{Reason: s.Reason, Proof: s.Proof})
	return j.handIn(ctx, p, receipts, s.Dry)
}

// byHand is the effect as a job in an operator's hands: unknown, and at the revision that was listed.
func (c *Controller) byHand(ctx context.Context, l loaded, by guard.Principal, s Settlement) (*job, error) {
	_, rows, err := c.st.Load(ctx, s.Task)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rows, func(e store.Effect) bool { return e.ID == s.Key })
	if at < 0 {
		return nil, fmt.Errorf("it is none, or is settled: %w", ErrNotUnknown)
	}
	row := rows[at]
	intent, ok := l.snap.Intent(s.Key)
	switch {
	case row.Rev != s.Rev:
		return nil, &store.FencedError{Task: s.Task, Effect: s.Key, Want: s.Rev, Have: row.Rev}
	case row.Status != store.Unknown:
		return nil, fmt.Errorf("it is %v: %w", row.Status, ErrNotUnknown)
	case !ok || !intent.Unsettled():
		return nil, fmt.Errorf("it is settled: %w", ErrNotUnknown)
	}
	row.Was = row.Status
	j := &job{c: c, row: row, intent: intent, handler: c.handlers[intent.Effect], s: &Session{c: c, who: by, own: true, at: l}}
	if j.done, err = decodeProgress(row.Body); err != nil {
		return nil, fmt.Errorf("its progress: %w: %w", store.ErrCorrupt, err)
	}
	return j, nil
}

// surelyAbsent sees that nothing can make the effect happen any more, and that the provider does not have it, as far as it can tell.
func (j *job) surelyAbsent(ctx context.Context) error {
	switch away, err := j.c.quarantined(ctx); {
	case err != nil:
		return err
	case away:
		return ErrQuarantined
	}
	from, err := j.c.absentFrom(ctx, j.intent, j.done, j.handler.effect.Within)
	if err != nil {
		return err
	}
	now, err := j.c.now(ctx)
	if err != nil {
		return err
	}
	if from.IsZero() || now.Before(from) {
		return &EarlyError{j.row.ID, from}
	}
	if _, found, err := j.find(ctx); err == nil && found {
		return ErrThere
	}
	return nil
}

// absentFrom is from when on a person may say that an effect has not happened; zero when nobody knows when it was last sent.
func (c *Controller) absentFrom(ctx context.Context, i machine.Intent, done progress, within time.Duration) (time.Time, error) {
	if done.Latest == 0 {
		return time.Time{}, nil
	}
	last := time.UnixMicro(done.Latest).UTC()
	if c.st.Info().Incarnation > 1 { // the original may have sent it for as long as it ran
		r, _, err := c.st.Load(ctx, incarnationID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return time.Time{}, fmt.Errorf("the store's incarnation: %w", err)
		}
		var release Released
		if err == nil {
			if err := json.Unmarshal(r.Snapshot, &release); err != nil {
				return time.Time{}, fmt.Errorf("the store's incarnation: %w: %w", store.ErrCorrupt, err)
			}
		}
		last = later(last, release.At)
	}
	last = last.Add(c.cfg.AbsentAfter)
	if within > 0 {
		last = later(last, i.At.Add(within))
	}
	return last, nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// handIn commits the end; the effect's revision is the fencing token. A receipt that is refused is not kept: it is what a person wrote down,
// and as evidence it would stand for the provider's own word.
func (j *job) handIn(ctx context.Context, p machine.Proposal, receipts []guard.Observation, dry bool) (machine.Outcome, error) {
	for range maxRaces {
		r, next, out, err := j.s.wouldBe(ctx, p.BasedOn(j.s.Version()), receipts)
		if err != nil || out.Kind != machine.Committed || dry {
			return out, err
		}
		ends := append([]store.Settle{{Effect: j.row.ID, Rev: j.row.Rev}}, r.unsent.withdrawn(next)...)
		l, err := j.c.write(ctx, j.s.at, next, out.Entry(), ends)
		switch {
		case err == nil:
			j.s.at = l
			settled, _ := next.Intent(j.row.ID)
			j.tellEffect(ctx, string(settled.Status))
			return out, nil
		case !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrLapsed):
			return out, err
		}
		if err := j.s.reload(ctx); err != nil {
			return out, err
		}
	}
	return machine.Outcome{}, fmt.Errorf("other commits kept coming first: %w", store.ErrConflict)
}

// wouldBe judges a proposal at the version where the session stands. What it needs is observed; nothing is committed or noted.
func (s *Session) wouldBe(ctx context.Context, p machine.Proposal, carried []guard.Observation) (*request, machine.Snapshot[any], machine.Outcome, error) {
	r := &request{p: p}
	var next machine.Snapshot[any]
	var err error
	if r.received, err = s.c.now(ctx); err != nil {
		return r, next, machine.Outcome{}, err
	}
	switch r.evidence, err = s.c.verify(ctx, s.at, carried, r.received); {
	case errors.Is(err, guard.ErrEvidence):
		return r, next, s.refused(notEvidence(err)), nil
	case err != nil:
		return r, next, machine.Outcome{}, err
	}
	for round := 1; ; round++ {
		next, out, err := s.step(ctx, r)
		if err != nil || out.Kind == machine.Committed || round > MaxRounds {
			return r, next, out, err
		}
		if more, err := s.ask(ctx, r, out.Missing); err != nil || !more {
			return r, next, out, err
		}
	}
}
