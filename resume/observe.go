package resume

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// maxRaces is how often an observation that lost a race is judged again: it is about the world, not about a version.
const maxRaces = 16

// Observe commits what a source pushed, and takes the edge that it drives: a webhook, a message. The handle or the signature
// that made the observations is the authority; no principal is needed. A receipt of an unsettled effect settles it. What is
// no news is Unchanged, what is no evidence or not about this task is Refused. Errors wrap [ErrNoTask] or [ErrBusy], or are the store's.
func (c *Controller) Observe(ctx context.Context, task string, observations ...guard.Observation) (machine.Outcome, error) {
	if err := machine.CheckTaskID(task); err != nil {
		return machine.Outcome{}, err
	}
	if err := c.board(ctx, c.flights, task); err != nil {
		return machine.Outcome{}, err
	}
	defer c.flights.leave(task)
	l, err := c.load(ctx, task)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrErased) {
		return machine.Outcome{}, fmt.Errorf("task %s: %w", task, ErrNoTask)
	}
	if err != nil {
		return machine.Outcome{}, err
	}
	if l, err = c.tryAdvance(ctx, l); err != nil {
		return machine.Outcome{}, err
	}
	s := &Session{c: c, own: true, at: l}
	return s.pushed(ctx, observations)
}

// Observe is [Controller.Observe] for the session's task.
func (s *Session) Observe(ctx context.Context, observations ...guard.Observation) (machine.Outcome, error) {
	if err := s.c.board(ctx, s.c.flights, s.Task()); err != nil {
		return machine.Outcome{}, err
	}
	defer s.c.flights.leave(s.Task())
	return s.pushed(ctx, observations)
}

func (s *Session) pushed(ctx context.Context, observations []guard.Observation) (machine.Outcome, error) {
	ctx, end := s.c.begin(ctx, OperationObserve, s.Task())
	out, err := s.take(ctx, observations)
	if end != nil {
		end(err)
	}
	return out, err
}

func (s *Session) take(ctx context.Context, observations []guard.Observation) (machine.Outcome, error) {
	now, err := s.c.now(ctx)
	if err != nil {
		return machine.Outcome{}, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	if err := s.reload(ctx); err != nil {
		return machine.Outcome{}, err
	}
	if len(observations) == 0 {
		return s.unchanged(), nil
	}
	evidence, err := s.c.verify(ctx, s.at, observations, now)
	switch {
	case err != nil && !errors.Is(err, guard.ErrEvidence):
		return machine.Outcome{}, err
	case err == nil && len(evidence) == 0:
		return s.unchanged(), nil
	case err != nil:
		return s.conclude(ctx, machine.Proposal{}, nil, s.refused(notEvidence(err)))
	}
	if out, done, err := s.receipts(ctx, evidence, observations); done || err != nil {
		return out, err
	}
	out, err := s.observe(ctx, evidence)
	if err == nil && out.Kind == machine.Refused {
		s.c.note(ctx, s.at, attemptOf(machine.Proposal{}, s.who, out))
		s.c.tellRefusal(ctx, s.at, "", out)
	}
	return out, err
}

func (s *Session) unchanged() machine.Outcome {
	return machine.Outcome{Kind: machine.Unchanged, Task: s.Task(), Version: s.Version(), State: s.State()}
}

// receipts settles the unsettled effect that an observation is the receipt of.
func (s *Session) receipts(ctx context.Context, evidence []guard.Evidence, observations []guard.Observation) (machine.Outcome, bool, error) {
	for _, e := range evidence {
		intent, ok := s.at.snap.Intent(e.Entry().Key.Subject)
		if !ok || !intent.Unsettled() || e.Fact() != s.at.m.EffectNamed(intent.Effect).Receipt {
			continue
		}
		row, err := s.c.row(ctx, s.Task(), intent.Key)
		if err != nil || row == nil {
			return machine.Outcome{}, false, err
		}
		p := s.at.m.EffectNamed(intent.Effect).Confirm(intent.Key).BasedOn(s.Version())
		out, err := s.propose(ctx, p, []store.Settle{{Effect: intent.Key, Rev: row.Rev}}, observations)
		if err != nil && !errors.Is(err, store.ErrFenced) {
			return out, true, err
		}
		return out, err == nil, nil
	}
	return machine.Outcome{}, false, nil
}

// row is the store's row of an unsettled effect; nil when it is settled.
func (c *Controller) row(ctx context.Context, task, key string) (*store.Effect, error) {
	_, effects, err := c.st.Load(ctx, task)
	if err != nil {
		return nil, fmt.Errorf("task %s, effect %s: %w", task, key, err)
	}
	if i := slices.IndexFunc(effects, func(e store.Effect) bool { return e.ID == key }); i >= 0 {
		return &effects[i], nil
	}
	return nil, nil
}

// land commits, of some evidence, what is news about this task, and gives back what only confirms what is believed: that is
// no reason for a version, or asking would make others conflict. What is not about this task is let go.
func (s *Session) land(ctx context.Context, evidence []guard.Evidence) (confirmed []guard.Evidence, err error) {
	_, merged := s.at.snap.Facts.With(evidence...)
	var news []guard.Evidence
	for i, e := range evidence {
		switch {
		case !s.at.m.Relevant(s.at.snap, e.Entry()):
		case e.WasPulled() && merged[i] == guard.Renewed:
			confirmed = append(confirmed, e)
		default:
			news = append(news, e)
		}
	}
	if len(news) > 0 {
		_, err = s.observe(ctx, news)
	}
	return confirmed, err
}

// observe applies evidence to the newest version, again when another commit came first.
func (s *Session) observe(ctx context.Context, evidence []guard.Evidence) (machine.Outcome, error) {
	for range maxRaces {
		now, err := s.c.now(ctx)
		if err != nil {
			return machine.Outcome{}, fmt.Errorf("task %s: %w", s.Task(), err)
		}
		unsent, err := s.unsent(ctx)
		if err != nil {
			return machine.Outcome{}, err
		}
		next, out, err := s.judge(ctx, machine.Input{Principal: s.who, Evidence: evidence, Received: now, Now: now, Unsent: unsent.keys()})
		if err != nil {
			return machine.Outcome{}, err
		}
		if out.Kind != machine.Committed {
			return out, nil
		}
		withdrawn := unsent.withdrawn(next)
		l, err := s.c.write(ctx, s.at, next, out.Entry(), withdrawn)
		if err == nil {
			s.at = l
			return out, nil
		}
		if errors.Is(err, store.ErrFenced) && len(withdrawn) > 0 {
			continue // it has been sent meanwhile, or is being sent
		}
		if errors.Is(err, errRecount) {
			break // whoever looked must look again
		}
		if unused, used := withoutUsed(evidence, err); used {
			if evidence = unused; len(evidence) == 0 {
				return s.refused(notEvidence(err)), nil
			}
			continue
		}
		if errors.As(err, new(*stoppedError)) {
			continue
		}
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrLapsed) && !errors.Is(err, store.ErrTaken) {
			return machine.Outcome{}, err
		}
		if err := s.reload(ctx); err != nil {
			return machine.Outcome{}, err
		}
		switch evidence, err = s.c.unseen(ctx, s.at, evidence); {
		case errors.Is(err, guard.ErrEvidence):
			return s.refused(notEvidence(err)), nil
		case err != nil:
			return machine.Outcome{}, err
		}
		if len(evidence) == 0 {
			return s.unchanged(), nil
		}
	}
	out := s.refused(machine.Finding{Code: machine.CodeStaleVersion, Text: "other commits kept coming first"})
	out.Kind = machine.Conflict
	return out, nil
}
