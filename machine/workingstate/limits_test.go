package workingstate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	ws "github.com/pawlgo/pawl/machine/workingstate"
)

// Limits on both sides, those that no vector shows.
func TestLimits(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	for extra, cut := range map[int]bool{0: false, 1: true} {
		r := does[ws.SetReply](d, setTool, args("key", "k", "value", "v", "reason", strings.Repeat("é", ws.MaxReason+extra)))
		require.Equal(t, cut, r.Truncated, "reason")
		require.Equal(t, cut, d.set("k", strings.Repeat("é", ws.MaxValue+extra)).Truncated, "value")
		n := does[ws.HandoffReply](d, handoffTool, args("note", strings.Repeat("字", ws.MaxNote+extra)))
		require.Equal(t, cut, n.Truncated, "note")
		c := does[ws.ClearReply](d, clearTool, args("key", "k", "reason", strings.Repeat("r", ws.MaxReason+extra)))
		require.Equal(t, cut, c.Truncated, "reason of a clear")
		h := does[ws.ClearHandoffReply](d, retireTool, args("reason", strings.Repeat("r", ws.MaxReason+extra)))
		require.Equal(t, cut, h.Truncated, "reason of a clear_handoff")
	}
	p := proving(t, proofs{strings.Repeat("p", ws.MaxProofID): {Accepted: true}})
	does[ws.HandoffReply](p, handoffTool, args("note", "n", "status", "complete", "evidence", "e", "proof", strings.Repeat("p", ws.MaxProofID)))
}

// What happened exactly a day ago is recent, a moment more is not.
func TestActionsSince(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	d.set("k", "v")
	d.sleep(ws.ActionsSince)
	a, err := d.Actions(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, a, 1)
	d.sleep(time.Microsecond)
	a, err = d.Actions(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, a)
}

// The largest table that the limits allow fits the task's data and a commit.
func TestTheLargestTableIsStored(t *testing.T) {
	m, err := ws.New(ws.Options{HandoffBytes: ws.MaxHandoff})
	require.NoError(t, err)
	d := open(t, m, ws.Table{})
	wide := func(n int) string { return strings.Repeat("\U0001F6A6", n) }
	for _, k := range keys(0, ws.MaxKeys-1) {
		d.set(k, wide(ws.MaxValue), "ttl_hours", "!720")
		does[ws.SetReply](d, setTool, args("key", k, "value", wide(ws.MaxValue), "reason", wide(ws.MaxReason)))
	}
	does[ws.HandoffReply](d, handoffTool, args("note", "nn", "status", "blocked", "blocker", strings.Repeat("b", ws.MaxHandoff-2)))
	d.set("k00", wide(ws.MaxValue))
	require.Len(t, d.get(1).States, ws.MaxKeys)
}
