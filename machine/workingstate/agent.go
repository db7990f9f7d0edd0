package workingstate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Committer is what an [Agent] needs of a controller; *resume.Controller is one. It keeps this package below resume. Its
// errors are passed on as they are: resume.ErrNoTask means that the agent is unknown, or another's.
type Committer interface {
	// Ensure starts a task unless it exists, and tells whether it did.
	Ensure(ctx context.Context, t machine.Task, who guard.Principal) (started bool, err error)
	// Update proposes to the newest version.
	Update(ctx context.Context, task string, who guard.Principal, propose func(machine.Snapshot[any]) machine.Proposal) (machine.Outcome, error)
	// UpdateRaw is Update with a payload as raw bytes.
	UpdateRaw(ctx context.Context, task string, who guard.Principal, event string, payload []byte, dress func(machine.Proposal) machine.Proposal) (machine.Outcome, error)
	// Latest is the newest version, and the instant at which it was read.
	Latest(ctx context.Context, task string, who guard.Principal) (machine.Snapshot[any], time.Time, error)
	// Recent are the newest history entries of the named events, newest first.
	Recent(ctx context.Context, task string, who guard.Principal, n int, events ...string) ([]machine.Entry, error)
	// Attempts are the newest refused attempts, newest first.
	Attempts(ctx context.Context, task string, who guard.Principal) ([]machine.Attempt, error)
}

// ErrAgent says that an id names no agent, or that a task holds no working state: [CodeUnknownAgent].
var ErrAgent = errors.New("no such agent")

// ErrRun says that the id of a wake-up, or the revision of a model, cannot be recorded.
var ErrRun = errors.New("not the id of a wake-up")

var (
	agentForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	runForm   = regexp.MustCompile(`^[!-~]{0,64}$`)
)

// CheckAgent says whether an id may name an agent: 1 to [MaxAgent] of A-Z, a-z, 0-9, - and _. Errors wrap [ErrAgent].
func CheckAgent(id string) error {
	if !agentForm.MatchString(id) {
		return fmt.Errorf("agent %.80q must be 1 to %d of A-Z a-z 0-9 - _: %w", id, MaxAgent, ErrAgent)
	}
	return nil
}

// TaskID is the task that holds an agent's working state. Errors wrap [ErrAgent].
func TaskID(agent string) (string, error) { return Name + ":" + agent, CheckAgent(agent) }

// Agent is the working state of one agent, for one caller. A value: the methods that refine it return changed copies. It is
// made from who is connected, never from an argument of a tool. Safe for concurrent use.
type Agent struct {
	c        Committer
	id, task string
	who      guard.Principal
	actor    guard.Actor
	key      string
	written  string
}

// NewAgent is the working state of an agent, for the agent itself, whose proposals count as the model's. It reads nothing:
// an agent that was never started is found out by the first call. Errors wrap [ErrAgent].
func NewAgent(c Committer, id string) (Agent, error) {
	task, err := TaskID(id)
	return Agent{c: c, id: id, task: task, who: guard.Principal{ID: id}, actor: guard.Model}, err
}

// ID is the agent's id.
func (a Agent) ID() string { return a.id }

// Task is the id of the task.
func (a Agent) Task() string { return a.task }

// As acts for somebody else than the agent: a person at a command line, an operator. Whether they may is the controller's
// to say.
func (a Agent) As(who guard.Principal, actor guard.Actor) Agent {
	a.who, a.actor = who, actor
	return a
}

// Keyed sets an idempotency key for the next call: the same key with the same arguments gives the first outcome again.
func (a Agent) Keyed(key string) Agent { a.key = key; return a }

// During records which wake-up, and which revision of model and prompt, write from now on; either may be "". A wake-up's id
// is at most [MaxRun] visible ASCII characters, a model's at most [MaxModel] bytes in one line. Errors wrap [ErrRun].
func (a Agent) During(run, model string) (Agent, error) {
	if !runForm.MatchString(run) || len(model) > MaxModel || collapse(model) != model {
		return a, fmt.Errorf("wake-up %.80q with model %.80q: %w", run, model, ErrRun)
	}
	a.written = strings.TrimRight("run="+run+" "+model, " ")
	if run == "" && model == "" {
		a.written = ""
	}
	return a, nil
}

// provenance takes apart what During put together.
func provenance(written string) (run, model string) {
	rest, ours := strings.CutPrefix(written, "run=")
	if !ours {
		return "", written
	}
	run, model, _ = strings.Cut(rest, " ")
	return run, model
}

// Start begins the agent's working state, empty, unless there is one, and tells whether it did. m is [Machine] or made by
// [New].
func (a Agent) Start(ctx context.Context, m *machine.Machine[Table]) (started bool, err error) {
	return a.StartWith(ctx, m, Table{})
}

// StartWith is Start with what was held elsewhere, as files hold it; see [Clean]. An agent that has a working state keeps
// what it has. Errors wrap [ErrTable], or are the [Committer]'s.
func (a Agent) StartWith(ctx context.Context, m *machine.Machine[Table], t Table) (started bool, err error) {
	if t, err = Clean(t); err != nil {
		return false, err
	}
	return a.c.Ensure(ctx, m.Task(a.task, guard.Principal{ID: a.id}, t), a.who)
}

// Set writes a key; the outcome's answer is a [SetReply]. A refusal is an outcome, not an error: its first finding's code is
// one of this package, or of the framework.
func (a Agent) Set(ctx context.Context, p Set) (machine.Outcome, error) {
	return a.propose(ctx, SetKey.With(p))
}

// Clear retires a key; the outcome's answer is a [ClearReply].
func (a Agent) Clear(ctx context.Context, p Clear) (machine.Outcome, error) {
	return a.propose(ctx, ClearKey.With(p))
}

// Handoff replaces the note for the next wake-up; the outcome's answer is a [HandoffReply].
func (a Agent) Handoff(ctx context.Context, p Handoff) (machine.Outcome, error) {
	return a.propose(ctx, LeaveHandoff.With(p))
}

// ClearHandoff removes the note; the outcome's answer is a [ClearHandoffReply].
func (a Agent) ClearHandoff(ctx context.Context, p ClearHandoff) (machine.Outcome, error) {
	return a.propose(ctx, RetireHandoff.With(p))
}

// Call is a tool call as a model wrote it: the name of an event of this machine, and its arguments as raw JSON. Arguments in
// another form are a refusal of code form, and are kept with the other refused attempts.
func (a Agent) Call(ctx context.Context, tool string, arguments []byte) (machine.Outcome, error) {
	return a.c.UpdateRaw(ctx, a.task, a.who, tool, arguments, a.dress)
}

func (a Agent) propose(ctx context.Context, p machine.Proposal) (machine.Outcome, error) {
	return a.c.Update(ctx, a.task, a.who, func(machine.Snapshot[any]) machine.Proposal { return a.dress(p) })
}

func (a Agent) dress(p machine.Proposal) machine.Proposal {
	return p.As(a.actor).Keyed(a.key).Written(a.written)
}

// Table is what holds now, and the instant on the store's clock at which it was read.
func (a Agent) Table(ctx context.Context) (Table, time.Time, error) {
	s, now, err := a.c.Latest(ctx, a.task, a.who)
	if err != nil {
		return Table{}, time.Time{}, err
	}
	typed, ok := machine.As[Table](s)
	if !ok {
		return Table{}, time.Time{}, fmt.Errorf("task %s is of machine %s: %w", a.task, s.Machine, ErrAgent)
	}
	return typed.Data, now, nil
}

// Blocks are what a wake-up puts at the end of its prompt: the table, then the agent's recent actions; see [Tail]. What is
// empty is "". A record that cannot be read is an error: tell the agent that its working state is unknown, never that it
// is empty.
func (a Agent) Blocks(ctx context.Context, l Layout) (state, actions string, err error) {
	t, now, err := a.Table(ctx)
	if err != nil {
		return "", "", err
	}
	rows := l.Actions
	if rows == 0 {
		rows = DefaultActions
	}
	recent, err := a.Actions(ctx, rows)
	return l.Block(t, now), l.Recent(recent), err
}
