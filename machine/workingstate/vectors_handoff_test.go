package workingstate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ws "github.com/pawlgo/pawl/machine/workingstate"
)

// report is a handoff with the note n and more.
func report(d *desk, more ...string) ws.HandoffReply {
	d.t.Helper()
	return does[ws.HandoffReply](d, handoffTool, args("note", "n", more))
}

// breaks wants a report to break the rule about a field, and to be pointed to a status.
func breaks(d *desk, field string, use ws.Status, more ...string) {
	d.t.Helper()
	f := d.refuses(ws.CodeRule, handoffTool, args("note", "n", more))
	require.Equal(d.t, map[string]any{"field": field, "use": use}, f.Details)
}

var handoffVectors = []vector{
	{44, parity, func(t *testing.T, d *desk) {
		r := does[ws.HandoffReply](d, handoffTool, args("note", "a\nb"))
		require.Equal(t, ws.HandoffReply{OK: true, Version: 1}, r)
		require.Equal(t, "a b", d.table().Handoff.Note)
	}},
	{45, parity, func(t *testing.T, d *desk) {
		does[ws.HandoffReply](d, handoffTool, args("note", "a\nb"))
		require.Equal(t, ptr("a b"), does[ws.HandoffReply](d, handoffTool, args("note", "c")).Superseded)
		require.Equal(t, ptr("a b"), d.get(20).History[1].PrevValue)
	}},
	{46, parity, func(t *testing.T, d *desk) {
		r := does[ws.HandoffReply](d, handoffTool, args("note", strings.Repeat("字", 1800)))
		require.True(t, r.Truncated)
		require.Equal(t, strings.Repeat("字", ws.MaxNote), d.table().Handoff.Note)
		require.Empty(t, d.table().Handoff.Status)
	}},
	{47, parity, func(t *testing.T, d *desk) { d.refuses(ws.CodeNoteEmpty, handoffTool, args("note", "  ")) }},
	{48, parity, func(t *testing.T, d *desk) { breaks(d, "next_steps", ws.Continue, "status", "continue") }},
	{49, parity, func(t *testing.T, d *desk) {
		breaks(d, "blocker", ws.Blocked, "status", "continue", "next_steps", "x", "blocker", "y")
	}},
	{50, parity, func(t *testing.T, d *desk) { report(d, "status", "continue", "next_steps", "x", "evidence", "e") }},
	{51, parity, func(t *testing.T, d *desk) { breaks(d, "evidence", ws.Complete, "status", "complete") }},
	{52, parity, func(t *testing.T, d *desk) {
		breaks(d, "next_steps", ws.Continue, "status", "complete", "evidence", "e", "next_steps", "x")
	}},
	{53, parity, func(t *testing.T, d *desk) {
		breaks(d, "blocker", ws.Blocked, "status", "complete", "evidence", "e", "blocker", "b")
		breaks(d, "blocker", ws.Blocked, "status", "complete", "evidence", "e", "blocker", "b", "next_steps", "x") // the blocker first
	}},
	{54, parity, func(t *testing.T, d *desk) {
		report(d, "status", "complete", "evidence", "e")
		require.Contains(t, d.block(), `(complete): "n"; evidence (claim, not verified): "e"`)
	}},
	{55, parity, func(t *testing.T, d *desk) { report(d, "status", "complete", "evidence", "e", "next_steps", "  ") }},
	{56, parity, func(t *testing.T, d *desk) {
		breaks(d, "blocker", ws.Blocked, "status", "blocked")
		breaks(d, "blocker", ws.Blocked, "status", "blocked", "blocker", " ")
	}},
	{57, parity, func(t *testing.T, d *desk) {
		report(d, "status", "blocked", "blocker", "API 403", "next_steps", "retry", "evidence", "log")
	}},
	{58, parity, func(t *testing.T, d *desk) {
		d.refuses(ws.CodeStatusNeeded, handoffTool, args("note", "n", "next_steps", "x"))
	}},
	{59, parity, func(t *testing.T, d *desk) {
		d.refuses(ws.CodeStatusNeeded, handoffTool, args("note", "n", "next_steps", ""))
	}},
	{60, parity, func(t *testing.T, d *desk) {
		report(d, "status", "")
		report(d, "status", " ")
		require.Empty(t, d.table().Handoff.Status)
	}},
	{61, parity, func(t *testing.T, d *desk) {
		for _, word := range []string{"done", "Continue", strings.Repeat("x", 60)} {
			f := d.refuses(ws.CodeStatusInvalid, handoffTool, args("note", "n", "status", word))
			require.Equal(t, []ws.Status{ws.Continue, ws.Complete, ws.Blocked}, f.Details["legal"])
			require.Equal(t, word[:min(len(word), 40)], f.Details["received"])
		}
		report(d, "status", " continue ", "next_steps", "x")
		require.Equal(t, ws.Continue, d.table().Handoff.Status)
	}},
	{62, parity, func(t *testing.T, d *desk) {
		next := func(n int) string {
			return args("note", "666666", "status", "continue", "next_steps", strings.Repeat("x", n))
		}
		f := d.refuses(ws.CodeTooLarge, handoffTool, next(16_379))
		require.Equal(t, 16_385, f.Details["bytes"])
		require.Equal(t, ws.DefaultHandoff, f.Details["cap"])
		require.Nil(t, d.table().Handoff)
		does[ws.HandoffReply](d, handoffTool, next(16_378))
	}},
	{67, parity, func(t *testing.T, d *desk) {
		report(d, "status", "complete", "evidence", "e")
		report(d)
		require.Empty(t, d.table().Handoff.Status)
		require.Empty(t, d.table().Handoff.Evidence)
	}},
}
