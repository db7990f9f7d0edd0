package workingstate

import (
	"errors"
	"fmt"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Live is the only state: an agent's working state never ends.
const Live machine.State = "live"

// Case is what the checks of the machine look at.
type Case[P any] = guard.Case[Table, P]

// The events. They are judged on the newest version: their own expectations are the compare-and-set.
var (
	// SetKey writes a key.
	SetKey = machine.NewEvent[Set]("working_state_set", machine.Narrowing())
	// ClearKey retires a key.
	ClearKey = machine.NewEvent[Clear]("working_state_clear", machine.Narrowing())
	// LeaveHandoff replaces the note for the next wake-up.
	LeaveHandoff = machine.NewEvent[Handoff]("working_state_handoff", machine.Narrowing())
	// RetireHandoff removes the note.
	RetireHandoff = machine.NewEvent[ClearHandoff]("working_state_clear_handoff", machine.Narrowing())
)

// Names and versions of the definitions. A task goes from the plain one to the proven one, never back: what demands more
// cannot be undone by configuration.
const (
	Name          = "working_state"
	VersionPlain  = 1
	VersionProven = 2
)

// Options of the machine. The zero Options are those of [Machine].
type Options struct {
	// HandoffBytes is the most that a structured handoff may bring; 0 or less means [DefaultHandoff]. At most [MaxHandoff].
	HandoffBytes int
	// Proof, when it is set, is what complete must show: see [NewProof]. The zero Fact demands none.
	Proof guard.Fact[Proof]
}

// ErrOptions is wrapped by the error of [New].
var ErrOptions = errors.New("options of working state")

// Machine is the definition with the zero Options.
var Machine = func() *machine.Machine[Table] {
	m, err := New(Options{})
	if err != nil {
		panic(err)
	}
	return m
}()

// New is the definition with other options. A controller serves one of each version; with both, a machine.Migrate with
// machine.SameData leads agents from the plain one to the proven one. Errors wrap [ErrOptions].
func New(o Options) (*machine.Machine[Table], error) {
	if o.HandoffBytes <= 0 {
		o.HandoffBytes = DefaultHandoff
	}
	if o.HandoffBytes > MaxHandoff {
		return nil, fmt.Errorf("a handoff of %d bytes, at most %d: %w", o.HandoffBytes, MaxHandoff, ErrOptions)
	}
	b := machine.New[Table](Name, Live)
	machine.On(b, SetKey).From(Live).Stay().By(guard.Model, guard.User, guard.Operator).
		Check("key", func(c Case[Set]) guard.Verdict { return goodKey(c.Payload.Key) }).
		Check("value", goodValue).
		Check("reason", func(c Case[Set]) guard.Verdict { return goodReason(c.Payload.Reason) }).
		Check("ttl", func(c Case[Set]) guard.Verdict { return goodTTL(c.Payload.TTLHours) }).
		Check("expected", expectedBySet).
		Check("room", room).
		Apply(applySet).
		Then(machine.Return(replySet))
	machine.On(b, ClearKey).From(Live).Stay().By(guard.Model, guard.User, guard.Operator).
		Check("key", func(c Case[Clear]) guard.Verdict { return goodKey(c.Payload.Key) }).
		Check("reason", func(c Case[Clear]) guard.Verdict { return goodReason(c.Payload.Reason) }).
		Check("stored", stored).
		Check("expected", expectedByClear).
		Apply(applyClear).
		Then(machine.Return(replyClear))
	handoffs(b, o)
	b.Invariant("well_formed", wellFormed)
	m, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return m, nil
}

func handoffs(b *machine.Builder[Table], o Options) {
	verifier := ""
	edge := machine.On(b, LeaveHandoff).From(Live).Stay().By(guard.Model, guard.User, guard.Operator).
		Check("status", status).
		Check("size", size(o.HandoffBytes)).
		Check("note", noted).
		Check("rules", rules).
		Check("ttl", func(c Case[Handoff]) guard.Verdict { return goodTTL(c.Payload.TTLHours) }).
		Check("expected", expectedByHandoff)
	if info := o.Proof.Info(); info != nil {
		verifier = info.Source
		b.Version(VersionProven)
		edge.Check("proof", proven(o.Proof), o.Proof)
	} else {
		edge.Check("proof", unproven)
	}
	edge.Apply(applyHandoff(verifier)).Then(machine.Return(replyHandoff(verifier)))
	machine.On(b, RetireHandoff).From(Live).Stay().By(guard.Model, guard.User, guard.Operator).
		Check("reason", func(c Case[ClearHandoff]) guard.Verdict { return goodReason(c.Payload.Reason) }).
		Check("left", left).
		Check("expected", func(c Case[ClearHandoff]) guard.Verdict { return sameRecord(c.Data, c.Payload.ExpectedRecordVersion) }).
		Apply(applyClearHandoff).
		Then(machine.Return(replyClearHandoff))
}
