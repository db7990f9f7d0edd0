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

// A worker that runs fires the timers of other tasks while sources are silent about as many as it asks about at once, each asked once; and
// told to stop it waits for none of them.
func TestSilentSourceHoldsUpNoTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		m, st := errands(), store.NewMemory(store.MemoryOptions{})
		asked, free := map[string]int{}, make(chan struct{})
		ctl, err := resume.Open(d.ctx, st, resume.Config{Machines: []machine.Definition{m}, ObserveWithin: 100 * time.Hour, Poll: time.Hour, Problem: func(err error) { t.Error(err) },
			Observers: []resume.Observer{resume.Pull(home, func(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
				d.mu.Lock()
				asked[q.Task]++
				d.mu.Unlock()
				<-free
				return guard.Observed[bool]{Subject: q.Subject}, nil
			})}})
		require.NoError(t, err)
		begin := func(task string) {
			_, err := ctl.Start(d.ctx, m.Task(task, alice, errand{}), alice)
			require.NoError(t, err)
		}
		rings := func(task string) int {
			snap, _, err := ctl.Latest(d.ctx, task, alice)
			require.NoError(t, err)
			data, _ := machine.As[errand](snap)
			return data.Data.Rings
		}
		for i := range resume.MaxHandlers + 3 {
			begin(fmt.Sprint("old", i))
		}
		ctx, stop := context.WithCancel(d.ctx)
		over := make(chan error)
		go func() { over <- ctl.Run(ctx) }()
		time.Sleep(25*time.Hour + time.Minute) // reason: time is that of the test's bubble
		synctest.Wait()
		require.Len(t, asked, resume.MaxHandlers, "the old ones give up now, if nobody is home")
		begin("young")
		time.Sleep(2 * time.Hour) // reason: time is that of the test's bubble
		require.Equal(t, 1, rings("young"))
		for task, n := range asked {
			require.Equal(t, 1, n, task)
		}
		stopped := time.Now()
		stop()
		require.ErrorIs(t, <-over, context.Canceled)
		require.Zero(t, time.Since(stopped))
		close(free)

		ctx, stop = context.WithCancel(d.ctx)
		go func() { over <- ctl.Run(ctx) }()
		time.Sleep(time.Minute) // reason: time is that of the test's bubble
		synctest.Wait()
		for i := range resume.MaxHandlers + 3 {
			snap, _, err := ctl.Latest(d.ctx, fmt.Sprint("old", i), alice)
			require.NoError(t, err)
			require.Equal(t, machine.State("given_up"), snap.State, "whoever found no place has it as soon as one is free")
		}
		stop()
		<-over
	})
}

// Nobody is asked again while the answer is waited for, though there is room.
func TestOneQuestionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, asked, free := errands(), make(chan string, 100), make(chan struct{})
		ctl, err := resume.Open(t.Context(), store.NewMemory(store.MemoryOptions{}), resume.Config{Machines: []machine.Definition{m}, ObserveWithin: 100 * time.Hour,
			Observers: []resume.Observer{resume.Pull(home, func(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
				asked <- q.Task
				<-free
				return guard.Observed[bool]{Subject: q.Subject}, nil
			})}})
		require.NoError(t, err)
		_, err = ctl.Start(t.Context(), m.Task("e1", alice, errand{}), alice)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- ctl.Run(ctx) }()
		time.Sleep(25 * time.Hour) // reason: time is that of the test's bubble
		require.Len(t, asked, 1)
		stop()
		<-over
		close(free)
	})
}

// More tasks than one page holds have come due and cannot be read here: what came due after them fires all the same.
func TestTimersBehindAPageOfOthers(t *testing.T) {
	d := newDesk(t)
	other := newLab(t)
	other.ctl = other.labOn(d)
	for i := range store.MaxPage {
		other.decide(fmt.Sprint("lab", i), "pen")
	}
	d.asked()
	d.sleep(refund.Patience + time.Minute)
	require.Equal(t, store.MaxPage, d.ctl.Health(d.ctx).Due)
	require.ErrorIs(t, d.ctl.Work(d.ctx), resume.ErrMachine)
	require.Equal(t, refund.Cancelled, d.resume().State())
}
