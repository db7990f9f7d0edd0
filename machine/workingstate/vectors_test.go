package workingstate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
)

// Where a vector of the specification's section 12 and this machine agree, and where ours wins.
const (
	parity = "parity"
	ours   = "ours"   // the row says what is ours, or DESIGN 15 does
	budget = "budget" // parity in spirit: the bytes are those of our own layout
)

// vector is one row of the specification's section 12.
type vector struct {
	number int
	mark   string
	show   func(t *testing.T, d *desk) // on an agent that was just started
}

// vectors are all rows, those of several files together.
func vectors() []vector {
	var all []vector
	for _, rows := range [][]vector{setVectors, ttlVectors, capVectors, formVectors, handoffVectors, configVectors, blockVectors, historyVectors, raceVectors} {
		all = append(all, rows...)
	}
	return all
}

// TestVectors shows each row by its number, and that none is missing.
func TestVectors(t *testing.T) {
	shown := map[int]int{}
	for _, v := range vectors() {
		shown[v.number]++
		require.Contains(t, []string{parity, ours, budget}, v.mark)
		t.Run(fmt.Sprintf("%02d_%s", v.number, v.mark), func(t *testing.T) { v.show(t, open(t, ws.Machine, ws.Table{})) })
	}
	for n := 1; n <= 86; n++ {
		require.Equal(t, 1, shown[n], "vector %d", n)
	}
	require.Len(t, shown, 86)
}

// one is the state after vector 1.
func one(d *desk) ws.SetReply {
	return does[ws.SetReply](d, setTool, args("key", stop, "value", "262", "reason", "exit on break"))
}

// expired leaves the key k with the value 262, an hour after its end, and keep without one.
func expired(d *desk) {
	d.set("k", "262", "ttl_hours", "!1")
	d.set("keep", "1")
	d.sleep(2 * time.Hour)
}

var setVectors = []vector{
	{1, parity, func(t *testing.T, d *desk) {
		r := one(d)
		require.Equal(t, ws.SetReply{OK: true, Version: 1, Key: stop, Value: "262", Swept: []string{}}, r)
	}},
	{2, parity, func(t *testing.T, d *desk) {
		one(d)
		r := does[ws.SetReply](d, setTool, args("key", stop, "value", "257", "reason", "lowered at close"))
		require.EqualValues(t, 2, r.Version)
		require.Equal(t, ptr("262"), r.Superseded)
		h := d.get(20).History
		require.Len(t, h, 2)
		require.Equal(t, ptr("262"), h[1].PrevValue)
		require.Nil(t, h[0].PrevValue)
	}},
	{3, parity, func(t *testing.T, d *desk) {
		one(d)
		r := does[ws.SetReply](d, setTool, args("key", stop, "value", "262", "reason", "again"))
		require.EqualValues(t, 2, r.Version)
		require.Equal(t, ptr("262"), r.Superseded)
	}},
	{4, parity, func(t *testing.T, d *desk) {
		one(d)
		f := d.refusesSet(ws.CodeConflict, stop, "254", "expected_value", "260")
		require.Equal(t, map[string]any{"current": "262", "current_version": uint64(1), "record_version": uint64(1)}, f.Details)
		require.EqualValues(t, 1, d.get(20).Version)
	}},
	{5, parity, func(t *testing.T, d *desk) {
		one(d)
		require.Equal(t, ptr("262"), d.set(stop, "257", "expected_value", "262").Superseded)
	}},
	{6, parity, func(t *testing.T, d *desk) { one(d); d.set(stop, "257", "expected_value", "  262 ") }},
	{7, parity, func(t *testing.T, d *desk) {
		absent(t, d.refusesSet(ws.CodeConflict, "nope", "1", "expected_value", "x"))
	}},
	{8, parity, func(t *testing.T, d *desk) { absent(t, d.refusesSet(ws.CodeConflict, "k", "1", "expected_value", "")) }},
	{9, parity, func(t *testing.T, d *desk) {
		one(d)
		require.Equal(t, "262", d.refusesSet(ws.CodeConflict, stop, "257", "expected_value", "").Details["current"])
	}},
	{10, ours, func(t *testing.T, d *desk) {
		one(d)
		for value, reason := range map[string]string{"!260": "wrong_type", "!true": "wrong_type", "!{}": "wrong_type", `!["262"]`: "wrong_type"} {
			d.malformed(reason, "/expected_value", setTool, args("key", stop, "value", "257", "reason", "r", "expected_value", value))
		}
	}},
	{11, ours, func(t *testing.T, d *desk) {
		d.set("c", "a  b")
		d.set("c", "c", "expected_value", "a  b")
		long := strings.Repeat("x", 500) // and what was cut is compared as it was cut: rows 12 and 13 of section 4
		d.set("c", long)
		d.set("c", "d", "expected_value", long)
	}},
	{12, parity, func(t *testing.T, d *desk) {
		expired(d)
		absent(t, d.refusesSet(ws.CodeConflict, "k", "257", "expected_value", "262"))
		absent(t, d.refusesSet(ws.CodeConflict, "k", "257", "expected_version", "!1"))
	}},
	{13, parity, func(t *testing.T, d *desk) { expired(d); require.Equal(t, ptr("262"), d.set("k", "257").Superseded) }},
	{14, parity, func(t *testing.T, d *desk) {
		expired(d)
		require.Contains(t, d.block(), "- keep = ")
		require.NotContains(t, d.block(), "- k = ")
	}},
	{15, parity, func(t *testing.T, d *desk) {
		expired(d)
		s := d.get(20).States
		require.True(t, s["k"].Expired)
		require.False(t, s["keep"].Expired)
	}},
	{16, parity, func(t *testing.T, d *desk) {
		expired(d)
		require.Equal(t, "262", does[ws.ClearReply](d, clearTool, args("key", "k", "reason", "old")).Retired)
	}},
}

func absent(t *testing.T, f machine.Finding) {
	t.Helper()
	require.Equal(t, true, f.Details["absent"])
	require.NotContains(t, f.Details, "current")
}

var ttlVectors = []vector{
	{17, parity, func(t *testing.T, d *desk) {
		for _, h := range []string{"!0", "!-1", "!720.01", "NaN", "+Inf", "!1e999", "!-0"} {
			f := d.refusesSet(ws.CodeTTL, "k", "v", "ttl_hours", h)
			require.Equal(t, map[string]any{"min_seconds": ws.MinTTL, "max_hours": ws.MaxTTLHours}, f.Details)
		}
	}},
	{18, parity, func(t *testing.T, d *desk) {
		require.Equal(t, t0.AddDate(0, 0, 30), d.set("k", "v", "ttl_hours", "!720").ExpiresAt)
	}},
	{19, parity, func(t *testing.T, d *desk) {
		require.Equal(t, t0.Add(16200*time.Second), d.set("k", "v", "ttl_hours", "!4.5").ExpiresAt)
	}},
	{20, ours, func(t *testing.T, d *desk) {
		d.refusesSet(ws.CodeTTL, "k", "v", "ttl_hours", "!0.0001")
		require.Equal(t, t0.Add(time.Second), d.set("k", "v", "ttl_hours", "!0.00028").ExpiresAt)
	}},
	{21, parity, func(t *testing.T, d *desk) {
		require.Equal(t, t0.Add(16200*time.Second), d.set("k", "v", "ttl_hours", "4.5").ExpiresAt)
	}},
	{22, ours, func(t *testing.T, d *desk) {
		for _, h := range []string{"soon", "!true", "!{}", "!1h", "", "0x10", "0x1_0p0", strings.Repeat("0", 65)} {
			out := d.try(setTool, args("key", "k", "value", "v", "reason", "r", "ttl_hours", h))
			require.Equal(t, machine.CodeForm, out.Code(), h)
		}
		require.Empty(t, d.table().States)
	}},
	{23, parity, func(t *testing.T, d *desk) {
		d.set("k", "v", "ttl_hours", "!1")
		require.Zero(t, d.set("k", "v2").ExpiresAt)
		require.Zero(t, d.table().States["k"].ExpiresAt)
	}},
	{24, parity, func(t *testing.T, d *desk) {
		d.set("k", "v", "ttl_hours", "!1")
		d.sleep(time.Hour - time.Microsecond)
		require.Contains(t, d.block(), "- k = ")
		d.sleep(time.Microsecond)
		require.Empty(t, d.block())
		absent(t, d.refusesSet(ws.CodeConflict, "k", "v", "expected_value", "v"))
	}},
}

// fill writes keys k0 to kn-1.
func fill(d *desk, n int) {
	for i := range n {
		d.set(fmt.Sprintf("k%d", i), "v")
	}
}

var capVectors = []vector{
	{25, parity, func(t *testing.T, d *desk) {
		fill(d, ws.MaxKeys)
		f := d.refusesSet(ws.CodeKeyCap, "overflow", "v")
		require.Equal(t, ws.MaxKeys, f.Details["cap"])
		require.Len(t, f.Details["live"], ws.MaxKeys)
		require.Contains(t, f.Details["live"], "k31")
		require.Empty(t, f.Details["expired"])
	}},
	{26, parity, func(t *testing.T, d *desk) { fill(d, ws.MaxKeys); d.set("k0", "v2") }},
	{27, ours, func(t *testing.T, d *desk) {
		d.set("e1", "v", "ttl_hours", "!2")
		d.set("e0", "v", "ttl_hours", "!1")
		fill(d, ws.MaxKeys-2)
		d.refusesSet(ws.CodeKeyCap, "new", "v")
		d.sleep(3 * time.Hour)
		require.Equal(t, []string{"e0"}, d.set("new", "v").Swept, "only as many as have to go, the one that ended first")
		require.Len(t, d.table().States, ws.MaxKeys)
		require.Contains(t, d.table().States, "e1")
		require.Equal(t, []string{"e1"}, d.set("new2", "v").Swept)
		d.refusesSet(ws.CodeKeyCap, "new3", "v")
	}},
	{28, parity, func(t *testing.T, d *desk) {
		d.set("e", "v", "ttl_hours", "!1")
		fill(d, ws.MaxKeys-1)
		d.sleep(time.Hour)
		require.Empty(t, d.set("e", "v").Swept)
	}},
	{29, parity, func(t *testing.T, d *desk) {
		fill(d, ws.MaxKeys)
		out := d.try(setTool, args("key", "new", "value", "v", "reason", "r", "expected_value", "x"))
		require.Equal(t, ws.CodeConflict, out.Code(), "compare before the cap")
		require.Len(t, out.Findings, 2)
		require.Equal(t, ws.CodeKeyCap, out.Findings[1].Code, "and the cap is told as well")
	}},
	{30, parity, func(t *testing.T, d *desk) {
		fill(d, ws.MaxKeys)
		does[ws.ClearReply](d, clearTool, args("key", "k5", "reason", "done"))
		d.set("new", "v")
	}},
}

var formVectors = []vector{
	{31, parity, func(t *testing.T, d *desk) {
		for _, key := range []string{"Bad.Key", ".dot", "-x", "_x", "", "a b", "é", strings.Repeat("a", 65)} {
			f := d.refusesSet(ws.CodeBadKey, key, "v")
			require.Equal(t, map[string]any{"pattern": ws.KeyPattern, "key": key}, f.Details)
			d.refuses(ws.CodeBadKey, clearTool, args("key", key, "reason", "r"))
		}
		require.Len(t, d.refusesSet(ws.CodeBadKey, strings.Repeat("é", 200), "v").Details["key"], 160, "80 characters")
	}},
	{32, parity, func(t *testing.T, d *desk) {
		for _, key := range []string{"0", "a", "a.b_c-d", strings.Repeat("a", ws.MaxKey)} {
			d.set(key, "v")
		}
	}},
	{33, parity, func(t *testing.T, d *desk) {
		require.Equal(t, "phase", d.set("  phase  ", "v").Key)
		require.Contains(t, d.table().States, "phase")
		does[ws.ClearReply](d, clearTool, args("key", " phase\n", "reason", "r"))
		require.Empty(t, d.table().States)
	}},
	{34, parity, func(t *testing.T, d *desk) {
		d.refusesSet(ws.CodeEmptyValue, "k", "   ")
		d.refuses(ws.CodeReason, setTool, args("key", "k", "value", "v", "reason", " \n "))
	}},
	{35, ours, func(t *testing.T, d *desk) {
		for _, value := range []string{"!262", "!true", "!{}"} {
			d.malformed("wrong_type", "/value", setTool, args("key", "k", "value", value, "reason", "r"))
		}
		d.malformed("null", "/value", setTool, args("key", "k", "value", "!null", "reason", "r"))
		d.malformed("missing_field", "/value", setTool, args("key", "k", "reason", "r"))
	}},
	{36, parity, func(t *testing.T, d *desk) {
		r := d.set("k", strings.Repeat("損", 1000))
		require.True(t, r.Truncated)
		require.Equal(t, strings.Repeat("損", ws.MaxValue), d.table().States["k"].Value)
		require.False(t, d.set("k", strings.Repeat("損", ws.MaxValue)).Truncated)
	}},
	{37, parity, func(t *testing.T, d *desk) {
		r := does[ws.SetReply](d, setTool, args("key", "k", "value", "v", "reason", strings.Repeat("é", ws.MaxReason+1)))
		require.True(t, r.Truncated)
		require.Equal(t, strings.Repeat("é", ws.MaxReason), d.table().States["k"].Reason)
	}},
	{38, parity, func(t *testing.T, d *desk) {
		d.set("k", "262\n## fake heading\n- x = 1")
		headings := 0
		for line := range strings.Lines(d.block()) {
			if strings.HasPrefix(line, "#") {
				headings++
			}
		}
		require.Equal(t, 1, headings)
		require.Equal(t, "262 ## fake heading - x = 1", d.table().States["k"].Value)
	}},
	{39, parity, func(t *testing.T, d *desk) {
		d.set("k", "a\u3000\u00a0b")
		require.Equal(t, "a b", d.table().States["k"].Value)
	}},
	{40, parity, func(t *testing.T, d *desk) {
		ghost, err := ws.NewAgent(d.controller(), "ghost")
		require.NoError(t, err)
		_, err = ghost.Set(t.Context(), ws.Set{Key: "k", Value: "v", Reason: "r"})
		require.ErrorIs(t, err, resume.ErrNoTask)
		_, err = ws.NewAgent(d.controller(), "../evil")
		require.ErrorIs(t, err, ws.ErrAgent)
	}},
	{41, parity, func(t *testing.T, d *desk) {
		one(d)
		r := does[ws.ClearReply](d, clearTool, args("key", stop, "reason", "sold"))
		require.Equal(t, ws.ClearReply{OK: true, Version: 2, Key: stop, Retired: "262"}, r)
		require.Equal(t, stop, d.refuses(ws.CodeKeyNotFound, clearTool, args("key", stop, "reason", "sold")).Details["key"])
		require.EqualValues(t, 2, d.table().Version)
	}},
	{42, parity, func(t *testing.T, d *desk) {
		one(d)
		d.refuses(ws.CodeReason, clearTool, args("key", stop, "reason", ""))
		require.Contains(t, d.table().States, stop)
	}},
	{43, parity, func(t *testing.T, d *desk) {
		one(d)
		does[ws.ClearReply](d, clearTool, args("key", stop, "reason", "sold"))
		require.Empty(t, d.block())
	}},
}

// controller is another controller on the same store.
func (d *desk) controller() *resume.Controller {
	ctl, err := resume.Open(d.t.Context(), d.st, resume.Config{Machines: []machine.Definition{ws.Machine}})
	require.NoError(d.t, err)
	return ctl
}

var configVectors = []vector{
	{63, parity, func(t *testing.T, _ *desk) {
		d := capped(t, 20)
		f := d.refuses(ws.CodeTooLarge, handoffTool, args("note", "備註", "status", "continue", "next_steps", strings.Repeat("次", 17)))
		require.Equal(t, map[string]any{"bytes": 57, "cap": 20, "setting": "workingstate.Options.HandoffBytes"}, f.Details)
	}},
	{64, parity, func(t *testing.T, _ *desk) {
		does[ws.HandoffReply](capped(t, 20), handoffTool, args("note", strings.Repeat("n", 1000)))
	}},
	{65, parity, func(t *testing.T, _ *desk) { // what is no number in a file is the reader's to say: cmd/pawl
		for _, most := range []int{0, -5} {
			does[ws.HandoffReply](capped(t, most), handoffTool, args("note", "備註", "status", "continue", "next_steps", strings.Repeat("次", 17)))
		}
		_, err := ws.New(ws.Options{HandoffBytes: ws.MaxHandoff + 1})
		require.ErrorIs(t, err, ws.ErrOptions)
		_, err = ws.New(ws.Options{HandoffBytes: ws.MaxHandoff})
		require.NoError(t, err)
	}},
	{66, parity, func(t *testing.T, _ *desk) {
		capped(t, 20).refuses(ws.CodeTooLarge, handoffTool, args("note", strings.Repeat(" ", 30)+"a", "status", "continue", "next_steps", "b"))
	}},
	{68, parity, func(t *testing.T, d *desk) { // whether the block is injected is the wake-up's to say: without it the prompt is itself
		one(d)
		require.Equal(t, "prompt", ws.Tail("prompt"))
		require.Len(t, d.get(20).States, 1)
		d.set(stop, "257")
	}},
	{69, parity, func(t *testing.T, d *desk) { one(d); require.NotEmpty(t, d.block()) }}, // no file is read here: the zero Layout renders
	{86, ours, func(t *testing.T, d *desk) { // scopes are those of cmd/pawl/mcp; whose table it is, is the controller's
		other := d.As(guard.Principal{ID: "other"}, guard.Model)
		_, err := other.Set(t.Context(), ws.Set{Key: "k", Value: "v", Reason: "r"})
		require.ErrorIs(t, err, resume.ErrNoTask, "a stranger sees no task")
		attempts, err := d.controller().Attempts(t.Context(), d.Task(), guard.Principal{ID: "trader"})
		require.NoError(t, err)
		require.Equal(t, machine.CodeForbidden, attempts[0].Findings[0].Code)
		require.Equal(t, "other", attempts[0].Principal)
	}},
}

// capped is a desk whose structured handoffs bring at most so many bytes.
func capped(t *testing.T, most int) *desk {
	m, err := ws.New(ws.Options{HandoffBytes: most})
	require.NoError(t, err)
	return open(t, m, ws.Table{})
}
