package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// witness is a benchmark that writes down who was called, and in which order.
type witness struct {
	mu     sync.Mutex
	events []string
	calls  map[string]int // side, caller and call
	dirs   map[string]bool
}

func (w *witness) side(name string) setup {
	return func(at place) (side, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, "begin "+name)
		if _, err := os.Stat(at.dir); err != nil || w.dirs[at.dir] {
			return side{}, errors.New("not a directory of its own")
		}
		w.dirs[at.dir] = true
		return side{
			call: func(caller, n int) error {
				w.mu.Lock()
				defer w.mu.Unlock()
				if last := len(w.events) - 1; w.events[last] != name {
					w.events = append(w.events, name)
				}
				w.calls[fmt.Sprint(name, " ", caller, " ", n)]++
				return nil
			},
			close: func() error {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.events = append(w.events, "end "+name)
				return nil
			},
		}, nil
	}
}

func TestSidesTakeTurns(t *testing.T) {
	w := &witness{calls: map[string]int{}, dirs: map[string]bool{}}
	b := benchmark{name: "x/x", unit: perSecond, callers: 3, calls: 20, batch: 4, ours: w.side("ours"), floor: w.side("floor")}
	f, err := compare(b, 2, t.TempDir())
	require.NoError(t, err)
	require.Equal(t, "x/x", f.name)
	require.Positive(t, f.ours)
	require.Positive(t, f.floor)

	var want []string
	for _, order := range [][]string{{"ours", "floor"}, {"floor", "ours"}} {
		want = append(want, "begin "+order[0], "begin "+order[1])
		for range slicesOfRun {
			want = append(want, order...)
		}
		want = append(want, "end "+order[1], "end "+order[0])
	}
	require.Equal(t, want, w.events)
	require.Len(t, w.calls, 2*3*20)
	for call, times := range w.calls {
		require.Equal(t, 2, times, "%s is made once in each repetition", call)
	}
	for dir := range w.dirs {
		require.NoDirExists(t, dir)
	}
}

func TestAFailureEndsTheBenchmark(t *testing.T) {
	broken := errors.New("broken")
	closed := 0
	good := func(place) (side, error) {
		return side{call: func(int, int) error { return nil }, close: func() error { closed++; return nil }}, nil
	}
	failing := func(place) (side, error) { return side{call: func(int, int) error { return broken }}, nil }
	absent := func(place) (side, error) { return side{}, broken }
	for _, floor := range []setup{failing, absent} {
		closed = 0
		dir := t.TempDir()
		_, err := compare(benchmark{name: "x/x", unit: perSecond, callers: 1, calls: 10, ours: good, floor: floor}, 1, dir)
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "x/x, repetition 1")
		require.Equal(t, 1, closed)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
