package engine_test

import (
	"sync"
	"testing"

	"github.com/pawlgo/pawl/internal/engine"
	"github.com/stretchr/testify/require"
)

func door(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.New("shut", []string{"shut", "open", "locked"}, []engine.Edge{
		{Event: "push", From: []string{"shut"}, To: "open"},
		{Event: "push", From: []string{"shut"}, To: "locked"},
		{Event: "knock", From: []string{"shut", "locked"}, Stay: true},
		{Event: "slam", From: []string{"open", "shut"}, To: "shut"},
	})
	require.NoError(t, err)
	return e
}

func TestFire(t *testing.T) {
	e := door(t)
	for _, row := range []struct {
		state, event string
		edge         int
		to           string
	}{
		{"shut", "push", 0, "open"},
		{"shut", "push", 1, "locked"},
		{"shut", "knock", 2, "shut"},
		{"locked", "knock", 2, "locked"},
		{"open", "slam", 3, "shut"},
		{"shut", "slam", 3, "shut"},
	} {
		require.Contains(t, e.Candidates(row.state, row.event), row.edge)
		to, err := e.Fire(row.state, row.edge)
		require.NoError(t, err)
		require.Equal(t, row.to, to, "%s in %s", row.event, row.state)
	}
}

func TestFireRefusesWhatIsNotDeclared(t *testing.T) {
	e := door(t)
	_, err := e.Fire("open", 0)
	require.ErrorIs(t, err, engine.ErrState)
	_, err = e.Fire("nowhere", 0)
	require.ErrorIs(t, err, engine.ErrState)
	require.False(t, e.Knows("nowhere"), "asking must not add a state")
	require.Nil(t, e.Candidates("nowhere", "push"))
	require.Equal(t, []string{"knock", "push", "slam"}, e.Events("shut"))

	_, err = engine.New("shut", []string{"shut"}, []engine.Edge{{Event: "push", From: []string{"shut"}, To: "open"}})
	require.ErrorIs(t, err, engine.ErrState)
	_, err = engine.New("open", []string{"shut"}, nil)
	require.ErrorIs(t, err, engine.ErrState)
}

// One engine serves all tasks at once: nobody sees another's step.
func TestFireIsConcurrent(t *testing.T) {
	e := door(t)
	var wg sync.WaitGroup
	for n := range 64 {
		wg.Go(func() {
			for range 200 {
				edge, want := n%2, []string{"open", "locked"}[n%2]
				to, err := e.Fire("shut", edge)
				if err != nil || to != want {
					t.Errorf("got %q, %v; want %q", to, err, want)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkFire(b *testing.B) {
	e, err := engine.New("a", []string{"a", "b"}, []engine.Edge{{Event: "go", From: []string{"a"}, To: "b"}})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Fire("a", 0); err != nil {
			b.Fatal(err)
		}
	}
}
