package resume_test

import (
	"strings"
	"testing"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

type person struct {
	ID string `json:"id" about:"person"`
}

// personMachine declares a fact under the name of one of the refund desk's, about something else.
func personMachine(f guard.AnyFact, g guard.Guard) *machine.Machine[person] {
	b := machine.New[person]("person", "a")
	b.Final("b")
	machine.On(b, goOn).From("a").To("b").By(guard.User).Require(g)
	return b.MustBuild()
}

var goOn = machine.NewEvent[machine.None]("request_refund")

// Two machines give one name to facts about different kinds of things, and one observer answers for both.
func TestAttackFactNameSharedByTwoMachines(t *testing.T) {
	d := newDesk(t)
	for name, f := range map[string]guard.AnyFact{
		"about":  guard.NewFact[string]("order_owner", guard.From("order_service"), guard.About("person"), guard.MaxAge(time.Hour)),
		"type":   guard.NewFact[bool]("order_owner", guard.From("order_service"), guard.About("order"), guard.MaxAge(time.Hour)),
		"source": guard.NewFact[string]("order_owner", guard.From("elsewhere"), guard.About("order"), guard.MaxAge(time.Hour)),
	} {
		cfg := d.config()
		b := machine.New[person]("person", "a")
		b.Final("b")
		machine.On(b, goOn).From("a").To("b").By(guard.User).Check("c", func(guard.Case[person, machine.None]) guard.Verdict { return guard.Allow() }, f)
		m, err := b.Build()
		require.NoError(t, err, name)
		cfg.Machines = append(cfg.Machines, m)
		_, err = resume.Open(d.ctx, d.st, cfg)
		require.ErrorIs(t, err, resume.ErrConfig, name)
	}
}

// An observation of a fact of one machine, about an order, handed to a task of another machine whose fact of that name is
// about a person of the same id.
func TestAttackObservationOfANamesake(t *testing.T) {
	d := newDesk(t)
	service := guard.NewAuthority("order_service")
	f := guard.NewFact[string]("order_owner", guard.From("order_service"), guard.About("person"), guard.MaxAge(time.Hour))
	m := personMachine(f, guard.Owner(f))
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{service}})
	require.NoError(t, err)
	s, err := ctl.Start(d.ctx, m.Task("p1", alice, person{"123"}), alice)
	require.NoError(t, err)
	out, err := s.Observe(d.ctx, refund.OrderOwner.Observe(service, guard.Observed[string]{Value: "alice", Subject: "123"}))
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
}

// A stranger asks for a task that this controller cannot read: it must look as if there were none.
func TestAttackStrangerAndUnreadableTask(t *testing.T) {
	d := newDesk(t)
	d.asked()
	lab := newLab(t)
	other := lab.labOn(d)
	_, err := other.Resume(d.ctx, taskID, mallory)
	require.ErrorIs(t, err, resume.ErrNoTask)
	_, unknown := other.Resume(d.ctx, "refund_order_124", mallory)
	require.Equal(t, strings.ReplaceAll(unknown.Error(), "124", "123"), err.Error())
	_, err = other.Resume(d.ctx, taskID, alice)
	require.ErrorIs(t, err, resume.ErrMachine, "its owner is told")
}

func (d *labDesk) labOn(other *desk) *resume.Controller {
	d.st = other.st
	return d.lab(nil)
}

// A controller that does not serve a machine claims its effects, and keeps them from the one that does.
func TestAttackEffectsOfAnotherControllersMachine(t *testing.T) {
	d := newDesk(t)
	d.dispatched()
	other := newLab(t).labOn(d)
	require.ErrorIs(t, other.Work(d.ctx), resume.ErrMachine)
	d.sleep(time.Second)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())
	require.Len(t, d.world.ledger, 1)
	require.Zero(t, d.world.found, "nothing was sent, so nothing is looked up")
}

// A key that cannot be stored is bad input, not a broken store.
func TestAttackBadKeys(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	for _, key := range []string{"a\x00b", strings.Repeat("k", machine.MaxKey+1), strings.Repeat("k", 1<<20), "\xff"} {
		out, err := s.Propose(d.ctx, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User).Keyed(key))
		require.NoError(t, err, "%.20q", key)
		require.Equal(t, machine.Refused, out.Kind)
		require.Equal(t, machine.CodeForm, out.Code())
	}
	d.commits(s, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User).Keyed(strings.Repeat("k", machine.MaxKey)))
}

// The longest owner that a task may have can also be waited for.
func TestAttackLongestOwner(t *testing.T) {
	d := newDesk(t)
	who := guard.Principal{ID: strings.Repeat("o", machine.MaxPrincipal)}
	d.world.owner = observed(who.ID)
	s, err := d.ctl.Start(d.ctx, refund.Machine.Task(taskID, who, refund.Refund{OrderID: "123", Amount: euros}), who)
	require.NoError(t, err)
	d.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
	found, err := d.ctl.Waiting(d.ctx, who)
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// An attempt that hides behind its size leaves no trace.
func TestAttackHugeAttempt(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	_, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm).Shown(strings.Repeat("v", 100<<10)))
	require.NoError(t, err)
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Len(t, attempts, 1)
	_, err = d.ctl.Resume(d.ctx, taskID, guard.Principal{ID: strings.Repeat("m", 100<<10)})
	require.ErrorIs(t, err, resume.ErrNoTask)
	_, err = s.ProposeRaw(d.ctx, strings.Repeat("e", 100<<10), nil)
	require.NoError(t, err)
	attempts, err = s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Len(t, attempts, 3)
}

// What is no proposal at all, or is made in the controller's name, counts against the rate like any other.
func TestAttackFloodOfMalformed(t *testing.T) {
	d := newDesk(t)
	d.ctl = d.open(func(c *resume.Config) { c.PrincipalRate = resume.Rate{Burst: 5, Per: time.Hour} })
	s := d.asked()
	for range 30 {
		out, err := s.ProposeRaw(d.ctx, "nothing", []byte(`{`))
		require.NoError(t, err)
		require.Equal(t, machine.Refused, out.Kind)
		out, err = s.Answer(d.ctx, mustProject(d, s), []byte(`?`))
		require.NoError(t, err)
		require.Equal(t, machine.Refused, out.Kind)
		out, err = s.Propose(d.ctx, refund.IssueRefund.Info().Confirm("x"))
		require.NoError(t, err)
		require.Equal(t, machine.Refused, out.Kind)
	}
	attempts, err := s.Attempts(d.ctx)
	require.NoError(t, err)
	require.Len(t, attempts, 4)
}

// A negative time in the configuration.
func TestAttackNegativeTimes(t *testing.T) {
	d := newDesk(t)
	for name, change := range map[string]func(*resume.Config){
		"poll":         func(c *resume.Config) { c.Poll = -1 },
		"observe":      func(c *resume.Config) { c.ObserveWithin = -1 },
		"perform":      func(c *resume.Config) { c.PerformWithin = -1 },
		"perform long": func(c *resume.Config) { c.PerformWithin = 13 * time.Hour },
		"holder":       func(c *resume.Config) { c.Holder = "a\x00b" },
	} {
		cfg := d.config()
		change(&cfg)
		_, err := resume.Open(d.ctx, d.st, cfg)
		require.ErrorIs(t, err, resume.ErrConfig, name)
	}
}

// Zero values of what is exported are refused, wherever they go in.
func TestAttackZeroValues(t *testing.T) {
	d := newDesk(t)
	for name, cfg := range map[string]resume.Config{
		"nothing":      {},
		"zero machine": {Machines: []machine.Definition{&machine.Machine[refund.Refund]{}}},
		"nil machine":  {Machines: []machine.Definition{(*machine.Machine[refund.Refund])(nil)}},
		"zero pull":    {Machines: []machine.Definition{refund.Machine}, Observers: []resume.Observer{resume.Pull(guard.Fact[string]{}, nil)}},
		"zero perform": {Machines: []machine.Definition{refund.Machine}, Effects: []resume.Handler{resume.Perform(machine.Effect[int, int]{}, nil, nil)}},
		"zero trust":   {Machines: []machine.Definition{refund.Machine}, Trust: []*guard.Authority{{}}},
	} {
		_, err := resume.Open(d.ctx, d.st, cfg)
		require.ErrorIs(t, err, resume.ErrConfig, name)
	}
	_, err := d.ctl.Start(d.ctx, machine.Task{Definition: &machine.Machine[refund.Refund]{}, ID: "x"}, alice)
	require.Error(t, err)
	_, err = d.ctl.Start(d.ctx, machine.Task{Definition: refund.Machine, ID: "x", Owner: "alice"}, alice)
	require.Error(t, err, "no data")
	_, err = d.ctl.Start(d.ctx, refund.Machine.Task("x", guard.Principal{}, refund.Refund{}), guard.Principal{})
	require.Error(t, err)
	s := d.asked()
	v := s.Version()
	_, err = d.ctl.Resume(d.ctx, taskID, guard.Principal{})
	require.ErrorIs(t, err, resume.ErrNoTask)
	for _, who := range []guard.Principal{{}, {Roles: []string{guard.OperatorRole}}} {
		found, err := d.ctl.Waiting(d.ctx, who)
		require.NoError(t, err)
		require.Empty(t, found)
		found, err = d.ctl.Owned(d.ctx, who)
		require.NoError(t, err)
		require.Empty(t, found)
	}
	out, err := s.Observe(d.ctx, guard.Observation{}, guard.Fact[string]{}.Observe(d.chat, guard.Observed[string]{Subject: "123"}))
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
	out, err = s.Observe(d.ctx, refund.Reply.Observe(nil, guard.Observed[guard.Reply]{Subject: s.Offers()[0].ID, Value: guard.Reply{By: "alice", Text: "yes"}}))
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
	for _, f := range []guard.AnyFact{nil, guard.Fact[string]{}} {
		out, err = s.Look(d.ctx, f)
		require.NoError(t, err)
		require.Equal(t, machine.Refused, out.Kind)
	}
	for _, x := range []*projection.Decision{nil, {}} {
		_, err = s.Project(d.ctx, x)
		require.ErrorIs(t, err, projection.ErrDecision)
	}
	_, err = projection.View{}.Read([]byte(`{"event":"confirm_refund","payload":{}}`))
	require.ErrorIs(t, err, guard.ErrForm)
	require.Equal(t, v, d.resume().Version())
}
