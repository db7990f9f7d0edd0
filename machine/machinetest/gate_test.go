package machinetest

import (
	"errors"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// gate is the machine that this package is tested with: a gate asks before it moves, and moves once.
type gate struct {
	ID    string   `json:"id" validate:"required" about:"gate"`
	Marks []string `json:"marks"`
}

type (
	mark struct {
		Text string `json:"text" validate:"required,max=20"`
	}
	wish struct {
		ID string `json:"id" validate:"required" about:"gate"`
	}
	turn struct {
		ID string `json:"id"`
	}
)

const (
	shut   machine.State = "shut"
	asking machine.State = "asking"
	moving machine.State = "moving"
	opened machine.State = "opened"
	jammed machine.State = "jammed"
)

var (
	safe   = guard.NewFact[bool]("safe", guard.From("sensor"), guard.About("gate"), guard.MaxAge(10*time.Minute))
	badge  = guard.NewFact[string]("badge", guard.From("office"), guard.About("gate"), guard.MaxAge(time.Hour))
	answer = guard.NewReply("answer", guard.From("intercom"))
	log    = guard.NewFact[string]("motor_log", guard.From("motor"), guard.About(machine.EffectKind), guard.Lasting())

	turnMotor = machine.NewEffect[turn]("turn_motor", log)

	askOpen  = machine.NewEvent[machine.None]("ask_open")
	openGate = machine.NewEvent[wish]("open_gate")
	leave    = machine.NewEvent[mark]("leave_mark")
	lapsed   = machine.NewEvent[machine.None]("lapsed")
)

// newGate is the machine with what extra adds to it.
func newGate(extra ...func(*machine.Builder[gate])) *machine.Machine[gate] {
	b := machine.New[gate]("gate", shut)
	b.Final(opened, jammed)
	b.Wait(asking, machine.TaskOwner, time.Hour, lapsed)
	machine.On(b, askOpen).From(shut).To(asking).By(guard.Model, guard.User).
		Require(guard.True(safe), guard.Owner(badge)).
		Then(machine.Offer(openGate, machine.TaskOwner, time.Hour, func(c guard.Case[gate, machine.None]) []wish { return []wish{{c.Data.ID}} }))
	machine.On(b, openGate).From(asking).To(moving).By(guard.Model, guard.User).
		Fresh(safe).Require(guard.True(safe)).Confirm(answer).
		Then(machine.Emit(turnMotor, func(c guard.Case[gate, wish]) turn { return turn{c.Payload.ID} }))
	machine.On(b, leave).From(shut).Stay().By(guard.User).
		Apply(func(g *gate, c guard.Case[gate, mark]) { g.Marks = append(g.Marks, c.Payload.Text) })
	machine.On(b, lapsed).From(asking).To(shut)
	machine.When(b, safe).From(asking).To(shut).Require(guard.False(safe))
	machine.On(b, turnMotor.Confirmed()).From(moving).To(opened)
	machine.On(b, turnMotor.Failed()).From(moving).To(jammed)
	b.Invariant("three marks at most", func(s machine.Snapshot[gate]) error {
		if len(s.Data.Marks) > 3 {
			return errors.New("a fourth mark")
		}
		return nil
	})
	for _, f := range extra {
		f(b)
	}
	return b.MustBuild()
}

func TestGate(t *testing.T) { RunTables(t, newGate(), "testdata/gate.txtar") }
