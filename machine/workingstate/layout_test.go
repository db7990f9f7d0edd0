package workingstate_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
	ws "github.com/pawlgo/pawl/machine/workingstate"
)

var languages = []*ws.Words{&ws.English, &ws.TraditionalChinese, &ws.SimplifiedChinese}

// golden compares with a file that a person has read. The flag -update rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// morning is the table of an agent on a working day.
func morning() ws.Table {
	at := func(m int) time.Time { return t0.Add(time.Duration(m) * time.Minute) }
	return ws.Table{Version: 9, States: map[string]ws.Entry{
		"phase":          {Value: "observe only", Reason: "no new positions before earnings", Version: 2, UpdatedAt: at(-900), UpdatedBy: "trader"},
		"stop_loss.2317": {Value: "262", Reason: "exit on break", Version: 8, UpdatedAt: at(0), UpdatedBy: "trader", ExpiresAt: at(270)},
		"stop_loss.2330": {Value: "1010", Reason: "old", Version: 1, UpdatedAt: at(-2000), UpdatedBy: "trader", ExpiresAt: at(-10)},
		"quote":          {Value: `he said "sell" ` + "\u202e now \u200b", Reason: "heard", Version: 7, UpdatedAt: at(-1), UpdatedBy: "trader"},
	}, Handoff: &ws.Note{Note: "broker API answers 403", Status: ws.Blocked, Blocker: "API 403 since 01:02", NextSteps: "retry at 01:30", Evidence: "log line 88",
		Version: 9, UpdatedAt: at(1), UpdatedBy: "trader", ExpiresAt: at(600)}}
}

// did is what an agent did in the hour before.
func did() []ws.Action {
	return []ws.Action{
		{At: t0.Add(-time.Hour), Tool: setTool, Summary: `stop_loss.2317 = "262"`, Done: true, Version: 8, Times: 1},
		{At: t0.Add(-time.Minute), Tool: setTool, Summary: `stop_loss.2317 = "257"`, Code: ws.CodeConflict, Times: 3},
		{At: t0, Tool: "working_state_handoff", Summary: `blocked = "broker API answers 403"`, Done: true, Version: 9, Times: 1},
	}
}

// The blocks as a prompt shows them, in each language.
func TestGoldenBlocks(t *testing.T) {
	taipei := time.FixedZone("UTC+8", 8*3600)
	for _, w := range languages {
		l := ws.Layout{Words: w, Zone: taipei}
		golden(t, "blocks/morning."+w.Language+".md", ws.Tail("(the prompt)", l.Block(morning(), t0.Add(2*time.Minute)), l.Recent(did()))+"\n")
		require.Same(t, w, ws.WordsIn(w.Language))
	}
	require.Same(t, &ws.English, ws.WordsIn("fr"))
	require.Equal(t, ws.Layout{}.Block(morning(), t0), ws.Layout{Words: &ws.English, Zone: time.UTC, Budget: ws.DefaultBlock}.Block(morning(), t0))
}

// With nothing that holds, nothing is added: not one byte.
func TestNothingIsZeroBytes(t *testing.T) {
	for _, w := range languages {
		l := ws.Layout{Words: w}
		over := t0.AddDate(1, 0, 0)
		empty := ws.Table{States: map[string]ws.Entry{"k": {Value: "v", Reason: "r", ExpiresAt: t0}}, Handoff: &ws.Note{Note: "n", ExpiresAt: t0}}
		require.Empty(t, l.Block(ws.Table{}, over))
		require.Empty(t, l.Block(empty, over))
		require.Empty(t, l.Recent(nil))
		require.Equal(t, "prompt", ws.Tail("prompt", l.Block(empty, over), l.Recent(nil)))
	}
	require.Equal(t, "a\n\nb\n\nc", ws.Tail("a", "b", "", "c"))
}

// largest is the largest that each text may be, of the characters that take the most room.
func largest(n int, at time.Time) ws.Entry {
	wide := func(n int) string { return strings.Repeat("\U0001F6A6", n) }
	return ws.Entry{Value: wide(ws.MaxValue), Reason: wide(ws.MaxReason), UpdatedAt: at.Add(time.Duration(n) * time.Second), ExpiresAt: at.AddDate(0, 1, 0)}
}

// The newest key has its whole value in every language, beside the largest handoff; its reason and the handoff give way.
func TestTheNewestValueIsWhole(t *testing.T) {
	text := strings.Repeat("\U0001F6A6", ws.MaxHandoff/16)
	note := &ws.Note{Note: text, Status: ws.Complete, NextSteps: text, Evidence: text, Blocker: text, Proof: strings.Repeat("p", ws.MaxProofID),
		Verified: strings.Repeat("v", guard.MaxName), UpdatedAt: t0, ExpiresAt: t0.AddDate(0, 1, 0)}
	table := ws.Table{Handoff: note, States: map[string]ws.Entry{strings.Repeat("k", ws.MaxKey): largest(32, t0)}}
	for i := range ws.MaxKeys - 1 {
		table.States[fmt.Sprintf("k%d", i)] = largest(i, t0)
	}
	for _, w := range languages {
		b := ws.Layout{Words: w}.Block(table, t0)
		require.LessOrEqual(t, len(b), ws.DefaultBlock, w.Language)
		require.Contains(t, b, "k = \""+table.States["k0"].Value+"\"", w.Language)
		require.True(t, strings.HasSuffix(b, w.Cut), w.Language)
		require.Contains(t, b, w.Statuses[ws.Complete], "what the handoff says of the work stays")
		require.Contains(t, b, w.NextSteps+": \"\U0001F6A6")
		require.Contains(t, b, w.Blocker+": \"\U0001F6A6")
		require.Contains(t, b, strings.Replace(w.Omitted, "%1", "31", 1))
	}
	more := ws.Layout{Budget: 2 * ws.DefaultBlock}.Block(table, t0)
	require.Greater(t, len(more), ws.DefaultBlock+1000)
	require.LessOrEqual(t, len(more), 2*ws.DefaultBlock)
	require.Equal(t, ws.Layout{}.Block(table, t0), ws.Layout{Budget: 1}.Block(table, t0), "less than the least is the least")
}

// Whatever a table holds, its block is valid text within the budget, has one heading, and shows the newest key.
func TestBlockHoldsItsBounds(t *testing.T) {
	text := func(most int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			s := rapid.StringOfN(rapid.RuneFrom([]rune{'a', ' ', '\n', '#', '-', '"', '\\', '損', '\u202e', '\U0001F6A6', '\u2028', '=', '('}), 1, 40, -1).Draw(t, "text")
			return "x" + strings.Repeat(s, rapid.IntRange(1, max(1, most/len(s))).Draw(t, "times"))
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := ws.Table{Version: 100, States: map[string]ws.Entry{}}
		newest, at := "", time.Time{}
		for i := range rapid.IntRange(1, ws.MaxKeys).Draw(t, "keys") {
			k := fmt.Sprintf("k%d", i)
			when := t0.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "minute")) * time.Minute)
			raw.States[k] = ws.Entry{Value: text(2000).Draw(t, "value"), Reason: text(1000).Draw(t, "reason"), UpdatedAt: when}
			if when.After(at) || when.Equal(at) && k > newest {
				newest, at = k, when
			}
		}
		if rapid.Bool().Draw(t, "handoff") {
			raw.Handoff = &ws.Note{Note: text(8000).Draw(t, "note"), Status: ws.Blocked, Blocker: text(8000).Draw(t, "blocker"), UpdatedAt: t0}
		}
		table, err := ws.Clean(raw)
		require.NoError(t, err)
		for _, w := range languages {
			b := ws.Layout{Words: w}.Block(table, t0)
			require.LessOrEqual(t, len(b), ws.DefaultBlock)
			require.True(t, utf8.ValidString(b))
			require.Equal(t, 1, strings.Count("\n"+b, "\n#"))
			shown := shownKeys(b)
			require.Contains(t, shown, newest)
			lines := 2 + len(shown)
			if table.Handoff != nil {
				lines++
			}
			if len(shown) < len(table.States) {
				lines++
			}
			require.Equal(t, lines, strings.Count(b, "\n")+1, "no value makes a line of its own")
			require.Equal(t, b, ws.Layout{Words: w}.Block(table.Clone(), t0))
		}
	})
}

// Recent actions are what was done and what was refused, with the key and the version; the same in a row is one line.
func TestActions(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	d.set("old", "1")
	d.sleep(ws.ActionsSince + time.Second)
	d.set(stop, "262")
	for range 3 {
		d.sleep(time.Second)
		d.try(setTool, args("key", stop, "value", "254", "reason", "r", "expected_value", "260"))
	}
	d.sleep(time.Second)
	d.try(setTool, args("key", stop, "value", "!254", "reason", "r"))
	d.try("working_state_forget", `{}`)
	for range 2 { // what others do, and what is refused to them, is no action of the agent's
		_, err := d.As(operator, guard.Operator).Clear(t.Context(), ws.Clear{Key: stop, Reason: "r"})
		require.NoError(t, err)
	}
	d.sleep(time.Second)
	does[ws.HandoffReply](d, handoffTool, args("note", strings.Repeat("n", 500)))

	a, err := d.Actions(t.Context(), 10)
	require.NoError(t, err)
	var rows []string
	for _, r := range a {
		rows = append(rows, fmt.Sprintf("%s %.30s %v %s %d %d", r.Tool, r.Summary, r.Done, r.Code, r.Version, r.Times))
		require.LessOrEqual(t, len(r.Summary), ws.MaxSummary)
	}
	require.Equal(t, []string{
		`working_state_set stop_loss.2317 = "262" true  2 1`,
		`working_state_set stop_loss.2317 = "254" false cas_conflict 0 3`,
		`working_state_set  false form 0 1`,
		`working_state_forget  false unknown_event 0 1`,
		`working_state_handoff "nnnnnnnnnnnnnnnnnnnnnnnnnnnnn true  4 1`,
	}, rows)
	a, err = d.Actions(t.Context(), 2)
	require.NoError(t, err)
	require.Len(t, a, 2, "the newest")
	require.EqualValues(t, 4, a[1].Version)
	a, err = d.Actions(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, a, 1)
}

// No more rows than the most, however many are asked for.
func TestActionsAreBounded(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	for i := range ws.MaxActions + 10 {
		d.set("k", fmt.Sprint(i))
	}
	a, err := d.Actions(t.Context(), 1000)
	require.NoError(t, err)
	require.Len(t, a, ws.MaxActions)
}

// The rows have a budget of their own; the oldest go, counted, and the newest stays.
func TestRecentHoldsItsBound(t *testing.T) {
	row := func(n int) ws.Action {
		return ws.Action{At: t0, Tool: setTool, Summary: strings.Repeat("損", ws.MaxSummary/3), Done: true, Version: uint64(n), Times: 1}
	}
	var rows []ws.Action
	for i := range ws.MaxActions {
		rows = append(rows, row(i+1))
	}
	for _, w := range languages {
		l := ws.Layout{Words: w}
		b := l.Recent(rows)
		lines := strings.Split(b, "\n")
		require.LessOrEqual(t, len(strings.Join(lines[2:], "\n"))+1, ws.ActionsBytes)
		shown := len(lines) - 3
		require.Greater(t, shown, 7)
		require.Contains(t, lines[2], fmt.Sprint(ws.MaxActions-shown))
		require.Contains(t, lines[len(lines)-1], fmt.Sprint(ws.MaxActions))
		require.Equal(t, 1, strings.Count("\n"+b, "\n#"))
		long := row(1)
		long.Summary = strings.Repeat("x", 2*ws.ActionsBytes)
		require.Contains(t, l.Recent([]ws.Action{row(1), long}), long.Summary, "at least one stays")
		for n := range ws.MaxSummary { // with the line that counts what is left out
			for i := range rows {
				rows[i].Summary = strings.Repeat("x", n)
			}
			lines := strings.SplitN(l.Recent(rows), "\n", 3)
			require.LessOrEqual(t, len(lines[2])+1, ws.ActionsBytes)
		}
	}
}

// Blocks gives both, for one prompt.
func TestBlocks(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	state, actions, err := d.Blocks(t.Context(), ws.Layout{})
	require.NoError(t, err)
	require.Empty(t, state+actions)
	one(d)
	d.refusesSet(ws.CodeConflict, stop, "254", "expected_value", "260")
	state, actions, err = d.Blocks(t.Context(), ws.Layout{Actions: 1})
	require.NoError(t, err)
	require.Contains(t, state, `"262"`)
	require.Contains(t, actions, "refused (cas_conflict)")
	require.NotContains(t, actions, "done:")
}

// Each language says everything, and has the places that its comments name.
func TestWordsAreWhole(t *testing.T) {
	for _, w := range languages {
		v := reflect.ValueOf(*w)
		for i := range v.NumField() {
			require.False(t, v.Field(i).IsZero(), "%s %s", w.Language, v.Type().Field(i).Name)
		}
		for _, text := range []string{w.Preamble, w.Set, w.Until, w.Omitted, w.Handoff, w.Verified, w.ActionsAre, w.Version, w.Times, w.Older} {
			require.Equal(t, 1, strings.Count(text, "%1"), text)
		}
		require.Contains(t, w.Verified, "%2")
		require.Len(t, w.Statuses, 3)
		require.NotContains(t, w.Preamble+w.ActionsAre+w.Heading+w.Actions, "\n")
	}
	odd := ws.English
	odd.Set, odd.Until = "100%, %9 %1", "until %"
	b := ws.Layout{Words: &odd}.Block(morning(), t0)
	require.Contains(t, b, "(v8, 100%, %9 08-13 01:04: \"exit on break\"; until %)")
}
