package workingstate_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// garbled is a store whose records have lost their sense.
type garbled struct{ store.Store }

func (g garbled) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	r, e, err := g.Store.Load(ctx, task)
	r.Snapshot = bytes.Replace(r.Snapshot, []byte(`"states"`), []byte(`"stales"`), 1)
	return r, e, err
}

var historyVectors = []vector{
	{70, ours, func(t *testing.T, d *desk) {
		one(d)
		whole := d.st
		d.st = garbled{whole}
		a := d.connect(ws.Machine)
		_, _, err := a.Blocks(t.Context(), ws.Layout{})
		require.ErrorIs(t, err, machine.ErrStored)
		_, err = a.Get(t.Context(), 20)
		require.ErrorIs(t, err, machine.ErrStored)
		_, err = a.Set(t.Context(), ws.Set{Key: "k", Value: "v", Reason: "r"})
		require.ErrorIs(t, err, machine.ErrStored)
		d.st = whole
		require.Equal(t, "262", d.table().States[stop].Value, "and nothing was written over it")
	}},
	{79, parity, func(t *testing.T, d *desk) {
		for i := range 150 {
			d.set("k", fmt.Sprint(i))
		}
		h := d.get(500).History
		require.Len(t, h, ws.MaxHistory)
		require.Equal(t, "50", h[0].Value)
		require.Equal(t, "149", h[99].Value)
		require.Len(t, d.get(0).History, 1)
		for limit, want := range map[string]int{"0": 1, `"7"`: 7, `"x"`: ws.DefaultHistory, "-3": ws.DefaultHistory, "500": ws.MaxHistory, "1e9": ws.DefaultHistory,
			"99999999999999999999": ws.MaxHistory, "null": ws.DefaultHistory, "100": 100} {
			n, err := ws.DecodeGet([]byte(`{"history_limit":` + limit + `}`))
			require.NoError(t, err, limit)
			require.Equal(t, want, n, limit)
		}
		for _, limit := range []string{"true", "[]", "{}", "nope"} { // ours: other JSON is refused
			_, err := ws.DecodeGet([]byte(`{"history_limit":` + limit + `}`))
			require.ErrorIs(t, err, guard.ErrForm, limit)
		}
		n, err := ws.DecodeGet(nil)
		require.NoError(t, err)
		require.Equal(t, ws.DefaultHistory, n)
	}},
	{80, ours, func(t *testing.T, d *desk) { // a broken line of a file is skipped: see files; a broken entry of the store is an error
		one(d)
		d.st = brokenHistory{d.st}
		_, err := d.connect(ws.Machine).Get(t.Context(), 20)
		require.ErrorIs(t, err, machine.ErrStored)
	}},
	{81, ours, func(t *testing.T, d *desk) { // no window of bytes: what is asked for is there
		for i := range 150 {
			does[ws.HandoffReply](d, handoffTool, args("note", "n", "status", "blocked", "blocker", fmt.Sprintf("%0*d", 2000, i)))
		}
		require.Len(t, d.get(100).History, 100)
	}},
	{85, ours, func(t *testing.T, _ *desk) {
		disk := vfs.NewCrashableMem()
		onDisk(t, disk, func(a ws.Agent) {
			_, err := a.Start(t.Context(), ws.Machine)
			require.NoError(t, err)
			for i := range 20 {
				_, err := a.Set(t.Context(), ws.Set{Key: "k", Value: fmt.Sprint(i), Reason: "r"})
				require.NoError(t, err)
				left := disk.CrashClone(vfs.CrashCloneCfg{}) // all that was not synced is lost
				onDisk(t, left, func(a ws.Agent) {
					r, err := a.Get(t.Context(), 1)
					require.NoError(t, err)
					require.EqualValues(t, i+1, r.Version, "what was acknowledged is there")
					require.Equal(t, r.Version, r.History[0].Version, "the state is never ahead of its history")
					require.Equal(t, fmt.Sprint(i), r.States["k"].Value)
				})
			}
		})
	}},
}

type brokenHistory struct{ store.Store }

func (b brokenHistory) History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for r, err := range b.Store.History(ctx, task, newest, oldest) {
			r.Entry = r.Entry[:len(r.Entry)/2]
			if !yield(r, err) {
				return
			}
		}
	}
}

// onDisk opens the agent trader on a Pebble store.
func onDisk(t *testing.T, fs vfs.FS, do func(ws.Agent)) {
	st, err := pebblestore.Open("store", pebblestore.Options{FS: fs, Now: func() time.Time { return t0 }, CacheBytes: 1 << 20})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	ctl, err := resume.Open(t.Context(), st, resume.Config{Machines: []machine.Definition{ws.Machine}})
	require.NoError(t, err)
	a, err := ws.NewAgent(ctl, "trader")
	require.NoError(t, err)
	do(a)
}

var raceVectors = []vector{
	{82, parity, func(t *testing.T, d *desk) { // the same key, and below different keys: field case B048
		one(d)
		other := d.connect(ws.Machine)
		for round := range 50 {
			before := d.table().States[stop].Value
			base := d.table().Version
			race(t, []ws.Agent{d.Agent, other}, before, base, []string{fmt.Sprint("254.", round), fmt.Sprint("257.", round)}, d)
		}
	}},
	{83, parity, func(t *testing.T, d *desk) {
		agents := []ws.Agent{d.Agent, d.connect(ws.Machine)}
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				out, err := agents[i%2].Set(t.Context(), ws.Set{Key: fmt.Sprintf("k%d", i%ws.MaxKeys), Value: fmt.Sprint(i), Reason: "r"})
				if err != nil || out.Kind != machine.Committed {
					t.Errorf("set %d: %v %v", i, out, err)
				}
			})
		}
		all.Wait()
		r := d.get(100)
		require.EqualValues(t, 100, r.Version)
		require.Len(t, r.History, 100)
		require.Len(t, r.States, ws.MaxKeys)
	}},
	{84, parity, func(t *testing.T, d *desk) {
		for _, value := range []string{"262", "254", "257"} {
			d.set(stop, value)
			d.sleep(time.Hour)
			require.Equal(t, []string{stop}, shownKeys(d.block()))
			require.Contains(t, d.block(), `"`+value+`"`)
		}
		h := d.get(20).History
		require.Equal(t, []*string{nil, ptr("262"), ptr("254")}, []*string{h[0].PrevValue, h[1].PrevValue, h[2].PrevValue})
	}},
}

// race has two agents write one key at once, each if it still holds what both read: one wins, the other hears the winner's value.
func race(t *testing.T, agents []ws.Agent, expected string, base uint64, values []string, d *desk) {
	outs, errs := make([]machine.Outcome, 2), make([]error, 2)
	barrier := make(chan struct{})
	var both sync.WaitGroup
	for i, a := range agents {
		both.Go(func() {
			<-barrier
			outs[i], errs[i] = a.Set(t.Context(), ws.Set{Key: stop, Value: values[i], Reason: "r", Expect: ws.Expect{ExpectedValue: &expected}})
		})
	}
	close(barrier)
	both.Wait()
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	won, lost := 0, 1
	if outs[won].Kind != machine.Committed {
		won, lost = lost, won
	}
	require.Equal(t, machine.Committed, outs[won].Kind, outs)
	require.Equal(t, ws.CodeConflict, outs[lost].Code())
	require.Equal(t, values[won], outs[lost].Findings[0].Details["current"])
	require.Equal(t, base+1, d.table().Version)
}
