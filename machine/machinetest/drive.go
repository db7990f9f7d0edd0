package machinetest

import (
	"bytes"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Driver takes the steps of a walk at something that keeps tasks: at a controller on a store. Its clock must stand at [Step.At] while
// it takes a step. It has no observers: walks bring each fact themselves.
type Driver interface {
	// Start begins a task at an instant.
	Start(t machine.Task, at time.Time) error
	// Take takes a step and gives what became of it. For a proposal of [guard.Timer] or [guard.Worker] it lets the controller
	// work; the outcome is not looked at then.
	Take(task string, s Step) (machine.Outcome, error)
	// Newest is the newest version of a task.
	Newest(task string) (machine.Snapshot[any], error)
	// Restart ends the process, or fails the power, and goes on with what was kept.
	Restart() error
}

// slack lies between two steps at a driver: a store's clock may be a little ahead after it was opened again.
const slack = time.Second

// Drive is [Actions] at a driver, with one action more: it is restarted. The pure core is the model: what a driver makes of a
// step must be what the core makes of it, outcome and stored bytes, and stay so over every restart. Only where a controller does more than
// the step says, its own version is taken over and held to what every task keeps: when it works, settles an effect by its receipt,
// or keeps what a refusal brought to light. Open makes the driver of one walk; it is to trust the handles, which vouch for the
// facts of the table. Errors are those of Actions, or the driver's.
func Drive(d machine.Definition, path string, open func(hands []*guard.Authority) (Driver, error)) (map[string]func(*rapid.T), error) {
	w, actions, err := newWalk(d, path)
	if err != nil {
		return nil, err
	}
	if w.driver, err = open(w.tb.authorities()); err != nil {
		return nil, err
	}
	actions["restart"] = w.restart
	return actions, nil
}

// authorities are the handles that vouch for the facts of the table.
func (tb *table) authorities() (out []*guard.Authority) {
	for _, f := range tb.facts {
		out = append(out, tb.hands[f.info.Source])
	}
	return out
}

// started begins a task at the driver. One that begins after another has ended has an id of its own.
func (w *walk) started(t *rapid.T, s start) machine.Snapshot[any] {
	task := s.task
	if w.begun++; w.begun > 1 {
		task.ID = fmt.Sprintf("%s-%d", task.ID, w.begun)
	}
	if w.clock = w.clock.Add(slack); w.begun == 1 {
		w.clock = T0
	}
	first, _, err := task.First(w.clock)
	if err != nil {
		cannot(t, err.Error()) // its id is too long for that
	}
	if err := w.driver.Start(task, w.clock); err != nil {
		t.Fatalf("start %s: %v", task.ID, err)
	}
	w.at.Task = task.ID
	w.same(t, "start "+task.ID, first, w.newest(t))
	return first
}

// later puts a move off until the driver's clock has come as far: it never goes back.
func (w *walk) later(mv move) move {
	after := time.Second
	if mv.after != "" {
		after, _ = time.ParseDuration(mv.after) // the step itself says what is wrong with it
	}
	if least := w.clock.Add(slack).Sub(w.at.UpdatedAt); after < least {
		mv.after = least.String()
	}
	return mv
}

// drive takes a step of the model at the driver, and holds it to what came of it there.
func (w *walk) drive(t *rapid.T, tr *trial) {
	step, err := w.tb.asStep(tr.given.at, tr.move)
	if err != nil {
		cannot(t, err.Error()) // a payload that is not in the required form never gets as far as a step
	}
	if step.Proposal.Event() != "" && step.Proposal.Base() == 0 {
		cannot(t, "a session says what a proposal is based on when nobody else does")
	}
	w.clock = step.At
	out, err := w.driver.Take(w.at.Task, step)
	if err != nil {
		t.Fatalf("%s: %s: %v", tr.given.name, tr.move, err)
	}
	is := w.newest(t)
	if w.more(tr, step, out) {
		tr.next = is
		return
	}
	if out.Kind != tr.out.Kind || out.Code() != tr.out.Code() {
		t.Fatalf("%s: %s: the driver says %s %s, and the core %s %s", tr.given.name, tr.move, out.Kind, out.Code(), tr.out.Kind, tr.out.Code())
	}
	w.same(t, tr.given.name+": "+tr.move.String(), tr.next, is)
	tr.next = is
}

// more tells whether a controller does more than the step says.
func (w *walk) more(tr *trial, s Step, out machine.Outcome) bool {
	receipt := false
	for _, o := range s.Observations {
		receipt = receipt || w.tb.m.FactNamed(o.Key().Fact).About == machine.EffectKind
	}
	own := s.Proposal.Event() != "" && !s.Proposal.Actor().Outside()
	return own || receipt || s.Asked || out.Observed > 0 || tr.out.Code() == machine.CodeNoEvent
}

func (w *walk) newest(t *rapid.T) machine.Snapshot[any] {
	s, err := w.driver.Newest(w.at.Task)
	if err != nil {
		t.Fatalf("newest version of %s: %v", w.at.Task, err)
	}
	return s
}

// same wants two snapshots to be the same to the byte.
func (w *walk) same(t *rapid.T, where string, want, got machine.Snapshot[any]) {
	a, err := w.tb.m.Encode(nil, want)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	b, err := w.tb.m.Encode(nil, got)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if !bytes.Equal(a, b) {
		t.Fatalf("%s: the core has\n%s\nand the driver\n%s", where, a, b)
	}
}

// restart restarts the driver. What it had acknowledged is there.
func (w *walk) restart(t *rapid.T) {
	w.begin(t)
	if err := w.driver.Restart(); err != nil {
		t.Fatalf("restart: %v", err)
	}
	w.same(t, fmt.Sprintf("version %d, after a restart", w.at.Version), w.at, w.newest(t))
}
