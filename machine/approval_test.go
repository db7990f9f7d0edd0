package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

const Clerk machine.Party = "clerk"

// board is a machine on which clerks agree to a payment; demand says who must.
func board(t require.TestingT, version int, demand func(*machine.Edge[Desk, Pay])) *machine.Machine[Desk] {
	m, err := boardBuilder(version, Clerk, demand).Build()
	require.NoError(t, err)
	return m
}

func boardBuilder(version int, to machine.Party, demand func(*machine.Edge[Desk, Pay])) *machine.Builder[Desk] {
	b := machine.New[Desk]("board", Draft)
	b.Version(version)
	b.Final(Paid, Failed, Closed)
	machine.On(b, Ask).From(Draft).Stay().By(guard.Model, guard.User).Require(guard.Known(OwnerOf)).
		Then(machine.Offer(PayIt, to, time.Hour, offered[machine.None]))
	machine.On(b, Change).From(Draft).Stay().By(guard.User).Apply(func(d *Desk, c Case[Pay]) { d.Amount = c.Payload.Amount }).
		Then(machine.Offer(PayIt, to, 2*time.Hour, offered[Pay]))
	machine.On(b, Cancel).From(Draft).To(Closed).By(guard.User)
	machine.On(b, Note).From(Draft).Stay().By(guard.User).Apply(func(d *Desk, c Case[Text]) { d.Notes = append(d.Notes, c.Payload.Text) })
	pay := machine.On(b, PayIt).From(Draft).To(Paying).By(guard.Model, guard.User).Require(guard.Known(OwnerOf)).Confirm(Answer).
		Then(machine.Emit(Send, func(c Case[Pay]) Transfer { return Transfer{c.Data.OrderID, c.Payload.Amount} }))
	if demand != nil {
		demand(pay)
	}
	machine.On(b, Send.Confirmed()).From(Paying).To(Paid)
	machine.On(b, Send.Failed()).From(Paying).To(Failed)
	return b
}

// chair is a task of a board.
type chair struct {
	t   require.TestingT
	m   *machine.Machine[Desk]
	s   machine.Snapshot[Desk]
	now time.Time
}

// put is a task whose payment was put to the clerks.
func put(t require.TestingT, demand func(*machine.Edge[Desk, Pay])) *chair {
	c := &chair{t: t, m: board(t, 1, demand), now: start}
	s, _, err := c.m.Task("t1", alice, Desk{OrderID: "1", Amount: 50}).First(start)
	require.NoError(t, err)
	c.s, _ = machine.As[Desk](s)
	c.does(Ask.With(machine.None{}), c.sees(OwnerOf.Observe(handles["shop"], guard.Observed[string]{Value: "alice", Subject: "1"})))
	c.now = c.now.Add(time.Minute)
	return c
}

func (c *chair) sees(o guard.Observation) guard.Evidence {
	ev, err := guard.Verify(o, guard.Acceptance{Fact: c.m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: c.now})
	require.NoError(c.t, err)
	return ev
}

// step judges a proposal, and takes it when it is committed. What is committed can be stored and read back.
func (c *chair) step(p machine.Proposal, evidence ...guard.Evidence) machine.Outcome {
	if p.Event() != "" {
		p = p.BasedOn(c.s.Version)
	}
	next, out := c.m.Step(c.s, machine.Input{Proposal: p, Principal: alice, Evidence: evidence, Now: c.now})
	if out.Kind == machine.Committed {
		raw, err := c.m.Encode(nil, next)
		require.NoError(c.t, err)
		c.s, err = c.m.Decode(raw)
		require.NoError(c.t, err)
	}
	return out
}

func (c *chair) does(p machine.Proposal, evidence ...guard.Evidence) machine.Outcome {
	out := c.step(p, evidence...)
	require.NoError(c.t, out.Err(), "%+v", out.Findings)
	return out
}

func (c *chair) agrees(evidence ...guard.Evidence) machine.Outcome {
	return c.step(PayIt.With(Pay{"1", c.s.Data.Amount}), evidence...)
}

// hear is what a clerk says so long after the question: a choice when the text begins with a "!".
func (c *chair) hear(who, text string, after time.Duration) guard.Evidence {
	o := c.s.Offers[0]
	r := guard.Reply{By: who, Roles: []string{string(Clerk)}, Text: text, Shown: &guard.Shown{Message: "q/" + who, At: o.OpenedAt}}
	if choice, isChoice := strings.CutPrefix(text, "!"); isChoice {
		r.Text, r.Choice, r.Shown = "", guard.Choice(choice), nil
	}
	return c.sees(Answer.Observe(handles["chat"], guard.Observed[guard.Reply]{Value: r, Subject: o.ID, At: o.OpenedAt.Add(after)}))
}

func quorum(need, of int) func(*machine.Edge[Desk, Pay]) {
	return func(e *machine.Edge[Desk, Pay]) { e.Quorum(need, of) }
}

// permutations are all orders of n things.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return out
}

// TestAnswersInAnyOrder: what several people have said, several times, comes to the same in whichever order it arrives, one by one or
// all at once, and a second time.
func TestAnswersInAnyOrder(t *testing.T) {
	said := []struct {
		who, text string
		after     time.Duration
	}{
		{"ann", "yes", 3 * time.Second}, {"ann", "no", 2 * time.Second}, {"ben", "what?", time.Second}, {"ben", "!yes", 4 * time.Second},
		{"ann", "do not", 5 * time.Second}, {"cat", "hm", 6 * time.Second},
	}
	var want []machine.Answer
	for n, order := range permutations(len(said)) {
		one, all := put(t, quorum(2, 3)), put(t, quorum(2, 3))
		var together []guard.Evidence
		for _, i := range order {
			s := said[i]
			for range 2 {
				one.step(machine.Proposal{}, one.hear(s.who, s.text, s.after))
			}
			together = append(together, all.hear(s.who, s.text, s.after))
		}
		all.does(machine.Proposal{}, together...)
		if n == 0 {
			want = one.s.Offers[0].Answers
			require.Len(t, want, 3)
			require.Equal(t, []machine.Said{machine.SaidNo, machine.SaidYes, machine.SaidUnclear}, []machine.Said{want[0].Says, want[1].Says, want[2].Says})
			require.True(t, want[1].Choice)
			require.Equal(t, start.Add(2*time.Second), want[0].At, "the first of two alike")
		}
		require.Equal(t, want, one.s.Offers[0].Answers, "%v", order)
		require.Equal(t, want, all.s.Offers[0].Answers, "%v", order)
		require.Equal(t, machine.Ask, one.agrees().Kind, "one yes, one no, one that is not clear")
	}
}

// TestQuorum has one row for each way to come to enough, or not.
func TestQuorum(t *testing.T) {
	for name, row := range map[string]struct {
		need, of int
		said     string
		kind     machine.Kind
		code     string
	}{
		"two of three":               {2, 3, "ann yes, ben yes", machine.Committed, ""},
		"one of three":               {2, 3, "ann yes", machine.Ask, guard.CodeAsk},
		"the same twice":             {2, 3, "ann yes, ann !yes", machine.Ask, guard.CodeAsk},
		"all three":                  {3, 3, "ann yes, ben yes, cat yes", machine.Committed, ""},
		"one no of three, two yes":   {2, 3, "ann no, ben yes, cat yes", machine.Committed, ""},
		"two no of three":            {2, 3, "ann no, ben no, cat yes", machine.Refused, machine.CodeDeclined},
		"one no where all must":      {3, 3, "ann no, ben yes, cat yes", machine.Refused, machine.CodeDeclined},
		"a no after the own yes":     {2, 3, "ann yes, ann no, ben yes", machine.Ask, guard.CodeAsk},
		"one of one":                 {1, 1, "ann yes", machine.Committed, ""},
		"any of three":               {1, 3, "ann no, ben no, cat yes", machine.Committed, ""},
		"words that are not clear":   {2, 3, "ann yes, ben sure", machine.Ask, guard.CodeAsk},
		"a yes after unclear words":  {2, 3, "ann yes, ben sure, ben yes", machine.Ask, guard.CodeAsk},
		"a choice after such a word": {2, 3, "ann yes, ben sure, ben !yes", machine.Committed, ""},
	} {
		c := put(t, quorum(row.need, row.of))
		var heard []guard.Evidence
		for i, s := range strings.Split(row.said, ", ") {
			who, text, _ := strings.Cut(s, " ")
			heard = append(heard, c.hear(who, text, time.Duration(i+1)*time.Second))
		}
		out := c.agrees(heard...)
		require.Equal(t, row.kind, out.Kind, "%s: %s", name, out)
		require.Equal(t, row.code, out.Code(), name)
		if row.need > 1 && row.kind == machine.Ask {
			require.Equal(t, row.need, out.Findings[0].Details["need"], name)
		}
	}
}

// TestSeparate: whoever proposed does not count, whatever role they have; asking again for somebody else's proposal does not clear
// them, and proposing something else begins anew.
func TestSeparate(t *testing.T) {
	c := put(t, func(e *machine.Edge[Desk, Pay]) { e.Separate() })
	out := c.agrees(c.hear("alice", "!yes", time.Second))
	require.Equal(t, machine.CodeNotApprover, out.Code())
	require.Equal(t, "who proposed it may not agree to it", out.Findings[0].Text)
	next, asked := c.m.Step(c.s, machine.Input{Proposal: Ask.With(machine.None{}).BasedOn(c.s.Version), Principal: bob, Now: c.now})
	require.NoError(t, asked.Err())
	require.Equal(t, []string{"alice", "bob"}, next.Offers[0].Barred, "whoever asks again is in it, too")
	next, asked = c.m.Step(c.s, machine.Input{Proposal: Change.With(Pay{"1", 40}).BasedOn(c.s.Version).As(guard.User), Principal: bob, Now: c.now})
	require.NoError(t, asked.Err())
	require.Equal(t, []string{"bob"}, next.Offers[0].Barred, "another payment is another proposal")
	require.Equal(t, machine.Committed, c.agrees(c.hear("ann", "yes", time.Second)).Kind)
}

// TestStructured: above the amount, and while it cannot be told, only a choice agrees; the question says so.
func TestStructured(t *testing.T) {
	above := func(limit int64) func(*machine.Edge[Desk, Pay]) {
		return func(e *machine.Edge[Desk, Pay]) {
			e.Structured(func(c Case[Pay]) bool {
				if limit < 0 {
					panic("cannot tell")
				}
				return c.Payload.Amount > limit
			})
		}
	}
	unknown := func(e *machine.Edge[Desk, Pay]) {
		e.Structured(func(c Case[Pay]) bool { good, _ := Good.Get(c); return good }, Good)
	}
	for name, row := range map[string]struct {
		demand func(*machine.Edge[Desk, Pay])
		choice bool
	}{"below": {above(50), false}, "above": {above(49), true}, "it panics": {above(-1), true}, "a fact is unknown": {unknown, true}} {
		c := put(t, row.demand)
		require.Equal(t, row.choice, c.s.Offers[0].Structured, name)
		require.Equal(t, row.choice, strings.Contains(c.s.Offers[0].Question, "words do not count"), name)
		if row.choice {
			require.Equal(t, machine.Ask, c.agrees(c.hear("ann", "yes", time.Second)).Kind, name)
		}
		require.Equal(t, machine.Committed, c.agrees(c.hear("ann", "!yes", 2*time.Second)).Kind, name)
	}
}

// TestStructuredStays: an offer that was put as one to choose stays one, and one that was not becomes it when the data says so.
func TestStructuredStays(t *testing.T) {
	c := put(t, func(e *machine.Edge[Desk, Pay]) {
		e.Structured(func(c Case[Pay]) bool { good, _ := Good.Get(c); return !good }, Good)
	})
	require.True(t, c.s.Offers[0].Structured, "nobody knew")
	c.does(machine.Proposal{}, c.sees(Good.Observe(handles["policy"], guard.Observed[bool]{Value: true, Subject: "1"})))
	require.Equal(t, machine.Ask, c.agrees(c.hear("ann", "yes", time.Second)).Kind, "the question said that words do not count")

	c = put(t, func(e *machine.Edge[Desk, Pay]) {
		e.Structured(func(c Case[Pay]) bool { return len(c.Data.Notes) > 0 })
	})
	require.False(t, c.s.Offers[0].Structured)
	c.does(Note.With(Text{"large"}).As(guard.User))
	require.Equal(t, machine.Ask, c.agrees(c.hear("ann", "yes", time.Second)).Kind)
	require.Equal(t, machine.Committed, c.agrees(c.hear("ann", "!yes", time.Second)).Kind)
}

// TestAskedAgain keeps the first deadline, and asks everybody anew.
func TestAskedAgain(t *testing.T) {
	c := put(t, quorum(2, 3))
	first := c.s.Offers[0]
	c.does(machine.Proposal{}, c.hear("ann", "yes", time.Second))
	out := c.does(Ask.With(machine.None{}))
	require.Equal(t, machine.VoidReplaced, out.Entry().Voided[0].Reason)
	require.Len(t, out.Entry().Voided[0].Answers, 1, "the record says what was said")
	require.Equal(t, first.Expires, c.s.Offers[0].Expires)
	require.Empty(t, c.s.Offers[0].Answers)
}

// TestEveryVoid: each way in which an offer ends, with its record.
func TestEveryVoid(t *testing.T) {
	owner := guard.Key{Fact: "owner", Subject: "1"}
	for reason, row := range map[string]struct {
		does func(c *chair) []machine.Voided
		fact *guard.Key
	}{
		machine.VoidUsed: {func(c *chair) []machine.Voided {
			return c.agrees(c.hear("ann", "yes", time.Second), c.hear("ben", "yes", time.Second)).Entry().Voided
		}, nil},
		machine.VoidDeclined: {func(c *chair) []machine.Voided {
			return c.does(machine.Proposal{}, c.hear("ann", "no", time.Second), c.hear("ben", "no", time.Second)).Entry().Voided
		}, nil},
		machine.VoidLeft: {func(c *chair) []machine.Voided {
			return c.does(Cancel.With(Text{"no longer"}).As(guard.User)).Entry().Voided
		}, nil},
		machine.VoidReplaced: {func(c *chair) []machine.Voided {
			return c.does(Change.With(Pay{"1", 40}).As(guard.User)).Entry().Voided
		}, nil},
		machine.VoidChanged: {func(c *chair) []machine.Voided {
			return c.does(machine.Proposal{}, c.sees(OwnerOf.Observe(handles["shop"], guard.Observed[string]{Value: "bob", Subject: "1"}))).Entry().Voided
		}, &owner},
		machine.VoidExpired: {func(c *chair) []machine.Voided {
			c.now = c.s.Offers[0].Expires
			return c.does(machine.Proposal{}, c.sees(OwnerOf.Observe(handles["shop"], guard.Observed[string]{Value: "alice", Subject: "1"}))).Entry().Voided
		}, nil},
		machine.VoidTooMany: {func(c *chair) []machine.Voided {
			for i := range machine.MaxAnswers {
				c.does(machine.Proposal{}, c.hear(fmt.Sprintf("clerk%02d", i), "hm", time.Second))
				require.Len(t, c.s.Offers, 1)
			}
			return c.does(machine.Proposal{}, c.hear("one more", "hm", time.Second)).Entry().Voided
		}, nil},
		machine.VoidDefinition: {func(c *chair) []machine.Voided {
			step := machine.MustMigrate(c.m, board(t, 2, quorum(2, 3)), func(d Desk) (Desk, error) { return d, nil })
			_, entry, err := step.Apply(machine.Snapshot[any]{Head: c.s.Head, Data: c.s.Data}, guard.Worker, guard.Principal{}, c.now)
			require.NoError(t, err)
			return entry.Voided
		}, nil},
		machine.VoidRestored: {func(c *chair) []machine.Voided {
			c.does(machine.Proposal{}, c.hear("ann", "yes", time.Second))
			_, entry, had := c.m.VoidOffers(c.s, olga, c.now)
			require.True(t, had)
			require.Len(t, entry.Voided[0].Answers, 1)
			return entry.Voided
		}, nil},
	} {
		c := put(t, quorum(2, 3))
		id := c.s.Offers[0].ID
		voided := row.does(c)
		require.Len(t, voided, 1, reason)
		require.Equal(t, id, voided[0].Offer, reason)
		require.Equal(t, reason, voided[0].Reason)
		require.Equal(t, row.fact, voided[0].Fact, reason)
		if reason == machine.VoidUsed || reason == machine.VoidDeclined {
			require.Len(t, voided[0].Answers, 2, reason)
		}
	}
}

// TestB031: of two questions of one batch the one has run out, and the other is answered all the same (field case B031, and B034: the
// one that has run out is told apart).
func TestB031(t *testing.T) {
	b := boardBuilder(1, Clerk, nil)
	more := machine.NewEvent[machine.None]("ask_both")
	machine.On(b, more).From(Draft).Stay().By(guard.Model).
		Then(machine.Offer(PayIt, Clerk, time.Minute, func(c Case[machine.None]) []Pay { return []Pay{{c.Data.OrderID, 1}} }),
			machine.Offer(PayIt, Clerk, time.Hour, func(c Case[machine.None]) []Pay { return []Pay{{c.Data.OrderID, 2}} }))
	c := &chair{t: t, now: start}
	var err error
	c.m, err = b.Build()
	require.NoError(t, err)
	s, _, err := c.m.Task("t1", alice, Desk{OrderID: "1", Amount: 50}).First(start)
	require.NoError(t, err)
	c.s, _ = machine.As[Desk](s)
	c.does(more.With(machine.None{}), c.sees(OwnerOf.Observe(handles["shop"], guard.Observed[string]{Value: "alice", Subject: "1"})))
	require.Len(t, c.s.Offers, 2)
	c.now = c.now.Add(30 * time.Minute)
	button := func(i int) guard.Evidence {
		return c.sees(Answer.Observe(handles["chat"], guard.Observed[guard.Reply]{Subject: c.s.Offers[i].ID,
			Value: guard.Reply{By: "ann", Roles: []string{string(Clerk)}, Choice: guard.ChoiceYes}}))
	}
	require.Equal(t, machine.CodeOfferExpired, c.step(PayIt.With(Pay{"1", 1}), button(0)).Code())
	out := c.does(PayIt.With(Pay{"1", 2}), button(1))
	require.Equal(t, []string{machine.VoidExpired, machine.VoidUsed}, []string{out.Entry().Voided[0].Reason, out.Entry().Voided[1].Reason})
}

// TestWordsWhileSeveralAreOpen are about none of them, and stay so when only one is left.
func TestWordsWhileSeveralAreOpen(t *testing.T) {
	w := worldWith(t, 3)
	w.does(Ask.With(machine.None{}), w.fine()...)
	w.after(time.Minute)
	w.sees(w.says("alice", "yes"))
	first := w.s.Offers[0]
	w.sees(saw(w, Answer, first.ID, guard.Reply{By: "alice", Choice: guard.ChoiceNo}))
	require.Len(t, w.s.Offers, 1)
	require.Equal(t, machine.SaidUnclear, w.s.Offers[0].Answers[0].Says)
	w.refuses(guard.CodeAsk, PayIt.With(Pay{"1", 2}), w.fine()...)
}

// TestApprovalFaults: what no definition may demand, and both sides of its limit.
func TestApprovalFaults(t *testing.T) {
	for name, row := range map[string]struct {
		to     machine.Party
		demand func(*machine.Edge[Desk, Pay])
		text   string
	}{
		"fine":             {Clerk, quorum(2, 3), ""},
		"the most":         {Clerk, quorum(machine.MaxApprovers, machine.MaxApprovers), ""},
		"too many":         {Clerk, quorum(2, machine.MaxApprovers+1), "the yes of 2 of 17"},
		"nobody":           {Clerk, quorum(0, 3), "the yes of 0 of 3"},
		"more than all":    {Clerk, quorum(4, 3), "the yes of 4 of 3"},
		"the owner alone":  {machine.TaskOwner, quorum(2, 3), "to the task's owner alone"},
		"the owner's own":  {machine.TaskOwner, func(e *machine.Edge[Desk, Pay]) { e.Separate() }, "to the task's owner alone"},
		"one of the owner": {machine.TaskOwner, quorum(1, 1), ""},
	} {
		_, err := boardBuilder(1, row.to, row.demand).Build()
		if row.text == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, row.text, name)
		for _, f := range faults(t, err) {
			require.Equal(t, "approval", f.Code, name)
		}
	}
	err := minimal(func(b B) { on(b, "ok").Stay().Quorum(2, 3) })
	require.ErrorContains(t, err, "wants no confirmation")
}

// TestApprovalIsDescribed: a page, a picture and a digest tell who must agree.
func TestApprovalIsDescribed(t *testing.T) {
	digests := map[string]bool{}
	for _, demand := range []func(*machine.Edge[Desk, Pay]){nil, quorum(2, 3), quorum(3, 3), func(e *machine.Edge[Desk, Pay]) { e.Separate() },
		func(e *machine.Edge[Desk, Pay]) { e.Structured(func(Case[Pay]) bool { return true }) }} {
		digests[board(t, 1, demand).Describe().Digest] = true
	}
	require.Len(t, digests, 5)
	m := board(t, 1, func(e *machine.Edge[Desk, Pay]) {
		e.Quorum(2, 3).Separate().Structured(func(Case[Pay]) bool { return true })
	})
	require.Contains(t, m.Markdown(), "confirmed (answer, by 2 of 3, not by who proposed it, by a choice where demanded)")
	require.Contains(t, m.Mermaid(""), "confirmed by 2 of 3")
}

// TestDiffOfApprovals: fewer yeses, more noes that are borne, and weaker forms loosen.
func TestDiffOfApprovals(t *testing.T) {
	pay := func(f func(e *machine.EdgeDescription)) func(*machine.Description) {
		return func(d *machine.Description) { f(edgeOf(d, "pay")) }
	}
	for _, row := range []diffRow{
		{"quorum", pay(func(e *machine.EdgeDescription) { e.Need, e.Of = 2, 2 }),
			[]string{"tightened edge pay: asking -> paying: the yes of 1 of 1 was demanded, 2 of 2 is"},
			[]string{"loosened edge pay: asking -> paying: the yes of 2 of 2 was demanded, 1 of 1 is (review)"}},
		{"separate", pay(func(e *machine.EdgeDescription) { e.Separate = true }),
			[]string{"tightened edge pay: asking -> paying: keeps out who proposed it: true"},
			[]string{"loosened edge pay: asking -> paying: keeps out who proposed it: false (review)"}},
		{"structured", pay(func(e *machine.EdgeDescription) { e.Structured = true }),
			[]string{"tightened edge pay: asking -> paying: may demand a choice: true"},
			[]string{"loosened edge pay: asking -> paying: may demand a choice: false (review)"}},
		{"withdraws", pay(func(e *machine.EdgeDescription) { e.Withdraws = []string{"send"} }),
			[]string{`altered edge pay: asking -> paying: withdraws was "", is "send" (review)`},
			[]string{`altered edge pay: asking -> paying: withdraws was "send", is "" (review)`}},
	} {
		t.Run(row.name, row.run)
	}
	old, wider := board(t, 1, quorum(2, 3)).Describe(), board(t, 1, quorum(2, 5)).Describe()
	require.Contains(t, strings.Join(lines(machine.Diff(old, wider)), "\n"), "loosened edge pay: draft -> paying: the yes of 2 of 3 was demanded, 2 of 5 is (review)")
}
