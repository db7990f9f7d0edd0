package resume_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

func TestHealth(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(context.Context, job) (record, error) { return record{}, errReset }
	d.world.find = func(context.Context, job) (record, bool, error) { return record{}, false, errReset }
	h := d.ctl.Health(d.ctx)
	require.NoError(t, h.Err)
	require.True(t, h.Well())
	require.Zero(t, h.Worked)

	s := d.dispatched()
	at := s.Snapshot().Intents[0].At
	h = d.ctl.Health(d.ctx)
	require.Equal(t, []resume.Backlog{{Effect: "issue_refund", Status: "intent", Count: 1, Older: []int{0, 0, 0, 0}, Oldest: at}}, h.Unsettled)
	d.work()
	h = d.ctl.Health(d.ctx)
	require.Equal(t, "unknown", h.Unsettled[0].Status)
	require.True(t, h.Well(), "it has just happened")
	require.WithinDuration(t, h.At, h.Worked, time.Second)

	d.sleep(11 * time.Minute)
	require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "the bank has called"))
	h = d.ctl.Health(d.ctx)
	require.Equal(t, []int{1, 1, 0, 0}, h.Unsettled[0].Older)
	require.Len(t, resume.Ages(), len(h.Unsettled[0].Older))
	require.Equal(t, []string{"refund"}, h.Frozen)
	require.False(t, h.Well())
	require.NoError(t, d.ctl.Thaw(d.ctx, "refund", operator, "false alarm"))
	require.False(t, d.ctl.Health(d.ctx).Well(), "unknown for eleven minutes")
}

// What is wrong, one thing at a time, on both sides of its age.
func TestWell(t *testing.T) {
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	of := func(status string, older ...int) resume.Health {
		return resume.Health{At: at, Unsettled: []resume.Backlog{{Status: "intent", Older: make([]int, 4)}, {Status: status, Count: 1, Older: older}}}
	}
	for name, row := range map[string]struct {
		h    resume.Health
		well bool
	}{
		"nothing":                    {resume.Health{At: at}, true},
		"an error":                   {resume.Health{At: at, Err: store.ErrClosed}, false},
		"quarantined":                {resume.Health{At: at, Quarantined: true}, false},
		"frozen":                     {resume.Health{At: at, Frozen: []string{"refund"}}, false},
		"a timer due for a minute":   {resume.Health{At: at, Due: 1, OldestDue: at.Add(-time.Minute)}, true},
		"a timer due for longer":     {resume.Health{At: at, Due: 1, OldestDue: at.Add(-time.Minute - 1)}, false},
		"unknown, just now":          {of("unknown", 0, 0, 0, 0), true},
		"unknown for over a minute":  {of("unknown", 1, 0, 0, 0), false},
		"intended for over a minute": {of("intent", 1, 1, 0, 0), true},
		"intended for over an hour":  {of("intent", 1, 1, 1, 0), false},
		"sent for over an hour":      {of("sent", 1, 1, 1, 1), false},
	} {
		require.Equal(t, row.well, row.h.Well(), name)
	}
}

// Several services may share a store, and one of its tasks may be unreadable: neither hides what is known of all the others.
func TestHealthOfTasksThatCannotBeRead(t *testing.T) {
	d := newDesk(t)
	d.dispatched()
	other := newLab(t).labOn(d)
	h := other.Health(d.ctx)
	require.NoError(t, h.Err, "another service's effects are no fault")
	require.True(t, h.Well())
	require.Equal(t, []int{1}, []int{h.Unsettled[0].Count})
	mine, err := d.ctl.Unsettled(d.ctx, 0)
	require.NoError(t, err)
	theirs, err := other.Unsettled(d.ctx, 0)
	require.NoError(t, err)
	require.Equal(t, mine, theirs)

	d.st = &rotten{bent: bent{Store: d.st}, task: "bad"}
	d.ctl = d.open(nil)
	begin := func(task string) {
		s, err := d.ctl.Start(d.ctx, refund.Machine.Task(task, alice, refund.Refund{OrderID: task, Amount: euros, Notes: []string{}}), alice)
		require.NoError(t, err)
		d.commits(s, askFor)
		d.sleep(time.Minute)
		d.commits(s, refund.ConfirmRefund.With(refund.Confirm{OrderID: task, Amount: euros}), d.says(s, "yes, refund it"))
	}
	begin("bad")
	begin("fine")
	d.ctl = d.open(nil)
	d.st.(*rotten).bad = true
	list, err := d.ctl.Unsettled(d.ctx, 0)
	require.ErrorIs(t, err, store.ErrCorrupt)
	require.Len(t, list, 2)
	h = d.ctl.Health(d.ctx)
	require.ErrorIs(t, h.Err, store.ErrCorrupt)
	require.False(t, h.Well())
	require.Equal(t, 2, h.Unsettled[0].Count, "the others are counted")
}

// rotten is a store of which one task has become unreadable.
type rotten struct {
	bent
	task string
	bad  bool
}

func (r *rotten) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	if r.bad && task == r.task {
		return store.Record{}, nil, &store.CorruptError{Task: task, Version: 3}
	}
	return r.Store.Load(ctx, task)
}

func TestHealthOfTimers(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	until := s.Snapshot().Waiting.Until
	d.sleep(refund.Patience + time.Minute)
	h := d.ctl.Health(d.ctx)
	require.Equal(t, 1, h.Due)
	require.Equal(t, until, h.OldestDue)
	require.False(t, h.Well(), "no worker runs")
	d.work()
	require.True(t, d.ctl.Health(d.ctx).Well())
	require.Zero(t, d.ctl.Health(d.ctx).Due)
	require.Equal(t, refund.Cancelled, d.resume().State())
}

func TestHealthOfAStoreThatIsClosed(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, d.st.Close())
	h := d.ctl.Health(d.ctx)
	require.ErrorIs(t, h.Err, store.ErrClosed)
	require.False(t, h.Well())
}

func TestHealthOfACopy(t *testing.T) {
	d := newPebbleDesk(t)
	d.asked()
	fromBackup(d)
	require.True(t, d.ctl.Health(d.ctx).Quarantined)
	require.False(t, d.ctl.Health(d.ctx).Well())
	require.NoError(t, d.ctl.Release(d.ctx, operator, "the original is switched off"))
	require.True(t, d.ctl.Health(d.ctx).Well())
}

// After a long stop timers fire in the order in which they came due; a source that hangs for one task holds up no other, and those that
// ask are asked side by side.
func TestCatchUpInDueOrder(t *testing.T) {
	d := newDesk(t)
	d.st = store.NewMemory(store.MemoryOptions{Now: d.clock})
	m := errands()
	release, hanging := make(chan struct{}), make(chan string, 8)
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, ObserveWithin: time.Hour, Observers: []resume.Observer{
		resume.Pull(home, func(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
			hanging <- q.Task
			<-release
			return guard.Observed[bool]{Subject: q.Subject}, errors.New("nobody answers")
		})}})
	require.NoError(t, err)
	ids := []string{"c", "a", "b", "d"}
	for _, id := range ids {
		_, err := ctl.Start(d.ctx, m.Task(id, alice, errand{}), alice)
		require.NoError(t, err)
		d.sleep(time.Minute)
	}
	d.sleep(25 * time.Hour) // ring is due and does not ask; giving up is due and asks
	require.NoError(t, ctl.Work(d.ctx))
	var last time.Time
	for _, id := range ids {
		s, err := ctl.Resume(d.ctx, id, alice)
		require.NoError(t, err)
		snap, _ := machine.As[errand](s.Snapshot())
		require.Equal(t, 1, snap.Data.Rings, id)
		require.True(t, snap.UpdatedAt.After(last), "%s in its turn", id)
		last = snap.UpdatedAt
	}
	worked := make(chan error)
	go func() { worked <- ctl.Work(d.ctx) }()
	for range ids {
		<-hanging // all of them at once
	}
	close(release)
	require.NoError(t, <-worked)
}

func TestFindByAge(t *testing.T) {
	d := newDesk(t)
	begin := func(id string) {
		_, err := d.ctl.Start(d.ctx, refund.Machine.Task(id, alice, refund.Refund{OrderID: id, Amount: euros}), alice)
		require.NoError(t, err)
	}
	begin("old")
	d.sleep(time.Hour)
	begin("young")
	found := func(longer time.Duration) (out []string) {
		q := resume.Search{Owner: "alice", For: longer, Limit: 1}
		for {
			page, next, err := d.ctl.Find(d.ctx, alice, q)
			require.NoError(t, err)
			for _, f := range page {
				out = append(out, f.Task)
			}
			if q.After = next; next == "" {
				return out
			}
		}
	}
	require.Equal(t, []string{"old", "young"}, found(0))
	require.Equal(t, []string{"old"}, found(time.Minute))
	require.Empty(t, found(2*time.Hour))
}
