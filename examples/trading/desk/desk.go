// Package desk is the agent service of the trading example: one agent, its working state, and one book, on one store. It runs as a
// process of its own, so that the story can kill it, or in the process of a test.
package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// The one agent, its book, and what it is about.
const (
	Agent  = "trader" // also the id of the task
	Symbol = "2317"
	Rule   = "stop_loss.2317"
)

var trader = guard.Principal{ID: Agent}

// Options are what a desk is opened with. All are required but Problem.
type Options struct {
	Store    store.Store
	Exchange *exchange.Client
	// Problem hears what goes wrong where no caller waits; see [resume.Config].
	Problem func(error)
}

// Desk is the running service. Safe for concurrent use.
type Desk struct {
	ctl      *resume.Controller
	agent    workingstate.Agent
	market   market
	operator *guard.Authority
}

// Open opens a desk. The store stays the caller's to close.
func Open(ctx context.Context, o Options) (*Desk, error) {
	d := &Desk{market: market{o.Exchange}, operator: guard.NewAuthority("operator")}
	var err error
	d.ctl, err = resume.Open(ctx, o.Store, resume.Config{
		Machines:  []machine.Definition{workingstate.Machine, trading.Machine},
		Observers: append(d.market.observers(), resume.Pull(trading.Rule, d.rule)),
		Effects:   []resume.Handler{resume.Perform(trading.SendOrder, d.market.send, d.market.find)},
		Trust:     []*guard.Authority{d.operator},
		Problem:   o.Problem,
	})
	if err != nil {
		return nil, err
	}
	d.agent, err = workingstate.NewAgent(d.ctl, Agent)
	return d, err
}

// rule reads what the agent is committed to under the key of a rule. That it is committed to it is what the working state vouches
// for; whether the market cares is for the exchange to say.
func (d *Desk) rule(ctx context.Context, q guard.Query) (guard.Observed[trading.Stop], error) {
	c, err := workingstate.ReadNow(ctx, d.agent, q.Subject, trading.ParseStop)
	return guard.Observed[trading.Stop]{Value: c, Subject: c.Key, Ref: fmt.Sprintf("working_state/%d", c.Version)}, err
}

// Begin begins the agent's working state and its book, unless they exist: a restart goes on where it stood.
func (d *Desk) Begin(ctx context.Context) error {
	if _, err := d.agent.Start(ctx, workingstate.Machine); err != nil {
		return err
	}
	_, err := d.ctl.Ensure(ctx, trading.Machine.Task(Agent, trader, trading.Book{Symbol: Symbol, Rule: Rule}), trader)
	return err
}

// Allow is what the operator allows from now on. Who calls it has been authenticated by the operator's own console: no model gets here.
func (d *Desk) Allow(ctx context.Context, m trading.Mandate) (machine.Outcome, error) {
	return d.ctl.Observe(ctx, Agent, trading.Allowed.Observe(d.operator, guard.Observed[trading.Mandate]{Value: m, Subject: Symbol, Ref: "console"}))
}

// ToolCall is a call of a working-state tool, as a model wrote it, in a wake-up.
type ToolCall struct {
	Run  string `json:"run"`
	Tool string `json:"tool"`
	Args string `json:"args"`
}

// Call lets the agent call a working-state tool.
func (d *Desk) Call(ctx context.Context, c ToolCall) (machine.Outcome, error) {
	a, err := d.agent.During(c.Run, "script")
	if err != nil {
		return machine.Outcome{}, err
	}
	return a.Call(ctx, c.Tool, []byte(c.Args))
}

// Wake is one wake-up of the agent: the notes that it finds, and what its model answers, one after the other, until an answer is
// committed.
type Wake struct {
	Run     string   `json:"run"`
	Notes   string   `json:"notes"`
	Answers []string `json:"answers"`
}

// Turn is one answer and what came of it.
type Turn struct {
	Output  string          `json:"output"`
	Outcome machine.Outcome `json:"outcome"`
	Told    string          `json:"told,omitempty"` // to the model, of a refusal
}

// Woken is what came of a wake-up.
type Woken struct {
	Prompt string        `json:"prompt"` // the first one, in full
	Last   trading.Quote `json:"last"`   // as the exchange has just said
	Turns  []Turn        `json:"turns"`
}

// Wake looks at the market and the working state, now, shows the model its view, and proposes what it answers. With no answers, it
// only looks.
func (d *Desk) Wake(ctx context.Context, w Wake) (Woken, error) {
	var woken Woken
	s, err := d.ctl.Resume(ctx, Agent, trader)
	if err != nil {
		return woken, err
	}
	s.Wrote("run=" + w.Run + " script")
	if _, err := s.Look(ctx, trading.LastQuote, trading.Position, trading.Rule); err != nil || len(w.Answers) == 0 {
		return woken, err
	}
	woken.Last, _ = trading.LastQuote.Get(s.Snapshot().Facts)
	state, actions, err := d.agent.Blocks(ctx, workingstate.Layout{Zone: trading.Taipei})
	if err != nil {
		return woken, err
	}
	loop := projection.Loop{
		Tries: len(w.Answers),
		Project: func(ctx context.Context) (projection.View, error) {
			return s.Project(ctx, trading.WakeUp, projection.Quote{Origin: "notes", Text: w.Notes})
		},
		Model: func(_ context.Context, v projection.View) ([]byte, error) {
			if woken.Prompt == "" {
				woken.Prompt = trading.Prompt(v, state, actions)
			}
			return []byte(w.Answers[len(woken.Turns)]), nil
		},
		Answer: func(ctx context.Context, v projection.View, output []byte) (machine.Outcome, error) {
			return answer(ctx, s, v, output)
		},
		Record: func(t projection.Turn) {
			turn := Turn{Output: string(t.Raw), Outcome: t.Outcome}
			if t.Refusal != nil {
				turn.Told = t.Refusal.Text
			}
			woken.Turns = append(woken.Turns, turn)
		},
	}
	if _, err = loop.Run(ctx); errors.Is(err, projection.ErrTries) {
		err = nil // refused answers are outcomes
	}
	return woken, err
}

// answer proposes what a model answered. What the view did not list would be refused by the view already; it is put to the guards all
// the same, since they say which of them is against it, and why.
func answer(ctx context.Context, s *resume.Session, v projection.View, output []byte) (machine.Outcome, error) {
	var said struct {
		Event   string          `json:"event"`
		Payload json.RawMessage `json:"payload"`
	}
	var refused *projection.RefusedError
	if _, err := v.Read(output); errors.As(err, &refused) && refused.Code == projection.CodeNotAllowed && json.Unmarshal(output, &said) == nil {
		return s.ProposeRaw(ctx, said.Event, said.Payload)
	}
	return s.Answer(ctx, v, output)
}

// Exit proposes an exit without having looked, as a model may that was told nothing.
func (d *Desk) Exit(ctx context.Context, rule string) (machine.Outcome, error) {
	s, err := d.ctl.Resume(ctx, Agent, trader)
	if err != nil {
		return machine.Outcome{}, err
	}
	return s.Propose(ctx, trading.ExitPosition.With(trading.Exit{Rule: rule}))
}

// Enter proposes to buy one lot.
func (d *Desk) Enter(ctx context.Context, rule string) (machine.Outcome, error) {
	s, err := d.ctl.Resume(ctx, Agent, trader)
	if err != nil {
		return machine.Outcome{}, err
	}
	return s.Propose(ctx, trading.EnterPosition.With(trading.Enter{Rule: rule}))
}

// CloseDay ends the book's day, on the word of its owner.
func (d *Desk) CloseDay(ctx context.Context, why string) (machine.Outcome, error) {
	s, err := d.ctl.Resume(ctx, Agent, trader)
	if err != nil {
		return machine.Outcome{}, err
	}
	return s.Propose(ctx, trading.CloseDay.With(trading.Reason{Text: why}).As(guard.User))
}

// Work lets the worker do once what is due: send what was intended, look up what may have been sent.
func (d *Desk) Work(ctx context.Context) error { return d.ctl.Work(ctx) }

// at is an instant as the story writes it.
func at(t time.Time) string { return t.In(trading.Taipei).Format("15:04") }
