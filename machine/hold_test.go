package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestHoldNames: a hold takes from what tasks share, and never from what a controller keeps for itself.
func TestHoldNames(t *testing.T) {
	type loan struct {
		Resource string `json:"resource"`
	}
	borrow := machine.NewEvent[loan]("borrow")
	b := machine.New[Desk]("lender", Draft)
	b.Final(Closed)
	machine.On(b, borrow).From(Draft).To(Paying).By(guard.User).Then(
		machine.Emit(Send, func(guard.Case[Desk, loan]) Transfer { return Transfer{} }),
		machine.Reserve(func(c guard.Case[Desk, loan]) []machine.Hold {
			return []machine.Hold{{Resource: c.Payload.Resource, Amount: 1, Limit: 1}}
		}))
	machine.On(b, Send.Confirmed()).From(Paying).To(Closed)
	machine.On(b, Send.Failed()).From(Paying).To(Closed)
	m := b.MustBuild()
	for name, code := range map[string]string{
		"pawl.children/t1": machine.CodeForm, machine.ReservedResource: machine.CodeForm, "": machine.CodeForm,
		"pawl": "", "children/t1": "", "account/pawl.": "",
	} {
		p := newBench(t, m)
		_, out := p.try(alice, borrow.With(loan{name}).As(guard.User))
		require.Equal(t, code, out.Code(), name)
	}
}

// TestHoldWindows: a velocity limit has a window of a declared size; a hold without one has none.
func TestHoldWindows(t *testing.T) {
	type loan struct {
		Seconds int64 `json:"seconds"`
		Nanos   int64 `json:"nanos"`
		Spent   bool  `json:"spent"`
	}
	borrow := machine.NewEvent[loan]("borrow")
	b := machine.New[Desk]("lender", Draft)
	b.Final(Closed)
	machine.On(b, borrow).From(Draft).To(Paying).By(guard.User).Then(
		machine.Emit(Send, func(guard.Case[Desk, loan]) Transfer { return Transfer{} }),
		machine.Reserve(func(c guard.Case[Desk, loan]) []machine.Hold {
			h := machine.Velocity("r", 1, 1, time.Duration(c.Payload.Seconds)*time.Second+time.Duration(c.Payload.Nanos))
			h.Spent = c.Payload.Spent
			return []machine.Hold{h}
		}))
	machine.On(b, Send.Confirmed()).From(Paying).To(Closed)
	machine.On(b, Send.Failed()).From(Paying).To(Closed)
	m := b.MustBuild()
	most := int64(machine.MaxWindow / time.Second)
	for p, code := range map[loan]string{
		{}: "", {Nanos: -1}: machine.CodeForm, {Nanos: 1}: machine.CodeForm, {Seconds: 1, Nanos: -1}: machine.CodeForm, {Seconds: 1}: "",
		{Seconds: most}: "", {Seconds: most, Nanos: 1}: machine.CodeForm, {Seconds: 2, Nanos: 1}: machine.CodeForm, {Seconds: 2, Nanos: 1000}: "", {Spent: true}: "", {Seconds: 1, Spent: true}: machine.CodeForm,
	} {
		bench := newBench(t, m)
		_, out := bench.try(alice, borrow.With(p).As(guard.User))
		require.Equal(t, code, out.Code(), p)
	}
}

// TestHoldsOfOneResource: what one commit takes of a resource is one hold, or its key would not tell them apart.
func TestHoldsOfOneResource(t *testing.T) {
	type loan struct {
		Second string `json:"second"`
	}
	borrow := machine.NewEvent[loan]("borrow")
	b := machine.New[Desk]("lender", Draft)
	b.Final(Closed)
	machine.On(b, borrow).From(Draft).To(Paying).By(guard.User).Then(
		machine.Emit(Send, func(guard.Case[Desk, loan]) Transfer { return Transfer{} }),
		machine.Reserve(func(c guard.Case[Desk, loan]) []machine.Hold {
			return []machine.Hold{{Resource: "first", Amount: 1, Limit: 9}, {Resource: c.Payload.Second, Amount: 1, Limit: 9}}
		}))
	machine.On(b, Send.Confirmed()).From(Paying).To(Closed)
	machine.On(b, Send.Failed()).From(Paying).To(Closed)
	m := b.MustBuild()
	for second, code := range map[string]string{"first": machine.CodeForm, "second": ""} {
		_, out := newBench(t, m).try(alice, borrow.With(loan{second}).As(guard.User))
		require.Equal(t, code, out.Code(), second)
	}
}
