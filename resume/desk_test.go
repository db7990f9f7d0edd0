package resume_test

import (
	"context"
	"errors"
	"fmt"
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

const taskID = "refund_order_123"

var (
	alice    = guard.Principal{ID: "alice"}
	mallory  = guard.Principal{ID: "mallory"}
	operator = guard.Principal{ID: "olga", Roles: []string{guard.OperatorRole}}
	euros    = money.Money{Minor: 4300, Currency: "EUR"}
	confirm  = refund.Confirm{OrderID: "123", Amount: euros}
)

// desk is a refund desk on a store in memory, with a world that tests can bend.
type desk struct {
	t     *testing.T
	ctx   context.Context
	st    store.Store
	ctl   *resume.Controller
	chat  *guard.Authority
	bank  *guard.Authority
	mu    sync.Mutex
	now   time.Time
	world world
	heard []error // what Config.Problem heard
}

// world answers observers and handlers; nil functions answer as a well-behaved shop.
type world struct {
	owner  func(context.Context, guard.Query) (guard.Observed[string], error)
	status func(context.Context, guard.Query) (guard.Observed[string], error)
	policy func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error)
	send   func(context.Context, machine.Job[refund.Payment]) (refund.Record, error)
	find   func(context.Context, machine.Job[refund.Payment]) (refund.Record, bool, error)
	ledger map[string]refund.Record
	sent   []string // keys, one for each attempt
	found  int      // lookups
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, ctx: t.Context(), chat: guard.NewAuthority("customer_channel"), bank: guard.NewAuthority("payments"),
		now: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), world: world{ledger: map[string]refund.Record{}}}
	d.st = store.NewMemory(store.MemoryOptions{Now: d.clock})
	d.ctl = d.open(nil)
	return d
}

func (d *desk) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(time.Millisecond)
	return d.now
}

func (d *desk) sleep(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

func (d *desk) config() resume.Config {
	return resume.Config{
		Machines: []machine.Definition{refund.Machine},
		Observers: []resume.Observer{
			resume.Pull(refund.OrderOwner, func(ctx context.Context, q guard.Query) (guard.Observed[string], error) {
				if d.world.owner != nil {
					return d.world.owner(ctx, q)
				}
				return guard.Observed[string]{Value: "alice", Subject: q.Subject, Ref: "order_service/" + q.Subject}, nil
			}),
			resume.Pull(refund.OrderStatus, func(ctx context.Context, q guard.Query) (guard.Observed[string], error) {
				if d.world.status != nil {
					return d.world.status(ctx, q)
				}
				return guard.Observed[string]{Value: refund.OrderOpen, Subject: q.Subject}, nil
			}),
			resume.Pull(refund.Eligible, func(ctx context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
				if d.world.policy != nil {
					return d.world.policy(ctx, q)
				}
				return guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Eligible: true, Policy: "v7"}, Subject: q.Subject, Ref: "policy/v7"}, nil
			}),
		},
		Effects: []resume.Handler{resume.Perform(refund.IssueRefund, d.send, d.find)},
		Trust:   []*guard.Authority{d.chat, d.bank},
		Problem: func(err error) { d.mu.Lock(); d.heard = append(d.heard, err); d.mu.Unlock() },
	}
}

func (d *desk) open(change func(*resume.Config)) *resume.Controller {
	cfg := d.config()
	if change != nil {
		change(&cfg)
	}
	ctl, err := resume.Open(d.ctx, d.st, cfg)
	require.NoError(d.t, err)
	return ctl
}

func (d *desk) send(ctx context.Context, j machine.Job[refund.Payment]) (refund.Record, error) {
	d.mu.Lock()
	d.world.sent = append(d.world.sent, j.Key)
	send := d.world.send
	d.mu.Unlock()
	if send != nil {
		return send(ctx, j)
	}
	return d.pay(j), nil
}

// pay is what the provider does, once per key.
func (d *desk) pay(j machine.Job[refund.Payment]) refund.Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, paid := d.world.ledger[j.Key]; !paid {
		d.world.ledger[j.Key] = refund.Record{ID: fmt.Sprintf("re_%d", len(d.world.ledger)+1), OrderID: j.Args.OrderID, Amount: j.Args.Amount}
	}
	return d.world.ledger[j.Key]
}

func (d *desk) find(ctx context.Context, j machine.Job[refund.Payment]) (refund.Record, bool, error) {
	d.mu.Lock()
	d.world.found++
	find := d.world.find
	d.mu.Unlock()
	if find != nil {
		return find(ctx, j)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.world.ledger[j.Key]
	return r, ok, nil
}

func (d *desk) start() *resume.Session {
	s, err := d.ctl.Start(d.ctx, refund.Machine.Task(taskID, alice, refund.Refund{OrderID: "123", Amount: euros, Notes: []string{}}), alice)
	require.NoError(d.t, err)
	return s
}

func (d *desk) resume() *resume.Session {
	s, err := d.ctl.Resume(d.ctx, taskID, alice)
	require.NoError(d.t, err)
	return s
}

// asked is a task whose owner has been asked.
func (d *desk) asked() *resume.Session {
	s := d.start()
	d.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
	require.Equal(d.t, refund.AwaitingUserConfirmation, s.State())
	return s
}

// dispatched is a task whose refund is intended and not yet sent.
func (d *desk) dispatched() *resume.Session {
	s := d.asked()
	d.sleep(time.Minute)
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
	require.Equal(d.t, refund.DispatchingRefund, s.State())
	return s
}

func (d *desk) commits(s *resume.Session, p machine.Proposal, carried ...guard.Observation) machine.Outcome {
	out, err := s.Propose(d.ctx, p, carried...)
	require.NoError(d.t, err)
	require.NoError(d.t, out.Err())
	return out
}

// refuses proposes what must not be committed, and sees that nothing but evidence has changed.
func (d *desk) refuses(s *resume.Session, p machine.Proposal, carried ...guard.Observation) machine.Outcome {
	state, intents := s.State(), len(s.Snapshot().Intents)
	out, err := s.Propose(d.ctx, p, carried...)
	require.NoError(d.t, err)
	require.NotEqual(d.t, machine.Committed, out.Kind)
	require.Error(d.t, out.Err())
	require.Equal(d.t, state, s.State())
	require.Len(d.t, s.Snapshot().Intents, intents)
	require.NotEmpty(d.t, out.Findings, "a refusal says why")
	return out
}

// says is what the owner typed, as their channel reports it, about the one open offer.
func (d *desk) says(s *resume.Session, text string) guard.Observation {
	offers := s.Offers()
	require.Len(d.t, offers, 1)
	return refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: text, Shown: shown(offers[0])}, Subject: offers[0].ID, At: d.clock()})
}

// shown is the channel's word that the question was shown as soon as it was put, and that nothing came in between.
func shown(o machine.OpenOffer) *guard.Shown {
	return &guard.Shown{Message: "q/" + o.ID, At: o.OpenedAt}
}

func (d *desk) work() { require.NoError(d.t, d.ctl.Work(d.ctx)) }

func (d *desk) key() string { return taskID + "/issue_refund/1" }

var errReset = errors.New("connection reset while reading the answer")
