package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// callsOfSet is how many keys one repetition of workingstate/set makes.
const callsOfSet = 900

const trader = "trader"

// workingStateSet measures a whole tool call of an agent: arguments as a model wrote them, read strictly, judged on the newest version,
// and committed, synced. All 32 keys come to hold. The floor writes the batches that this very work leaves, see [replay].
func workingStateSet() benchmark {
	b := benchmark{name: "workingstate/set", unit: perSecond, callers: 1, calls: callsOfSet}
	b.ours = openTrader
	b.floor = replayed(b.ours, trades(b.calls))
	return b
}

// trades is the work of openTrader.
func trades(calls int) plan {
	task, _ := workingstate.TaskID(trader)
	return plan{
		callers: 1, calls: calls,
		move:   func(_, n int) (string, uint64) { return task, uint64(2 + n) },
		starts: func(n int) bool { return n == 0 },
	}
}

// openTrader is a store in an empty directory with the working state of one agent.
func openTrader(at place) (side, error) {
	ctx := context.Background()
	st, err := pebblestore.Open(at.dir, pebblestore.Options{FS: at.fs})
	if err != nil {
		return side{}, err
	}
	agent, err := startTrader(ctx, st)
	if err != nil {
		return side{}, errors.Join(err, st.Close())
	}
	return side{
		call: func(_, n int) error {
			out, err := agent.Call(ctx, workingstate.SetKey.Info().Name, fmt.Appendf(nil, `{"key":"stop_loss.%d","value":"262.%02d","reason":"exit on break","ttl_hours":4.5}`, n%workingstate.MaxKeys, n%100))
			if err != nil {
				return err
			}
			return out.Err()
		},
		close: st.Close,
	}, nil
}

func startTrader(ctx context.Context, st *pebblestore.Store) (workingstate.Agent, error) {
	ctl, err := resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{workingstate.Machine}})
	if err != nil {
		return workingstate.Agent{}, err
	}
	agent, err := workingstate.NewAgent(ctl, trader)
	if err == nil {
		_, err = agent.Start(ctx, workingstate.Machine)
	}
	return agent, err
}

// workingStateBlock measures the block of 32 keys and a handoff, of which some are left out for the budget. The floor is
// encoding/json of the same table: all of it as text, with no bound.
func workingStateBlock() benchmark {
	table, now := fullTable()
	return benchmark{
		name: "workingstate/block32", unit: nanoseconds, callers: 1, calls: 12_000, batch: 4,
		ours: func(place) (side, error) {
			return side{call: func(_, _ int) error {
				if (workingstate.Layout{}).Block(table, now) == "" {
					return errors.New("the block is empty")
				}
				return nil
			}}, nil
		},
		floor: func(place) (side, error) {
			return side{call: func(_, _ int) error {
				_, err := json.Marshal(table)
				return err
			}}, nil
		},
	}
}

// fullTable is as much as an agent can hold, each key with a value of a usual size.
func fullTable() (workingstate.Table, time.Time) {
	now := time.Date(2026, 8, 13, 1, 4, 0, 0, time.UTC)
	t := workingstate.Table{Version: workingstate.MaxKeys, States: map[string]workingstate.Entry{},
		Handoff: &workingstate.Note{Note: "watch the open", Status: workingstate.Continue, NextSteps: "read the price at 09:30", UpdatedAt: now, UpdatedBy: trader}}
	for i := range workingstate.MaxKeys {
		t.States[fmt.Sprintf("stop_loss.%d", 2300+i)] = workingstate.Entry{Value: "262.50 for the whole position", Reason: "exit on break of the morning low",
			Version: uint64(i + 1), UpdatedAt: now.Add(time.Duration(i) * time.Minute), UpdatedBy: trader, ExpiresAt: now.Add(24 * time.Hour)}
	}
	return t, now
}
