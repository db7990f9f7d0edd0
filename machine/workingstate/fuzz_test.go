package workingstate_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
)

// FuzzArguments makes calls with any bytes as arguments: each is committed whole or refused with a code and no change, what is
// committed keeps the rules of a table, and the block holds its bounds.
func FuzzArguments(f *testing.F) {
	tools := []string{setTool, clearTool, handoffTool, retireTool}
	for _, seed := range []struct {
		tool byte
		raw  string
	}{
		{0, `{"key":"k","value":"v","reason":"r"}`},
		{0, `{"key":" held ","value":"a\n## b","reason":"r","ttl_hours":"4.5","expected_value":"1","expected_version":1,"expect_absent":false}`},
		{0, `{"key":"k","value":"v","reason":"r","ttl_hours":1e-7}`},
		{0, `{"key":"k","value":"v","reason":"r","ttl_hours":-0.0}`},
		{0, `{"key":"k","value":"v","reason":"r","ttl_hours":"0x1p4"}`},
		{0, `{"key":"k","value":"v","reason":"r","ttl_hours":"1_0"}`},
		{0, `{"key":"k","value":"\u0000\u200b\ud83d\udea6","reason":"r"}`},
		{0, `{"key":"k","value":262,"reason":"r"}`},
		{0, `{"key":"k","key":"l","value":"v","reason":"r"}`},
		{1, `{"key":"held","reason":"r","expected_record_version":1}`},
		{2, `{"note":"n","status":" blocked ","blocker":"b","proof":null}`},
		{2, `{"note":"n","status":"","next_steps":""}`},
		{3, `{"reason":"r"}`},
		{3, `null`},
	} {
		f.Add(seed.tool, []byte(seed.raw))
	}
	f.Fuzz(func(t *testing.T, tool byte, raw []byte) {
		d := open(t, ws.Machine, ws.Table{Version: 1, States: map[string]ws.Entry{"held": {Value: "1", Reason: "r", UpdatedAt: t0}},
			Handoff: &ws.Note{Note: "n", UpdatedAt: t0}})
		before := d.table()
		out, err := d.Call(t.Context(), tools[int(tool)%len(tools)], raw)
		require.NoError(t, err)
		after := d.table()
		if out.Kind != machine.Committed {
			require.Equal(t, machine.Refused, out.Kind)
			require.NotEmpty(t, out.Code())
			require.Equal(t, before, after)
			return
		}
		require.True(t, json.Valid(raw))
		require.Equal(t, before.Version+1, after.Version)
		again, err := ws.Clean(after)
		require.NoError(t, err)
		require.Equal(t, after, again, "what is stored is clean")
		h := d.get(10).History
		require.Len(t, h, 1)
		require.Equal(t, after.Version, h[0].Version)
		block, actions, err := d.Blocks(t.Context(), ws.Layout{})
		require.NoError(t, err)
		require.LessOrEqual(t, len(block), ws.DefaultBlock)
		require.True(t, utf8.ValidString(block))
		require.LessOrEqual(t, strings.Count("\n"+block, "\n#"), 1)
		require.Equal(t, 1, strings.Count("\n"+actions, "\n#"))
	})
}

// FuzzHours: a text is a time or it is none, and a time is a whole number of seconds within its limits.
func FuzzHours(f *testing.F) {
	for _, seed := range []string{"4.5", `"4.5"`, "720", "720.0000001", "0.000277", "1e400", `"Inf"`, "-1", "0x10", `" 1 "`, "null", "1e-400"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		payload := append(append([]byte(`{"key":"k","value":"v","reason":"r","ttl_hours":`), raw...), '}')
		p, err := ws.SetKey.Info().Decode(payload)
		if err != nil {
			require.ErrorIs(t, err, guard.ErrForm)
			return
		}
		h := p.Payload().(ws.Set).TTLHours
		if h == nil {
			require.True(t, bytes.HasPrefix(bytes.TrimSpace(raw), []byte("null")))
			return
		}
		d := open(t, ws.Machine, ws.Table{})
		out := d.try(setTool, string(payload))
		if out.Kind != machine.Committed {
			require.Equal(t, ws.CodeTTL, out.Code())
			return
		}
		r, err := machine.ReturnedAs[ws.SetReply](out)
		require.NoError(t, err)
		seconds := r.ExpiresAt.Sub(t0).Seconds()
		require.Equal(t, float64(int64(seconds)), seconds)
		require.True(t, seconds >= ws.MinTTL && seconds <= ws.MaxTTLHours*3600)
	})
}
