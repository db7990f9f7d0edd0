package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestChildren: a parent does not end while a child is open, nor while nobody has counted (field case B115).
func TestChildren(t *testing.T) {
	b := machine.New[Desk]("parent", Draft)
	b.Final(Closed)
	machine.On(b, Cancel).From(Draft).To(Closed).By(guard.User).Require(machine.ChildrenClosed())
	m := b.MustBuild()
	cancel := Cancel.With(Text{"done"}).As(guard.User)
	count := func(n int64) guard.Observation {
		return machine.OpenChildren.Observe(guard.NewAuthority(machine.ControllerAuthority), guard.Observed[int64]{Value: n, Subject: "t1"})
	}
	p := newBench(t, m)
	_, out := p.try(alice, cancel)
	require.Equal(t, machine.NeedsEvidence, out.Kind)
	require.Equal(t, "open_children(t1)", out.Missing[0].String())
	for _, open := range []int64{1, 2} {
		_, out = p.try(alice, cancel, count(open))
		require.Equal(t, "open_children", out.Code())
		require.Equal(t, map[string]any{"open": open}, out.Findings[0].Details)
	}
	p.does(alice, cancel, count(0))
	require.Equal(t, Closed, p.s.State)
	require.Zero(t, p.s.Facts.Len(), "the count is of its moment")
}

// TestParent is kept with the task, and is never the task itself.
func TestParent(t *testing.T) {
	task := desk.Task("child", alice, Desk{OrderID: "1"})
	s, _, err := task.Under("t1").First(start)
	require.NoError(t, err)
	require.Equal(t, "t1", s.Parent)
	raw, err := machine.Erase(desk).Encode(nil, s)
	require.NoError(t, err)
	back, err := machine.Erase(desk).Decode(raw)
	require.NoError(t, err)
	require.Equal(t, "t1", back.Parent)
	for _, parent := range []string{"child", "a/b", "\n"} {
		_, _, err := task.Under(parent).First(start)
		require.ErrorIs(t, err, machine.ErrTask)
	}
}
