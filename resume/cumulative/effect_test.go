package cumulative_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/resume/cumulative"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

type (
	order struct {
		Payment string `json:"payment" validate:"required" about:"payment"`
		Amount  int64  `json:"amount"`
	}
	payment struct {
		Payment string          `json:"payment"`
		Step    cumulative.Step `json:"step"`
	}
	record struct {
		Total cumulative.Figure `json:"total"`
	}
)

var (
	refunded = guard.NewFact[cumulative.Figure]("refunded", guard.From("shop"), guard.About("payment"), guard.MaxAge(time.Hour))
	slip     = guard.NewFact[record]("slip", guard.From("shop"), guard.About(machine.EffectKind), guard.Lasting())
	refundIt = machine.NewEvent[machine.None]("refund_it")
	figures  = cumulative.Effect[payment, record]{
		Step:  func(p payment) cumulative.Step { return p.Step },
		Total: func(r record) cumulative.Figure { return r.Total },
	}
	alice     = guard.Principal{ID: "alice"}
	errReset  = errors.New("connection reset while reading the answer")
	errClosed = errors.New("the office is closed")
)

const (
	open      machine.State = "open"
	refunding machine.State = "refunding"
	done      machine.State = "done"
	failed    machine.State = "failed"
)

// refundDesk is the machine of a desk whose provider reports sums only.
func refundDesk(t *testing.T, options ...machine.EffectOption[payment, record]) (*machine.Machine[order], machine.Effect[payment, record]) {
	effect := machine.NewEffect("refund", slip, append(options, figures.Matching())...)
	step := func(c guard.Case[order, machine.None]) cumulative.Step {
		base, _ := refunded.Get(c)
		return cumulative.Step{Base: base.Minor, Amount: c.Data.Amount, Currency: base.Currency}
	}
	b := machine.New[order]("refunds", open)
	b.Final(done, failed)
	machine.On(b, refundIt).From(open).To(refunding).By(guard.User).
		Fresh(refunded).
		Check("is_a_step", func(c guard.Case[order, machine.None]) guard.Verdict {
			if _, err := step(c).Target(); err != nil {
				return guard.Deny("no_step", err.Error())
			}
			return guard.Allow()
		}, refunded).
		Then(machine.Emit(effect, func(c guard.Case[order, machine.None]) payment { return payment{c.Data.Payment, step(c)} }),
			machine.Reserve(func(c guard.Case[order, machine.None]) []machine.Hold {
				return []machine.Hold{cumulative.Hold(c.Data.Payment)}
			}))
	machine.On(b, effect.Confirmed()).From(refunding).To(done)
	machine.On(b, effect.Failed()).From(refunding).To(failed)
	m, err := b.Build()
	require.NoError(t, err)
	return m, effect
}

// shop is a provider that reports what was refunded so far, and a controller that asks it.
type shop struct {
	t        *testing.T
	now      time.Time
	st       store.Store
	m        *machine.Machine[order]
	ctl      *resume.Controller
	total    cumulative.Figure
	keys     map[string]bool // that it has honoured; nil when it honours none
	refunds  int             // of ours that landed
	attempts int             // that reached it
	answer   func(machine.Job[payment]) (record, error)
	read     func() (record, error)
}

func newShop(t *testing.T, options ...machine.EffectOption[payment, record]) *shop {
	s := &shop{t: t, now: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), total: cumulative.Figure{Minor: 2000, Currency: "EUR"}, keys: map[string]bool{}}
	s.st = store.NewMemory(store.MemoryOptions{Now: func() time.Time { return s.now }})
	var effect machine.Effect[payment, record]
	s.m, effect = refundDesk(t, options...)
	read := func(context.Context, machine.Job[payment]) (record, error) {
		if s.read != nil {
			return s.read()
		}
		return record{s.total}, nil
	}
	send := func(_ context.Context, j machine.Job[payment]) (record, error) {
		s.attempts++
		if s.answer != nil {
			return s.answer(j)
		}
		return s.lands(j), nil
	}
	ctl, err := resume.Open(t.Context(), s.st, resume.Config{
		Machines: []machine.Definition{s.m},
		Observers: []resume.Observer{resume.Pull(refunded, func(_ context.Context, q guard.Query) (guard.Observed[cumulative.Figure], error) {
			return guard.Observed[cumulative.Figure]{Value: s.total, Subject: q.Subject}, nil
		})},
		Effects: []resume.Handler{resume.Perform(effect, figures.Send(read, send), figures.Find(read))},
	})
	require.NoError(t, err)
	s.ctl = ctl
	return s
}

// lands is what the provider does with an attempt that reaches it.
func (s *shop) lands(j machine.Job[payment]) record {
	if s.keys == nil || !s.keys[j.Key] {
		s.refunds++
		s.elsewhere(j.Args.Step.Amount)
	}
	if s.keys != nil {
		s.keys[j.Key] = true
	}
	return record{s.total}
}

// elsewhere is a refund by somebody else.
func (s *shop) elsewhere(minor int64) { s.total.Minor += minor }

// loses is an answer that got lost, of an attempt that landed or did not.
func (s *shop) loses(landed bool) func(machine.Job[payment]) (record, error) {
	return func(j machine.Job[payment]) (record, error) {
		s.answer = nil
		if landed {
			s.lands(j)
		}
		return record{}, errReset
	}
}

func (s *shop) intend(task string, amount int64) machine.Outcome {
	session, err := s.ctl.Start(s.t.Context(), s.m.Task(task, alice, order{"p1", amount}), alice)
	require.NoError(s.t, err)
	out, err := session.Propose(s.t.Context(), refundIt.With(machine.None{}).As(guard.User))
	require.NoError(s.t, err)
	return out
}

// work lets the controller work once, and again after a while.
func (s *shop) work() {
	for range 8 {
		require.NoError(s.t, s.ctl.Work(s.t.Context()))
		s.now = s.now.Add(11 * time.Minute)
	}
}

func (s *shop) state(task string) machine.State {
	session, err := s.ctl.Resume(s.t.Context(), task, alice)
	require.NoError(s.t, err)
	return session.State()
}

// TestLostAnswers: 50.00 are to be refunded where 20.00 were before. However the answer was lost, the sum alone says what happened,
// there is one refund at most, and what it does not say is left to a person.
func TestLostAnswers(t *testing.T) {
	once := machine.TriedOnce[payment, record]()
	for _, row := range []struct {
		name     string
		options  []machine.EffectOption[payment, record]
		before   func(*shop) // the effect is intended, and nothing was sent
		after    func(*shop) // the first attempt is over
		state    machine.State
		refunds  int // of ours
		attempts int // that reached the provider
	}{
		{name: "nothing is lost", state: done, refunds: 1, attempts: 1},
		{name: "it landed", before: func(s *shop) { s.answer = s.loses(true) }, state: done, refunds: 1, attempts: 1},
		{name: "it landed, and the provider honours no key", options: []machine.EffectOption[payment, record]{once},
			before: func(s *shop) { s.keys, s.answer = nil, s.loses(true) }, state: done, refunds: 1, attempts: 1},
		{name: "it did not land", before: func(s *shop) { s.answer = s.loses(false) }, state: done, refunds: 1, attempts: 2},
		{name: "it did not land, and the provider honours no key", options: []machine.EffectOption[payment, record]{once},
			before: func(s *shop) { s.keys, s.answer = nil, s.loses(false) }, state: refunding, refunds: 0, attempts: 1},
		{name: "it landed, and then somebody else refunded", before: func(s *shop) { s.answer = s.loses(true) },
			after: func(s *shop) { s.elsewhere(100) }, state: refunding, refunds: 1, attempts: 1},
		{name: "it did not land, and then somebody else refunded", before: func(s *shop) { s.answer = s.loses(false) },
			after: func(s *shop) { s.elsewhere(100) }, state: refunding, refunds: 0, attempts: 1},
		{name: "it did not land, and then the figure fell", before: func(s *shop) { s.answer = s.loses(false) },
			after: func(s *shop) { s.elsewhere(-100) }, state: refunding, refunds: 0, attempts: 1},
		{name: "it landed, and the figure is in another currency", before: func(s *shop) { s.answer = s.loses(true) },
			after: func(s *shop) { s.total.Currency = "GBP" }, state: refunding, refunds: 1, attempts: 1},
		{name: "it landed, and nothing can be read", before: func(s *shop) { s.answer = s.loses(true) },
			after: func(s *shop) { s.read = func() (record, error) { return record{}, errClosed } }, state: refunding, refunds: 1, attempts: 1},
		{name: "it landed after the lookup had found nothing", before: func(s *shop) { s.keys, s.answer = nil, s.loses(false) },
			after: func(s *shop) {
				reads := 0
				s.read = func() (record, error) {
					if reads++; reads == 2 { // the one before it would be sent again
						s.refunds++
						s.elsewhere(5000)
					}
					return record{s.total}, nil
				}
			}, state: done, refunds: 1, attempts: 1},
		{name: "somebody else refunded before anything was sent", before: func(s *shop) { s.elsewhere(100) }, state: failed},
		{name: "somebody else refunded as much before anything was sent", before: func(s *shop) { s.elsewhere(5000) }, state: failed},
		{name: "the answer says another sum", before: func(s *shop) {
			s.answer = func(j machine.Job[payment]) (record, error) { s.lands(j); s.elsewhere(1); return record{s.total}, nil }
		}, state: refunding, refunds: 1, attempts: 1},
		{name: "the answer says that nothing was added", before: func(s *shop) {
			s.answer = func(machine.Job[payment]) (record, error) { s.answer = nil; return record{s.total}, nil }
		}, state: done, refunds: 1, attempts: 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newShop(t, row.options...)
			require.NoError(t, s.intend("t1", 5000).Err())
			if row.before != nil {
				row.before(s)
			}
			require.NoError(t, s.ctl.Work(t.Context()))
			if row.after != nil {
				row.after(s)
			}
			s.now = s.now.Add(time.Minute)
			s.work()
			require.Equal(t, row.refunds, s.refunds, "refunds")
			require.Equal(t, row.attempts, s.attempts, "attempts")
			s.read = nil
			require.Equal(t, row.state, s.state("t1"))
			unsettled, err := s.ctl.Unsettled(t.Context(), time.Hour)
			require.NoError(t, err)
			require.Equal(t, row.state == refunding, len(unsettled) == 1, "what nobody can tell is listed for a person")
		})
	}
}

// TestCrashAfterSending: the process ended between sending and hearing the answer; the figure settles it, and nothing is sent.
func TestCrashAfterSending(t *testing.T) {
	for landed, attempts := range map[bool]int{true: 0, false: 1} {
		s := newShop(t)
		require.NoError(t, s.intend("t1", 5000).Err())
		claimed, err := s.st.Claim(t.Context(), store.Slots{}, 1, "dead", 1)
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		if landed {
			s.lands(machine.Job[payment]{Key: claimed[0].ID, Args: payment{"p1", cumulative.Step{Base: 2000, Amount: 5000, Currency: "EUR"}}})
		}
		s.now = s.now.Add(time.Minute)
		s.work()
		require.Equal(t, done, s.state("t1"))
		require.Equal(t, 1, s.refunds)
		require.Equal(t, attempts, s.attempts)
		require.Equal(t, cumulative.Figure{Minor: 7000, Currency: "EUR"}, s.total)
	}
}

// TestOneAtATime: a second task on the payment waits for the outcome of the first, which its figure could be taken for.
func TestOneAtATime(t *testing.T) {
	s := newShop(t)
	s.answer = s.loses(false)
	require.NoError(t, s.intend("t1", 500).Err())
	require.NoError(t, s.ctl.Work(t.Context()))
	require.Equal(t, machine.CodeShort, s.intend("t2", 500).Code())
	s.work()
	require.Equal(t, done, s.state("t1"))
	require.NoError(t, s.intend("t3", 500).Err(), "from the figure as it is now")
	s.work()
	require.Equal(t, done, s.state("t3"))
	require.Equal(t, 2, s.refunds)
	require.Equal(t, int64(3000), s.total.Minor)
}

// TestNoStepIsNotIntended: what could not be told apart later is refused now.
func TestNoStepIsNotIntended(t *testing.T) {
	s := newShop(t)
	for task, amount := range map[string]int64{"nothing": 0, "less": -1, "too_much": largest - 1999} {
		out := s.intend(task, amount)
		require.Equal(t, machine.Refused, out.Kind, task)
		require.Equal(t, "no_step", out.Code(), task)
	}
	require.NoError(t, s.intend("most", largest-2000).Err())
}

// TestUnreadableIsNotSent: where the figure cannot be read nothing is sent, and it is tried again, also where an effect is tried once.
func TestUnreadableIsNotSent(t *testing.T) {
	s := newShop(t, machine.TriedOnce[payment, record]())
	require.NoError(t, s.intend("t1", 5000).Err())
	s.read = func() (record, error) { return record{}, errClosed }
	s.work()
	require.Zero(t, s.attempts)
	require.Equal(t, refunding, s.state("t1"))
	s.read = nil
	s.now = s.now.Add(time.Hour)
	s.work()
	require.Equal(t, done, s.state("t1"))
	require.Equal(t, 1, s.refunds)
}
