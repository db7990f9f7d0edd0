package resume

import (
	"context"
	"fmt"
	"slices"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Session is one principal at one task, standing at the version that it last read. Not safe for concurrent use.
type Session struct {
	c       *Controller
	who     guard.Principal
	own     bool // the controller's own hand: it acts for nobody
	quiet   bool // it asks no source: see errAsks
	at      loaded
	written string           // revision of the model and prompt that write its proposals
	held    []guard.Evidence // observed again and found unchanged; committed with the next proposal
	changed []Change         // what resuming found different
}

// Snapshot is a copy of the version that the session stands at; [machine.As] gives its data the type back.
func (s *Session) Snapshot() machine.Snapshot[any] { return s.at.m.Copy(s.at.snap) }

// Task is the task's id.
func (s *Session) Task() string { return s.at.snap.Task }

// Version that the session stands at; proposals that do not say are based on it.
func (s *Session) Version() uint64 { return s.at.snap.Version }

// State that the session stands at.
func (s *Session) State() machine.State { return s.at.snap.State }

// Principal is who the session belongs to.
func (s *Session) Principal() guard.Principal { return s.who }

// Offers that are open at the version that the session stands at. One may have run out since: it counts no more, and [Session.Report]
// leaves it out.
func (s *Session) Offers() []machine.OpenOffer {
	out := slices.Clone(s.at.snap.Offers)
	for i := range out {
		out[i] = out[i].Copy()
	}
	return out
}

// Permits says what may be proposed now, as far as that can be said without a payload. Errors wrap [ErrNoTask] when the principal may no
// longer see the task, or are the store's.
func (s *Session) Permits(ctx context.Context) ([]machine.Permit, error) {
	if !s.c.cfg.May(s.who, s.at.snap.Head) {
		return nil, fmt.Errorf("task %s: %w", s.Task(), ErrNoTask)
	}
	return s.permits(ctx)
}

func (s *Session) permits(ctx context.Context) ([]machine.Permit, error) {
	now, err := s.c.now(ctx)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	unsent, err := s.unsent(ctx)
	if err != nil {
		return nil, err
	}
	return s.at.m.Permits(s.at.snap, machine.Input{Principal: s.who, Evidence: s.held, Now: now, Received: now, Unsent: unsent.keys()}), nil
}

// Project is what a model may see for a decision; untrusted text goes in as quotes. Errors wrap [projection.ErrNotNow], or
// are the projection's or the store's.
func (s *Session) Project(ctx context.Context, d *projection.Decision, said ...projection.Quote) (projection.View, error) {
	if !s.c.cfg.May(s.who, s.at.snap.Head) {
		return projection.View{}, fmt.Errorf("task %s: %w", s.Task(), ErrNoTask)
	}
	now, err := s.c.now(ctx)
	if err != nil {
		return projection.View{}, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	return d.View(s.believed(), s.who, now, said...)
}

// believed is the snapshot with what the session observed again.
func (s *Session) believed() machine.Snapshot[any] {
	snap := s.at.snap
	snap.Facts, _ = snap.Facts.With(s.held...)
	return snap
}

// newest is the newest version, if the principal may still act on the task. The session stays where it stands.
func (s *Session) newest(ctx context.Context) (loaded, error) {
	l, err := s.c.load(ctx, s.Task())
	if err != nil {
		return loaded{}, err
	}
	if !s.own && !s.c.cfg.May(s.who, l.snap.Head) {
		return loaded{}, fmt.Errorf("task %s: %w", s.Task(), ErrNoTask)
	}
	return l, nil
}

// reload moves the session to the newest version, if the principal may still act on the task.
func (s *Session) reload(ctx context.Context) error {
	l, err := s.newest(ctx)
	if err != nil {
		return err
	}
	if l.tip != s.at.tip {
		s.held = nil // it was asked for at another version, and must not win over what came in since
	}
	s.at = l
	return nil
}

// refresh observes again what has gone stale.
func (s *Session) refresh(ctx context.Context) error {
	if s.at.m.IsFinal(s.State()) {
		return nil
	}
	now, err := s.c.now(ctx)
	if err != nil {
		return fmt.Errorf("task %s: %w", s.Task(), err)
	}
	var stale []guard.Key
	for _, e := range s.at.snap.Facts.All() {
		info := s.at.m.FactNamed(e.Key.Fact)
		if info != nil && (e.Disputed || info.MaxAge > 0 && now.Sub(e.At) > info.MaxAge) {
			stale = append(stale, e.Key)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	before := s.Snapshot().Facts
	evidence, _ := s.c.pull(ctx, s.at, s.who, stale)
	if s.held, err = s.land(ctx, evidence); err != nil {
		return err
	}
	s.changed = changes(s.at.m, before, s.Snapshot().Facts)
	return nil
}

// Look asks the sources of facts now, and commits what is news. The facts are those about what the task's data names. What
// could not be had stays unknown and is told in the outcome's findings. Errors wrap [ErrNoTask] or [ErrBusy], or are the store's.
func (s *Session) Look(ctx context.Context, facts ...guard.AnyFact) (machine.Outcome, error) {
	if err := s.reload(ctx); err != nil {
		return machine.Outcome{}, err
	}
	if err := s.c.board(ctx, s.c.flights, s.Task()); err != nil {
		return machine.Outcome{}, err
	}
	defer s.c.flights.leave(s.Task())
	now, err := s.c.now(ctx)
	if err != nil {
		return machine.Outcome{}, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	scene := s.at.m.Look(s.at.snap, s.who, now)
	var keys []guard.Key
	for _, f := range facts {
		if f == nil || f.Info() == nil || s.at.m.FactNamed(f.Info().Name) != f.Info() {
			return s.refused(machine.Finding{Code: machine.CodeNotEvidence, Text: "the machine declares no such fact"}), nil
		}
		if f.Subject() != "" {
			keys = append(keys, guard.Key{Fact: f.Info().Name, Subject: f.Subject()})
			continue
		}
		for _, id := range scene.Subjects(f.Info().About) {
			keys = append(keys, guard.Key{Fact: f.Info().Name, Subject: id})
		}
	}
	evidence, failed := s.c.pull(ctx, s.at, s.who, keys)
	evidence = slices.DeleteFunc(evidence, func(e guard.Evidence) bool { return !s.at.m.Relevant(s.at.snap, e.Entry()) })
	if len(evidence) == 0 {
		out := s.refused(append(failed, machine.Finding{Code: machine.CodeNotEvidence, Text: "nothing was observed"})...)
		return out, nil
	}
	out, err := s.observe(ctx, evidence)
	out.Findings = append(out.Findings, failed...)
	return out, err
}

func (s *Session) refused(f ...machine.Finding) machine.Outcome {
	return machine.Outcome{Kind: machine.Refused, Task: s.Task(), Version: s.Version(), State: s.State(), Findings: f}
}
