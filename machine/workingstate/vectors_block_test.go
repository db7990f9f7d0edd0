package workingstate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	ws "github.com/pawlgo/pawl/machine/workingstate"
)

// shownKeys are the keys of a block, in its order.
func shownKeys(block string) []string {
	var keys []string
	for line := range strings.Lines(block) {
		if rest, is := strings.CutPrefix(line, "- "); is {
			key, _, _ := strings.Cut(rest, " = ")
			keys = append(keys, key)
		}
	}
	return keys
}

// written holds n keys k00, k01 and so on, written a minute apart.
func written(n, value int) ws.Table {
	t := ws.Table{Version: uint64(n), States: map[string]ws.Entry{}}
	for i := range n {
		t.States[fmt.Sprintf("k%02d", i)] = entry(value, i)
	}
	return t
}

// entry is a value of so many bytes, for the reason r, written so many minutes after the first.
func entry(value, minutes int) ws.Entry {
	return ws.Entry{Value: strings.Repeat("v", value), Reason: "r", Version: 1, UpdatedAt: t0.Add(time.Duration(minutes) * time.Minute), UpdatedBy: "trader"}
}

func note(text string) *ws.Note { return &ws.Note{Note: text, UpdatedAt: t0, UpdatedBy: "trader"} }

// render shows a table in the zero Layout, and holds the bound.
func render(t *testing.T, table ws.Table) string {
	t.Helper()
	b := ws.Layout{}.Block(table, t0.Add(time.Hour))
	require.LessOrEqual(t, len(b), ws.DefaultBlock)
	return b
}

func keys(from, to int) []string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("k%02d", i))
	}
	return out
}

// empty is what a block takes without its keys: heading and preamble.
func empty(t *testing.T) int {
	b := render(t, written(1, 1))
	return strings.LastIndex(b, "\n- ")
}

var blockVectors = []vector{
	{71, budget, func(t *testing.T, _ *desk) {
		const omitted = "\n[21 older keys left out: working_state_get shows all]"
		b := render(t, written(32, 181))
		line := len(shownLine(t, written(1, 181), "k00"))
		require.Equal(t, 11, (ws.DefaultBlock-empty(t)-len(omitted))/line, "lines of %d bytes", line)
		require.Equal(t, keys(21, 31), shownKeys(b))
		require.Contains(t, b, omitted)
	}},
	{72, budget, func(t *testing.T, _ *desk) {
		table := written(32, 181)
		table.States["k00"] = entry(181, 40)
		require.Equal(t, append([]string{"k00"}, keys(22, 31)...), shownKeys(render(t, table)))
	}},
	{73, budget, func(t *testing.T, _ *desk) {
		table := written(32, 181)
		table.Handoff = note("h")
		b := render(t, table)
		require.Equal(t, keys(22, 31), shownKeys(b), "the note takes 31 bytes, and 16 were to spare")
		require.True(t, strings.HasSuffix(b, "\nHandoff, left 08-13 01:04: \"h\""))
	}},
	{74, ours, func(t *testing.T, _ *desk) { // the note has a bound of its own, and does not push the rules out
		table := written(32, 181)
		table.Handoff = note(strings.Repeat("交", 1200))
		b := render(t, table)
		require.Equal(t, keys(25, 31), shownKeys(b))
		require.True(t, strings.HasSuffix(b, "…\" [shortened: working_state_get shows it whole]"))
		require.Greater(t, len(b), ws.DefaultBlock-4, "what the keys leave belongs to the note")
	}},
	{75, budget, func(t *testing.T, _ *desk) {
		room := ws.DefaultBlock - empty(t)
		frame := len(shownLine(t, written(1, 1), "k00")) // of a value of one byte, with its line break
		table := written(10, room/10-frame+1)
		k := table.States["k09"]
		k.Value += strings.Repeat("v", room%10)
		table.States["k09"] = k
		require.Len(t, render(t, table), ws.DefaultBlock)
		require.Equal(t, keys(0, 9), shownKeys(render(t, table)))
		k.Value += "v"
		table.States["k09"] = k
		require.Equal(t, keys(1, 9), shownKeys(render(t, table)), "one byte more, and the oldest goes")
	}},
	{76, budget, func(t *testing.T, _ *desk) {
		table := written(20, 181)
		for k := range table.States {
			table.States[k] = entry(181, 0)
		}
		require.Equal(t, keys(9, 19), shownKeys(render(t, table)), "of those written at once, the first by key go")
	}},
	{77, budget, func(t *testing.T, _ *desk) {
		largest := ws.Entry{Value: strings.Repeat("損", ws.MaxValue), Reason: strings.Repeat("損", ws.MaxReason), UpdatedAt: t0, UpdatedBy: "trader", ExpiresAt: t0.Add(720 * time.Hour)}
		long := strings.Repeat("k", ws.MaxKey)
		one := ws.Table{States: map[string]ws.Entry{long: largest}}
		require.Contains(t, render(t, one), long+` = "`+largest.Value+`" (v0, set 08-13 01:04: "`+largest.Reason+`"; until 09-12 01:04)`)
		newer := largest
		newer.UpdatedAt = t0.Add(time.Minute)
		one.States["new"] = newer
		require.Equal(t, []string{"new"}, shownKeys(render(t, one)))
	}},
	{78, parity, func(t *testing.T, d *desk) {
		d.set("k", "v", "ttl_hours", "!1")
		does[ws.HandoffReply](d, handoffTool, args("note", "h"))
		d.sleep(time.Hour)
		lines := strings.Split(d.block(), "\n")
		require.Len(t, lines, 3, "heading, preamble, handoff")
		require.Equal(t, `Handoff, left 08-13 01:04: "h"`, lines[2])
	}},
}

// shownLine is the line of a key, with the break before it.
func shownLine(t *testing.T, table ws.Table, key string) string {
	_, after, found := strings.Cut(render(t, table), "\n- "+key)
	require.True(t, found)
	line, _, _ := strings.Cut(after, "\n")
	return "\n- " + key + line
}
