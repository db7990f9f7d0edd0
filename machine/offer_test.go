package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestOffer: what is put to the owner is bound to all that it is about.
func TestOffer(t *testing.T) {
	w := newWorld(t)
	out := w.does(Ask.With(machine.None{}), w.fine()...)
	require.Equal(t, w.s.Offers, out.Offers)
	o := w.s.Offers[0]
	require.Equal(t, "t1/2/pay/0", o.ID)
	require.Equal(t, Pay{"1", 50}, o.Payload)
	require.Equal(t, []machine.Draft{{Effect: "send", Args: `{"order_id":"1","amount":50}`}}, o.Effects)
	require.Equal(t, machine.TaskOwner, o.To)
	require.Equal(t, uint64(2), o.Opened)
	require.Equal(t, start.Add(Patience), o.Expires, "never later than the wait of its state")
	require.Equal(t, []string{"owner(1)", "good(1)"}, []string{o.Stands[0].Key.String(), o.Stands[1].Key.String()})
	require.Equal(t, `pay (order id "1", amount 50); this will send (order id "1", amount 50). Answer yes or no, until 2026-03-29 01:30 UTC.`, o.Question)
}

// TestOfferRefused: what would be refused if it were agreed to is not offered, and the commit that wanted to is refused.
func TestOfferRefused(t *testing.T) {
	for _, row := range []struct {
		amount int64
		good   bool
		code   string
	}{{50, true, ""}, {0, true, machine.CodeForm}, {1001, true, "too_much"}, {666, true, machine.CodeEdgeFault}, {2, true, machine.CodeDuplicate}} {
		w := worldWith(t, row.amount)
		_, out := w.try(Ask.With(machine.None{}), w.fine()...)
		require.Equal(t, row.code, out.Code(), "%d", row.amount)
	}
}

// TestSeveralOffers of one commit stand side by side; each is answered by itself.
func TestSeveralOffers(t *testing.T) {
	w := worldWith(t, 3)
	w.does(Ask.With(machine.None{}), w.fine()...)
	require.Len(t, w.s.Offers, 2)
	w.after(time.Minute)
	reply := saw(w, Answer, w.s.Offers[1].ID, guard.Reply{By: "alice", Text: "yes", Shown: shown(w.s.Offers[1])})
	out := w.refuses(guard.CodeAsk, PayIt.With(Pay{"1", 1}), append(w.fine(), reply)...)
	require.Equal(t, w.s.Offers[0].Question, out.Question, "a yes to the second is none to the first")
	w.refuses(guard.CodeAsk, PayIt.With(Pay{"1", 2}), append(w.fine(), reply)...) // bare words are about none of several
	button := saw(w, Answer, w.s.Offers[1].ID, guard.Reply{By: "alice", Choice: guard.ChoiceYes})
	w.does(PayIt.With(Pay{"1", 2}), append(w.fine(), button)...)
}

// TestConsent has one row for each way not to agree (law 9; field cases B003 and B024).
func TestConsent(t *testing.T) {
	for _, row := range []struct {
		name   string
		amount int64
		answer func(w *world) []guard.Evidence
		code   string
		kind   machine.Kind
	}{
		{"yes", 50, says("alice", "yes"), "", machine.Committed},
		{"yes, by a button", 50, func(w *world) []guard.Evidence {
			return []guard.Evidence{saw(w, Answer, w.s.Offers[0].ID, guard.Reply{By: "alice", Choice: guard.ChoiceYes})}
		}, "", machine.Committed},
		{"no", 50, says("alice", "no"), machine.CodeDeclined, machine.Refused},
		{"B024: do not", 50, says("alice", "wait, do NOT run that"), machine.CodeDeclined, machine.Refused},
		{"unclear", 50, says("alice", "continue with yesterday's one"), guard.CodeAsk, machine.Ask},
		{"a truthy string", 50, says("alice", "true"), guard.CodeAsk, machine.Ask},
		{"B003: silence", 50, func(*world) []guard.Evidence { return nil }, guard.CodeAsk, machine.Ask},
		{"B025: the channel vouches for nothing", 50, func(w *world) []guard.Evidence {
			return []guard.Evidence{saw(w, Answer, w.s.Offers[0].ID, guard.Reply{By: "alice", Text: "yes"})}
		}, guard.CodeAsk, machine.Ask},
		{"B025: shown after the answer", 50, func(w *world) []guard.Evidence {
			return []guard.Evidence{saw(w, Answer, w.s.Offers[0].ID, guard.Reply{By: "alice", Text: "yes", Shown: &guard.Shown{Message: "q", At: w.now}})}
		}, guard.CodeAsk, machine.Ask},
		{"somebody else", 50, says("bob", "yes"), machine.CodeNotApprover, machine.Refused},
		{"nobody's channel", 50, func(w *world) []guard.Evidence {
			return []guard.Evidence{saw(w, Answer, "t1/1/pay/0", guard.Reply{By: "alice", Text: "yes", Shown: shown(w.s.Offers[0])})}
		}, guard.CodeAsk, machine.Ask},
		{"said before", 50, func(w *world) []guard.Evidence {
			return []guard.Evidence{sawAt(w, Answer, w.s.Offers[0].ID, guard.Reply{By: "alice", Text: "yes", Shown: shown(w.s.Offers[0])}, start)}
		}, machine.CodeBeforeQuestion, machine.Refused},
		{"another payload", 49, says("alice", "yes"), machine.CodeOfferDiffers, machine.Refused},
	} {
		w := asked(t).after(time.Minute)
		next, out := w.try(PayIt.With(Pay{"1", row.amount}), append(w.fine(), row.answer(w)...)...)
		require.Equal(t, row.code, out.Code(), row.name)
		require.Equal(t, row.kind, out.Kind, row.name)
		if row.kind == machine.Ask {
			require.Equal(t, w.s.Offers[0].Question, out.Question)
			require.ErrorIs(t, out.Err(), machine.ErrAsk)
		} else {
			require.Empty(t, out.Question)
		}
		if row.kind == machine.Committed {
			require.Empty(t, next.Offers)
			require.Equal(t, []machine.Voided{{Offer: "t1/2/pay/0", Reason: "used"}}, out.Entry().Voided)
			_, kept := next.Facts.Entry(guard.Key{Fact: "answer", Subject: "t1/2/pay/0"})
			require.False(t, kept, "a reply goes with its offer")
		}
	}
}

func says(who, text string) func(*world) []guard.Evidence {
	return func(w *world) []guard.Evidence { return []guard.Evidence{w.says(who, text)} }
}

// TestUsedOnce: a consumed answer satisfies nothing later (field case B003).
func TestUsedOnce(t *testing.T) {
	w := asked(t).after(time.Minute)
	reply := w.says("alice", "yes")
	w.does(Ask.With(machine.None{}), w.fine()...)
	w.after(time.Second)
	out := w.refuses(guard.CodeAsk, PayIt.With(Pay{"1", 50}), append(w.fine(), reply)...)
	require.Equal(t, machine.Ask, out.Kind)
}

// TestReplaced: an offer of the same event about the same thing closes the one before (field case B018).
func TestReplaced(t *testing.T) {
	w := asked(t).after(time.Minute)
	first := w.s.Offers[0]
	yes := w.says("alice", "yes")
	out := w.does(Change.With(Pay{"1", 40}).As(guard.User))
	require.Equal(t, []machine.Voided{{Offer: first.ID, Reason: "replaced"}}, out.Entry().Voided)
	require.Len(t, w.s.Offers, 1)
	w.after(time.Minute)
	w.refuses(machine.CodeOfferDiffers, PayIt.With(Pay{"1", 50}), append(w.fine(), yes)...)
	w.refuses(guard.CodeAsk, PayIt.With(Pay{"1", 40}), append(w.fine(), yes)...)
	w.does(PayIt.With(Pay{"1", 40}), append(w.fine(), w.says("alice", "yes"))...)
	require.Equal(t, Transfer{"1", 40}, w.s.Intents[0].Args)
}

// TestFirstDeadline: asking the same again in one stay keeps the first deadline.
func TestFirstDeadline(t *testing.T) {
	b := machine.New[Desk]("keep", Draft)
	b.Final(Paid, Failed)
	machine.On(b, Ask).From(Draft).Stay().By(guard.Model).Then(machine.Offer(PayIt, machine.TaskOwner, time.Hour, offered[machine.None]))
	machine.On(b, PayIt).From(Draft).To(Paying).By(guard.Model).Confirm(Answer).
		Then(machine.Emit(Send, func(c Case[Pay]) Transfer { return Transfer{c.Data.OrderID, c.Payload.Amount} }))
	machine.On(b, Send.Confirmed()).From(Paying).To(Paid)
	machine.On(b, Send.Failed()).From(Paying).To(Failed)
	m := b.MustBuild()
	s0, _, err := m.Task("t1", alice, Desk{OrderID: "1", Amount: 5}).First(start)
	require.NoError(t, err)
	s, _ := machine.As[Desk](s0)
	for i, want := range []time.Duration{60, 60, 121} {
		now := start.Add(time.Duration(i*i*15+i) * time.Minute)
		var out machine.Outcome
		s, out = m.Step(s, machine.Input{Proposal: Ask.With(machine.None{}).BasedOn(s.Version), Principal: alice, Now: now})
		require.NoError(t, out.Err())
		if i == 2 {
			want = 122 // after 62 minutes the first had run out: this is a new question
		}
		require.Equal(t, start.Add(want*time.Minute), s.Offers[0].Expires, "%d", i)
		require.Len(t, s.Offers, 1)
	}
}

// TestVoidedByAValue: another value of a fact that the offer stands on voids it, with a record; the same value, an older one
// and a contradiction do not.
func TestVoidedByAValue(t *testing.T) {
	w := asked(t).after(time.Minute)
	key := guard.Key{Fact: "owner", Subject: "1"}
	for name, ev := range map[string]guard.Evidence{
		"the same value":    saw(w, OwnerOf, "1", "alice"),
		"an older value":    sawAt(w, OwnerOf, "1", "bob", start.Add(-time.Second)),
		"a contradiction":   sawAt(w, OwnerOf, "1", "bob", start),
		"of another thing":  saw(w, Open, "1", true),
		"the answer itself": w.says("alice", "yes"),
	} {
		next, out := w.tryAs(guard.Principal{}, machine.Proposal{}, ev)
		require.Len(t, next.Offers, 1, name)
		if out.Entry() != nil {
			require.Empty(t, out.Entry().Voided, name)
		}
	}
	changed := saw(w, OwnerOf, "1", "bob")
	w.refuses("not_owner", PayIt.With(Pay{"1", 50}), w.says("alice", "yes"), saw(w, Good, "1", true), changed)
	out := w.sees(changed)
	require.Equal(t, []machine.Voided{{Offer: "t1/2/pay/0", Reason: "value_changed", Fact: &key}}, out.Entry().Voided)
	require.Empty(t, w.s.Offers)
}

// TestVoidedWhileConfirming: the very commit that would use the offer brings another value.
func TestVoidedWhileConfirming(t *testing.T) {
	who := guard.NewFact[string]("who", guard.From("shop"), guard.About("order"), guard.Lasting())
	b := machine.New[Desk]("void", Draft)
	b.Final(Closed)
	known := guard.Known(who)
	machine.On(b, Ask).From(Draft).Stay().By(guard.Model).Require(known).Then(machine.Offer(PayIt, machine.TaskOwner, time.Hour, offered[machine.None]))
	machine.On(b, PayIt).From(Draft).To(Closed).By(guard.Model).Require(known).Confirm(Answer)
	m := b.MustBuild()
	see := func(o guard.Observation, now time.Time) guard.Evidence {
		ev, err := guard.Verify(o, guard.Acceptance{Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: now})
		require.NoError(t, err)
		return ev
	}
	s0, _, err := m.Task("t1", alice, Desk{OrderID: "1", Amount: 5}).First(start)
	require.NoError(t, err)
	s, _ := machine.As[Desk](s0)
	name := func(v string, now time.Time) guard.Evidence {
		return see(who.Observe(handles["shop"], guard.Observed[string]{Value: v, Subject: "1"}), now)
	}
	s, out := m.Step(s, machine.Input{Proposal: Ask.With(machine.None{}).BasedOn(1), Principal: alice, Now: start, Evidence: []guard.Evidence{name("a", start)}})
	require.NoError(t, out.Err())
	later := start.Add(time.Minute)
	yes := see(Answer.Observe(handles["chat"], guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "yes", Shown: shown(s.Offers[0])}, Subject: s.Offers[0].ID}), later)
	pay := machine.Input{Proposal: PayIt.With(Pay{"1", 5}).BasedOn(2), Principal: alice, Now: later}
	pay.Evidence = []guard.Evidence{yes, name("b", later)}
	_, out = m.Step(s, pay)
	require.Equal(t, machine.CodeOfferVoid, out.Code())
	pay.Evidence = []guard.Evidence{yes, name("a", later)}
	_, out = m.Step(s, pay)
	require.NoError(t, out.Err())
	pay.Now = s.Offers[0].Expires
	_, out = m.Step(s, pay)
	require.Equal(t, machine.CodeOfferExpired, out.Code(), "at its deadline an offer has run out")
	pay.Now = pay.Now.Add(-time.Microsecond)
	_, out = m.Step(s, pay)
	require.NoError(t, out.Err())
	require.Equal(t, s.Offers[0].Expires, out.Entry().Window().Until)
}

// TestLeavingVoids: offers do not outlive the stay that made them.
func TestLeavingVoids(t *testing.T) {
	w := asked(t)
	out := w.does(Cancel.With(Text{"no longer"}).BasedOn(1))
	require.Equal(t, []machine.Voided{{Offer: "t1/2/pay/0", Reason: "left_state"}}, out.Entry().Voided)
	require.Empty(t, w.s.Offers)

	w = asked(t)
	w.does(Ask.With(machine.None{}), w.fine()...)
	require.Equal(t, "t1/3/pay/0", w.s.Offers[0].ID, "a new stay asks anew")
}

// TestEffectsDiffer: an offer of which the effects come out otherwise than shown is not agreed to.
func TestEffectsDiffer(t *testing.T) {
	w := asked(t).after(time.Minute)
	w.s.Offers[0].Effects[0].Args = `{"order_id":"1","amount":49}`
	w.refuses(machine.CodeEffectsDiffer, PayIt.With(Pay{"1", 50}), append(w.fine(), w.says("alice", "yes"))...)
	w.s.Offers[0].Effects = nil
	w.refuses(machine.CodeEffectsDiffer, PayIt.With(Pay{"1", 50}), append(w.fine(), w.says("alice", "yes"))...)
}

// TestNotOffered: nobody can agree to what was not asked.
func TestNotOffered(t *testing.T) {
	w := asked(t)
	w.s.Offers = nil
	w.refuses(machine.CodeNotOffered, PayIt.With(Pay{"1", 50}), w.fine()...)
	out := w.refuses(machine.CodeActor, Lapsed.With(machine.None{}))
	for _, p := range out.Permits {
		if p.Event == "pay" {
			require.False(t, p.Open)
			require.Equal(t, machine.CodeNotOffered, p.Blocked[len(p.Blocked)-1].Code)
		}
	}
}

// TestRole: an offer to a role is answered by whoever has it.
func TestRole(t *testing.T) {
	b := machine.New[Desk]("roles", Draft)
	b.Final(Closed)
	machine.On(b, Ask).From(Draft).Stay().By(guard.Model).Then(machine.Offer(PayIt, "clerk", time.Hour, offered[machine.None]))
	machine.On(b, PayIt).From(Draft).To(Closed).By(guard.Model).Confirm(Answer)
	m := b.MustBuild()
	s0, _, err := m.Task("t1", alice, Desk{OrderID: "1", Amount: 5}).First(start)
	require.NoError(t, err)
	s, _ := machine.As[Desk](s0)
	s, out := m.Step(s, machine.Input{Proposal: Ask.With(machine.None{}).BasedOn(1), Principal: alice, Now: start})
	require.NoError(t, out.Err())
	now := start.Add(time.Second)
	for _, row := range []struct {
		reply guard.Reply
		code  string
	}{
		{guard.Reply{By: "carol", Roles: []string{"clerk"}, Text: "yes", Shown: shown(s.Offers[0])}, ""},
		{guard.Reply{By: "carol", Text: "yes", Shown: shown(s.Offers[0])}, machine.CodeNotApprover},
		{guard.Reply{By: "alice", Text: "yes", Shown: shown(s.Offers[0])}, machine.CodeNotApprover},
	} {
		ev, err := guard.Verify(Answer.Observe(handles["chat"], guard.Observed[guard.Reply]{Value: row.reply, Subject: s.Offers[0].ID}),
			guard.Acceptance{Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: now})
		require.NoError(t, err)
		_, out := m.Step(s, machine.Input{Proposal: PayIt.With(Pay{"1", 5}).BasedOn(2), Principal: alice, Now: now, Evidence: []guard.Evidence{ev}})
		require.Equal(t, row.code, out.Code(), "%+v", row.reply)
	}
}
