package resume_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// give exports tasks into another store.
func (d *pebbleDesk) give(to *pebbleDesk, tasks ...string) {
	d.t.Helper()
	for _, task := range tasks {
		var lines bytes.Buffer
		require.NoError(d.t, store.Export(d.ctx, d.st, task, &lines))
		_, err := store.Import(d.ctx, to.st, &lines)
		require.NoError(d.t, err)
	}
}

func (f *family) release() {
	f.t.Helper()
	require.NoError(f.t, f.ctl.Release(f.ctx, operator, "the original is switched off"))
}

// A parent and those below it that move are a family again, in whatever order they come, all at once or one by one.
func TestImportedFamilies(t *testing.T) {
	orders := [][]string{{"g", "p", "c1", "c2"}, {"c2", "c1", "p", "g"}, {"c1", "g", "c2", "p"}, {"p", "c1", "g", "c2"}}
	for _, order := range orders {
		for _, each := range []bool{false, true} {
			from, to := newFamily(t), newFamily(t)
			from.begin("g", "")
			from.begin("p", "g")
			from.begin("c1", "p")
			from.begin("c2", "p")
			from.begin("c3", "p") // is left behind
			for i, task := range order {
				from.give(to.pebbleDesk, task)
				if each || i == len(order)-1 {
					to.release()
				}
			}
			to.held("g", 3)
			to.held("p", 2)
			to.ends("c1")
			to.held("g", 2)
			to.begin("c4", "p")
			to.held("g", 3)
			to.ends("c4")
			to.ends("c2")
			to.held("g", 1)
			to.finishes("p")
			to.finishes("g")
		}
	}
}

// A child that ends or is reopened before it is counted is counted as what it is then, and takes nothing back from the others. Nobody
// knows the count before the release.
func TestImportedChildMovesBeforeTheRelease(t *testing.T) {
	for _, last := range []string{"ends", "reopens", "both"} {
		from, to := newFamily(t), newFamily(t)
		for _, f := range []*family{from, to} {
			f.begin("p", "")
		}
		to.begin("here", "p")
		from.begin("c", "p")
		if last != "ends" {
			from.ends("c")
		}
		from.give(to.pebbleDesk, "c")
		require.Equal(t, machine.NeedsEvidence, to.refuses(to.at("p", alice), finish.With(machine.None{})).Kind)
		if last != "ends" {
			to.commits(to.at("c", operator), again.With(machine.Overridden{Reason: "one thing was left"}).As(guard.Operator))
		}
		if last != "reopens" {
			to.ends("c")
		}
		to.release()
		if last == "reopens" {
			to.held("p", 2)
			to.ends("c")
		}
		to.held("p", 1)
		to.ends("here")
		to.finishes("p")
	}
}

// A child that ends while it is being counted is not counted, whoever of the two comes first.
func TestImportedChildEndsAmidTheCount(t *testing.T) {
	for times := 1; times <= 3; times++ {
		from, to := newFamily(t), newFamily(t)
		for _, f := range []*family{from, to} {
			f.begin("p", "")
		}
		to.begin("here", "p")
		from.begin("c", "p")
		from.give(to.pebbleDesk, "c")
		n := 0
		ctl := to.meddle(times, func() {
			if n++; n == times {
				to.ends("c")
			}
		})
		require.NoError(t, ctl.Release(to.ctx, operator, "the original is switched off"))
		if n < times {
			to.ends("c")
		}
		to.held("p", 1)
		to.ends("here")
		to.finishes("p")
	}
}

// A child that was counted since it was looked at is taken back by its end.
func TestImportedChildIsCountedAmidItsEnd(t *testing.T) {
	for at := 1; at <= 2; at++ {
		from, to := newFamily(t), newFamily(t)
		for _, f := range []*family{from, to} {
			f.begin("p", "")
		}
		_, err := from.ctl.Start(from.ctx, refund.Machine.Task("c", alice, refund.Refund{OrderID: "123", Amount: euros, Notes: []string{}}).Under("p"), alice)
		require.NoError(t, err)
		from.give(to.pebbleDesk, "c")
		real := to.st
		to.desk.st = &glancing{&brittle{real, real}, at, to.release}
		ctl := to.serve()
		to.desk.st = real
		s, err := ctl.Resume(to.ctx, "c", alice)
		require.NoError(t, err)
		to.commits(s, refund.CancelRefund.With(refund.Reason{Text: "changed my mind"}).As(guard.User).As(guard.User))
		to.finishes("p")
	}
}

// A message that has said yes before its task was moved says yes to nothing else here; a new one does.
func TestImportedMessagesAreUsedUp(t *testing.T) {
	from, to := newPebbleDesk(t), newPebbleDesk(t)
	s := from.asked()
	from.commits(s, refund.ConfirmRefund.With(confirm), from.says(s, "yes, refund it").Identified("msg1"))
	from.give(to, taskID)
	to.now = from.clock()
	require.NoError(t, to.ctl.Release(to.ctx, operator, "the original is switched off"))

	other, err := to.ctl.Start(to.ctx, refund.Machine.Task("refund_order_9", alice, refund.Refund{OrderID: "9", Amount: euros, Notes: []string{}}), alice)
	require.NoError(t, err)
	to.commits(other, refund.RequestRefund.With(machine.None{}).As(guard.User))
	to.sleep(time.Minute)
	ok := refund.ConfirmRefund.With(refund.Confirm{OrderID: "9", Amount: euros})
	out := to.refuses(other, ok, to.says(other, "yes, refund it").Identified("msg1"))
	require.Equal(t, "reply_used", out.Findings[0].Details["reason"])
	to.commits(other, ok, to.says(other, "yes, refund it").Identified("msg2"))
}
