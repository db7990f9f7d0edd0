package resume_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// silentStore has no hints to give.
type silentStore struct{ store.Store }

func (s silentStore) Resource(ctx context.Context, name string) (store.Resource, error) {
	return s.Store.(store.Resources).Resource(ctx, name)
}

// watching is a desk of refunds and a watch of what waits for alice.
type watching struct {
	*desk
	seen chan resume.Watched
	stop context.CancelFunc
}

var waitsForAlice = resume.Search{Machine: "refund", State: refund.AwaitingUserConfirmation, WaitsFor: "user/alice"}

func (d *desk) watch(who guard.Principal, q resume.Search, told map[string]uint64) *watching {
	ctx, stop := context.WithCancel(d.ctx)
	w := &watching{d, make(chan resume.Watched), stop}
	go func() {
		defer close(w.seen)
		for x, err := range d.ctl.Watch(ctx, who, q, told) {
			if err != nil {
				d.t.Error(err)
			}
			w.seen <- x
		}
	}()
	return w
}

// next is the next change in words.
func (w *watching) next() string {
	var x resume.Watched
	select {
	case x = <-w.seen:
	case <-time.After(time.Hour): // of the test's bubble
		require.Fail(w.t, "nothing is told")
	}
	if x.Left {
		return fmt.Sprintf("%s left %d-%d", x.Task, x.Before, x.Version)
	}
	return fmt.Sprintf("%s %s %d-%d", x.Task, x.State, x.Before, x.Version)
}

// quiet sees that nothing more is told.
func (w *watching) quiet() {
	time.Sleep(time.Minute) // reason: time is that of the test's bubble
	synctest.Wait()
	select {
	case x := <-w.seen:
		require.Fail(w.t, "not news", "%v", x)
	default:
	}
}

func (d *desk) another(task string) *resume.Session {
	s, err := d.ctl.Start(d.ctx, refund.Machine.Task(task, alice, refund.Refund{OrderID: task, Amount: euros, Notes: []string{}}), alice)
	require.NoError(d.t, err)
	return s
}

var (
	askFor = refund.RequestRefund.With(machine.None{}).As(guard.User)
	jot    = refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User)
	cancel = refund.CancelRefund.With(refund.Reason{Text: "I keep it"}).As(guard.User)
)

// A watch of a search tells what comes in, changes and leaves, with and without the store's hints, and goes on from what was told.
func TestWatchSearch(t *testing.T) {
	for name, silent := range map[string]bool{"hints": false, "no hints": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				if silent {
					d.st = silentStore{d.st}
					d.ctl = d.open(nil)
				}
				a := d.another("a")
				d.commits(a, askFor)
				w := d.watch(alice, waitsForAlice, nil)
				require.Equal(t, "a awaiting_user_confirmation 0-2", w.next())
				w.quiet()
				b := d.another("b")
				w.quiet() // it is not found
				d.commits(b, askFor)
				require.Equal(t, "b awaiting_user_confirmation 0-2", w.next())
				began := time.Now()
				d.commits(b, jot)
				require.Equal(t, "b awaiting_user_confirmation 2-3", w.next())
				require.Equal(t, silent, time.Since(began) > 0, "a hint is told at once")
				d.commits(a, cancel)
				require.Equal(t, "a left 2-3", w.next())
				w.quiet()
				w.stop()
				_, open := <-w.seen
				require.False(t, open)

				d.commits(b, cancel) // while nobody watches
				d.commits(d.another("c"), askFor)
				told := map[string]uint64{"b": 3, "a": 3, "gone": 7}
				w = d.watch(alice, waitsForAlice, told)
				require.Equal(t, "c awaiting_user_confirmation 0-2", w.next())
				require.Equal(t, "b left 3-4", w.next(), "it was told as one that is found")
				require.Equal(t, "gone left 7-0", w.next())
				w.quiet()
				require.Equal(t, map[string]uint64{"b": 3, "a": 3, "gone": 7}, told)
				w.stop()
				_, open = <-w.seen
				require.False(t, open)
			})
		})
	}
}

// Changes that come while the watcher is busy are told as one, and none of them is left out: each version can be read.
func TestWatchSearchLeavesNothingOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.another("a")
		d.commits(s, askFor)
		w := d.watch(operator, resume.Search{Owner: "alice"}, nil)
		require.Equal(t, "a awaiting_user_confirmation 0-2", w.next())
		synctest.Wait()
		told := uint64(2)
		for told < 12 {
			if s.Version() < 12 {
				for range 5 {
					d.commits(s, jot)
				}
			}
			x := <-w.seen
			require.Equal(t, told, x.Before, "from where the last one ended")
			require.Greater(t, x.Version, told)
			told = x.Version
		}
		w.quiet()
		w.stop()
		<-w.seen
	})
}

// A task that grows old enough comes in without a commit, and not before.
func TestWatchSearchByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, m := newDesk(t), hires()
		ctl, err := resume.Open(d.ctx, store.NewMemory(store.MemoryOptions{}), resume.Config{Machines: []machine.Definition{m}})
		require.NoError(t, err)
		d.ctl = ctl
		w := d.watch(alice, resume.Search{Owner: "alice", For: 10 * time.Minute}, nil)
		synctest.Wait()
		began := time.Now()
		_, err = ctl.Start(d.ctx, m.Task("e1", alice, hire{From: began}), alice)
		require.NoError(t, err)
		w.quiet()
		require.Equal(t, "e1 out 0-1", w.next())
		require.Greater(t, time.Since(began), 10*time.Minute)
		require.LessOrEqual(t, time.Since(began), 10*time.Minute+2*resume.DefaultPoll)
		w.stop()
		<-w.seen
	})
}

// Whoever may not search is told nothing, and a store that fails ends the watch with its error.
func TestWatchSearchEnds(t *testing.T) {
	d := newDesk(t)
	d.asked()
	for _, who := range []guard.Principal{mallory, {}} {
		for x, err := range d.ctl.Watch(d.ctx, who, waitsForAlice, map[string]uint64{taskID: 1}) {
			require.Fail(t, "told", "%v %v", x, err)
		}
	}
	for _, err := range d.ctl.Watch(d.ctx, operator, resume.Search{State: "x"}, nil) {
		require.Error(t, err, "a state needs its machine")
	}
	require.NoError(t, d.st.Close())
	told := 0
	for _, err := range d.ctl.Watch(d.ctx, alice, waitsForAlice, nil) {
		require.ErrorIs(t, err, store.ErrClosed)
		told++
	}
	require.Equal(t, 1, told)
}

// Both sides of the number of tasks that a watch remembers.
func TestMaxWatching(t *testing.T) {
	d := newDesk(t)
	d.asked()
	for n, want := range map[int]error{resume.MaxWatching - 1: nil, resume.MaxWatching: resume.ErrWatching} {
		told := make(map[string]uint64, n)
		for i := range n {
			told[fmt.Sprint("gone", i)] = 1
		}
		var all []resume.Watched
		var failed error
		for x, err := range d.ctl.Watch(d.ctx, alice, waitsForAlice, told) {
			if all, failed = append(all, x), err; len(all) == 2 {
				break
			}
		}
		require.Equal(t, taskID, all[0].Task)
		require.Equal(t, want == nil, all[1].Left, "the first that is gone")
		require.ErrorIs(t, failed, want)
	}
}

// A watch is told what it knows by whoever begins it. Of a task that the watcher may not see it says what it says of one that is not
// there, at whatever version it stands and whatever becomes of it.
func TestWatchSearchTellsNothingOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.asked()
		require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "x"))
		for version := range uint64(4) {
			told := map[string]uint64{taskID: version, "no_such_task": version, "pawl.freeze.refund": version}
			w := d.watch(mallory, resume.Search{Owner: "mallory"}, told)
			for _, task := range []string{"no_such_task", "pawl.freeze.refund", taskID} {
				require.Equal(t, fmt.Sprintf("%s left %d-0", task, version), w.next())
			}
			d.commits(s, jot)
			w.quiet()
			w.stop()
			<-w.seen
		}
	})
}

// One who may not see a task any more hears that it left, and not what became of it.
func TestWatchSearchOfOneWhoIsShutOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newLockable(t)
		s := d.asked()
		w := d.watch(alice, waitsForAlice, nil)
		require.Equal(t, taskID+" awaiting_user_confirmation 0-2", w.next())
		d.commits(s, jot)
		require.Equal(t, taskID+" awaiting_user_confirmation 2-3", w.next())
		d.shut.Store(true)
		require.Equal(t, taskID+" left 3-0", w.next())
		w.quiet()
		d.shut.Store(false)
		d.commits(s, jot)
		require.Equal(t, taskID+" awaiting_user_confirmation 3-4", w.next(), "from where they were told")
		w.stop()
		<-w.seen
	})
}

// While the watcher is busy more tasks change than are gathered: each is told all the same.
func TestWatchSearchGathersNoMoreThanItKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		m := hires()
		ctl, err := resume.Open(d.ctx, store.NewMemory(store.MemoryOptions{}), resume.Config{Machines: []machine.Definition{m}, Poll: time.Hour})
		require.NoError(t, err)
		d.ctl = ctl
		begin := func(task string) {
			_, err := ctl.Start(d.ctx, m.Task(task, alice, hire{From: time.Now()}), alice)
			require.NoError(t, err)
		}
		w := d.watch(alice, resume.Search{Owner: "alice"}, nil)
		synctest.Wait()
		begin("first")
		synctest.Wait() // it waits for its reader
		const many = resume.MaxHinted + 10
		for i := range many {
			begin(fmt.Sprint("t", i))
		}
		require.Equal(t, "first out 0-1", w.next())
		told := map[string]bool{}
		for range many {
			told[(<-w.seen).Task] = true
		}
		require.Len(t, told, many)
		require.Less(t, time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), time.Hour, "before it looks by itself")
		w.stop()
		<-w.seen
	})
}
