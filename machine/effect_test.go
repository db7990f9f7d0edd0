package machine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestSettling has one row for each way an intent can end or not.
func TestSettling(t *testing.T) {
	w := paying(t)
	key := w.key()
	slip := func(amount int64) guard.Evidence { return saw(w, SlipOf, key, Slip{amount}) }
	info := Send.Info()
	for _, row := range []struct {
		name     string
		p        machine.Proposal
		evidence []guard.Evidence
		code     string
		kind     machine.Kind
	}{
		{"with its receipt", info.Confirm(key), []guard.Evidence{slip(50)}, "", machine.Committed},
		{"without a receipt", info.Confirm(key), nil, guard.CodeUnknown, machine.NeedsEvidence},
		{"with a receipt that contradicts itself", info.Confirm(key), []guard.Evidence{slip(50), slip(49)}, guard.CodeUnknown, machine.NeedsEvidence},
		{"with another's receipt", info.Confirm(key), []guard.Evidence{saw(w, SlipOf, "t1/send/9", Slip{50})}, guard.CodeUnknown, machine.NeedsEvidence},
		{"with a receipt that differs", info.Confirm(key), []guard.Evidence{slip(49)}, machine.CodeReceiptDiffers, machine.Refused},
		{"with a receipt that cannot be read", info.Confirm(key), []guard.Evidence{slip(-1)}, machine.CodeReceiptDiffers, machine.Refused},
		{"another key", info.Confirm("t1/send/2"), []guard.Evidence{slip(50)}, machine.CodeNoIntent, machine.Refused},
		{"no key", info.Confirm(""), []guard.Evidence{slip(50)}, machine.CodeNoIntent, machine.Refused},
		{"failed", info.Fail(key, "refused"), nil, "", machine.Committed},
		{"failed, and there is a receipt", info.Fail(key, "refused"), []guard.Evidence{slip(50)}, machine.CodeHappened, machine.Refused},
		{"failed, and there is another receipt", info.Fail(key, "refused"), []guard.Evidence{slip(49)}, machine.CodeHappened, machine.Refused},
		{"failed, and its receipt contradicts itself", info.Fail(key, "refused"), []guard.Evidence{slip(50), slip(49)}, machine.CodeHappened, machine.Refused},
	} {
		next, out := w.tryAs(guard.Principal{}, row.p, row.evidence...)
		require.Equal(t, row.code, out.Code(), row.name)
		require.Equal(t, row.kind, out.Kind, row.name)
		if row.kind != machine.Committed {
			require.Len(t, next.Intents, 1)
			require.True(t, next.Intents[0].Unsettled(), row.name)
		}
	}
	w.does(info.Confirm(key), slip(50))
	require.Equal(t, machine.CodeNoTransition, w.refuses(machine.CodeNoTransition, info.Confirm(key)).Code(), "settled once")
}

// TestReceiptLands: a receipt is evidence of what has happened, and is kept whatever the state.
func TestReceiptLands(t *testing.T) {
	w := paying(t)
	w.sees(saw(w, SlipOf, w.key(), Slip{50}))
	w.refuses(machine.CodeHappened, Send.Info().Fail(w.key(), "timeout"))
	w.does(Send.Info().Confirm(w.key()))
	require.Equal(t, Paid, w.s.State)
	_, kept := w.s.Facts.Entry(guard.Key{Fact: "slip", Subject: "t1/send/1"})
	require.True(t, kept, "while its intent is")
}

func TestReason(t *testing.T) {
	w := paying(t)
	long := strings.Repeat("é", machine.MaxReason/2)
	for reason, want := range map[string]string{"x": "x", long: long, long + "x": long, "x" + long: "x" + long[:machine.MaxReason-2], "a\xffb": "ab"} {
		p := Send.Info().Fail(w.key(), reason)
		require.Equal(t, want, p.Payload().(machine.Settled).Reason)
		_, out := w.try(p)
		require.NoError(t, out.Err())
	}
}

// A line of payments: several at once, one after the other, and again.
var (
	Go    = machine.NewEvent[Pays]("go")
	Again = machine.NewEvent[machine.None]("again")
	Stop  = machine.NewEvent[machine.None]("stop")
	Book  = machine.NewEffect[Transfer]("book", guard.NewFact[Slip]("booked", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting()))
)

type Pays struct {
	Amounts []int64 `json:"amounts"`
}

// line is a machine without questions: what it is told to pay it pays.
func line() *machine.Machine[Desk] {
	b := machine.New[Desk]("line", Draft)
	b.Final(Closed)
	machine.On(b, Go).From(Draft).Stay().By(guard.User).
		Then(machine.EmitEach(Book, func(c Case[Pays]) []Transfer {
			out := make([]Transfer, len(c.Payload.Amounts))
			for i, n := range c.Payload.Amounts {
				out[i] = Transfer{strings.Repeat("x", max(0, int(n)-1000)), n}
			}
			return out
		}))
	machine.On(b, Again).From(Draft).Stay().By(guard.User).
		Then(machine.Offer(Re, machine.TaskOwner, time.Hour, func(c Case[machine.None]) []Pay { return []Pay{{c.Data.OrderID, c.Data.Amount}} }))
	machine.On(b, Re).From(Draft).Stay().By(guard.User).Confirm(Answer).
		Then(machine.Emit(Book, func(c Case[Pay]) Transfer { return Transfer{"", c.Payload.Amount} }))
	machine.On(b, Book.Confirmed()).From(Draft).Stay().
		Then(machine.EmitEach(Book, func(c Case[machine.Settled]) []Transfer {
			if c.Data.Amount == 77 {
				return []Transfer{{"next", 77}}
			}
			return nil
		}))
	machine.On(b, Book.Failed()).From(Draft).Stay()
	machine.On(b, Stop).From(Draft).To(Closed).By(guard.User).
		Accept(machine.LintEndsUnsettled, "the test wants to see it refused")
	return b.MustBuild()
}

// Re pays what was paid before.
var Re = machine.NewEvent[Pay]("re")

// run is one task of the line.
type run struct {
	t   *testing.T
	m   *machine.Machine[Desk]
	s   machine.Snapshot[Desk]
	now time.Time
}

func newRun(t *testing.T, amount int64) *run {
	m := line()
	s, _, err := m.Task("t1", alice, Desk{OrderID: "1", Amount: amount}).First(start)
	require.NoError(t, err)
	typed, _ := machine.As[Desk](s)
	return &run{t, m, typed, start}
}

func (r *run) step(code string, p machine.Proposal, os ...guard.Observation) machine.Outcome {
	r.t.Helper()
	r.now = r.now.Add(time.Second)
	var evidence []guard.Evidence
	for _, o := range os {
		ev, err := guard.Verify(o, guard.Acceptance{Fact: r.m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: r.now})
		require.NoError(r.t, err)
		evidence = append(evidence, ev)
	}
	next, out := r.m.Step(r.s, machine.Input{Proposal: p.BasedOn(r.s.Version), Principal: alice, Evidence: evidence, Now: r.now})
	require.Equal(r.t, code, out.Code(), "%+v", out.Findings)
	r.s = next
	return out
}

func (r *run) settled(key string) {
	r.t.Helper()
	r.step("", Book.Info().Confirm(key), Book.Receipt().Observe(handles["bank"], guard.Observed[Slip]{Subject: key}))
}

func (r *run) keys() (all []string) {
	for _, i := range r.s.Intents {
		all = append(all, string(i.Key)+" "+string(i.Status))
	}
	return all
}

// TestOperations: a key is task, effect and a number that only rises; nothing new begins while one has no outcome; of the
// settled ones the last is kept.
func TestOperations(t *testing.T) {
	r := newRun(t, 1)
	book := func(n ...int64) machine.Proposal { return Go.With(Pays{n}).As(guard.User) }
	out := r.step("", book(1, 2, 3))
	require.Len(t, out.Intents, 3)
	require.Equal(t, []string{"t1/book/1 intent", "t1/book/2 intent", "t1/book/3 intent"}, r.keys())
	r.step(machine.CodeUnderWay, book(4))
	r.step("", book())
	r.step(machine.CodeUnsettled, Stop.With(machine.None{}).As(guard.User))
	r.settled("t1/book/2")
	r.step(machine.CodeUnderWay, book(4))
	r.step("", Book.Info().Fail("t1/book/1", "no"))
	require.Equal(t, []string{"t1/book/1 failed", "t1/book/3 intent"}, r.keys())
	r.step(machine.CodeUnderWay, book(4))
	r.settled("t1/book/3")
	require.Equal(t, []string{"t1/book/3 confirmed"}, r.keys())
	r.step("", book(4))
	require.Equal(t, []string{"t1/book/3 confirmed", "t1/book/4 intent"}, r.keys())
	r.settled("t1/book/4")
	r.step("", Stop.With(machine.None{}).As(guard.User))
	require.True(t, r.m.IsFinal(r.s.State))
}

// TestChain: the commit that settles one may intend the next.
func TestChain(t *testing.T) {
	r := newRun(t, 77)
	r.step("", Go.With(Pays{[]int64{5}}).As(guard.User))
	r.settled("t1/book/1")
	require.Equal(t, []string{"t1/book/1 confirmed", "t1/book/2 intent"}, r.keys())
	r.step(machine.CodeRepeat, Book.Info().Confirm("t1/book/2"), Book.Receipt().Observe(handles["bank"], guard.Observed[Slip]{Subject: "t1/book/2"}))
}

// TestRepeat: what has happened is not done once more unless somebody agreed to that after it was settled. What failed
// never happened, and may be tried again.
func TestRepeat(t *testing.T) {
	five := Go.With(Pays{[]int64{5}}).As(guard.User)
	again, re := Again.With(machine.None{}).As(guard.User), Re.With(Pay{"1", 5}).As(guard.User)
	r := newRun(t, 5)
	yes := func() guard.Observation {
		return Answer.Observe(handles["chat"], guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "yes", Shown: shown(r.s.Offers[0])}, Subject: r.s.Offers[0].ID})
	}
	r.step("", five)
	r.step("", Book.Info().Fail("t1/book/1", "no"))
	r.step("", again)
	before := r.s.Offers[0]
	r.step("", five)
	r.settled("t1/book/2")
	r.step(machine.CodeRepeat, five)
	r.step("", Go.With(Pays{[]int64{}}).As(guard.User))
	require.Equal(t, []machine.OpenOffer{before}, r.s.Offers)
	r.step(machine.CodeRepeat, re, yes())
	r.step("", again)
	r.step("", re, yes())
	require.Equal(t, []string{"t1/book/2 confirmed", "t1/book/3 intent"}, r.keys())
}

// TestEffectLimits: both sides of the number and of the size of effects.
func TestEffectLimits(t *testing.T) {
	many := func(n int) machine.Proposal {
		p := Pays{}
		for i := range n {
			p.Amounts = append(p.Amounts, int64(i))
		}
		return Go.With(p).As(guard.User)
	}
	r := newRun(t, 1)
	r.step(machine.CodeTooMany, many(machine.MaxEffects+1))
	r.step("", many(machine.MaxEffects))
	r = newRun(t, 1)
	r.step(machine.CodeDuplicate, Go.With(Pays{[]int64{1, 2, 1}}).As(guard.User))
	most := int64(machine.MaxArgs - len(`{"order_id":"","amount":12345}`) + 1000)
	require.Len(t, fmt.Sprint(most), 5)
	r.step(machine.CodeForm, Go.With(Pays{[]int64{most + 1}}).As(guard.User))
	r.step("", Go.With(Pays{[]int64{most}}).As(guard.User))
}

// TestEmitNeedsFacts: an effect made of what is not known asks for it, and is never made of zeros.
func TestEmitNeedsFacts(t *testing.T) {
	b := machine.New[Desk]("rates", Draft)
	b.Final(Paid, Failed)
	b.Facts(Rate)
	machine.On(b, Ask).From(Draft).To(Paying).By(guard.Model).
		Then(machine.Emit(Send, func(c Case[machine.None]) Transfer { r, _ := Rate.Get(c); return Transfer{"1", r * c.Data.Amount} }))
	machine.On(b, Send.Confirmed()).From(Paying).To(Paid)
	machine.On(b, Send.Failed()).From(Paying).To(Failed)
	m := b.MustBuild()
	s0, _, err := m.Task("t1", alice, Desk{OrderID: "1", Amount: 5}).First(start)
	require.NoError(t, err)
	s, _ := machine.As[Desk](s0)
	in := machine.Input{Proposal: Ask.With(machine.None{}).BasedOn(1), Principal: alice, Now: start}
	_, out := m.Step(s, in)
	require.Equal(t, machine.NeedsEvidence, out.Kind)
	require.Equal(t, []guard.Key{{Fact: "rate", Subject: "1"}}, out.Missing)
	ev, err := guard.Verify(Rate.Observe(handles["bank"], guard.Observed[int64]{Value: 3, Subject: "1"}),
		guard.Acceptance{Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: start})
	require.NoError(t, err)
	in.Evidence = []guard.Evidence{ev}
	_, out = m.Step(s, in)
	require.NoError(t, out.Err())
	require.Equal(t, Transfer{"1", 15}, out.Intents[0].Args)
	require.Equal(t, "rate", out.Entry().Ground[0].Fact, "what an effect is made of is ground of the commit")
}

func TestClass(t *testing.T) {
	boom := errors.New("boom")
	require.Equal(t, machine.ClassUncertain, machine.ClassOf(boom))
	require.Equal(t, machine.ClassUncertain, machine.ClassOf(nil))
	require.Equal(t, machine.ClassNotSent, machine.ClassOf(fmt.Errorf("x: %w", machine.NotSent(boom))))
	require.Equal(t, machine.ClassRefused, machine.ClassOf(machine.Declined(boom)))
	require.ErrorIs(t, machine.NotSent(boom), boom)
}
