package resume_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// blind is a desk whose provider honours a key, and cannot be asked what became of it. An answer was lost, and nobody can tell.
func blind(t *testing.T, arrives bool) *desk {
	d := newDesk(t)
	d.cannotTell(arrives)
	d.dispatched()
	d.work()
	require.Equal(t, "unknown", status(t, d, d.resume()))
	return d
}

func (d *desk) cannotTell(arrives bool) {
	d.world.send = func(_ context.Context, j job) (record, error) {
		if arrives {
			d.pay(j)
		}
		return record{}, errReset
	}
	d.world.find = func(context.Context, job) (record, bool, error) {
		return record{}, false, errors.New("this provider has no lookup")
	}
}

// unsettled is the one effect without an outcome.
func (d *desk) unsettled() resume.Unsettled {
	d.t.Helper()
	list, err := d.ctl.Unsettled(d.ctx, 0)
	require.NoError(d.t, err)
	require.Len(d.t, list, 1)
	return list[0]
}

// absent is what an operator says about the one effect: it has not happened.
func (d *desk) absent() resume.Settlement {
	u := d.unsettled()
	return resume.Settlement{Task: u.Task, Key: u.Key, Rev: u.Rev, Reason: "not on the statement of January", Proof: "ticket 4711"}
}

// there is what an operator says about it: here is the receipt.
func (d *desk) there(r record) resume.Settlement {
	s := d.absent()
	raw, err := json.Marshal(r)
	require.NoError(d.t, err)
	s.Receipt, s.Reason = raw, "it is on the statement of January"
	return s
}

func (d *desk) settles(s resume.Settlement) machine.Outcome {
	d.t.Helper()
	out, err := d.ctl.SettleByHand(d.ctx, operator, s)
	require.NoError(d.t, err)
	return out
}

// An operator who has found out that a refund has not happened ends it: the edge is taken that the machine declares for that, nothing is sent
// any more, and the history says who said so, why, and by which proof.
func TestSettledAsAbsentByHand(t *testing.T) {
	d := blind(t, false)
	d.sleep(resume.DefaultAbsentAfter)
	before := d.resume().Version()
	dry := d.absent()
	dry.Dry = true
	out := d.settles(dry)
	require.NoError(t, out.Err())
	require.Equal(t, refund.RefundFailed, out.State, "what would be")
	require.Equal(t, refund.DispatchingRefund, d.resume().State())
	require.Equal(t, before, d.resume().Version())
	require.Equal(t, dry.Rev, d.unsettled().Rev, "a dry run changes nothing")

	out = d.settles(d.absent())
	require.NoError(t, out.Err())
	require.Equal(t, refund.RefundFailed, out.State)
	s := d.resume()
	e := d.newest(s)
	require.Equal(t, "issue_refund.failed", e.Event)
	require.Equal(t, guard.Operator, e.Actor)
	require.Equal(t, operator.ID, e.Principal)
	require.Equal(t, &machine.ByHand{Reason: "not on the statement of January", Proof: "ticket 4711"}, e.ByHand)
	require.JSONEq(t, `{"key":"`+d.key()+`","reason":"not on the statement of January"}`, string(e.Payload))
	require.Equal(t, "operator/olga", s.Snapshot().UpdatedBy)

	d.sleep(100 * time.Hour)
	d.work()
	require.Len(t, d.world.sent, 1)
	require.Empty(t, d.world.ledger)
	list, err := d.ctl.Unsettled(d.ctx, 0)
	require.NoError(t, err)
	require.Empty(t, list)
	r, err := d.ctl.Reconcile(d.ctx, refund.IssueRefund, d.ledgerOf(nil))
	require.NoError(t, err)
	require.True(t, r.Clean())
}

// An operator who has found the receipt ends it well, at any time; the ledger has one refund, and we agree.
func TestSettledAsConfirmedByHand(t *testing.T) {
	d := blind(t, true)
	receipt := d.world.ledger[d.key()]
	dry := d.there(receipt)
	dry.Dry = true
	require.Equal(t, refund.Refunded, d.settles(dry).State)

	other := receipt
	other.Amount = money.Money{Minor: 1, Currency: "EUR"}
	for _, s := range []resume.Settlement{d.there(other), func() resume.Settlement { s := d.there(other); s.Dry = true; return s }()} {
		require.Equal(t, machine.CodeReceiptDiffers, d.settles(s).Code(), "another amount proves nothing")
		require.Equal(t, "unknown", status(t, d, d.resume()))
		_, known := refund.RefundRecord.Of(d.key()).Get(d.resume().Snapshot().Facts)
		require.False(t, known, "nor is it kept: it was a person's word")
	}
	for _, bad := range []string{"", "{", `{"id":"re_1"}`, `{"id":"re_1","order_id":"123","amount":{"minor":4900,"currency":"EUR"},"more":1}`} {
		s := d.there(receipt)
		s.Receipt = []byte(bad)
		_, err := d.ctl.SettleByHand(d.ctx, operator, s)
		require.ErrorIs(t, err, guard.ErrForm, bad)
	}

	require.Equal(t, refund.Refunded, d.settles(d.there(receipt)).State)
	e := d.newest(d.resume())
	require.Equal(t, operator.ID, e.Principal)
	require.Equal(t, "ticket 4711", e.ByHand.Proof)
	require.Equal(t, "ticket 4711", e.Evidence[0].Ref)
	d.sleep(100 * time.Hour)
	d.work()
	require.Len(t, d.world.sent, 1)
	require.Len(t, d.world.ledger, 1)
	r, err := d.ctl.Reconcile(d.ctx, refund.IssueRefund, d.ledgerOf(nil))
	require.NoError(t, err)
	require.True(t, r.Clean())
	require.Equal(t, 1, r.Agree)
}

// What was called absent and turns up all the same is told by reconciliation, as often as it is asked, and is not sent again; the receipt,
// when it comes in by itself, is kept, and moves nothing that the machine does not say.
func TestReceiptAfterAnAbsentSettlement(t *testing.T) {
	d := blind(t, true)
	d.sleep(resume.DefaultAbsentAfter)
	d.settles(d.absent()) // somebody looked at the wrong statement
	for range 2 {
		r, err := d.ctl.Reconcile(d.ctx, refund.IssueRefund, d.ledgerOf(nil))
		require.NoError(t, err)
		require.Equal(t, []string{d.key()}, r.Failed)
		require.False(t, r.Clean())
		d.sleep(time.Hour)
		d.work()
	}
	late := refund.RefundRecord.Observe(d.bank, guard.Observed[record]{Value: d.world.ledger[d.key()], Subject: d.key()})
	for range 2 {
		_, err := d.ctl.Observe(d.ctx, taskID, late)
		require.NoError(t, err)
	}
	_, known := refund.RefundRecord.Of(d.key()).Get(d.resume().Snapshot().Facts)
	require.True(t, known)
	require.Equal(t, refund.RefundFailed, d.resume().State())
	require.Len(t, d.world.sent, 1)
	require.Len(t, d.world.ledger, 1)
}

// What an absent settlement gave back is used up after all when the receipt comes late, once, whether it still fits or not; and an import
// knows that.
func TestLateReceiptUsesUpWhatWasGivenBack(t *testing.T) {
	from, to := newBranch(t), newBranch(t)
	from.send = func() error { return errReset }
	bank := guard.NewAuthority("bank")
	from.find = errReset
	from.trust = bank
	from.ctl = from.serving(from.m)
	require.NoError(t, from.withdraw("a", 60).Err())
	from.work()
	from.sleep(resume.DefaultAbsentAfter)
	require.Equal(t, used{0, 60}, from.used("account/1"))
	require.NoError(t, from.settles(from.absent()).Err())
	require.Equal(t, used{0}, from.used("account/1"), "given back")
	from.send = func() error { return nil }
	require.NoError(t, from.withdraw("b", 70).Err())
	from.work()

	late := paidOut.Observe(bank, guard.Observed[slip]{Value: slip{"s"}, Subject: "a/pay_out/1"})
	for range 2 {
		_, err := from.ctl.Observe(from.ctx, "a", late)
		require.NoError(t, err)
		require.Equal(t, used{130}, from.used("account/1"), "both have happened")
	}
	require.Equal(t, machine.CodeShort, from.withdraw("c", 1).Code())
	from.give(to, "a", "b")
	to.release()
	require.Equal(t, used{130}, to.used("account/1"))
}

// What may not be settled, each for its own reason; nothing is changed by trying.
func TestSettlementIsRefused(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	bob := guard.Principal{ID: "bob"}
	for name, c := range map[string]struct {
		by     guard.Principal
		change func(d *desk, s *resume.Settlement)
		want   error
	}{
		"no operator":       {by: bob, want: resume.ErrOperator},
		"the owner":         {by: alice, want: resume.ErrOperator},
		"nobody by name":    {by: guard.Principal{Roles: operator.Roles}, want: resume.ErrOperator},
		"no reason":         {change: func(_ *desk, s *resume.Settlement) { s.Reason = " " }, want: resume.ErrOperator},
		"a long reason":     {change: func(_ *desk, s *resume.Settlement) { s.Reason = long(machine.MaxReason + 1) }, want: resume.ErrOperator},
		"no proof":          {change: func(_ *desk, s *resume.Settlement) { s.Proof = "" }, want: resume.ErrOperator},
		"a long proof":      {change: func(_ *desk, s *resume.Settlement) { s.Proof = long(machine.MaxProof + 1) }, want: resume.ErrOperator},
		"an older revision": {change: func(_ *desk, s *resume.Settlement) { s.Rev-- }, want: store.ErrFenced},
		"no revision":       {change: func(_ *desk, s *resume.Settlement) { s.Rev = 0 }, want: store.ErrFenced},
		"looked at since":   {change: func(d *desk, _ *resume.Settlement) { d.work() }, want: store.ErrFenced},
		"another effect":    {change: func(_ *desk, s *resume.Settlement) { s.Key += "0" }, want: resume.ErrNotUnknown},
		"another task":      {change: func(_ *desk, s *resume.Settlement) { s.Task = "nobody" }, want: resume.ErrNoTask},
		"the store's own":   {change: func(_ *desk, s *resume.Settlement) { s.Task = "pawl.incarnation" }, want: resume.ErrNoTask},
		"no task":           {change: func(_ *desk, s *resume.Settlement) { s.Task = "a b" }, want: machine.ErrTask},
		"found after all":   {change: func(d *desk, _ *resume.Settlement) { d.world.find = nil; d.pay(d.asSent()) }, want: resume.ErrThere},
		"with all its bytes": {change: func(_ *desk, s *resume.Settlement) {
			s.Reason, s.Proof = long(machine.MaxReason), long(machine.MaxProof)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := blind(t, false)
			d.sleep(resume.DefaultAbsentAfter)
			s := d.absent()
			if c.by.ID == "" && c.by.Roles == nil {
				c.by = operator
			}
			if c.change != nil {
				c.change(d, &s)
			}
			before := d.resume().Version()
			for _, dry := range []bool{true, false} {
				s.Dry = dry
				out, err := d.ctl.SettleByHand(d.ctx, c.by, s)
				if c.want == nil {
					require.NoError(t, err)
					require.NoError(t, out.Err())
					continue
				}
				require.ErrorIs(t, err, c.want)
				require.Equal(t, before, d.resume().Version())
				require.Equal(t, "unknown", status(t, d, d.resume()))
			}
		})
	}
}

// asSent is the one effect as a handler gets it.
func (d *desk) asSent() job {
	return job{Key: d.key(), Args: refund.Payment{OrderID: "123", Amount: euros}}
}

// An effect that nobody has sent, that somebody is sending, or that is settled is none that a person settles.
func TestOnlyWhatIsUnknownIsSettledByHand(t *testing.T) {
	d := newDesk(t)
	d.cannotTell(false)
	d.dispatched()
	refused := func(want error) {
		t.Helper()
		_, rows, err := d.st.Load(d.ctx, taskID)
		require.NoError(t, err)
		s := resume.Settlement{Task: taskID, Key: d.key(), Reason: "r", Proof: "p"}
		if len(rows) > 0 {
			s.Rev = rows[0].Rev
		}
		_, err = d.ctl.SettleByHand(d.ctx, operator, s)
		require.ErrorIs(t, err, want)
	}
	refused(resume.ErrNotUnknown) // it waits to be sent
	_, err := d.st.Claim(d.ctx, store.Slots{}, 1, "another worker", 1e6)
	require.NoError(t, err)
	refused(resume.ErrNotUnknown) // it is being sent
	d.sleep(time.Hour)
	refused(resume.ErrNotUnknown) // that worker is gone, and nobody has looked since
	d.work()
	refused(resume.ErrEarly) // when it was sent nobody knows: at the latest now
	require.WithinDuration(t, d.clock().Add(resume.DefaultAbsentAfter), d.unsettled().AbsentFrom, time.Second)
	d.sleep(resume.DefaultAbsentAfter)
	d.settles(d.absent())
	refused(resume.ErrNotUnknown) // it is settled
}

// To the moment: absent is what has been out of everybody's hands for long enough, counted from the last attempt, over restarts.
func TestAbsentAfter(t *testing.T) {
	d := blind(t, false)
	from := d.unsettled().AbsentFrom
	require.WithinDuration(t, d.clock().Add(resume.DefaultAbsentAfter), from, time.Second)
	for range 3 { // looking does not count as sending
		d.sleep(15 * time.Minute)
		d.work()
	}
	d.ctl = d.open(nil)
	require.Equal(t, from, d.unsettled().AbsentFrom)
	try := func(before time.Duration) error {
		s := d.absent()
		s.Dry = true
		d.sleep(from.Sub(d.clock()) - before)
		_, err := d.ctl.SettleByHand(d.ctx, operator, s)
		return err
	}
	early := try(50 * time.Millisecond)
	require.ErrorIs(t, early, resume.ErrEarly)
	var at *resume.EarlyError
	require.ErrorAs(t, early, &at)
	require.Equal(t, from, at.From)
	require.NoError(t, try(0))
	require.Equal(t, refund.Refunded, d.settles(d.there(d.pay(d.asSent()))).State, "a receipt counts at any time")

	short := blind(t, false)
	short.ctl = short.open(func(c *resume.Config) { c.AbsentAfter = time.Second })
	short.sleep(time.Second)
	require.NoError(t, short.settles(short.absent()).Err())
	_, err := resume.Open(t.Context(), short.st, resume.Config{Machines: short.config().Machines, AbsentAfter: -1})
	require.ErrorContains(t, err, "AbsentAfter")
}

// What the lookup did not find is sent again: from then on nobody knows when it was last sent, until it is known again.
func TestAbsentAfterTheLastAttempt(t *testing.T) {
	d := blind(t, false)
	first := d.unsettled().AbsentFrom
	find := d.world.find
	d.world.find = nil // this once the provider can tell, and has nothing
	d.sleep(30 * time.Minute)
	d.work()
	d.world.find = find
	require.Len(t, d.world.sent, 2)
	require.Greater(t, d.unsettled().AbsentFrom.Sub(first), 29*time.Minute)
}

// While an effect may still be sent by its own time it is not absent, however long it has been lost.
func TestAbsentAfterTheTimeToSend(t *testing.T) {
	for _, within := range []time.Duration{time.Minute, 5 * time.Hour} {
		d := newDesk(t)
		eff := machine.NewEffect[draw]("wire", paidOut, machine.SendWithin[draw, slip](within), machine.TriedOnce[draw, slip]())
		b := machine.New[draw]("wiring", "asked")
		b.Final("done", "failed")
		machine.On(b, withdraw).From("asked").To("paying").By(guard.User).Then(machine.Emit(eff, func(c guard.Case[draw, machine.None]) draw { return c.Data }))
		machine.On(b, eff.Confirmed()).From("paying").To("done")
		machine.On(b, eff.Failed()).From("paying").To("failed")
		m := b.MustBuild()
		ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Effects: []resume.Handler{resume.Perform(eff,
			func(context.Context, machine.Job[draw]) (slip, error) { return slip{}, errReset },
			func(context.Context, machine.Job[draw]) (slip, bool, error) { return slip{}, false, errReset })}})
		require.NoError(t, err)
		s, err := ctl.Start(d.ctx, m.Task("w", alice, draw{"1", 1}), alice)
		require.NoError(t, err)
		began := d.clock()
		d.commits(s, withdraw.With(machine.None{}).As(guard.User))
		d.ctl = ctl
		d.work()
		want := began.Add(max(within, resume.DefaultAbsentAfter))
		require.WithinDuration(t, want, d.unsettled().AbsentFrom, time.Second)
		d.sleep(want.Sub(d.clock()) - time.Second)
		_, err = ctl.SettleByHand(d.ctx, operator, d.absent())
		require.ErrorIs(t, err, resume.ErrEarly)
		d.sleep(2 * time.Second)
		require.Equal(t, machine.State("failed"), d.settles(d.absent()).State)
	}
}

// In a store that was restored nothing is absent before the release, and long enough after it: the original may have gone on until then.
func TestAbsentAfterTheRelease(t *testing.T) {
	eachRestore(t, func(t *testing.T, restore restore) {
		d := newPebbleDesk(t)
		d.cannotTell(false)
		d.dispatched()
		d.work()
		d.sleep(10 * time.Hour)
		restore(d)
		d.work()
		_, err := d.ctl.SettleByHand(d.ctx, operator, d.absent())
		require.ErrorIs(t, err, resume.ErrQuarantined)
		require.NoError(t, d.ctl.Release(d.ctx, operator, "the original is switched off"))
		_, err = d.ctl.SettleByHand(d.ctx, operator, d.absent())
		require.ErrorIs(t, err, resume.ErrEarly)
		require.WithinDuration(t, d.clock().Add(resume.DefaultAbsentAfter), d.unsettled().AbsentFrom, time.Second)
		d.sleep(resume.DefaultAbsentAfter)
		require.Equal(t, refund.RefundFailed, d.settles(d.absent()).State)
	})
}

// What was unsent when the store was copied the original may have sent: when, nobody knows before a worker has looked.
func TestAbsentIsNotKnownBeforeALookup(t *testing.T) {
	d := newDesk(t)
	st := &secondLife{Memory: d.st.(*store.Memory)}
	d.st = st
	d.ctl = d.open(nil)
	d.cannotTell(false)
	d.dispatched()
	d.work()
	find := d.world.find
	d.world.find = nil // it is surely not there, and is sent again; that it could not be is certain
	d.world.send = func(context.Context, job) (record, error) { return record{}, machine.NotSent(errReset) }
	d.sleep(time.Minute)
	d.work()
	require.Equal(t, "intent", d.unsettled().Status)
	d.world.find = find
	st.copied = true
	require.NoError(t, d.ctl.Release(d.ctx, operator, "the original is switched off"))
	d.sleep(100 * time.Hour)
	require.Zero(t, d.unsettled().AbsentFrom)
	_, err := d.ctl.SettleByHand(d.ctx, operator, d.absent())
	require.ErrorIs(t, err, resume.ErrEarly)
	require.ErrorContains(t, err, "before a worker has looked it up once")
	d.work()
	require.WithinDuration(t, d.clock().Add(resume.DefaultAbsentAfter), d.unsettled().AbsentFrom, time.Second)
}

// A worker that takes the effect up while a person settles it fences the person; nothing is lost.
func TestSettlementIsFenced(t *testing.T) {
	d := blind(t, false)
	d.sleep(resume.DefaultAbsentAfter)
	s := d.absent()
	real := d.st
	d.st = &meddling{real, real.(store.Resources), 1, func() {
		_, err := real.Claim(d.ctx, store.Slots{}, 1, "another worker", 1e6)
		require.NoError(t, err)
	}}
	ctl := d.open(nil)
	d.st = real
	_, err := ctl.SettleByHand(d.ctx, operator, s)
	require.ErrorIs(t, err, store.ErrFenced)
	require.Equal(t, refund.DispatchingRefund, d.resume().State())
}

// Of two operators who settle it at the same moment, each in another way, one does.
func TestTwoSettlementsAtOnce(t *testing.T) {
	for range 20 {
		d := blind(t, true)
		d.sleep(resume.DefaultAbsentAfter)
		says := []resume.Settlement{d.absent(), d.there(d.world.ledger[d.key()])}
		done := make([]bool, 2)
		var both sync.WaitGroup
		for i, s := range says {
			both.Go(func() {
				out, err := d.ctl.SettleByHand(d.ctx, operator, s)
				done[i] = err == nil && out.Kind == machine.Committed
			})
		}
		both.Wait()
		require.NotEqual(t, done[0], done[1])
		require.Equal(t, map[bool]machine.State{true: refund.RefundFailed, false: refund.Refunded}[done[0]], d.resume().State())
	}
}

// Nobody outside can speak as an operator who has found something out.
func TestNobodyElseSettles(t *testing.T) {
	d := blind(t, false)
	for _, p := range []machine.Proposal{
		refund.IssueRefund.Info().Fail(d.key(), "x").FoundByHand(machine.ByHand{Reason: "r", Proof: "p"}),
		refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User).FoundByHand(machine.ByHand{Reason: "r", Proof: "p"}),
	} {
		s, err := d.ctl.Resume(d.ctx, taskID, operator)
		require.NoError(t, err)
		version := s.Version()
		out, err := s.Propose(d.ctx, p)
		require.NoError(t, err)
		require.NotEqual(t, machine.Committed, out.Kind)
		require.Equal(t, version, d.resume().Version())
	}
}
