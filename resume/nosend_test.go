package resume_test

import (
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

// quietOrders can be called off into a state in which nothing is sent, whatever was sent before.
func quietOrders() *machine.Machine[draw] {
	b := machine.New[draw]("orders", shopReady)
	b.Final(shopOrdered, shopFailed)
	b.NoSend(shopStopping)
	machine.On(b, orderIt).From(shopReady).To(shopOrdering).By(guard.User).
		Then(machine.Emit(payOut, func(c guard.Case[draw, machine.None]) draw { return c.Data }))
	machine.On(b, callOff).From(shopOrdering).To(shopStopping).By(guard.User)
	machine.On(b, callOff).From(shopReady).To(shopFailed).By(guard.User)
	machine.On(b, payOut.Confirmed()).From(shopOrdering, shopStopping).To(shopOrdered)
	machine.On(b, payOut.Failed()).From(shopOrdering, shopStopping).To(shopFailed)
	return b.MustBuild()
}

// calledOff is a quiet order that was called off: taken up by a worker that died before, or not.
func calledOff(t *testing.T, claimed bool) *orders {
	d := &orders{pebbleDesk: newPebbleDesk(t), m: quietOrders(), arrived: map[string]bool{}}
	d.ctl = d.serve(d.desk.st)
	s := d.ordering()
	if claimed {
		d.claims(time.Minute)
	}
	d.commits(s, callOff.With(machine.None{}).As(guard.User))
	require.Equal(t, shopStopping, s.State())
	d.sleep(2 * time.Minute)
	return d
}

// What surely was not sent has failed, at the first look.
func TestNoSendEndsWhatWasNotSent(t *testing.T) {
	d := calledOff(t, false)
	d.work()
	require.Empty(t, d.sent)
	require.Equal(t, shopFailed, d.lookAt("t1").State())
}

// What may have been sent is looked up, by whatever process comes next, for as long as it takes; it is never sent again. When it arrives after
// all, that is the truth; when not, a person says so.
func TestNoSendSendsNothingAgain(t *testing.T) {
	for name, arrives := range map[string]bool{"it arrives later": true, "it never arrives": false} {
		t.Run(name, func(t *testing.T) {
			d := calledOff(t, true)
			for range 5 {
				d.work()
				d.cut()
				d.ctl = d.serve(d.desk.st)
				d.sleep(time.Hour)
			}
			require.Empty(t, d.sent)
			require.Equal(t, shopStopping, d.lookAt("t1").State())
			left, err := d.ctl.Unsettled(d.ctx, -1)
			require.NoError(t, err)
			require.Len(t, left, 1)
			require.Equal(t, "unknown", left[0].Status)
			require.Contains(t, left[0].Last, "the provider has nothing under the key, and in stopping nothing is sent")

			if arrives {
				d.arrived[left[0].Key] = true
				d.work()
				require.Equal(t, shopOrdered, d.lookAt("t1").State())
				return
			}
			out, err := d.ctl.SettleByHand(d.ctx, guard.Principal{ID: "olga", Roles: []string{guard.OperatorRole}}, resume.Settlement{
				Task: "t1", Key: left[0].Key, Rev: left[0].Rev, Reason: "not on the statement", Proof: "ticket 1"})
			require.NoError(t, err)
			require.NoError(t, out.Err())
			require.Equal(t, shopFailed, d.lookAt("t1").State())
			require.Empty(t, d.sent)
		})
	}
}
