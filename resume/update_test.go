package resume_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// Tally is a task that counts: add is judged on the version that it was based on, note on the newest.
type tally struct {
	Sum   int      `json:"sum"`
	Notes []string `json:"notes"`
}

type addend struct {
	By int `json:"by" validate:"min=1"`
}

type tallyNote struct {
	Text string `json:"text"`
}

var (
	addToTally  = machine.NewEvent[addend]("add")
	noteOnTally = machine.NewEvent[tallyNote]("note", machine.Narrowing())

	tallies = func() *machine.Machine[tally] {
		b := machine.New[tally]("tally", "counting")
		machine.On(b, addToTally).From("counting").Stay().By(guard.Model, guard.User).
			Apply(func(t *tally, c guard.Case[tally, addend]) { t.Sum += c.Payload.By })
		machine.On(b, noteOnTally).From("counting").Stay().By(guard.Model).
			Apply(func(t *tally, c guard.Case[tally, tallyNote]) { t.Notes = append(t.Notes, c.Payload.Text) })
		return b.MustBuild()
	}()

	counter = guard.Principal{ID: "counter"}
)

// openTally is a controller on a store that may be shared, with the task one begun unless it was.
func openTally(t *testing.T, st store.Store) *resume.Controller {
	t.Helper()
	ctl, err := resume.Open(t.Context(), st, resume.Config{Machines: []machine.Definition{tallies}})
	require.NoError(t, err)
	_, err = ctl.Ensure(t.Context(), tallies.Task("one", counter, tally{Notes: []string{}}), counter)
	require.NoError(t, err)
	return ctl
}

func sum(t *testing.T, ctl *resume.Controller) tally {
	t.Helper()
	s, _, err := ctl.Latest(t.Context(), "one", counter)
	require.NoError(t, err)
	typed, ok := machine.As[tally](s)
	require.True(t, ok)
	return typed.Data
}

func plusOne(machine.Snapshot[any]) machine.Proposal { return addToTally.With(addend{1}) }

// Updates of one controller take turns, so that none is lost and none is refused. Those of several controllers race: whoever keeps
// losing is told so and asks again, and then no update is lost either and none counts twice.
func TestUpdateLosesNothing(t *testing.T) {
	for _, controllers := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(controllers), func(t *testing.T) { updatesAddUp(t, controllers, 100) })
	}
}

// updatesAddUp adds one from many sides at once.
func updatesAddUp(t *testing.T, controllers, updates int) {
	st := store.NewMemory(store.MemoryOptions{})
	var open []*resume.Controller
	for range controllers {
		open = append(open, openTally(t, st))
	}
	var all sync.WaitGroup
	for i := range updates {
		all.Go(func() {
			for {
				out, err := open[i%controllers].Update(t.Context(), "one", counter, plusOne)
				if err == nil && out.Kind == machine.Conflict && controllers > 1 {
					continue
				}
				if err != nil || out.Err() != nil {
					t.Errorf("%v %v", out, err)
				}
				return
			}
		})
	}
	all.Wait()
	require.Equal(t, updates, sum(t, open[0]).Sum)
}

// The proposal is made from the version that it is judged on.
func TestUpdateSeesTheNewest(t *testing.T) {
	ctl := openTally(t, store.NewMemory(store.MemoryOptions{}))
	for want := range 5 {
		_, err := ctl.Update(t.Context(), "one", counter, func(s machine.Snapshot[any]) machine.Proposal {
			typed, _ := machine.As[tally](s)
			require.Equal(t, want, typed.Data.Sum)
			return addToTally.With(addend{1})
		})
		require.NoError(t, err)
	}
}

// overtaken commits something else whenever a proposal is being made, a number of times.
func overtaken(t *testing.T, st store.Store, times int, p machine.Proposal) (calls int, out machine.Outcome) {
	mine, other := openTally(t, st), openTally(t, st)
	out, err := mine.Update(t.Context(), "one", counter, func(machine.Snapshot[any]) machine.Proposal {
		if calls++; calls <= times {
			_, err := other.Update(t.Context(), "one", counter, plusOne)
			require.NoError(t, err)
		}
		return p
	})
	require.NoError(t, err)
	return calls, out
}

// A proposal that others keep coming before is made again MaxUpdates times, and not more often.
func TestUpdateIsBounded(t *testing.T) {
	calls, out := overtaken(t, store.NewMemory(store.MemoryOptions{}), resume.MaxUpdates-1, addToTally.With(addend{1}))
	require.Equal(t, resume.MaxUpdates, calls)
	require.Equal(t, machine.Committed, out.Kind)

	calls, out = overtaken(t, store.NewMemory(store.MemoryOptions{}), resume.MaxUpdates, addToTally.With(addend{1}))
	require.Equal(t, resume.MaxUpdates, calls)
	require.Equal(t, machine.Conflict, out.Kind)

	calls, out = overtaken(t, store.NewMemory(store.MemoryOptions{}), 1, noteOnTally.With(tallyNote{"n"}))
	require.Equal(t, 1, calls, "an event that is judged on the newest version does not conflict")
	require.Equal(t, machine.Committed, out.Kind)
}

// A refusal is not tried again, and its attempt is kept.
func TestUpdateRefused(t *testing.T) {
	ctl := openTally(t, store.NewMemory(store.MemoryOptions{}))
	calls := 0
	out, err := ctl.Update(t.Context(), "one", counter, func(machine.Snapshot[any]) machine.Proposal {
		calls++
		return addToTally.With(addend{0})
	})
	require.NoError(t, err)
	require.Equal(t, 1, calls)
	require.Equal(t, machine.CodeForm, out.Code())
	kept, err := ctl.Attempts(t.Context(), "one", counter)
	require.NoError(t, err)
	require.Len(t, kept, 1)
}

// Raw bytes are read strictly, and the caller's dress is put on what they say.
func TestUpdateRaw(t *testing.T) {
	ctl := openTally(t, store.NewMemory(store.MemoryOptions{}))
	dress := func(p machine.Proposal) machine.Proposal { return p.Keyed("k1").As(guard.User).Written("run=7") }
	for _, replayed := range []bool{false, true} {
		out, err := ctl.UpdateRaw(t.Context(), "one", counter, "add", []byte(`{"by":2}`), dress)
		require.NoError(t, err)
		require.Equal(t, machine.Committed, out.Kind)
		require.Equal(t, replayed, out.Replayed)
	}
	require.Equal(t, 2, sum(t, ctl).Sum)
	recent, err := ctl.Recent(t.Context(), "one", counter, 1)
	require.NoError(t, err)
	require.Equal(t, "run=7", recent[0].Written)
	require.Equal(t, guard.User, recent[0].Actor)

	for raw, code := range map[string]string{`{"by":"2"}`: machine.CodeForm, `{"by":2,"by":3}`: machine.CodeForm, `{}`: machine.CodeForm, ``: machine.CodeForm} {
		for _, d := range []func(machine.Proposal) machine.Proposal{dress, nil} {
			out, err := ctl.UpdateRaw(t.Context(), "one", counter, "add", []byte(raw), d)
			require.NoError(t, err)
			require.Equal(t, code, out.Code(), raw)
		}
	}
	out, err := ctl.UpdateRaw(t.Context(), "one", counter, "nothing", []byte(`{}`), dress)
	require.NoError(t, err)
	require.Equal(t, machine.CodeUnknownEvent, out.Code())
}

// Whoever waits for a turn gives up when its caller does.
func TestUpdateWaitsNoLongerThanItsCaller(t *testing.T) {
	ctl := openTally(t, store.NewMemory(store.MemoryOptions{}))
	inside, done := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		_, err := ctl.Update(t.Context(), "one", counter, func(machine.Snapshot[any]) machine.Proposal {
			close(inside)
			<-done
			return addToTally.With(addend{1})
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ctl.Update(gone, "one", counter, plusOne)
	require.ErrorIs(t, err, context.Canceled)
	close(done)
	first.Wait()
	require.Equal(t, 1, sum(t, ctl).Sum)
}

// Ensure starts once, and keeps what exists.
func TestEnsure(t *testing.T) {
	ctl := openTally(t, store.NewMemory(store.MemoryOptions{}))
	started, err := ctl.Ensure(t.Context(), tallies.Task("two", counter, tally{Sum: 5, Notes: []string{}}), counter)
	require.NoError(t, err)
	require.True(t, started)
	started, err = ctl.Ensure(t.Context(), tallies.Task("one", counter, tally{Sum: 5, Notes: []string{}}), counter)
	require.NoError(t, err)
	require.False(t, started)
	require.Zero(t, sum(t, ctl).Sum)
	_, err = ctl.Ensure(t.Context(), tallies.Task("bad id", counter, tally{}), counter)
	require.ErrorIs(t, err, machine.ErrTask)
}

// To a stranger every way to read or write looks like there is no task.
func TestUpdateStrangers(t *testing.T) {
	ctl := openTally(t, store.NewMemory(store.MemoryOptions{}))
	stranger := guard.Principal{ID: "stranger"}
	_, _, latest := ctl.Latest(t.Context(), "one", stranger)
	_, recent := ctl.Recent(t.Context(), "one", stranger, 1)
	_, attempts := ctl.Attempts(t.Context(), "one", stranger)
	_, update := ctl.Update(t.Context(), "one", stranger, plusOne)
	_, raw := ctl.UpdateRaw(t.Context(), "one", stranger, "add", []byte(`{"by":1}`), nil)
	_, missing := ctl.Update(t.Context(), "none", counter, plusOne)
	for i, err := range []error{latest, recent, attempts, update, raw, missing} {
		require.True(t, errors.Is(err, resume.ErrNoTask), "%d: %v", i, err)
	}
}

// Recent gives the newest entries, of the events that are asked for.
func TestRecent(t *testing.T) {
	clock := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	ctl := openTally(t, store.NewMemory(store.MemoryOptions{Now: func() time.Time { return clock }}))
	for i := range 4 {
		_, err := ctl.Update(t.Context(), "one", counter, plusOne)
		require.NoError(t, err)
		_, err = ctl.Update(t.Context(), "one", counter, func(machine.Snapshot[any]) machine.Proposal { return noteOnTally.With(tallyNote{fmt.Sprint(i)}) })
		require.NoError(t, err)
	}
	recent, err := ctl.Recent(t.Context(), "one", counter, 3, "note")
	require.NoError(t, err)
	require.Len(t, recent, 3)
	require.Equal(t, json.RawMessage(`{"text":"3"}`), recent[0].Payload)
	require.Equal(t, json.RawMessage(`{"text":"1"}`), recent[2].Payload)
	all, err := ctl.Recent(t.Context(), "one", counter, 100)
	require.NoError(t, err)
	require.Len(t, all, 9)
	require.Equal(t, machine.EntryStart, all[8].Event)
	_, now, err := ctl.Latest(t.Context(), "one", counter)
	require.NoError(t, err)
	require.True(t, now.Equal(clock))
}
