// Package engine fires transitions. It alone imports github.com/qmuntal/stateless, and defuses what would
// surprise a caller there: one machine serves all tasks in immediate mode with the running step held in the
// context; guards have been judged, once and in declared order, before anything fires, so that no reason is lost,
// two open edges are an error and not a panic, and an undeclared state is refused and not added.
package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/qmuntal/stateless"
)

// Errors of Fire.
var (
	ErrState = errors.New("state is not declared")
	ErrFired = errors.New("engine and table disagree")
)

// Edge is one way for an event, from several states to one; Stay keeps the state.
type Edge struct {
	Event string
	From  []string
	To    string
	Stay  bool
}

// Engine is one definition, ready to fire. Safe for concurrent use.
type Engine struct {
	machine *stateless.StateMachine
	edges   []Edge
	table   map[string]map[string][]int // state, event: edges in declared order
	events  map[string][]string         // state: its events, sorted
	names   map[string]any              // states and events as stateless takes them, so that no firing makes one
}

// step is one firing. It is the context that stateless hands back to its guards and its storage.
type step struct {
	context.Context
	from any
	to   string
	edge int
}

type stepKey struct{}

// Value finds the step itself.
func (s *step) Value(key any) any {
	if key == (stepKey{}) {
		return s
	}
	return s.Context.Value(key)
}

func running(ctx context.Context) *step {
	s, _ := ctx.Value(stepKey{}).(*step)
	return s
}

// New configures the engine from declared states and edges. A state that no edge declares is an error.
func New(initial string, states []string, edges []Edge) (*Engine, error) {
	e := &Engine{edges: edges, table: make(map[string]map[string][]int, len(states)), events: map[string][]string{}, names: map[string]any{}}
	for _, s := range states {
		e.table[s], e.names[s] = map[string][]int{}, s
	}
	e.machine = stateless.NewStateMachineWithExternalStorage(
		func(ctx context.Context) (stateless.State, error) { return running(ctx).from, nil },
		func(ctx context.Context, to stateless.State) error { running(ctx).to = to.(string); return nil },
		stateless.FiringImmediate)
	for i, edge := range edges {
		e.names[edge.Event] = edge.Event
		for _, from := range edge.From {
			to := edge.To
			if edge.Stay {
				to = from
			}
			if e.table[from] == nil || e.table[to] == nil {
				return nil, fmt.Errorf("edge %s from %q to %q: %w", edge.Event, from, to, ErrState)
			}
			e.table[from][edge.Event] = append(e.table[from][edge.Event], i)
			e.permit(i, edge.Event, from, to)
		}
	}
	if e.table[initial] == nil {
		return nil, fmt.Errorf("initial %q: %w", initial, ErrState)
	}
	for s, ways := range e.table {
		e.events[s] = slices.Sorted(maps.Keys(ways))
	}
	return e, nil
}

func (e *Engine) permit(i int, event, from, to string) {
	chosen := func(ctx context.Context, _ ...any) bool { s := running(ctx); return s != nil && s.edge == i }
	if from == to {
		e.machine.Configure(from).PermitReentry(event, chosen)
		return
	}
	e.machine.Configure(from).Permit(event, to, chosen)
}

// Knows tells whether the state is declared.
func (e *Engine) Knows(state string) bool { return e.table[state] != nil }

// Candidates are the edges for an event from a state, by index, in declared order. The caller must not change them.
func (e *Engine) Candidates(state, event string) []int { return e.table[state][event] }

// Events are the events that have an edge from the state, sorted. The caller must not change them.
func (e *Engine) Events(state string) []string { return e.events[state] }

// Fire takes the edge, whose guards the caller has judged, and gives the state that it leads to. It reads no clock
// and keeps nothing.
func (e *Engine) Fire(state string, edge int) (string, error) {
	event := e.edges[edge].Event
	if !slices.Contains(e.table[state][event], edge) {
		return "", fmt.Errorf("edge %s from %q: %w", event, state, ErrState)
	}
	s := &step{Context: context.Background(), from: e.names[state], to: state, edge: edge}
	if err := e.machine.FireCtx(s, e.names[event]); err != nil {
		return "", fmt.Errorf("fire %s from %q: %w", event, state, err)
	}
	if want := e.edges[edge].To; !e.edges[edge].Stay && s.to != want {
		return "", fmt.Errorf("%s from %q went to %q, declared is %q: %w", event, state, s.to, want, ErrFired)
	}
	return s.to, nil
}
