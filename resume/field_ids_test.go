package resume_test

import (
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// Case B117: a model copies what it saw of another task. Its answer counts for the view it was shown alone, and the ids of the other task, as
// payload or as what a reply is about, name nothing here.
func TestB117ForeignIdsNameNothing(t *testing.T) {
	d := newLab(t)
	one, two := d.decide("t1", "pen"), d.decide("t2", "pen")
	foreign, err := one.Project(d.ctx, labView)
	require.NoError(t, err)
	raw := []byte(`{"event":"yes","payload":{"shop":"s1","items":["pen"]}}`)
	_, err = two.Answer(d.ctx, foreign, raw, d.button(two.Offers()[0].ID))
	require.ErrorIs(t, err, resume.ErrView)
	out, err := two.Observe(d.ctx, d.button(one.Offers()[0].ID))
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
	view, err := two.Project(d.ctx, labView)
	require.NoError(t, err)
	for _, id := range []string{"t1", one.Offers()[0].ID, "t2/"} {
		require.NotContains(t, string(view.JSON()), id)
	}
	for _, more := range []string{`,"task_id":"t1"`, `,"based_on_version":2`, `,"offer":"t1/2/yes/0"`} {
		out, err = two.Answer(d.ctx, view, []byte(`{"event":"yes","payload":{"shop":"s1","items":["pen"]}`+more+`}`), d.button(two.Offers()[0].ID))
		require.NoError(t, err)
		require.Equal(t, machine.CodeForm, out.Code(), more)
	}
	require.Equal(t, deciding, d.lookAt("t1").State())
	require.Equal(t, deciding, d.lookAt("t2").State())
}

// Case B118: a provider numbers its calls call_0 in every turn and for every task. What a source says under that id is kept for each task that
// it is about; an answer belongs to the version whose view it answers, and one of an earlier turn is a conflict, not a second life.
func TestB118ReusedCallIdsMixNothing(t *testing.T) {
	d := newLab(t)
	for _, id := range []string{"t1", "t2"} {
		d.begin(id, "pen")
		out, err := d.ctl.Observe(d.ctx, id, gate.Observe(d.warehouse, guard.Observed[string]{Value: "of " + id, Subject: "s1"}).Identified("call_0"))
		require.NoError(t, err)
		require.NoError(t, out.Err())
	}
	for _, id := range []string{"t1", "t2"} {
		got, known := gate.Of("s1").Get(d.lookAt(id).Snapshot().Facts)
		require.True(t, known)
		require.Equal(t, "of "+id, got)
	}

	s := d.lookAt("t1")
	d.commits(s, ask.With(machine.None{}).As(guard.User))
	first, err := s.Project(d.ctx, labView)
	require.NoError(t, err)
	out, err := d.ctl.Observe(d.ctx, "t1", gate.Observe(d.warehouse, guard.Observed[string]{Value: "later", Subject: "s1"}))
	require.NoError(t, err)
	require.NoError(t, out.Err()) // the next turn
	call := []byte(`[{"type":"tool_use","id":"call_0","name":"yes","input":{"shop":"s1","items":["pen"]}}]`)
	out, err = s.Answer(d.ctx, first, call, d.button(s.Offers()[0].ID))
	require.NoError(t, err)
	require.Equal(t, machine.Conflict, out.Kind)
	s = d.lookAt("t1")
	second, err := s.Project(d.ctx, labView)
	require.NoError(t, err)
	out, err = s.Answer(d.ctx, second, call, d.button(s.Offers()[0].ID))
	require.NoError(t, err)
	require.NoError(t, out.Err(), "the same id, and the answer of this turn")
}

// Case B118, the other way round: one event of a source tells of two facts, in deliveries of their own. Each counts, once.
func TestB118OneEventTellsOfSeveral(t *testing.T) {
	d := newLab(t)
	d.begin("t1", "pen")
	tell := func(o guard.Observation) machine.Kind {
		out, err := d.ctl.Observe(d.ctx, "t1", o.Identified("evt_1"))
		require.NoError(t, err)
		return out.Kind
	}
	open := gate.Observe(d.warehouse, guard.Observed[string]{Value: "open", Subject: "s1"})
	pens := stock.Observe(d.warehouse, guard.Observed[map[string]int]{Value: map[string]int{"pen": 3}, Subject: "s1"})
	require.Equal(t, machine.Committed, tell(open))
	require.Equal(t, machine.Committed, tell(pens))
	require.Equal(t, machine.Unchanged, tell(open), "ordered by arrival: only its id tells that it came before")
	require.Equal(t, machine.Unchanged, tell(pens))
}

// Case B022: two tasks below one parent are alike to the last byte of their data. The power fails; the yes to the second reaches the second, at
// the first try, and what it causes is the second's.
func TestB022TwinsBelowOneParent(t *testing.T) {
	f := newFamily(t)
	f.begin("p", "")
	for _, id := range []string{"r1", "r2"} {
		s, err := f.ctl.Start(f.ctx, refund.Machine.Task(id, alice, refund.Refund{OrderID: "123", Amount: euros, Notes: []string{}}).Under("p"), alice)
		require.NoError(t, err)
		f.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
	}
	f.cut()
	f.ctl = f.serve()
	second := f.at("r2", alice)
	said := f.says(second, "yes, refund it")
	require.Equal(t, machine.Ask, f.refuses(f.at("r1", alice), refund.ConfirmRefund.With(confirm), said).Kind)
	f.commits(second, refund.ConfirmRefund.With(confirm), said)
	f.work()
	require.Equal(t, refund.Refunded, f.at("r2", alice).State())
	require.Equal(t, refund.AwaitingUserConfirmation, f.at("r1", alice).State())
	require.Equal(t, []string{"r2/issue_refund/1"}, f.world.sent)
	f.held("p", 1)
}

var subscription = guard.NewFact[string]("subscription", guard.From("billing"), guard.About("payment"), guard.Lasting(), guard.Dated())

// Case B076: an account was deleted. An older event that is delivered again, and one that does not say when it was so, revive nothing: the one is
// late, the other no evidence.
func TestB076RedeliveryRevivesNothing(t *testing.T) {
	d := newDesk(t)
	b := machine.New[capture]("accounts", "open")
	b.Final("closed")
	machine.When(b, subscription).From("open").To("closed").Require(guard.Is(subscription, "deleted"))
	machine.When(b, subscription).From("closed").To("open").Require(guard.Is(subscription, "active")).Reopens()
	m := b.MustBuild()
	billing := guard.NewAuthority("billing")
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{billing}})
	require.NoError(t, err)
	d.ctl = ctl
	_, err = ctl.Start(d.ctx, m.Task("t1", alice, capture{"p1"}), alice)
	require.NoError(t, err)
	at := d.clock()
	says := func(value string, at time.Time) machine.Outcome {
		out, err := ctl.Observe(d.ctx, "t1", subscription.Observe(billing, guard.Observed[string]{Value: value, Subject: "p1", At: at}))
		require.NoError(t, err)
		return out
	}
	require.Equal(t, machine.State("closed"), says("deleted", at).State)
	v := d.lookAt("t1").Version()
	require.Equal(t, machine.Unchanged, says("active", at.Add(-time.Second)).Kind, "late")
	undated := says("active", time.Time{})
	require.Equal(t, machine.Refused, undated.Kind)
	require.Equal(t, "undated", undated.Findings[0].Details["reason"])
	require.Equal(t, v, d.lookAt("t1").Version())
	require.Equal(t, machine.State("open"), says("active", at.Add(time.Second)).State, "and newer word does")
}

// Case B106: whoever holds an effect by a clock of its own is not asked. The store's clock decides when the hold is over, a step back neither
// prolongs what was over nor ends what is not, and the revision decides who may act.
func TestB106TheStoresClockDecidesHolds(t *testing.T) {
	d := newDesk(t)
	d.dispatched()
	hold := (5 * time.Minute).Microseconds()
	first, err := d.st.Claim(d.ctx, store.Slots{}, 0, "A", hold)
	require.NoError(t, err)
	require.Len(t, first, 1)
	before, err := d.st.Now(d.ctx)
	require.NoError(t, err)
	d.sleep(-2 * time.Minute)
	now, err := d.st.Now(d.ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, now, before, "it never goes back")
	taken, err := d.st.Claim(d.ctx, store.Slots{}, 0, "B", hold)
	require.NoError(t, err)
	require.Empty(t, taken)
	d.sleep(8 * time.Minute)
	second, err := d.st.Claim(d.ctx, store.Slots{}, 0, "B", hold)
	require.NoError(t, err)
	require.Len(t, second, 1)
	d.sleep(-8 * time.Minute) // A believes that it still holds it
	late := first[0]
	late.Status = store.Unknown
	_, err = d.st.Update(d.ctx, late)
	require.ErrorIs(t, err, store.ErrFenced)
	require.Equal(t, refund.DispatchingRefund, d.resume().State())
}
