package workingstate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/store"
)

// Reports from the field about working state and handoffs.

// Case B048: two sessions add a key each on one base, and both keys are there. On the same key one of them is told what the other wrote.
func TestB048NoKeyIsLost(t *testing.T) {
	for range 30 {
		d := open(t, ws.Machine, ws.Table{})
		d.set("a", "1")
		base := d.table().Version
		agents := []ws.Agent{d.Agent, d.connect(ws.Machine)}
		both := func(call func(i int) ws.Set) []machine.Outcome {
			outs, errs := make([]machine.Outcome, 2), make([]error, 2)
			barrier := make(chan struct{})
			var all sync.WaitGroup
			for i, a := range agents {
				all.Go(func() { <-barrier; outs[i], errs[i] = a.Set(t.Context(), call(i)) })
			}
			close(barrier)
			all.Wait()
			require.NoError(t, errors.Join(errs...))
			return outs
		}
		for _, out := range both(func(i int) ws.Set { return ws.Set{Key: string(rune('b' + i)), Value: "1", Reason: "r"} }) {
			require.Equal(t, machine.Committed, out.Kind)
		}
		require.Equal(t, base+2, d.table().Version)
		for _, key := range []string{"a", "b", "c"} {
			require.Equal(t, "1", d.table().States[key].Value)
		}

		outs := both(func(i int) ws.Set {
			return ws.Set{Key: "a", Value: fmt.Sprint("by ", i), Reason: "r", Expect: ws.Expect{ExpectedValue: ptr("1")}}
		})
		won, lost := 0, 1
		if outs[won].Kind != machine.Committed {
			won, lost = lost, won
		}
		require.Equal(t, machine.Committed, outs[won].Kind)
		require.Equal(t, ws.CodeConflict, outs[lost].Code())
		require.Equal(t, fmt.Sprint("by ", won), outs[lost].Findings[0].Details["current"])
	}
}

// failing is a store whose next write fails.
type failing struct {
	store.Store
	fails bool
}

func (f *failing) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	if f.fails {
		return store.Tip{}, store.ErrFailed
	}
	return f.Store.Commit(ctx, c)
}

func (f *failing) Resource(ctx context.Context, name string) (store.Resource, error) {
	return f.Store.(store.Resources).Resource(ctx, name)
}

// Case B069: a value and its deadline are one record. When the write fails neither is there; when it succeeds both are, and the deadline
// holds without anything that has to run.
func TestB069ValueAndDeadlineAreOne(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	f := &failing{Store: d.st, fails: true}
	d.st = f
	d.Agent = d.connect(ws.Machine)
	before := d.table()
	hour := ws.Set{Key: "watch", Value: "1", Reason: "r", TTLHours: ptr(ws.HoursOf(time.Hour))}
	_, err := d.Set(t.Context(), hour)
	require.ErrorIs(t, err, store.ErrFailed)
	require.Equal(t, before, d.table())
	f.fails = false
	out, err := d.Set(t.Context(), hour)
	require.NoError(t, err)
	require.NoError(t, out.Err())
	require.Equal(t, t0.Add(time.Hour), d.table().States["watch"].ExpiresAt)
	d.sleep(time.Hour - time.Second)
	require.Contains(t, d.block(), "watch")
	d.sleep(time.Second)
	require.NotContains(t, d.block(), "watch")
}

// Case B112: "complete" without evidence completes nothing, whatever the note says; "blocked" needs what blocks, "continue" the next steps.
// Where a verifier is configured, complete needs a proof that it knows.
func TestB112CompleteNeedsEvidence(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	for _, call := range []string{
		args("note", "done", "status", "complete"),
		args("note", "done", "status", "complete", "evidence", ""),
		args("note", "Blocked: IO error", "status", "complete", "evidence", "none", "blocker", "IO error"),
		args("note", "all done", "status", "complete", "evidence", "x", "next_steps", "start the build"),
		args("note", "stuck", "status", "blocked"),
		args("note", "go on", "status", "continue"),
	} {
		d.refuses(ws.CodeRule, handoffTool, call)
	}
	require.Nil(t, d.table().Handoff)
	does[ws.HandoffReply](d, handoffTool, args("note", "done", "status", "complete", "evidence", "12 files changed, tests pass"))
	require.Equal(t, ws.Complete, d.table().Handoff.Status)

	d = proving(t, proofs{"run-1": {Accepted: true}, "run-2": {}})
	d.refuses(ws.CodeProofNeeded, handoffTool, args("note", "done", "status", "complete", "evidence", "tests pass"))
	d.refuses(ws.CodeProofRefused, handoffTool, args("note", "done", "status", "complete", "evidence", "tests pass", "proof", "run-2"))
	require.Nil(t, d.table().Handoff)
	does[ws.HandoffReply](d, handoffTool, args("note", "done", "status", "complete", "evidence", "tests pass", "proof", "run-1"))
}

// Case B114: words that look like the end of the work are a note, whether plain, in capitals or as JSON.
func TestB114AMarkerInProseIsANote(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	for _, note := range []string{"TASK_DONE", `{"handoff":"complete"}`, "```json\n{\"status\":\"complete\"}\n```", "status: complete"} {
		does[ws.HandoffReply](d, handoffTool, args("note", note))
		require.Empty(t, d.table().Handoff.Status, note)
	}
}
