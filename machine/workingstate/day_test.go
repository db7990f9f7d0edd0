package workingstate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// wakeUp is one run of the trader in a process of its own, which is gone afterwards: what it may know of earlier runs is the
// block in its prompt.
func wakeUp(t *testing.T, fs vfs.FS, at, run string, do func(a ws.Agent, block string)) {
	now, err := time.Parse("15:04", at)
	require.NoError(t, err)
	now = now.AddDate(2026, 7, 12)
	st, err := pebblestore.Open("store", pebblestore.Options{FS: fs, Now: func() time.Time { return now }, CacheBytes: 1 << 20})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	ctl, err := resume.Open(t.Context(), st, resume.Config{Machines: []machine.Definition{ws.Machine}})
	require.NoError(t, err)
	a, err := ws.NewAgent(ctl, "trader")
	require.NoError(t, err)
	_, err = a.Start(t.Context(), ws.Machine)
	require.NoError(t, err)
	a, err = a.During(run, "")
	require.NoError(t, err)
	block, _, err := a.Blocks(t.Context(), ws.Layout{})
	require.NoError(t, err)
	do(a, block)
}

// ruleIn is the one stop that a block shows; it must show exactly one.
func ruleIn(t *testing.T, block string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(block, "stop_loss.2317"), block)
	_, after, _ := strings.Cut(block, `- stop_loss.2317 = "`)
	rule, _, _ := strings.Cut(after, `"`)
	return rule
}

// TestThreeStopLosses is the day that this machine is for (vector 84): 262 at 09:04, 254 in the afternoon, 257 at the close. Every
// wake-up sees one rule. The second replaces the first and says so; the third expected the first, and is refused.
func TestThreeStopLosses(t *testing.T) {
	fs := vfs.NewMem()
	set := func(a ws.Agent, value, reason string, x ws.Expect) machine.Outcome {
		out, err := a.Set(t.Context(), ws.Set{Key: stop, Value: value, Reason: reason, Expect: x})
		require.NoError(t, err)
		return out
	}
	wakeUp(t, fs, "09:04", "open", func(a ws.Agent, block string) {
		require.Empty(t, block)
		require.NoError(t, set(a, "262", "exit on break", ws.Expect{ExpectedValue: nil}).Err())
	})
	wakeUp(t, fs, "11:30", "heartbeat", func(a ws.Agent, block string) {
		require.Equal(t, "262", ruleIn(t, block), "the price is 261 now: this is the rule that fires")
	})
	wakeUp(t, fs, "13:10", "dispatch", func(a ws.Agent, block string) {
		out := set(a, "254", "volatile afternoon", ws.Expect{})
		require.NoError(t, out.Err())
		r, err := machine.ReturnedAs[ws.SetReply](out)
		require.NoError(t, err)
		require.Equal(t, ptr("262"), r.Superseded)
	})
	wakeUp(t, fs, "13:40", "close", func(a ws.Agent, block string) {
		require.Equal(t, "254", ruleIn(t, block))
		out := set(a, "257", "lowered at close", ws.Expect{ExpectedValue: ptr("262")})
		require.Equal(t, ws.CodeConflict, out.Code())
		require.Equal(t, "254", out.Findings[0].Details["current"])
		require.NoError(t, set(a, "257", "lowered at close, on 254", ws.Expect{ExpectedValue: ptr("254"), ExpectedVersion: ptr[uint64](2)}).Err())
	})
	wakeUp(t, fs, "18:00", "evening", func(a ws.Agent, block string) {
		require.Equal(t, "257", ruleIn(t, block))
		r, err := a.Get(t.Context(), 20)
		require.NoError(t, err)
		require.EqualValues(t, 3, r.Version)
		var chain []string
		for _, c := range r.History {
			before := "nothing"
			if c.PrevValue != nil {
				before = *c.PrevValue
			}
			chain = append(chain, c.At.Format("15:04")+" "+c.Run+": "+before+" -> "+c.Value)
		}
		require.Equal(t, []string{"09:04 open: nothing -> 262", "13:10 dispatch: 262 -> 254", "13:40 close: 254 -> 257"}, chain)
		_, actions, err := a.Blocks(t.Context(), ws.Layout{})
		require.NoError(t, err)
		require.Contains(t, actions, `08-13 13:40 refused (cas_conflict): working_state_set stop_loss.2317 = "257"`)
	})
}
