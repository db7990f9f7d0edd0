package resume_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// A freeze stops what is not committed, and what is committed and not sent, across controllers; then everything goes on.
func TestFreeze(t *testing.T) {
	d := newDesk(t)
	d.dispatched()
	require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "the bank has called"))
	other := d.open(nil)
	require.NoError(t, other.Work(d.ctx))
	d.sleep(time.Hour)
	d.work()
	require.Empty(t, d.world.sent, "approved before the freeze, and not sent")
	require.Equal(t, "intent", status(t, d, d.resume()))

	require.NoError(t, d.ctl.Thaw(d.ctx, "refund", operator, "false alarm"))
	d.sleep(time.Hour)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Len(t, d.world.sent, 1)
}

func TestFreezeRefusesNewEffects(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "the bank has called"))
	require.Equal(t, "frozen", d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it")).Code())
	d.commits(s, refund.LeaveNote.With(refund.Note{Text: "effectless edges go on"}).As(guard.User))
	require.NoError(t, d.ctl.Thaw(d.ctx, "refund", operator, "false alarm"))
	d.commits(s, refund.ConfirmRefund.With(confirm)) // her yes is kept, and the offer stands
}

func TestOnlyAnOperatorFreezes(t *testing.T) {
	d := newDesk(t)
	require.ErrorIs(t, d.ctl.Freeze(d.ctx, "refund", alice, "why not"), resume.ErrOperator)
	require.ErrorIs(t, d.ctl.Thaw(d.ctx, "refund", operator, " "), resume.ErrOperator)
	require.ErrorIs(t, d.ctl.Freeze(d.ctx, "unknown", operator, "x"), resume.ErrMachine)
	require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "x"))
	_, err := d.ctl.Resume(d.ctx, resume.Reserved+"freeze.refund", operator)
	require.ErrorIs(t, err, resume.ErrNoTask)
	_, err = d.ctl.Start(d.ctx, refund.Machine.Task(resume.Reserved+"x", alice, refund.Refund{OrderID: "123", Amount: euros}), alice)
	require.ErrorIs(t, err, machine.ErrTask)
}

// Over the rate a proposal is refused before anything is read; after a while it goes on.
func TestRates(t *testing.T) {
	d := newDesk(t)
	d.ctl = d.open(func(c *resume.Config) { c.TaskRate = resume.Rate{Burst: 3, Per: time.Minute} })
	s := d.asked() // one proposal
	note := func() machine.Outcome {
		out, err := s.Propose(d.ctx, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User))
		require.NoError(t, err)
		return out
	}
	require.NoError(t, note().Err())
	require.NoError(t, note().Err())
	out := note()
	require.Equal(t, "too_fast", out.Code())
	require.NotEmpty(t, out.Findings[0].Details["retry_after"])
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Empty(t, attempts)
	d.sleep(20 * time.Second)
	require.NoError(t, note().Err())
	require.Equal(t, "too_fast", note().Code())
	d.sleep(time.Hour)
	for range 3 {
		require.NoError(t, note().Err())
	}
	require.Equal(t, "too_fast", note().Code())
}

// Who is over their own rate takes nothing of the task's, and a task that is over its rate takes nothing of theirs; both are told to
// whoever watches.
func TestRatesAreApart(t *testing.T) {
	d, heard := newDesk(t), &listener{}
	d.ctl = d.open(func(c *resume.Config) {
		c.TaskRate, c.PrincipalRate, c.Monitor = resume.Rate{Burst: 10, Per: time.Hour}, resume.Rate{Burst: 4, Per: time.Hour}, heard
	})
	note := func(s *resume.Session) string {
		out, err := s.Propose(d.ctx, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User).BasedOn(d.resume().Version()))
		require.NoError(t, err)
		return out.Code()
	}
	d.asked() // one of the task's, and one of alice's
	as := func(who string) *resume.Session {
		s, err := d.ctl.Resume(d.ctx, taskID, guard.Principal{ID: who, Roles: []string{guard.OperatorRole}})
		require.NoError(t, err)
		return s
	}
	flooder := as("flooder")
	for i := range 50 {
		require.Equal(t, i >= 4, note(flooder) == "too_fast", i)
	}
	refusals := heard.of(resume.SignalRefusal)
	require.Len(t, refusals, 46)
	require.Equal(t, []string{"too_fast", "leave_note", taskID}, []string{refusals[0].Code, refusals[0].Event, refusals[0].Task})
	olga := as("olga")
	for range 4 {
		require.NotEqual(t, "too_fast", note(olga))
	}
	last := as("last")
	require.NotEqual(t, "too_fast", note(last), "the tenth of the task")
	for range 50 {
		require.Equal(t, "too_fast", note(last), "the task is over its rate")
	}
	other, err := d.ctl.Start(d.ctx, refund.Machine.Task("other", last.Principal(), refund.Refund{OrderID: "9", Amount: euros, Notes: []string{}}), last.Principal())
	require.NoError(t, err)
	d.world.owner = observed("last")
	d.commits(other, askFor)
	for range 2 {
		d.commits(other, jot)
	}
	require.Equal(t, "too_fast", note(other), "the fifth of theirs")
}

// interloper is a store in memory in which something happens right before a commit that causes an effect lands.
type interloper struct {
	*store.Memory
	before func()
}

func (m *interloper) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	if f := m.before; f != nil && len(c.Emit) > 0 {
		m.before = nil
		f()
	}
	return m.Memory.Commit(ctx, c)
}

// A freeze between the judgement and the commit refuses it, from whichever controller; evidence and the offer stay.
func TestFreezeIsJudgedInTheCommit(t *testing.T) {
	for _, known := range []string{"first commit", "freeze known"} {
		t.Run(known, func(t *testing.T) {
			d := newDesk(t)
			st := &interloper{Memory: d.st.(*store.Memory)}
			d.st = st
			d.ctl = d.open(nil)
			other := d.open(nil)
			s := d.asked()
			if known == "freeze known" {
				require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "x"))
				require.NoError(t, d.ctl.Thaw(d.ctx, "refund", operator, "x"))
			}
			st.before = func() { require.NoError(t, other.Freeze(d.ctx, "refund", operator, "the bank has called")) }
			require.Equal(t, "frozen", d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it")).Code())
			require.Nil(t, st.before)
			require.NoError(t, other.Thaw(d.ctx, "refund", operator, "false alarm"))
			d.commits(s, refund.ConfirmRefund.With(confirm))
			d.work()
			require.Len(t, d.world.sent, 1)
		})
	}
}

// A thaw between the judgement and the commit is no reason to refuse, and a freeze of another machine is none of its business.
func TestThawAndOtherFreezesDoNotRefuse(t *testing.T) {
	d := newDesk(t)
	st := &interloper{Memory: d.st.(*store.Memory)}
	d.st = st
	d.ctl = d.open(nil)
	s := d.asked()
	st.before = func() {
		require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "x"))
		require.NoError(t, d.ctl.Thaw(d.ctx, "refund", operator, "x"))
	}
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
	require.Nil(t, st.before)
}

// What evidence drives is stopped too: the evidence lands, and the entry says why its edge was not taken.
func TestFreezeStopsWhatEvidenceDrives(t *testing.T) {
	type parcel struct {
		ID string `json:"id" about:"parcel"`
	}
	post := guard.NewAuthority("post")
	lost := guard.NewFact[bool]("lost", guard.From("post"), guard.About("parcel"), guard.Lasting())
	paid := guard.NewFact[bool]("paid", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())
	pay := machine.NewEffect[parcel, bool]("pay", paid)
	b := machine.New[parcel]("parcel", "on_its_way")
	b.Final("over")
	machine.When(b, lost).From("on_its_way").To("paying").Require(guard.True(lost)).
		Then(machine.Emit(pay, func(c guard.Case[parcel, machine.Changed[bool]]) parcel { return c.Data }))
	machine.On(b, pay.Confirmed()).From("paying").To("over")
	machine.On(b, pay.Failed()).From("paying").To("over")
	m := b.MustBuild()

	st := &interloper{Memory: store.NewMemory(store.MemoryOptions{})}
	ctl, err := resume.Open(t.Context(), st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{post},
		Effects: []resume.Handler{resume.Perform(pay,
			func(context.Context, machine.Job[parcel]) (bool, error) { return true, nil },
			func(context.Context, machine.Job[parcel]) (bool, bool, error) { return false, false, nil })}})
	require.NoError(t, err)
	s, err := ctl.Start(t.Context(), m.Task("p", alice, parcel{"7"}), alice)
	require.NoError(t, err)
	st.before = func() { require.NoError(t, ctl.Freeze(t.Context(), "parcel", operator, "x")) }
	out, err := ctl.Observe(t.Context(), "p", lost.Observe(post, guard.Observed[bool]{Value: true, Subject: "7"}))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	require.Equal(t, machine.State("on_its_way"), out.State)
	for e, err := range s.History(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, "frozen", e.Blocked[0].Code)
		break
	}
}
