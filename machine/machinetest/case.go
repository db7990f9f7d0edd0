package machinetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Case is a step of a row and the way to its situation, for whoever takes them somewhere else than at the pure core: at a
// controller on a store.
type Case struct {
	Name    string                // file, line, situation and event
	Task    machine.Task          // starts at T0
	Way     []Step                // to the situation; each is committed
	Step    Step                  // the row's own
	Given   machine.Snapshot[any] // the situation
	Next    machine.Snapshot[any] // what the pure core makes of the step
	Outcome machine.Outcome       // and what it says
}

// Step is one step as a controller takes it. Proposals of [guard.Timer] and [guard.Worker] are the controller's own: it makes them
// when it works.
type Step struct {
	At           time.Time
	Principal    guard.Principal
	Proposal     machine.Proposal // zero: only the observations
	Observations []guard.Observation
	Unsent       []string // keys of effects that were not sent yet; a controller's own worker must not have claimed them
	Asked        bool     // some of the observations answer a question, so an observer must give them
}

// Cases are the steps of a table's rows, in order, and the handles that vouch for its facts, to be trusted. A payload that is not
// in the required form never gets as far as a step: those are left out. Errors name file and line.
func Cases(d machine.Definition, path string) ([]Case, []*guard.Authority, error) {
	tb, err := readTable(d, path)
	if err != nil {
		return nil, nil, err
	}
	var out []Case
	for _, r := range tb.rows {
		trials, err := tb.try(r)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range trials {
			if t.out.Code() == machine.CodeForm {
				continue
			}
			step, err := tb.asStep(t.given.at, t.move)
			if err != nil {
				return nil, nil, &fault{path, r.number, err.Error()}
			}
			out = append(out, Case{fmt.Sprintf("%s:%d: %s", path, r.number, t.title()), t.given.task, t.given.way, step, t.given.at, t.next, t.out})
		}
	}
	var hands []*guard.Authority
	for _, f := range tb.facts {
		hands = append(hands, tb.hands[f.info.Source])
	}
	return out, hands, nil
}

// asStep is a move as a controller takes it.
func (tb *table) asStep(s machine.Snapshot[any], mv move) (Step, error) {
	in, err := tb.input(s, mv)
	if err != nil {
		return Step{}, err
	}
	if mv.event != "" {
		form, err := tb.propose(s, mv, &in)
		if err := errors.Join(err, form); err != nil {
			return Step{}, err
		}
	}
	step := Step{At: in.Now, Principal: in.Principal, Proposal: in.Proposal, Unsent: in.Unsent}
	facts, _ := tb.specs(mv.facts)
	for _, spec := range facts {
		o, asked, err := tb.observation(s, spec, in.Now)
		if err != nil {
			return Step{}, err
		}
		if o != nil {
			step.Observations, step.Asked = append(step.Observations, *o), step.Asked || asked
		}
	}
	return step, nil
}
