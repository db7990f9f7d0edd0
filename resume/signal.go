package resume

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// SignalKind says what a [Signal] is about. The kinds are stable: logs and alerts name them.
type SignalKind string

// The kinds of signals.
const (
	SignalCommit   SignalKind = "commit"   // a version landed; Result is the state that the task is in
	SignalRefusal  SignalKind = "refusal"  // a proposal or an observation was not committed; Result is the kind of outcome
	SignalSecurity SignalKind = "security" // a refusal of what nobody honest tries: counted for an operator
	SignalVoid     SignalKind = "void"     // an offer is no longer open; Result is why
	SignalEvidence SignalKind = "evidence" // a source gave nothing that could be used
	SignalEffect   SignalKind = "effect"   // an effect was worked on; Result is intent, unknown, confirmed or failed
	SignalBusy     SignalKind = "busy"     // a call was turned away with ErrBusy; Result is whose limit it met, controller or task
	SignalOperator SignalKind = "operator" // an operator stopped effects of Machine or let them go on, or released the store; Result is frozen, thawed or released
)

// Signal is one thing that happened, for logs, metrics and traces. It holds names, codes and the one task that it is about: no payload,
// no fact's value or subject, no text of a stranger, and no other task.
type Signal struct {
	Kind    SignalKind
	Task    string
	Machine string
	Version uint64
	Event   string
	Result  string
	Code    string // of the first finding
	Actor   guard.Actor
	Source  string // authority, of evidence
	Fact    string
	Effect  string
	Attempt int
}

// Operation is what a [Monitor] may measure as one piece of work.
type Operation string

// The operations.
const (
	OperationPropose Operation = "propose" // one proposal, from its arrival to its outcome
	OperationObserve Operation = "observe" // one push of a source
	OperationPerform Operation = "perform" // one attempt or lookup of an effect
	OperationResume  Operation = "resume"  // one task resumed, what is asked for it included
	OperationTimer   Operation = "timer"   // the timers of one task that have come due
)

// Monitor hears what a controller does. Both methods are called from many goroutines at once, on the path of the work: they must not
// block. Package telemetry has one for OpenTelemetry.
type Monitor interface {
	// Signal tells of one thing that happened.
	Signal(context.Context, Signal)
	// Begin is called where an operation begins, and what it returns where it ends, with its error; the context goes down into it.
	Begin(ctx context.Context, what Operation, task string) (context.Context, func(error))
}

// tell hands a signal on. What it costs is paid only where somebody listens.
func (c *Controller) tell(ctx context.Context, s Signal) {
	if c.cfg.Monitor != nil {
		c.cfg.Monitor.Signal(ctx, s)
	}
	if c.cfg.Logger != nil {
		s.log(ctx, c.cfg.Logger)
	}
}

// heard tells whether anybody listens.
func (c *Controller) heard() bool { return c.cfg.Monitor != nil || c.cfg.Logger != nil }

// begin begins an operation; nil when nobody measures it.
func (c *Controller) begin(ctx context.Context, what Operation, task string) (context.Context, func(error)) {
	if c.cfg.Monitor == nil {
		return ctx, nil
	}
	return c.cfg.Monitor.Begin(ctx, what, task)
}

func (s Signal) log(ctx context.Context, l *slog.Logger) {
	level := slog.LevelInfo
	switch {
	case s.Kind == SignalCommit:
		level = slog.LevelDebug
	case s.Kind == SignalSecurity, s.Kind == SignalEvidence, s.Kind == SignalBusy, s.Kind == SignalOperator,
		s.Kind == SignalEffect && s.Result == "unknown":
		level = slog.LevelWarn
	}
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 12)
	for _, a := range []struct{ key, value string }{{"task", s.Task}, {"machine", s.Machine}, {"event", s.Event}, {"result", s.Result},
		{"code", s.Code}, {"actor", string(s.Actor)}, {"source", s.Source}, {"fact", s.Fact}, {"effect", s.Effect}} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.key, a.value))
		}
	}
	if s.Version != 0 {
		attrs = append(attrs, slog.Uint64("version", s.Version))
	}
	if s.Attempt != 0 {
		attrs = append(attrs, slog.Int("attempt", s.Attempt))
	}
	l.LogAttrs(ctx, level, "pawl."+string(s.Kind), attrs...)
}

// tellCommit tells of a version and of the offers that it voids.
func (c *Controller) tellCommit(ctx context.Context, l loaded, e *machine.Entry) {
	if !c.heard() {
		return
	}
	s := Signal{Kind: SignalCommit, Task: l.snap.Task, Machine: l.snap.Machine, Version: e.Version, Event: e.Event, Result: string(e.To), Actor: e.Actor}
	c.tell(ctx, s)
	for _, v := range e.Voided {
		if v.Reason != machine.VoidUsed {
			s.Kind, s.Result = SignalVoid, v.Reason
			c.tell(ctx, s)
		}
	}
}

const codeNoTask = "no_task" // a task was asked for that is not there; who asks for many of them guesses

// alarming are the codes of refusals of what nobody honest tries.
var alarming = []string{machine.CodeForbidden, machine.CodeActor, machine.CodeOtherSubject, machine.CodeNotApprover, machine.CodeNotEvidence,
	machine.CodeReceiptDiffers, machine.CodeHappened, codeKeyReused}

// tellRefusal tells of an outcome that is no commit. The event of one that the machine does not declare is a stranger's text.
func (c *Controller) tellRefusal(ctx context.Context, l loaded, actor guard.Actor, out machine.Outcome) {
	if !c.heard() {
		return
	}
	s := Signal{Kind: SignalRefusal, Task: l.snap.Task, Machine: l.snap.Machine, Version: l.snap.Version, Result: string(out.Kind), Code: out.Code()}
	if l.m.EventNamed(out.Event) != nil {
		s.Event = out.Event
	}
	if actor.Outside() {
		s.Actor = actor
	}
	c.tell(ctx, s)
	for _, f := range out.Findings {
		if slices.Contains(alarming, f.Code) {
			s.Kind, s.Code = SignalSecurity, f.Code
			c.tell(ctx, s)
			return
		}
	}
}

// tellSilence tells of a source that gave nothing.
func (c *Controller) tellSilence(ctx context.Context, l loaded, fact string, err error) {
	if !c.heard() {
		return
	}
	s := Signal{Kind: SignalEvidence, Task: l.snap.Task, Machine: l.snap.Machine, Version: l.snap.Version, Fact: fact, Code: "failed"}
	if info := l.m.FactNamed(fact); info != nil {
		s.Source = info.Source
	}
	var evidence *guard.EvidenceError
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		s.Code = "late"
	case errors.Is(err, errOtherSubject):
		s.Code = machine.CodeOtherSubject
	case errors.As(err, &evidence):
		s.Code = evidence.Code
	}
	c.tell(ctx, s)
}

// tellEffect tells how far an effect has come.
func (j *job) tellEffect(ctx context.Context, result string) {
	if !j.c.heard() {
		return
	}
	j.c.tell(ctx, Signal{Kind: SignalEffect, Task: j.row.Task, Machine: j.s.at.m.Name(), Version: j.s.Version(), Effect: j.intent.Effect,
		Result: result, Attempt: j.done.Attempts})
}
