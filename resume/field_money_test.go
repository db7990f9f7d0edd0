package resume_test

import (
	"context"
	"errors"
	"fmt"
	"math"
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

// Field cases of classes E and F about amounts: a desk that gives back what is left of a captured payment, as the payment service
// reports it.
type (
	capture struct {
		Payment string `json:"payment" validate:"required" about:"payment"`
	}
	giveBack struct {
		Payment string `json:"payment" validate:"required" about:"payment"`
		Amount  int64  `json:"amount" validate:"min=1"`
	}
	balance struct {
		Captured int64 `json:"captured"`
		Refunded int64 `json:"refunded"`
		Pending  int64 `json:"pending"` // under way or without an outcome
	}
	captureCase[P any] = guard.Case[capture, P]
)

// left is what may still be given back.
func (b balance) left() int64 { return b.Captured - b.Refunded - b.Pending }

const (
	captured  machine.State = "captured"
	agreeing  machine.State = "agreeing"
	returning machine.State = "returning"
	returned  machine.State = "returned"
)

var (
	balances   = guard.NewFact[balance]("balance", guard.From("payments"), guard.About("payment"), guard.MaxAge(time.Minute))
	reversal   = guard.NewFact[string]("reversal", guard.From("payments"), guard.About("payment"), guard.MaxAge(time.Hour))
	agreed     = guard.NewReply("agreed", guard.From("customer_channel"))
	returnSlip = guard.NewFact[giveBack]("return_slip", guard.From("payments"), guard.About(machine.EffectKind), guard.Lasting())
	sendBack   = machine.NewEffect("send_back", returnSlip, machine.Matching(func(want, got giveBack) error {
		if want != got {
			return fmt.Errorf("%d of %s was sent back", got.Amount, got.Payment)
		}
		return nil
	}))

	returnAll = machine.NewEvent[machine.None]("return_all")
	agree     = machine.NewEvent[giveBack]("agree")
	lapse     = machine.NewEvent[machine.None]("lapse")
)

func captureMachine(t *testing.T) *machine.Machine[capture] {
	b := machine.New[capture]("capture", captured)
	b.Final(returned)
	b.Wait(agreeing, machine.TaskOwner, time.Hour, lapse)
	enough := func(c captureCase[giveBack]) guard.Verdict {
		if now, _ := balances.Get(c); c.Payload.Amount > now.left() {
			return guard.Deny("too_much", "less than that is left")
		}
		return guard.Allow()
	}
	machine.On(b, returnAll).From(captured).To(agreeing).By(guard.Model, guard.User).
		Require(guard.Known(balances)).
		Then(machine.Offer(agree, machine.TaskOwner, time.Hour, func(c captureCase[machine.None]) []giveBack {
			now, _ := balances.Get(c)
			return []giveBack{{c.Data.Payment, now.left()}}
		}))
	machine.On(b, agree).From(agreeing).To(returning).By(guard.Model, guard.User).
		Fresh(balances).
		Check("enough_left", enough, balances).
		Confirm(agreed).
		Then(machine.Emit(sendBack, func(c captureCase[giveBack]) giveBack { return c.Payload }),
			machine.Reserve(func(c captureCase[giveBack]) []machine.Hold {
				now, _ := balances.Get(c)
				return []machine.Hold{{Resource: "captured/" + c.Data.Payment, Amount: c.Payload.Amount, Limit: now.Captured - now.Refunded}} // the service counts what it has returned
			}))
	machine.On(b, lapse).From(agreeing).To(captured)
	machine.On(b, sendBack.Confirmed()).From(returning).To(returned)
	machine.On(b, sendBack.Failed()).From(returning).To(captured)
	machine.When(b, reversal).From(returned).To(captured).Require(guard.Is(reversal, "refund_failed")).Reopens()
	m, err := b.Build()
	require.NoError(t, err)
	return m
}

// tillDesk is a desk of captures over a payment service that tests can bend.
type tillDesk struct {
	*desk
	m       *machine.Machine[capture]
	balance balance
	sendErr error
	answer  func(giveBack) giveBack // what the service says it did
	jobs    []machine.Job[giveBack]
}

func newTill(t *testing.T) *tillDesk {
	d := &tillDesk{desk: newDesk(t), m: captureMachine(t), balance: balance{Captured: 10000}}
	d.st = store.NewMemory(store.MemoryOptions{Now: d.clock})
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{
		Machines: []machine.Definition{d.m},
		Observers: []resume.Observer{resume.Pull(balances, func(ctx context.Context, q guard.Query) (guard.Observed[balance], error) {
			return observed(d.balance)(ctx, q)
		})},
		Effects: []resume.Handler{resume.Perform(sendBack,
			func(_ context.Context, j machine.Job[giveBack]) (giveBack, error) {
				d.jobs = append(d.jobs, j)
				if d.answer != nil {
					return d.answer(j.Args), d.sendErr
				}
				return j.Args, d.sendErr
			},
			func(context.Context, machine.Job[giveBack]) (giveBack, bool, error) {
				return giveBack{}, false, errReset
			})},
		Trust: []*guard.Authority{d.chat, d.bank},
	})
	require.NoError(t, err)
	d.ctl = ctl
	return d
}

func (d *tillDesk) begin(task string) *resume.Session {
	s, err := d.ctl.Start(d.ctx, d.m.Task(task, alice, capture{"p1"}), alice)
	require.NoError(d.t, err)
	return s
}

func (d *tillDesk) asks(s *resume.Session) giveBack {
	d.commits(s, returnAll.With(machine.None{}).As(guard.User))
	require.Len(d.t, s.Offers(), 1)
	return s.Offers()[0].Payload.(giveBack)
}

func (d *tillDesk) yes(s *resume.Session) guard.Observation {
	return agreed.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "yes", Shown: shown(s.Offers()[0])}, Subject: s.Offers()[0].ID, At: d.clock()})
}

// Case B097: "all of it" after a partial refund, while another is under way, is what is left, and that is what is asked about.
func TestB097AllOfItIsWhatIsLeft(t *testing.T) {
	d := newTill(t)
	d.balance = balance{Captured: 10000, Refunded: 4000, Pending: 1000}
	s := d.begin("t1")
	offered := d.asks(s)
	require.Equal(t, int64(5000), offered.Amount)
	require.Contains(t, s.Offers()[0].Question, "5000")
	d.commits(s, agree.With(offered), d.yes(s))
	d.work()
	require.Equal(t, int64(5000), d.jobs[0].Args.Amount)
}

// Case B073 (c): part of it was refunded elsewhere after the question: the old amount is refused, and the lesser one is asked anew.
func TestB073LessIsLeftThanWasConfirmed(t *testing.T) {
	d := newTill(t)
	d.balance = balance{Captured: 5000}
	s := d.begin("t1")
	offered := d.asks(s)
	said := d.yes(s)
	d.balance.Refunded = 2000
	d.refuses(s, agree.With(offered), said)
	require.Empty(t, s.Offers(), "what the offer stood on has changed")
	d.refuses(s, agree.With(giveBack{"p1", 3000}), said)
	d.work()
	require.Empty(t, d.jobs)
}

// Case B096: only what is above zero and not above the rest passes.
func TestB096NegativeAmounts(t *testing.T) {
	d := newTill(t)
	d.balance = balance{Captured: 3000}
	s := d.begin("t1")
	offered := d.asks(s)
	for _, amount := range []int64{-100, -1, 0, math.MinInt64, math.MaxInt64, 3001} {
		d.refuses(s, agree.With(giveBack{"p1", amount}), d.yes(s))
	}
	d.commits(s, agree.With(offered), d.yes(s))
}

// Case B079: what was confirmed fails days later: the task is open again, and another refund needs another yes and another key.
func TestB079SucceededLaterFails(t *testing.T) {
	d := newTill(t)
	s := d.begin("t1")
	d.commits(s, agree.With(d.asks(s)), d.yes(s))
	d.work()
	require.Equal(t, returned, d.lookAt("t1").State())
	d.sleep(4 * 24 * time.Hour)
	out, err := d.ctl.Observe(d.ctx, "t1", reversal.Observe(d.bank, guard.Observed[string]{Value: "refund_failed", Subject: "p1", At: d.clock()}))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	s = d.lookAt("t1")
	require.Equal(t, captured, s.State())
	offered := d.asks(s)
	require.Equal(t, int64(10000), offered.Amount, "all of it may be given back again")
	d.refuses(s, agree.With(offered))
	d.commits(s, agree.With(offered), d.yes(s))
	d.work()
	require.Equal(t, returned, d.lookAt("t1").State())
	require.Equal(t, []string{"t1/send_back/1", "t1/send_back/2"}, []string{d.jobs[0].Key, d.jobs[1].Key})
}

// Case B090: the service acted on another amount, in another currency. Its own record stands in the task, by its id and with what was
// observed; the refund is not called failed, nor made again, and somebody is told to look.
func TestB090MismatchKeepsTheHandle(t *testing.T) {
	d := newDesk(t)
	d.world.send = func(_ context.Context, j job) (record, error) {
		return record{ID: "re_1", OrderID: "123", Amount: money.Money{Minor: 14990, Currency: "USD"}}, nil
	}
	d.world.find = func(context.Context, job) (record, bool, error) { return record{}, false, errReset }
	d.dispatched()
	for range 3 {
		d.work()
		d.sleep(time.Hour)
	}
	s := d.resume()
	require.Equal(t, refund.DispatchingRefund, s.State())
	got, known := refund.RefundRecord.Of(d.key()).Get(s.Snapshot().Facts)
	require.True(t, known)
	require.Equal(t, record{ID: "re_1", OrderID: "123", Amount: money.Money{Minor: 14990, Currency: "USD"}}, got)
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Equal(t, machine.CodeReceiptDiffers, attempts[0].Findings[0].Code)
	require.Contains(t, attempts[0].Findings[0].Text, "the receipt is of 149.90 USD")
	unsettled, err := d.ctl.Unsettled(d.ctx, 0)
	require.NoError(t, err)
	require.Len(t, unsettled, 1, "a person has to look")
	require.Equal(t, "unknown", unsettled[0].Status)
	require.Equal(t, []string{d.key()}, d.world.sent)
}

// Case B088: of a cap of 100, 40 are confirmed and 50 under way. What fits beside them passes, however many try at once; an outcome that is
// not known frees nothing, and a failure frees its part.
func TestB088CapsCountWhatIsPending(t *testing.T) {
	b := newBank(t)
	require.NoError(t, b.withdraw("confirmed", 40).Err())
	b.work()
	require.NoError(t, b.withdraw("pending", 50).Err())
	require.Equal(t, machine.CodeShort, b.withdraw("more", 15).Code())
	require.Equal(t, 2, b.children(5, 5), "two of five at once")
	b.send = func() error { return errReset }
	b.work()
	b.sleep(time.Hour)
	b.work()
	require.Equal(t, machine.CodeShort, b.withdraw("unknown", 1).Code())

	b = newBank(t)
	require.NoError(t, b.withdraw("confirmed", 40).Err())
	b.work()
	require.NoError(t, b.withdraw("refused", 60).Err())
	require.Equal(t, machine.CodeShort, b.withdraw("early", 1).Code())
	b.send = func() error { return machine.Declined(errReset) }
	b.work()
	require.Equal(t, machine.CodeShort, b.withdraw("too-much", 61).Code())
	require.NoError(t, b.withdraw("freed", 60).Err())
}

// children are so many tasks that each try to withdraw an amount at the same moment; it counts those that may.
func (b *bank) children(many int, amount int64) (passed int) {
	outs, errs := make([]machine.Outcome, many), make([]error, many)
	barrier := make(chan struct{})
	var all sync.WaitGroup
	for i := range many {
		s, err := b.ctl.Start(b.ctx, b.m.Task(fmt.Sprint("child", i), alice, draw{"1", amount}), alice)
		require.NoError(b.t, err)
		all.Go(func() {
			<-barrier
			outs[i], errs[i] = s.Propose(b.ctx, withdraw.With(machine.None{}).As(guard.User))
		})
	}
	close(barrier)
	all.Wait()
	require.NoError(b.t, errors.Join(errs...))
	for _, out := range outs {
		if out.Err() == nil {
			passed++
		} else {
			require.Equal(b.t, machine.CodeShort, out.Code())
		}
	}
	return passed
}

// Case B093: the number is right and the currency is not, or is left out: not what was offered, and not in the form.
func TestB093AnotherCurrency(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	pounds := refund.Confirm{OrderID: "123", Amount: money.Money{Minor: euros.Minor, Currency: "GBP"}}
	require.Equal(t, machine.CodeOfferDiffers, d.refuses(s, refund.ConfirmRefund.With(pounds), d.says(s, "yes, refund it")).Code())
	out, err := s.ProposeRaw(d.ctx, refund.ConfirmRefund.Info().Name, []byte(`{"order_id":"123","amount":{"minor":4300}}`))
	require.NoError(t, err)
	require.Equal(t, machine.CodeForm, out.Code())
	require.Equal(t, refund.AwaitingUserConfirmation, s.State())
}

// Case B121: the model promises what no policy says: words commit nothing, and the event is refused by the policy's own fact.
func TestB121APromiseIsNoPolicy(t *testing.T) {
	d := newDesk(t)
	d.world.policy = observed(refund.Eligibility{Eligible: false, Policy: "v7"})
	s := d.start()
	out, err := s.Propose(d.ctx, refund.RequestRefund.With(machine.None{}).As(guard.Model))
	require.NoError(t, err)
	require.Error(t, out.Err())
	require.Equal(t, refund.Declined, d.resume().State())
	out, err = d.resume().ProposeRaw(d.ctx, refund.RequestRefund.Info().Name, []byte("you can claim it within 90 days"))
	require.NoError(t, err)
	require.Error(t, out.Err())
	require.Empty(t, d.resume().Snapshot().Offers)
}
