package resume_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

func TestBadTaskIDs(t *testing.T) {
	d := newDesk(t)
	for _, id := range []string{"", "../etc/passwd", "a/b", "a\x00b", "a\nb", "ä", strings.Repeat("a", 129), "a b"} {
		_, err := d.ctl.Resume(d.ctx, id, alice)
		require.ErrorIs(t, err, machine.ErrTask, "%q", id)
		_, err = d.ctl.Start(d.ctx, refund.Machine.Task(id, alice, refund.Refund{OrderID: "123", Amount: euros}), alice)
		require.ErrorIs(t, err, machine.ErrTask, "%q", id)
		_, err = d.ctl.Observe(d.ctx, id)
		require.ErrorIs(t, err, machine.ErrTask, "%q", id)
	}
	_, err := d.ctl.Start(d.ctx, refund.Machine.Task(strings.Repeat("a", 128), alice, refund.Refund{OrderID: "123", Amount: euros}), alice)
	require.NoError(t, err)
}

func TestBadProposals(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	v := s.Version()
	good := `{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}}`
	for name, row := range map[string]struct{ event, payload, code string }{
		"unknown event":    {"pay_me", good, machine.CodeUnknownEvent},
		"own event":        {"issue_refund.confirmed", `{"key":"x"}`, machine.CodeUnknownEvent},
		"malformed":        {"confirm_refund", `{"order_id":`, machine.CodeForm},
		"oversized":        {"confirm_refund", `{"order_id":"` + strings.Repeat("1", 70000) + `"}`, machine.CodeForm},
		"duplicate key":    {"confirm_refund", `{"order_id":"123","order_id":"124","amount":{"minor":4300,"currency":"EUR"}}`, machine.CodeForm},
		"case variant":     {"confirm_refund", `{"Order_ID":"123","amount":{"minor":4300,"currency":"EUR"}}`, machine.CodeForm},
		"unknown field":    {"confirm_refund", `{"order_id":"123","amount":{"minor":4300,"currency":"EUR"},"user_confirmation":true}`, machine.CodeForm},
		"state version":    {"confirm_refund", `{"order_id":"123","amount":{"minor":4300,"currency":"EUR"},"state_version":9}`, machine.CodeForm},
		"wrong type":       {"confirm_refund", `{"order_id":123,"amount":{"minor":4300,"currency":"EUR"}}`, machine.CodeForm},
		"fraction":         {"confirm_refund", `{"order_id":"123","amount":{"minor":4300.5,"currency":"EUR"}}`, machine.CodeForm},
		"NaN":              {"confirm_refund", `{"order_id":"123","amount":{"minor":NaN,"currency":"EUR"}}`, machine.CodeForm},
		"null":             {"confirm_refund", `null`, machine.CodeForm},
		"not UTF-8":        {"confirm_refund", "{\"order_id\":\"\xff\"}", machine.CodeForm},
		"trailing":         {"confirm_refund", good + "{}", machine.CodeForm},
		"deeply nested":    {"confirm_refund", strings.Repeat(`{"order_id":`, 10000) + strings.Repeat("}", 10000), machine.CodeForm},
		"empty":            {"confirm_refund", ``, machine.CodeForm},
		"no such state":    {"request_refund", `{}`, machine.CodeNoTransition},
		"required, absent": {"cancel_refund", `{}`, machine.CodeForm},
		"required, null":   {"cancel_refund", `{"text":null}`, machine.CodeForm},
	} {
		out, err := s.ProposeRaw(d.ctx, row.event, []byte(row.payload))
		require.NoError(t, err, name)
		require.Equal(t, machine.Refused, out.Kind, name)
		require.Equal(t, row.code, out.Code(), name)
		require.NotEmpty(t, out.Permits, "%s: a refusal says what is permitted", name)
		require.Equal(t, v, s.Version(), name)
	}
	out, err := s.Propose(d.ctx, machine.Proposal{})
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
}

// An observer that fails, panics, answers about another order or from the future leaves the fact unknown; nothing changes.
func TestBadObservers(t *testing.T) {
	type ask = func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error)
	yes := refund.Eligibility{Eligible: true, Policy: "v7"}
	for name, fn := range map[string]ask{
		"fails": func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error) {
			return guard.Observed[refund.Eligibility]{}, errors.New("secret host name is down")
		},
		"panics": func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error) { panic("oops") },
		"other subject": func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error) {
			return guard.Observed[refund.Eligibility]{Value: yes, Subject: "124"}, nil
		},
		"no subject": func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error) {
			return guard.Observed[refund.Eligibility]{Value: yes}, nil
		},
		"from the future": func(_ context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
			return guard.Observed[refund.Eligibility]{Value: yes, Subject: q.Subject, At: q.Now.Add(time.Hour)}, nil
		},
		"too old to count": func(_ context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
			return guard.Observed[refund.Eligibility]{Value: yes, Subject: q.Subject, At: q.Now.Add(-time.Hour)}, nil
		},
	} {
		d := newDesk(t)
		d.world.policy = fn
		s := d.start()
		out, err := s.Propose(d.ctx, refund.RequestRefund.With(machine.None{}))
		require.NoError(t, err, name)
		require.Equal(t, machine.NeedsEvidence, out.Kind, name)
		require.Equal(t, []guard.Key{{Fact: "refund_eligibility", Subject: "123"}}, out.Missing, name)
		require.Equal(t, refund.CheckingEligibility, s.State(), name)
		for _, f := range out.Findings {
			require.NotContains(t, f.Text, "secret", name)
		}
	}
}

// An observer that hangs ends at the deadline, and others are not held up by it.
func TestHangingObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		stop := make(chan struct{})
		d.world.policy = func(context.Context, guard.Query) (guard.Observed[refund.Eligibility], error) {
			<-stop // ignores its context
			return guard.Observed[refund.Eligibility]{}, errors.New("late")
		}
		s := d.start()
		began := time.Now()
		out, err := s.Propose(d.ctx, refund.RequestRefund.With(machine.None{}))
		require.NoError(t, err)
		require.Equal(t, machine.NeedsEvidence, out.Kind)
		require.Equal(t, resume.DefaultObserveWithin, time.Since(began))
		close(stop)
		synctest.Wait()
	})
}

func TestBadObservations(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	v := s.Version()
	foreign := guard.NewFact[string]("shoe_size", guard.From("customer_channel"), guard.Lasting())
	for name, o := range map[string]guard.Observation{
		"empty":            {},
		"unknown fact":     foreign.Observe(d.chat, guard.Observed[string]{Value: "42", Subject: taskID}),
		"untrusted handle": refund.OrderOwner.Observe(guard.NewAuthority("order_service"), guard.Observed[string]{Value: "mallory", Subject: "123"}),
		"wrong authority":  refund.OrderOwner.Observe(d.chat, guard.Observed[string]{Value: "mallory", Subject: "123"}),
		"other offer":      refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "yes"}, Subject: "nothing"}),
		"other's reply":    refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "bob", Text: "yes", Shown: shown(s.Offers()[0])}, Subject: s.Offers()[0].ID}),
		"no such effect":   refund.RefundRecord.Observe(d.bank, guard.Observed[refund.Record]{Value: refund.Record{ID: "re_9"}, Subject: d.key()}),
	} {
		out, err := s.Observe(d.ctx, o)
		require.NoError(t, err, name)
		require.Equal(t, machine.Refused, out.Kind, name)
		require.Equal(t, v, d.resume().Version(), name)
	}
}

func TestOpenReportsEveryFault(t *testing.T) {
	d := newDesk(t)
	cfg := d.config()
	cfg.Machines = append(cfg.Machines, nil, refund.Machine)
	cfg.Observers = append(cfg.Observers, resume.Observer{}, cfg.Observers[0])
	cfg.Effects = []resume.Handler{{}}
	cfg.Trust = append(cfg.Trust, nil, guard.NewAuthority("nobody"))
	_, err := resume.Open(d.ctx, d.st, cfg)
	require.ErrorIs(t, err, resume.ErrConfig)
	for _, part := range []string{"a machine is nil", "machine refund is there twice", "an observer is empty", "order_owner has two observers",
		"a handler is empty", "nothing performs issue_refund", "a trusted handle is nil", `speaks for "nobody"`} {
		require.ErrorContains(t, err, part)
	}
	_, err = resume.Open(d.ctx, nil, cfg)
	require.ErrorIs(t, err, resume.ErrConfig)
}

// Each fault names its field, and where there is one its place in the list and the limit; the text is the same each time.
func TestOpenNamesFieldsAndLimits(t *testing.T) {
	d := newDesk(t)
	one := func(change func(*resume.Config)) error {
		cfg := d.config()
		change(&cfg)
		_, err := resume.Open(d.ctx, d.st, cfg)
		return err
	}
	half := store.MaxHold * time.Microsecond / 2
	for text, change := range map[string]func(*resume.Config){
		"ObserveWithin is -1ns: give a time above zero":                  func(c *resume.Config) { c.ObserveWithin = -1 },
		"PerformWithin is -1ns: give a time above zero":                  func(c *resume.Config) { c.PerformWithin = -1 },
		"Poll is -1ns: give a time above zero":                           func(c *resume.Config) { c.Poll = -1 },
		"PerformWithin is 12h0m0.000000001s, at most 12h0m0s":            func(c *resume.Config) { c.PerformWithin = half + 1 },
		"PerformWithin is 2562047h47m16.854775807s, at most 12h0m0s":     func(c *resume.Config) { c.PerformWithin = math.MaxInt64 },
		"PerformWithin is 999ns, at least 1\u00b5s":                      func(c *resume.Config) { c.PerformWithin = 999 },
		"Holder has 257 bytes, at most 256":                              func(c *resume.Config) { c.Holder = strings.Repeat("h", store.MaxName+1) },
		"Holder \"a\\x00b\" has a zero byte":                             func(c *resume.Config) { c.Holder = "a\x00b" },
		"TaskRate is 0 per 1s: give both above zero":                     func(c *resume.Config) { c.TaskRate.Per = time.Second },
		"Machines: no machine":                                           func(c *resume.Config) { c.Machines = nil },
		"Machines[1]: a machine is nil":                                  func(c *resume.Config) { c.Machines = append(c.Machines, nil) },
		"Machines[1]: a machine is the zero Machine":                     func(c *resume.Config) { c.Machines = append(c.Machines, &machine.Machine[refund.Refund]{}) },
		"Machines[1]: machine refund is there twice":                     func(c *resume.Config) { c.Machines = append(c.Machines, refund.Machine) },
		"Machines[1]: the name pawl_freeze is the controller's own":      func(c *resume.Config) { c.Machines = append(c.Machines, named("pawl_freeze")) },
		"Machines[1]: the name pawl_incarnation is the controller's own": func(c *resume.Config) { c.Machines = append(c.Machines, named("pawl_incarnation")) },
		"Observers[3]: an observer is empty":                             func(c *resume.Config) { c.Observers = append(c.Observers, resume.Observer{}) },
		"Observers[3]: an observer asks for stock, which no machine": func(c *resume.Config) {
			c.Observers = append(c.Observers, resume.Pull(stock, observed(map[string]int{})))
		},
		"Observers[3]: fact order_owner has two observers":                  func(c *resume.Config) { c.Observers = append(c.Observers, c.Observers[0]) },
		"Effects[1]: a handler is empty":                                    func(c *resume.Config) { c.Effects = append(c.Effects, resume.Handler{}) },
		"Effects[1]: effect issue_refund has two handlers":                  func(c *resume.Config) { c.Effects = append(c.Effects, c.Effects[0]) },
		"Effects: nothing performs issue_refund":                            func(c *resume.Config) { c.Effects = nil },
		"Trust[2]: a trusted handle is nil":                                 func(c *resume.Config) { c.Trust = append(c.Trust, nil) },
		"Trust[2]: a trusted handle speaks for \"nobody\"":                  func(c *resume.Config) { c.Trust = append(c.Trust, guard.NewAuthority("nobody")) },
		"Migrations[0]: a migration is the zero Migration":                  func(c *resume.Config) { c.Migrations = append(c.Migrations, machine.Migration{}) },
		"nobody speaks for \"policy\", the authority of fact refund_eligib": func(c *resume.Config) { c.Observers = c.Observers[:2] },
	} {
		err := one(change)
		require.ErrorIs(t, err, resume.ErrConfig, text)
		require.ErrorContains(t, err, text)
		require.Equal(t, err.Error(), one(change).Error())
	}
	for _, within := range []time.Duration{0, time.Microsecond, half} {
		require.NoError(t, one(func(c *resume.Config) { c.PerformWithin = within }))
	}
	require.NoError(t, one(func(c *resume.Config) { c.Holder = strings.Repeat("h", store.MaxName) }))
}

// named is a machine of that name.
func named(name string) machine.Definition {
	b := machine.New[struct{}](name, "open")
	b.Final("closed")
	machine.On(b, shut).From("open").To("closed").By(guard.User)
	return b.MustBuild()
}

func TestClosedStore(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	require.NoError(t, d.st.Close())
	_, err := s.Propose(d.ctx, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User))
	require.ErrorIs(t, err, store.ErrClosed)
	_, err = d.ctl.Resume(d.ctx, taskID, alice)
	require.ErrorIs(t, err, store.ErrClosed)
	require.ErrorIs(t, d.ctl.Work(d.ctx), store.ErrClosed)
	require.ErrorIs(t, d.ctl.Run(d.ctx), store.ErrClosed)
}

// Case B004: two controllers resume one task and confirm at once: one commit, one effect. And essay row m.
func TestConcurrentConfirmsB004(t *testing.T) {
	for range 100 {
		d := newDesk(t)
		d.asked()
		ctls := []*resume.Controller{d.ctl, d.open(nil)}
		var wg sync.WaitGroup
		outs := make([]machine.Outcome, 2)
		ready := make(chan struct{})
		for i, ctl := range ctls {
			s, err := ctl.Resume(d.ctx, taskID, alice)
			require.NoError(t, err)
			says := d.says(s, "yes, refund it")
			wg.Go(func() {
				<-ready
				var err error
				if outs[i], err = s.Propose(d.ctx, refund.ConfirmRefund.With(confirm).Keyed([]string{"a", "b"}[i]), says); err != nil {
					t.Error(err)
				}
			})
		}
		close(ready)
		wg.Wait()
		kinds := map[machine.Kind]int{outs[0].Kind: 1}
		kinds[outs[1].Kind]++
		require.Equal(t, 1, kinds[machine.Committed], "%v %v", outs[0], outs[1])
		require.Len(t, d.resume().Snapshot().Intents, 1)
		d.work()
		require.Len(t, d.world.ledger, 1)
	}
}
