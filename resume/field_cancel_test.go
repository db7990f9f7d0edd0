package resume_test

import (
	"context"

	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// Field cases about stopping what is queued or under way: a parcel is ordered and can be called off.
const (
	shopReady    machine.State = "ready"
	shopOrdering machine.State = "ordering"
	shopStopping machine.State = "stopping" // it may have been ordered: the truth is waited for
	shopStopped  machine.State = "stopped"
	shopOrdered  machine.State = "ordered"
	shopFailed   machine.State = "order_failed"
)

var (
	orderIt = machine.NewEvent[machine.None]("order_it")
	callOff = machine.NewEvent[machine.None]("call_off", machine.Narrowing())
)

func stoppableOrders() *machine.Machine[draw] {
	b := machine.New[draw]("orders", shopReady)
	b.Final(shopStopped, shopOrdered, shopFailed)
	machine.On(b, orderIt).From(shopReady).To(shopOrdering).By(guard.User).
		Then(machine.Emit(payOut, func(c guard.Case[draw, machine.None]) draw { return c.Data }))
	machine.On(b, callOff).From(shopReady).To(shopStopped).By(guard.User)
	machine.On(b, callOff).From(shopOrdering).To(shopStopped).By(guard.User).Withdraw(payOut)
	machine.On(b, callOff).From(shopOrdering).To(shopStopping).By(guard.User).Require(payOut.Sent())
	machine.On(b, payOut.Confirmed()).From(shopOrdering, shopStopping).To(shopOrdered)
	machine.On(b, payOut.Failed()).From(shopOrdering, shopStopping).To(shopFailed)
	return b.MustBuild()
}

// orders is a shop on a disk that can lose its power.
type orders struct {
	*pebbleDesk
	m       *machine.Machine[draw]
	sent    []string
	arrived map[string]bool
}

func newOrders(t *testing.T) *orders {
	d := &orders{pebbleDesk: newPebbleDesk(t), m: stoppableOrders(), arrived: map[string]bool{}}
	d.ctl = d.serve(d.desk.st)
	return d
}

func (d *orders) serve(st store.Store) *resume.Controller {
	ctl, err := resume.Open(d.ctx, st, resume.Config{Machines: []machine.Definition{d.m}, Effects: []resume.Handler{resume.Perform(payOut,
		func(_ context.Context, j machine.Job[draw]) (slip, error) {
			d.sent = append(d.sent, j.Key)
			d.arrived[j.Key] = true
			return slip{"s1"}, nil
		},
		func(_ context.Context, j machine.Job[draw]) (slip, bool, error) {
			return slip{"s1"}, d.arrived[j.Key], nil
		})}})
	require.NoError(d.t, err)
	return ctl
}

// ordering is a task whose order is queued.
func (d *orders) ordering() *resume.Session {
	s, err := d.ctl.Start(d.ctx, d.m.Task("t1", alice, draw{"1", 30}), alice)
	require.NoError(d.t, err)
	d.commits(s, orderIt.With(machine.None{}).As(guard.User))
	return s
}

// claims takes the order up as a worker does that then stalls or dies.
func (d *orders) claims(hold time.Duration) {
	rows, err := d.desk.st.Claim(d.ctx, store.Slots{}, 0, "another worker", hold.Microseconds())
	require.NoError(d.t, err)
	require.Len(d.t, rows, 1)
}

// Case B054: what was called off while it was queued is not begun. There is nothing left to claim, and nothing is performed but what was
// claimed.
func TestB054CalledOffWhileQueued(t *testing.T) {
	d := newOrders(t)
	s := d.ordering()
	d.commits(s, callOff.With(machine.None{}).As(guard.User))
	require.Equal(t, shopStopped, s.State())
	require.Equal(t, machine.Withdrawn, s.Snapshot().Intents[0].Status)
	left, err := d.desk.st.Claim(d.ctx, store.Slots{}, 0, "worker", 1)
	require.NoError(t, err)
	require.Empty(t, left)
	d.work()
	d.cut()
	d.ctl = d.serve(d.desk.st)
	d.work()
	require.Empty(t, d.sent)
}

// Case B054, the other way round: a worker takes the order up while it is being called off. The withdrawal is fenced, and the task waits
// for the truth; it is never both called off and sent.
func TestB054CalledOffWhileItIsTakenUp(t *testing.T) {
	d := newOrders(t)
	b := &bent{Store: d.desk.st}
	d.ctl = d.serve(b)
	s := d.ordering()
	b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		b.commit = nil
		d.claims(time.Hour) // between what the withdrawal was judged on and its write
		return b.Store.Commit(ctx, c)
	}
	d.commits(s, callOff.With(machine.None{}).As(guard.User))
	require.Equal(t, shopStopping, s.State())
	require.True(t, s.Snapshot().Intents[0].Unsettled())
}

// Case B072: the process that was sending is gone, its hold of an hour with it. The next process finds the effect at once, says that it
// may have been sent, and looks it up. Calling off is answered in one step: ended where nothing was sent, and otherwise as waiting for
// the truth (law 8), which the first lookup ends.
func TestB072NothingIsOrphaned(t *testing.T) {
	for name, at := range map[string]struct {
		claimed, arrived bool
		off, end         machine.State
		sent             int
	}{
		"nothing was claimed":            {false, false, shopStopped, shopStopped, 0},
		"it was claimed, and it arrived": {true, true, shopStopping, shopOrdered, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := newOrders(t)
			d.ordering()
			if at.claimed {
				d.claims(time.Hour)
			}
			d.arrived["t1/pay_out/1"] = at.arrived
			d.cut()
			d.ctl = d.serve(d.desk.st)
			left, err := d.ctl.Unsettled(d.ctx, -1)
			require.NoError(t, err)
			require.Equal(t, map[bool]string{true: "sent", false: "intent"}[at.claimed], left[0].Status, "the boot scan has it")

			s := d.lookAt("t1")
			d.commits(s, callOff.With(machine.None{}).As(guard.User))
			require.Equal(t, at.off, s.State())
			d.work()
			require.Equal(t, at.end, d.lookAt("t1").State())
			require.Len(t, d.sent, at.sent)
			left, err = d.ctl.Unsettled(d.ctx, -1)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// Case B051: the old attempt of a worker comes to after another one has the effect: it can neither prolong, nor give back, nor end it.
func TestB051TheOldAttemptIsFenced(t *testing.T) {
	d := newOrders(t)
	d.ordering()
	old, err := d.desk.st.Claim(d.ctx, store.Slots{}, 0, "w", time.Minute.Microseconds())
	require.NoError(t, err)
	d.sleep(2 * time.Minute)
	again, err := d.desk.st.Claim(d.ctx, store.Slots{}, 0, "w", time.Minute.Microseconds())
	require.NoError(t, err)
	require.Equal(t, old[0].Holder, again[0].Holder, "the name is the same")
	require.Greater(t, again[0].Rev, old[0].Rev)

	prolonged, back := old[0], old[0]
	prolonged.Hold += time.Hour.Microseconds()
	back.Holder, back.Hold, back.Status = "", 0, store.Unknown
	for what, row := range map[string]store.Effect{"prolong": prolonged, "give back": back} {
		_, err := d.desk.st.Update(d.ctx, row)
		require.ErrorIs(t, err, store.ErrFenced, what)
	}
	r, _, err := d.desk.st.Load(d.ctx, "t1")
	require.NoError(t, err)
	ends := store.Record{Task: "t1", Meta: r.Meta, Snapshot: r.Snapshot, Entry: r.Entry, Nonce: 7}
	_, err = d.desk.st.Commit(d.ctx, &store.Commit{Record: ends, Base: r.Tip, Settle: []store.Settle{{Effect: old[0].ID, Rev: old[0].Rev}}})
	require.ErrorIs(t, err, store.ErrFenced, "end")
	_, rows, err := d.desk.st.Load(d.ctx, "t1")
	require.NoError(t, err)
	require.Equal(t, again[0].Rev, rows[0].Rev, "untouched")

}
