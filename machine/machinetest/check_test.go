package machinetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestVersioned gives steps that no machine takes: a refusal that changes something, versions that skip or cannot be read.
func TestVersioned(t *testing.T) {
	tb, err := readTable(newGate(), "testdata/gate.txtar")
	require.NoError(t, err)
	given := tb.situationNamed("shut")
	before, err := tb.m.Encode(nil, given.at)
	require.NoError(t, err)
	next, out, err := tb.step(given.at, move{by: "user/alice", event: "leave_mark"})
	require.NoError(t, err)
	require.Equal(t, machine.Committed, out.Kind)

	skipped, stranger := next, next
	skipped.Version++
	stranger.State = "nowhere"
	for _, c := range []struct {
		next machine.Snapshot[any]
		kind machine.Kind
		want string
	}{
		{next, machine.Committed, ""},
		{given.at, machine.Refused, ""},
		{next, machine.Refused, "refused, and the snapshot changed"},
		{next, machine.Unchanged, "unchanged, and the snapshot changed"},
		{skipped, machine.Committed, "a commit made version 3 of version 1"},
		{given.at, machine.Committed, "a commit made version 1 of version 1"},
		{stranger, machine.Committed, "the new version cannot be read back"},
	} {
		err := tb.versioned(&trial{given: given, next: c.next, out: machine.Outcome{Kind: c.kind}}, before)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want)
	}
}

// TestCases gives what a controller needs to take the rows itself.
func TestCases(t *testing.T) {
	cases, hands, err := Cases(newGate(), "testdata/gate.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, hands)
	require.Equal(t, "testdata/gate.txtar:45: shut, ask_open", cases[0].Name)
	for _, c := range cases {
		require.Len(t, c.Way, int(c.Given.Version)-1, c.Name)
		require.Equal(t, "gate_1", c.Task.ID)
		require.False(t, c.Step.At.Before(c.Given.UpdatedAt))
		if c.Outcome.Kind == machine.Committed {
			require.Equal(t, c.Given.Version+1, c.Next.Version)
		}
	}
	_, _, err = Cases(newGate(), "testdata/failing/rows.txtar")
	require.ErrorContains(t, err, "rows.txtar:22")
	_, _, err = Cases(newGate(), "testdata/failing/situations.txtar")
	require.ErrorContains(t, err, "situations.txtar:13")
}

// TestReads wants a cell for each fact that decides about an event: by its own guards, by those of what it offers, because it must
// be fresh, as the reply, as the receipt, and as what drives it.
func TestReads(t *testing.T) {
	m := newGate(func(b *machine.Builder[gate]) {
		machine.On(b, leave).From(asking).Stay().By(guard.User).
			Then(machine.Offer(openGate, machine.TaskOwner, time.Hour, func(c guard.Case[gate, mark]) []wish { return []wish{{c.Data.ID}} }))
	})
	tb, err := readTable(m, "testdata/gate.txtar")
	require.NoError(t, err)
	for _, c := range []struct {
		state machine.State
		event string
		reads []string
	}{
		{shut, "ask_open", []string{"badge", "safe"}},
		{shut, "leave_mark", nil},
		{shut, "open_gate", nil},
		{asking, "leave_mark", []string{"safe"}},
		{asking, "open_gate", []string{"answer", "safe"}},
		{asking, "safe.changed", []string{"safe"}},
		{moving, "turn_motor.confirmed", []string{"motor_log"}},
		{moving, "turn_motor.failed", nil},
	} {
		require.ElementsMatch(t, c.reads, tb.reads(c.state, c.event), "%s, %s", c.state, c.event)
	}
	require.Equal(t, []string{"safe", "unsafe", "unknown", "stale"}, tb.statuses("safe", "open_gate"))
	require.Equal(t, []string{"safe", "unsafe", "stale"}, tb.statuses("safe", "safe.changed"))
	require.Equal(t, []string{"yes", "no", "unknown"}, tb.statuses("answer", "open_gate"))
}
