package mcp

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestMaxViews forgets the oldest view of an agent beyond the limit, and no other agent's.
func TestMaxViews(t *testing.T) {
	look := machine.NewEvent[machine.None]("look")
	b := machine.New[struct{}]("watch", "open")
	machine.On(b, look).From("open").Stay().By(guard.Model)
	m := b.MustBuild()
	d := projection.MustDefine(m, projection.Spec[struct{}]{Name: "decide", In: []machine.State{"open"}, Goal: func(struct{}) string { return "watch" },
		Question: "Look?", Allow: []projection.Answer{{Event: look, Means: "look again"}}})
	shown := func(n int) projection.View {
		s := machine.Snapshot[any]{Head: machine.Head{Task: fmt.Sprintf("t%d", n), Machine: "watch", Definition: 1, Digest: m.Digest(), Version: 1, State: "open"}, Data: struct{}{}}
		v, err := d.View(s, guard.Principal{ID: "a"}, time.Unix(0, 0))
		require.NoError(t, err)
		return v
	}
	v := newViews()
	v.keep("b", shown(0))
	for n := range MaxViews {
		v.keep("a", shown(n))
		v.keep("a", shown(n)) // again, in place of the same
	}
	_, ok := v.find("a", "t0", 1, "decide")
	require.True(t, ok)
	v.keep("a", shown(MaxViews))
	_, ok = v.find("a", "t0", 1, "decide")
	require.False(t, ok)
	_, ok = v.find("a", "t1", 1, "decide")
	require.True(t, ok)
	_, ok = v.find("b", "t0", 1, "decide")
	require.True(t, ok)
	_, ok = v.find("a", "t1", 2, "decide")
	require.False(t, ok, "another version was not shown")
}
