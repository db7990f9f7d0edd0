package resume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Wrote sets which model and prompt write this session's proposals from now on, for the history; see
// [machine.Proposal.Written].
func (s *Session) Wrote(revision string) { s.written = revision }

// Propose asks for a commit. When too much is under way it is turned away with [ErrBusy] before anything is done. A proposal
// counts as the model's unless it says otherwise with As. The outcome says what became of it; the error is for what is broken.
// Carried observations belong to this proposal: what the customer just typed. After it the session stands at the outcome's
// version. A proposal that does not say what it was based on is based on the version that the session stands at.
func (s *Session) Propose(ctx context.Context, p machine.Proposal, carried ...guard.Observation) (machine.Outcome, error) {
	ctx, end := s.c.begin(ctx, OperationPropose, s.Task())
	out, err := s.proposed(ctx, p, carried)
	if end != nil {
		end(cmp.Or(err, out.Err()))
	}
	return out, err
}

func (s *Session) proposed(ctx context.Context, p machine.Proposal, carried []guard.Observation) (machine.Outcome, error) {
	if p.Base() == 0 {
		p = p.BasedOn(s.Version())
	}
	if p.Revision() == "" {
		p = p.Written(s.written)
	}
	if p.Event() == "" {
		return s.malformed(ctx, "", machine.Finding{Code: machine.CodeNoEvent, Text: "the proposal is empty"}, carried)
	}
	if err := s.c.board(ctx, s.c.flights, s.Task()); err != nil {
		return machine.Outcome{}, err
	}
	defer s.c.flights.leave(s.Task())
	if out, err := s.tooFast(ctx, p.Event()); err != nil || out.Kind != "" {
		return out, err
	}
	if f := s.mayActAs(p.Actor()); f != nil {
		if err := s.reload(ctx); err != nil {
			return machine.Outcome{}, err
		}
		return s.conclude(ctx, p, nil, s.refused(*f))
	}
	return s.propose(ctx, p, nil, carried)
}

// ProposeRaw is Propose for an event by name and its payload as raw bytes, as a model wrote them. Bytes that are not in the
// required form are a refusal.
func (s *Session) ProposeRaw(ctx context.Context, event string, payload []byte, carried ...guard.Observation) (machine.Outcome, error) {
	info := s.at.m.EventNamed(event)
	if info == nil {
		return s.malformed(ctx, event, machine.Finding{Code: machine.CodeUnknownEvent, Text: fmt.Sprintf("the machine declares no event %.80q", event)}, carried)
	}
	p, err := info.Decode(payload)
	if err != nil {
		return s.malformed(ctx, event, formFinding(err), carried)
	}
	return s.Propose(ctx, p, carried...)
}

// Answer proposes what a model answered to a view. It is based on the version that the view showed, and only an event that
// the view listed is accepted. Output in the wrong form is a refusal, not an error. The error is [ErrView] for the view of
// another task, else what is broken.
func (s *Session) Answer(ctx context.Context, v projection.View, output []byte, carried ...guard.Observation) (machine.Outcome, error) {
	if v.Task() != s.Task() {
		return machine.Outcome{}, fmt.Errorf("view of task %s answered in a session of task %s: %w", v.Task(), s.Task(), ErrView)
	}
	p, err := v.Read(output)
	if err != nil {
		return s.malformed(ctx, "", formFinding(err), carried)
	}
	return s.Propose(ctx, p, carried...)
}

// malformed refuses what is no proposal at all. What the party said meanwhile is kept all the same.
func (s *Session) malformed(ctx context.Context, event string, f machine.Finding, carried []guard.Observation) (machine.Outcome, error) {
	if err := s.c.board(ctx, s.c.flights, s.Task()); err != nil {
		return machine.Outcome{}, err
	}
	defer s.c.flights.leave(s.Task())
	if out, err := s.tooFast(ctx, event); err != nil || out.Kind != "" {
		return out, err
	}
	if err := s.reload(ctx); err != nil {
		return machine.Outcome{}, err
	}
	now, err := s.c.now(ctx)
	if err != nil {
		return machine.Outcome{}, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	evidence, err := s.c.verify(ctx, s.at, carried, now)
	if err != nil {
		evidence = nil
	}
	out := s.refused(f)
	if len(event) <= guard.MaxName {
		out.Event = event
	}
	return s.conclude(ctx, machine.Proposal{}, evidence, out)
}

func formFinding(err error) machine.Finding {
	f := machine.Finding{Code: machine.CodeForm, Text: err.Error()}
	var form *guard.FormError
	if errors.As(err, &form) {
		f.Details = map[string]any{"reason": form.Code, "path": form.Path}
	}
	return f
}

// mayActAs keeps the controller's own hands out of proposals from outside.
func (s *Session) mayActAs(a guard.Actor) *machine.Finding {
	switch {
	case !a.Outside():
		return &machine.Finding{Code: machine.CodeActor, Text: fmt.Sprintf("nobody outside may propose as %q", a)}
	case a == guard.Operator && !s.who.Has(guard.OperatorRole):
		return &machine.Finding{Code: machine.CodeActor, Text: "the principal is no operator"}
	}
	return nil
}

// request is one proposal on its way through the pipeline (DESIGN, How a proposal becomes a version).
type request struct {
	p        machine.Proposal
	received time.Time
	settle   []store.Settle
	evidence []guard.Evidence // carried or held by the session, then pulled
	given    int              // how much of it was not pulled
	asked    []guard.Key
	unsent   sendable // effects that had not been sent when it was judged
	failed   []machine.Finding
}

func (s *Session) propose(ctx context.Context, p machine.Proposal, settle []store.Settle, carried []guard.Observation) (machine.Outcome, error) {
	r := &request{p: p, settle: settle}
	var err error
	if r.received, err = s.c.now(ctx); err != nil {
		return machine.Outcome{}, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	if err := s.reload(ctx); err != nil {
		return machine.Outcome{}, err
	}
	if out, err := s.replayed(ctx, p); err != nil || out.Kind != "" {
		return out, err
	}
	switch r.evidence, err = s.c.verify(ctx, s.at, carried, r.received); {
	case err != nil && !errors.Is(err, guard.ErrEvidence):
		return machine.Outcome{}, err
	case err != nil:
		return s.conclude(ctx, p, nil, s.refused(notEvidence(err)))
	}
	r.evidence = append(r.evidence, s.held...)
	r.given = len(r.evidence)
	for round := 1; ; round++ {
		next, out, err := s.step(ctx, r)
		switch {
		case err != nil:
			return machine.Outcome{}, err
		case out.Kind != machine.Committed:
			if round <= MaxRounds {
				switch more, err := s.ask(ctx, r, out.Missing); {
				case err != nil:
					return machine.Outcome{}, err
				case more:
					continue
				}
			}
			out.Findings = append(out.Findings, r.failed...)
			return s.conclude(ctx, p, r.evidence, out)
		}
		switch done, again, err := s.commit(ctx, r, next, out); {
		case !again:
			return done, err
		case round >= MaxRounds:
			return s.conclude(ctx, p, r.evidence[r.given:], s.refused(machine.Finding{Code: machine.CodeLapsed, Text: "evidence keeps running out before it can be used"}))
		}
		r.asked = nil // what has just run out may be asked for again
	}
}

func (s *Session) step(ctx context.Context, r *request) (machine.Snapshot[any], machine.Outcome, error) {
	now, err := s.c.now(ctx)
	if err != nil {
		return machine.Snapshot[any]{}, machine.Outcome{}, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	if r.unsent, err = s.unsent(ctx); err != nil {
		return machine.Snapshot[any]{}, machine.Outcome{}, err
	}
	return s.judge(ctx, machine.Input{Proposal: r.p, Principal: s.who,
		Evidence: r.evidence, Received: r.received, Now: now, Unsent: r.unsent.keys(), NoPermits: true})
}

// askable is what is missing, can be asked for and was not yet.
func (s *Session) askable(r *request, missing []guard.Key) []guard.Key {
	keys := make([]guard.Key, 0, len(missing))
	for _, k := range missing {
		if _, can := s.c.observers[k.Fact]; can && !slices.Contains(r.asked, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// ask pulls what is missing and was not asked for yet; false when there is nothing to ask. A session that is quiet asks nothing, and
// is told so.
func (s *Session) ask(ctx context.Context, r *request, missing []guard.Key) (bool, error) {
	keys := s.askable(r, missing)
	if len(keys) == 0 {
		return false, nil
	}
	if s.quiet {
		return false, errAsks
	}
	r.asked = append(r.asked, keys...)
	pulled, failed := s.c.pull(ctx, s.at, s.who, keys)
	r.evidence, r.failed = append(r.evidence, pulled...), append(r.failed, failed...)
	return len(pulled) > 0, nil
}

// commit writes the version. It is to be judged again when evidence ran out meanwhile, and when another commit came first and
// the proposal is one that is judged on the newest version.
func (s *Session) commit(ctx context.Context, r *request, next machine.Snapshot[any], out machine.Outcome) (done machine.Outcome, again bool, err error) {
	if agrees(out.Entry()) {
		if away, err := s.c.quarantined(ctx); err != nil || away {
			if err == nil {
				done, err = s.conclude(ctx, r.p, r.evidence, s.refused(machine.Finding{Code: codeQuarantined, Text: quarantineText}))
			}
			return done, false, err
		}
	}
	withdrawn := r.unsent.withdrawn(next)
	l, err := s.c.write(ctx, s.at, next, out.Entry(), slices.Concat(r.settle, withdrawn))
	if err == nil {
		s.at, s.held, s.changed = l, nil, nil
		return out, false, nil
	}
	short, isShort := errors.AsType[*shortError](err)
	switch {
	case errors.Is(err, store.ErrLapsed), errors.As(err, new(*stoppedError)):
		return machine.Outcome{}, true, nil
	case errors.Is(err, store.ErrFenced) && len(withdrawn) > 0: // it has been sent meanwhile, or is being sent
		return machine.Outcome{}, true, nil
	case errors.Is(err, errRecount):
		r.evidence = slices.DeleteFunc(r.evidence, func(e guard.Evidence) bool { return e.Fact() == machine.OpenChildren.Info() })
		return machine.Outcome{}, true, nil
	case errors.As(err, new(*mixedError)):
		done, err = s.conclude(ctx, r.p, r.evidence, s.refused(machine.Finding{Code: machine.CodeForm, Text: err.Error()}))
		return done, false, err
	case isShort:
		if tip, e := s.c.st.Tip(ctx, s.Task()); e != nil || tip != s.at.tip {
			return s.lost(ctx, r, out.Before) // it may be this very task's other commit that took it
		}
		done, err = s.conclude(ctx, r.p, r.evidence, s.refused(short.finding()))
		return done, false, err
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrTaken):
		return s.lost(ctx, r, out.Before)
	case errors.Is(err, guard.ErrEvidence):
		evidence, _ := withoutUsed(r.evidence, err)
		done, err = s.conclude(ctx, r.p, evidence, s.refused(notEvidence(err)))
		return done, false, err
	}
	return machine.Outcome{}, false, err
}

// lost says what became of a proposal that another commit came before.
func (s *Session) lost(ctx context.Context, r *request, base uint64) (done machine.Outcome, again bool, err error) {
	if err := s.reload(ctx); err != nil {
		return machine.Outcome{}, false, err
	}
	if done, err = s.replayed(ctx, r.p); err != nil || done.Kind != "" {
		return done, false, err
	}
	before := len(r.evidence)
	given := r.evidence
	switch r.evidence, err = s.c.unseen(ctx, s.at, given); {
	case errors.Is(err, guard.ErrEvidence):
		evidence, _ := withoutUsed(given, err)
		done, err = s.conclude(ctx, r.p, evidence, s.refused(notEvidence(err)))
		return done, false, err
	case err != nil:
		return machine.Outcome{}, false, err
	}
	r.given -= before - len(r.evidence) // what was pulled has no id of its own
	if r.p.Narrows() && s.Version() > base {
		return machine.Outcome{}, true, nil
	}
	lost := s.refused(machine.Finding{Code: machine.CodeStaleVersion,
		Text: fmt.Sprintf("based on version %d, and another proposal was committed first", base)})
	lost.Kind = machine.Conflict
	done, err = s.conclude(ctx, r.p, r.evidence, lost)
	return done, false, err
}

// conclude ends a proposal that is no commit: evidence that it brought to light is committed on its own (law 12), the attempt
// is kept, and the outcome says where the task stands and what is permitted now.
func (s *Session) conclude(ctx context.Context, p machine.Proposal, evidence []guard.Evidence, out machine.Outcome) (machine.Outcome, error) {
	if p.Event() != "" {
		out.Event = p.Event()
	}
	out.Findings = append(out.Findings, s.beside(p, evidence)...)
	s.c.note(ctx, s.at, attemptOf(p, s.who, out))
	s.c.tellRefusal(ctx, s.at, p.Actor(), out)
	at := s.Version()
	if _, err := s.land(ctx, evidence); err != nil {
		return out, err
	}
	if s.Version() > max(at, out.Version) {
		out.Observed = s.Version()
	}
	out.Task, out.Version, out.State = s.Task(), s.Version(), s.State()
	permits, err := s.permits(ctx)
	out.Permits = permits
	return out, err
}

// beside tells of carried evidence that is about something else than the task and the proposal: it was let go (law 3).
func (s *Session) beside(p machine.Proposal, evidence []guard.Evidence) []machine.Finding {
	var out []machine.Finding
	for _, e := range evidence {
		k, about := e.Entry().Key, e.Fact().About
		if !e.WasPulled() && !s.at.m.Relevant(s.at.snap, e.Entry()) && !slices.Contains(p.Subjects()[about], k.Subject) && about != guard.OfferKind {
			out = append(out, machine.Finding{Code: machine.CodeOtherSubject, Text: k.String() + " is not about this task, and was let go"})
		}
	}
	return out
}
