package main

import (
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/engine"
	"github.com/pawlgo/pawl/machine"
)

// The numbers of edges that step/4edges and step/64edges compare.
const (
	fewEdges  = 4
	manyEdges = 64
)

// stepFewEdges measures the pure step on a machine with few edges, each of an event of its own, guarded by one fact. The floor is
// stateless alone.
func stepFewEdges() benchmark {
	b := stepEdges(fewEdges)
	b.floor = func(place) (side, error) {
		fire := engine.Bare()
		return side{call: func(_, _ int) error { return fire() }}, nil
	}
	return b
}

// stepManyEdges measures the same step where many edges leave the state. Its floor is the machine with few: a step looks at
// the edges of its event, and must cost the same however many others there are.
func stepManyEdges() benchmark {
	b := stepEdges(manyEdges)
	b.floor = stepEdges(fewEdges).ours
	return b
}

func stepEdges(n int) benchmark {
	return benchmark{
		name: fmt.Sprintf("step/%dedges", n), unit: nanoseconds, callers: 1, calls: 96_000, batch: 8,
		ours: func(place) (side, error) {
			m, s, in, err := crossroads(n)
			if err != nil {
				return side{}, err
			}
			return side{call: func(_, _ int) error {
				_, out := m.Step(s, in)
				return out.Err()
			}}, nil
		},
	}
}

// junction is the data of a task at the crossroads.
type junction struct {
	ID string `json:"id" about:"junction"`
}

// crossroads is a machine with n edges from its first state, a task in it, and the proposal of the one that was declared last.
func crossroads(n int) (m *machine.Machine[junction], s machine.Snapshot[junction], in machine.Input, err error) {
	signal := guard.NewFact[bool]("signal", guard.From("signaller"), guard.About("junction"), guard.MaxAge(time.Hour))
	b := machine.New[junction]("crossroads", "waiting")
	b.Final("gone")
	var last machine.Event[machine.None]
	for i := range n {
		last = machine.NewEvent[machine.None](fmt.Sprintf("turn_%02d", i))
		machine.On(b, last).From("waiting").To("gone").By(guard.User).Require(guard.True(signal))
	}
	if m, err = b.Build(); err != nil {
		return m, s, in, err
	}
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	first, _, err := m.Task("t1", customer, junction{"j1"}).First(at)
	if err != nil {
		return m, s, in, err
	}
	s, _ = machine.As[junction](first)
	seen, err := guard.Verify(signal.Observe(guard.NewAuthority("signaller"), guard.Observed[bool]{Value: true, Subject: "j1", At: at}),
		guard.Acceptance{Fact: machine.Erase(m).FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: at, BasedOn: s.Version})
	if err != nil {
		return m, s, in, err
	}
	in = machine.Input{Proposal: last.With(machine.None{}).As(guard.User).BasedOn(s.Version), Principal: customer,
		Evidence: []guard.Evidence{seen}, Received: at, Now: at}
	if _, out := m.Step(s, in); out.State != "gone" {
		return m, s, in, fmt.Errorf("the turn was not taken: %w", out.Err())
	}
	return m, s, in, nil
}
