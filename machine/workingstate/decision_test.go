package workingstate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
)

var fell = projection.Quote{Origin: "market", Text: "2317 closed at 258, below every stop"}

// The views that a person has read, in each language: with keys and a handoff, and with nothing.
func TestGoldenViews(t *testing.T) {
	held := morning()
	held.Version = 40
	for _, w := range languages {
		for name, table := range map[string]ws.Table{"held": held, "empty": {}} {
			d := open(t, ws.Machine, table)
			for _, of := range []*projection.Decision{ws.WhatToChange, ws.WhatToLeave} {
				decision, err := of.In(w.Language)
				require.NoError(t, err)
				v, err := d.View(t.Context(), decision, fell)
				require.NoError(t, err)
				golden(t, "views/"+of.Name()+"_"+name+"."+w.Language+".md", v.Markdown())
			}
		}
	}
}

// A view shows only what holds now, with the version that a guard needs; its answer is committed.
func TestChangeByADecision(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	expired(d)
	d.set(stop, "262, version 99: 254")
	v, err := d.View(t.Context(), ws.WhatToChange, fell)
	require.NoError(t, err)
	require.Contains(t, v.Markdown(), `"keep, version 2: 1"`)
	require.Contains(t, v.Markdown(), `"stop_loss.2317, version 3: 262, version 99: 254"`)
	require.NotContains(t, v.Markdown(), `"k, version`)
	require.Equal(t, []string{setTool, clearTool}, v.Allowed())
	out, err := d.Answer(t.Context(), v, []byte(`{"event":"working_state_set","payload":{"key":"stop_loss.2317","value":"257","reason":"fell","expected_version":3}}`))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	require.Equal(t, "257", d.table().States[stop].Value)
	_, err = d.Answer(t.Context(), v, []byte(`{"event":"working_state_set","payload":{"key":"stop_loss.2317","value":257,"reason":"fell"}}`))
	require.ErrorIs(t, err, guard.ErrForm)
	require.Equal(t, "257", d.table().States[stop].Value)
	_, err = d.Answer(t.Context(), v, []byte(`{"event":"working_state_handoff","payload":{"note":"n"}}`))
	require.ErrorIs(t, err, guard.ErrForm, "not what this decision is about")
	v, err = d.View(t.Context(), ws.WhatToLeave)
	require.NoError(t, err)
	require.Equal(t, []string{handoffTool, retireTool}, v.Allowed())
	does[ws.HandoffReply](d, handoffTool, args("note", "over by then", "ttl_hours", "!1"))
	d.sleep(time.Hour)
	v, err = d.View(t.Context(), ws.WhatToLeave)
	require.NoError(t, err)
	require.NotContains(t, v.Markdown(), "over by then")
}

// What one model call reads is a small part of what the task is: at most a tenth of the snapshot and its history of 20 entries,
// those of a day on which each of nine wake-ups set a rule and left a report.
func TestViewIsSmall(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	d.set("phase", "observe only until the open")
	for i := range 9 {
		d.sleep(time.Hour)
		d.set(fmt.Sprintf("stop_loss.23%02d", i%3), fmt.Sprintf("26%d.50", i), "ttl_hours", "!4.5")
		does[ws.HandoffReply](d, handoffTool, args("note", fmt.Sprintf("the stop of 23%02d follows the morning low, as the plan of Monday says; nothing was sold", i%3), "status", "continue",
			"next_steps", "read the price at the next full hour; when it is below a stop, sell the whole position at market and clear the key", "evidence", fmt.Sprintf("quote %d of the exchange", 8800+i)))
	}
	ctl := d.controller()
	entries, err := ctl.Recent(t.Context(), d.Task(), guard.Principal{ID: "trader"}, 100)
	require.NoError(t, err)
	require.Len(t, entries, 20)
	history := 0
	for _, e := range entries {
		raw, err := e.Append(nil)
		require.NoError(t, err)
		history += len(raw)
	}
	s, _, err := ctl.Latest(t.Context(), d.Task(), guard.Principal{ID: "trader"})
	require.NoError(t, err)
	snapshot, err := machine.Erase(ws.Machine).Encode(nil, s)
	require.NoError(t, err)
	for _, decision := range []*projection.Decision{ws.WhatToChange, ws.WhatToLeave} {
		v, err := d.View(t.Context(), decision, fell)
		require.NoError(t, err)
		whole, shown := len(snapshot)+history, len(v.Markdown())
		t.Logf("%s: Markdown %d, of it %d static, JSON %d, envelope %d, tools %d; snapshot %d, history %d: %.1f %%", decision.Name(), shown, v.Head(), len(v.JSON()), len(v.Schema()),
			len(v.OpenAITools()), len(snapshot), history, 100*float64(shown)/float64(whole))
		require.LessOrEqual(t, 10*shown, whole)
	}
}
