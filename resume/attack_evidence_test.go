package resume_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// A webhook that is delivered again puts a fact that is ordered by arrival back to what it was.
func TestAttackRedeliveryByArrival(t *testing.T) {
	d := newLab(t)
	s := d.begin("lab1", "pen")
	event := func(id, v string) guard.Observation {
		return gate.Observe(d.warehouse, guard.Observed[string]{Value: v, Subject: "s1"}).Identified(id)
	}
	for _, o := range []guard.Observation{event("e1", "open"), event("e2", "closed"), event("e1", "open")} {
		_, err := s.Observe(d.ctx, o)
		require.NoError(t, err)
	}
	e, ok := s.Snapshot().Facts.Entry(guard.Key{Fact: "gate", Subject: "s1"})
	require.True(t, ok)
	require.Equal(t, "closed", e.Value)
}

// Two controllers get one delivery at once, and one of them carries it with a proposal: it counts once, and nothing breaks.
func TestAttackOneDeliveryAtOnce(t *testing.T) {
	d := newLab(t)
	b := &bent{Store: d.st}
	d.st = b
	d.ctl = d.lab(nil)
	s := d.begin("lab1", "pen")
	event := func(id, v string) guard.Observation {
		return gate.Observe(d.warehouse, guard.Observed[string]{Value: v, Subject: "s1"}).Identified(id)
	}
	other := d.lab(nil)
	race := func(by func()) {
		b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
			b.mu.Lock()
			b.commit = nil
			b.mu.Unlock()
			by()
			return b.Store.Commit(ctx, c)
		}
	}
	race(func() {
		_, err := other.Observe(d.ctx, "lab1", event("e1", "open"))
		require.NoError(t, err)
		_, err = other.Observe(d.ctx, "lab1", event("e2", "closed"))
		require.NoError(t, err)
	})
	out, err := s.Observe(d.ctx, event("e1", "open"))
	require.NoError(t, err)
	require.Equal(t, machine.Unchanged, out.Kind)
	race(func() {
		_, err := other.Observe(d.ctx, "lab1", event("e3", "open"))
		require.NoError(t, err)
		_, err = other.Observe(d.ctx, "lab1", event("e4", "closed"))
		require.NoError(t, err)
	})
	out = d.refuses(s, shut.With(machine.None{}).As(guard.User), event("e3", "open"))
	e, _ := s.Snapshot().Facts.Entry(guard.Key{Fact: "gate", Subject: "s1"})
	require.Equal(t, "closed", e.Value)
}

// The same old observation again passes for one that was made since the proposal came in.
func TestAttackReplayPassesForFresh(t *testing.T) {
	d := newDesk(t)
	services := map[string]*guard.Authority{"order_service": guard.NewAuthority("order_service"), "policy": guard.NewAuthority("policy")}
	down := errors.New("down")
	d.ctl = d.open(func(c *resume.Config) { c.Trust = append(c.Trust, services["order_service"], services["policy"]) })
	s := d.asked()
	at := d.clock()
	old := []guard.Observation{
		refund.OrderOwner.Observe(services["order_service"], guard.Observed[string]{Value: "alice", Subject: "123", At: at}),
		refund.OrderStatus.Observe(services["order_service"], guard.Observed[string]{Value: refund.OrderOpen, Subject: "123", At: at}),
		refund.Eligible.Observe(services["policy"], guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Eligible: true, Policy: "v7"}, Subject: "123", At: at}),
	}
	_, err := s.Observe(d.ctx, old...)
	require.NoError(t, err)
	d.sleep(10 * time.Minute)
	d.world.owner = func(context.Context, guard.Query) (guard.Observed[string], error) {
		return guard.Observed[string]{}, down
	}
	d.world.status = d.world.owner
	d.world.policy = func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error) {
		return guard.Observed[refund.Eligibility]{}, down
	}
	out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), append(old, d.says(s, "yes"))...)
	require.NoError(t, err)
	require.Equal(t, machine.NeedsEvidence, out.Kind)
}

// Evidence that is good when it is judged and too old when it is written: the clock moves on between the two.
func TestAttackLapseBetweenJudgingAndWriting(t *testing.T) {
	d := newDesk(t)
	b := &bent{Store: d.st}
	d.st = b
	d.ctl = d.open(nil)
	s := d.asked()
	b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		d.sleep(16 * time.Minute) // longer than the policy's word is good for
		return b.Store.Commit(ctx, c)
	}
	out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), d.says(s, "yes"))
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
	require.Equal(t, machine.CodeLapsed, out.Code())
	require.Empty(t, d.resume().Snapshot().Intents)
}

// Once is bad luck: what ran out is asked for again.
func TestAttackLapseOnce(t *testing.T) {
	d := newDesk(t)
	b := &bent{Store: d.st}
	d.st = b
	d.ctl = d.open(nil)
	s := d.asked()
	b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		b.mu.Lock()
		b.commit = nil
		b.mu.Unlock()
		d.sleep(16 * time.Minute)
		return b.Store.Commit(ctx, c)
	}
	out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), d.says(s, "yes"))
	require.NoError(t, err)
	require.Equal(t, machine.Committed, out.Kind)
}

// The offer runs out between judging and writing.
func TestAttackOfferRunsOutBetweenJudgingAndWriting(t *testing.T) {
	d := newDesk(t)
	b := &bent{Store: d.st}
	d.st = b
	d.ctl = d.open(nil)
	s := d.asked()
	d.sleep(s.Offers()[0].Expires.Sub(d.clock()) - time.Minute)
	says := d.says(s, "yes")
	b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		d.sleep(2 * time.Minute)
		return b.Store.Commit(ctx, c)
	}
	out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), says)
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
	require.Empty(t, d.resume().Snapshot().Intents)
}

// So much evidence about other things that the task has no room left for its own.
func TestAttackFactsFlood(t *testing.T) {
	d := newLab(t)
	s := d.begin("lab1", "pen")
	for n := 0; n < machine.MaxFacts; n += machine.MaxEvidence {
		var many []guard.Observation
		for i := range machine.MaxEvidence {
			many = append(many, stock.Observe(d.warehouse, guard.Observed[map[string]int]{Value: map[string]int{}, Subject: fmt.Sprint("shop", n+i)}))
		}
		d.commits(s, put.With(setItems{Items: []string{"ink"}}).As(guard.User), many...)
	}
	d.commits(s, ask.With(machine.None{}).As(guard.User))
}

// An empty proposal that carries evidence is no commit of a proposal.
func TestAttackEmptyProposalWithEvidence(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	out, err := s.Propose(d.ctx, machine.Event[machine.None]{}.With(machine.None{}), d.says(s, "yes"))
	require.NoError(t, err)
	require.Equal(t, machine.CodeNoEvent, out.Code())
	require.Error(t, out.Err())
}

type angry struct{ A string }

func (angry) MarshalJSON() ([]byte, error) { panic("MarshalJSON") }

// A value that panics when it is written.
func TestAttackValueThatPanics(t *testing.T) {
	d := newDesk(t)
	f := guard.NewFact[angry]("angry", guard.From("x"), guard.Lasting())
	b := machine.New[refund.Refund]("angry_machine", "a")
	b.Final("b")
	ev := machine.NewEvent[machine.None]("go")
	machine.On(b, ev).From("a").To("b").By(guard.User).Require(guard.Known(f))
	b.Accept(machine.LintLossy, machine.Everywhere, "that it cannot be written is what is tested")
	m := b.MustBuild()
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Observers: []resume.Observer{resume.Pull(f, observed(angry{"x"}))}})
	require.NoError(t, err)
	s, err := ctl.Start(d.ctx, m.Task("angry1", alice, refund.Refund{OrderID: "123", Amount: euros}), alice)
	require.NoError(t, err)
	out, err := s.Propose(d.ctx, ev.With(machine.None{}).As(guard.User))
	require.NoError(t, err)
	require.Equal(t, machine.NeedsEvidence, out.Kind)
}

// A source whose clock is out of its mind: what is too long ago to be stored must not come back as the newest of all.
func TestAttackTimesThatWrapAround(t *testing.T) {
	d := newDesk(t)
	policy := guard.NewAuthority("policy")
	d.ctl = d.open(func(c *resume.Config) { c.Trust = append(c.Trust, policy) })
	d.start()
	for _, at := range []time.Time{time.Unix(-1<<60, 0), time.Unix(-9223372036856, 0), time.Unix(1<<60, 0), time.Unix(9223372036856, 0), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)} {
		out, err := d.ctl.Observe(d.ctx, taskID, refund.Eligible.Observe(policy, guard.Observed[refund.Eligibility]{Subject: "123",
			Value: refund.Eligibility{Eligible: true, Policy: "v0"}, At: at}))
		require.NoError(t, err)
		require.Equal(t, machine.Refused, out.Kind, "%s", at)
	}
	s, err := d.open(nil).Resume(d.ctx, taskID, alice)
	require.NoError(t, err)
	require.Zero(t, s.Snapshot().Facts.Len())
}

// What a proposal stands on is kept, whatever it is about: a fact of a subject that no data names.
func TestAttackKeepingIsNotTooStrict(t *testing.T) {
	d := newLab(t)
	b := machine.New[basket]("hq", "a")
	b.Final("b")
	ev := machine.NewEvent[machine.None]("go_on")
	machine.On(b, ev).From("a").To("b").By(guard.User).Require(guard.Known(stock.Of("hq")))
	m := b.MustBuild()
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{d.warehouse}})
	require.NoError(t, err)
	s, err := ctl.Start(d.ctx, m.Task("hq1", alice, basket{Shop: "s1", Items: []string{}, Tags: map[string]string{}}), alice)
	require.NoError(t, err)
	see := func(shop string) guard.Observation {
		return stock.Observe(d.warehouse, guard.Observed[map[string]int]{Value: map[string]int{"pen": 1}, Subject: shop})
	}
	d.commits(s, ev.With(machine.None{}).As(guard.User), see("elsewhere"), see("hq"))
	facts := s.Snapshot().Facts.All()
	require.Len(t, facts, 1)
	require.Equal(t, "hq", facts[0].Key.Subject)
}

// What a session observed when it resumed does not win over what came in since with the same order mark.
func TestAttackHeldAnswerAgainstNews(t *testing.T) {
	d := newLab(t)
	s := d.begin("lab1", "pen")
	_, err := s.Look(d.ctx, stock)
	require.NoError(t, err)
	d.sleep(2 * time.Hour)
	at := d.clock()
	see := func(n int) guard.Observed[map[string]int] {
		return guard.Observed[map[string]int]{Value: map[string]int{"pen": n, "ink": 2}, Subject: "s1", At: at}
	}
	ctl := d.lab(func(c *resume.Config) {
		c.Observers[0] = resume.Pull(stock, func(context.Context, guard.Query) (guard.Observed[map[string]int], error) { return see(1), nil })
	})
	resumed, err := ctl.Resume(d.ctx, "lab1", alice)
	require.NoError(t, err)
	_, err = d.ctl.Observe(d.ctx, "lab1", stock.Observe(d.warehouse, see(0)))
	require.NoError(t, err)
	_, err = resumed.Propose(d.ctx, put.With(setItems{[]string{"ink"}}).As(guard.User).BasedOn(s.Version()+1))
	require.NoError(t, err)
	e, _ := resumed.Snapshot().Facts.Entry(guard.Key{Fact: "stock", Subject: "s1"})
	require.Equal(t, map[string]int{"pen": 0, "ink": 2}, e.Value)
}
