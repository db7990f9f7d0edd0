package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestAmbiguous: two edges that are open at once are refused, and named: of an event, and of evidence, which lands all the same.
func TestAmbiguous(t *testing.T) {
	b := machine.New[Desk]("forked", Draft)
	b.Final(Paid, Closed)
	machine.On(b, Cancel).From(Draft).To(Closed).By(guard.User).Require(guard.Known(Good))
	machine.On(b, Cancel).From(Draft).To(Paid).By(guard.User).Require(guard.Known(Open))
	machine.When(b, Good).From(Draft).To(Closed).Require(guard.False(Good))
	machine.When(b, Good).From(Draft).To(Paid).Require(guard.Holds("bad", "", Good, func(ok bool) bool { return !ok }))
	m := b.MustBuild()
	p := newBench(t, m)
	observe := func(f guard.Fact[bool], v bool) guard.Observation {
		return f.Observe(guard.NewAuthority(f.Info().Source), guard.Observed[bool]{Value: v, Subject: "1"})
	}
	_, out := p.try(alice, Cancel.With(Text{"x"}).As(guard.User), observe(Good, true), observe(Open, true))
	require.Equal(t, machine.CodeAmbiguous, out.Code())
	require.Equal(t, []string{"cancel: draft -> closed", "cancel: draft -> paid"}, out.Findings[0].Details["edges"])
	require.Equal(t, Draft, p.s.State)

	out = p.does(alice, machine.Proposal{}, observe(Good, false))
	require.Equal(t, Draft, p.s.State)
	require.Equal(t, []string{"good.changed: draft -> closed", "good.changed: draft -> paid"}, out.Entry().Blocked[0].Details["edges"])
	raw, err := out.Entry().Append(nil)
	require.NoError(t, err)
	back, err := machine.DecodeEntry(raw)
	require.NoError(t, err)
	require.Equal(t, []any{"good.changed: draft -> closed", "good.changed: draft -> paid"}, back.Blocked[0].Details["edges"])
}
