package refund

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// world is what the services of the shop answer; the controllers of a desk all ask the same one.
type world struct {
	now      time.Time
	owner    string
	status   string
	eligible Eligibility
	paid     map[string]Record // by idempotency key
	chat     *guard.Authority
}

func newWorld() *world {
	return &world{now: dayOne, owner: "alice", status: OrderOpen, eligible: Eligibility{true, "v7"}, paid: map[string]Record{},
		chat: guard.NewAuthority("customer_channel")}
}

// desk is a controller on a store in memory.
type desk struct {
	t     *testing.T
	world *world
	store store.Store
	ctl   *resume.Controller
}

func openDesk(t *testing.T) *desk {
	w := newWorld()
	d := &desk{t: t, world: w, store: store.NewMemory(store.MemoryOptions{Now: func() time.Time { return w.now }})}
	d.ctl = d.another()
	return d
}

// another controller on the same store.
func (d *desk) another() *resume.Controller {
	w := d.world
	ctl, err := resume.Open(d.t.Context(), d.store, resume.Config{
		Machines: []machine.Definition{Machine},
		Observers: []resume.Observer{
			resume.Pull(OrderOwner, answers(func() string { return w.owner })),
			resume.Pull(OrderStatus, answers(func() string { return w.status })),
			resume.Pull(Eligible, answers(func() Eligibility { return w.eligible })),
		},
		Effects: []resume.Handler{resume.Perform(IssueRefund,
			func(_ context.Context, j machine.Job[Payment]) (Record, error) {
				w.paid[j.Key] = Record{ID: "re_1", OrderID: j.Args.OrderID, Amount: j.Args.Amount}
				return w.paid[j.Key], nil
			},
			func(_ context.Context, j machine.Job[Payment]) (Record, bool, error) {
				r, ok := w.paid[j.Key]
				return r, ok, nil
			})},
		Trust: []*guard.Authority{w.chat},
	})
	require.NoError(d.t, err)
	return ctl
}

func answers[T any](now func() T) func(context.Context, guard.Query) (guard.Observed[T], error) {
	return func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		return guard.Observed[T]{Value: now(), Subject: q.Subject}, nil
	}
}

// asks is a task whose owner was asked on the first day.
func (d *desk) asks() *resume.Session {
	s, err := d.ctl.Start(d.t.Context(), Machine.Task("refund_order_123", alice, order), alice)
	require.NoError(d.t, err)
	d.world.now = d.world.now.Add(time.Minute)
	out, err := s.Propose(d.t.Context(), RequestRefund.With(machine.None{}).As(guard.User))
	require.NoError(d.t, err)
	require.NoError(d.t, out.Err())
	return s
}

func (d *desk) says(s *resume.Session, text string) guard.Observation {
	require.Len(d.t, s.Offers(), 1)
	return Reply.Observe(d.world.chat, guard.Observed[guard.Reply]{
		Value: guard.Reply{By: "alice", Text: text, Shown: &guard.Shown{Message: "q", At: s.Offers()[0].OpenedAt}}, Subject: s.Offers()[0].ID, At: d.world.now,
	}).Identified(text)
}

func (d *desk) resume(ctl *resume.Controller) *resume.Session {
	s, err := ctl.Resume(d.t.Context(), "refund_order_123", alice)
	require.NoError(d.t, err)
	return s
}

// propose wants this kind of outcome.
func (d *desk) propose(kind machine.Kind, s *resume.Session, p machine.Proposal, carried ...guard.Observation) machine.Outcome {
	d.t.Helper()
	out, err := s.Propose(d.t.Context(), p, carried...)
	require.NoError(d.t, err)
	require.Equal(d.t, kind, out.Kind, out.Findings)
	return out
}
