package machine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Events and groups of the tests of hierarchy and of overrides.
const (
	Alive   machine.State = "alive"
	Working machine.State = "working"
	Lost    machine.State = "lost"
)

var (
	Pause   = machine.NewEvent[machine.None]("pause")
	Force   = machine.NewEvent[machine.Overridden]("force")
	Resume  = machine.NewEvent[machine.Overridden]("resume")
	Returns = guard.NewFact[bool]("returns", guard.From("shop"), guard.About("order"), guard.Lasting())
)

// nested has a group in a group: pause leaves paying by itself, working, and all that is alive.
func nested(t *testing.T) *machine.Machine[Desk] {
	b := machine.New[Desk]("nested", Draft)
	b.Final(Closed, Failed, Lost)
	b.Super(Alive, Draft, Working)
	b.Super(Working, Asking, Paying)
	machine.On(b, Ask).From(Draft).To(Asking).By(guard.User)
	machine.On(b, Note).From(Asking).To(Paying).By(guard.User)
	machine.On(b, Pause).From(Paying).To(Lost).By(guard.User).Require(guard.True(Open)) // not in the order of nearness
	machine.On(b, Pause).From(Alive).To(Closed).By(guard.User)
	machine.On(b, Pause).From(Working).To(Failed).By(guard.User).Require(guard.True(Good))
	machine.When(b, Returns).From(Alive).To(Closed).Require(guard.True(Returns))
	machine.When(b, Returns).From(Paying).To(Lost).Require(guard.Known(Returns))
	m, err := b.Build()
	require.NoError(t, err)
	return m
}

// bench drives a machine of desks.
type bench struct {
	t *testing.T
	m *machine.Machine[Desk]
	s machine.Snapshot[Desk]
}

func newBench(t *testing.T, m *machine.Machine[Desk]) *bench {
	s, _, err := m.Task("t1", alice, Desk{OrderID: "1", Amount: 5}).First(start)
	require.NoError(t, err)
	typed, _ := machine.As[Desk](s)
	return &bench{t, m, typed}
}

func (b *bench) try(who guard.Principal, p machine.Proposal, os ...guard.Observation) (machine.Snapshot[Desk], machine.Outcome) {
	b.t.Helper()
	in := machine.Input{Principal: who, Now: start}
	if p.Event() != "" {
		in.Proposal = p.BasedOn(b.s.Version)
	}
	for _, o := range os {
		ev, err := guard.Verify(o, guard.Acceptance{Fact: b.m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: start})
		require.NoError(b.t, err)
		in.Evidence = append(in.Evidence, ev)
	}
	return b.m.Step(b.s, in)
}

func (b *bench) does(who guard.Principal, p machine.Proposal, os ...guard.Observation) machine.Outcome {
	b.t.Helper()
	next, out := b.try(who, p, os...)
	require.NoError(b.t, out.Err())
	raw, err := b.m.Encode(nil, next)
	require.NoError(b.t, err)
	_, err = b.m.Decode(raw)
	require.NoError(b.t, err)
	b.s = next
	return out
}

func tells(f guard.Fact[bool], v bool) guard.Observation {
	return f.Observe(handles[f.Info().Source], guard.Observed[bool]{Value: v, Subject: "1"})
}

// TestHierarchy: the innermost edge that is open is taken; while an inner one is unknown no outer one is; each reason survives.
func TestHierarchy(t *testing.T) {
	pause := Pause.With(machine.None{}).As(guard.User)
	b := newBench(t, nested(t))
	out := func(os ...guard.Observation) (machine.State, machine.Outcome) {
		next, out := b.try(alice, pause, os...)
		return next.State, out
	}
	to, _ := out()
	require.Equal(t, Closed, to, "draft has the edge of what is alive")
	b.does(alice, Ask.With(machine.None{}).As(guard.User))
	for _, row := range []struct {
		os   []guard.Observation
		to   machine.State
		kind machine.Kind
	}{
		{nil, Asking, machine.NeedsEvidence},
		{[]guard.Observation{tells(Good, true)}, Failed, machine.Committed},
		{[]guard.Observation{tells(Good, false)}, Closed, machine.Committed},
	} {
		to, o := out(row.os...)
		require.Equal(t, row.kind, o.Kind)
		require.Equal(t, row.to, to)
	}
	b.does(alice, Note.With(Text{"x"}).As(guard.User))
	for _, row := range []struct {
		os      []guard.Observation
		to      machine.State
		kind    machine.Kind
		missing string
	}{
		{[]guard.Observation{tells(Open, true)}, Lost, machine.Committed, ""},
		{[]guard.Observation{tells(Good, true)}, Paying, machine.NeedsEvidence, "open(1)"},
		{[]guard.Observation{tells(Open, false)}, Paying, machine.NeedsEvidence, "good(1)"},
		{[]guard.Observation{tells(Open, false), tells(Good, true)}, Failed, machine.Committed, ""},
		{[]guard.Observation{tells(Open, false), tells(Good, false)}, Closed, machine.Committed, ""},
	} {
		to, o := out(row.os...)
		require.Equal(t, row.kind, o.Kind)
		require.Equal(t, row.to, to)
		if row.missing != "" {
			require.Equal(t, row.missing, o.Missing[0].String())
		}
	}
	_, o := b.try(guard.Principal{}, machine.Proposal{}, tells(Returns, true))
	require.Equal(t, "returns.changed: paying -> lost", o.Edge, "of one fact the inner edge is driven")
}

// TestHierarchyRefused: a refusal names every edge that was tried, inner and outer.
func TestHierarchyRefused(t *testing.T) {
	b := newBench(t, nested(t))
	b.does(alice, Ask.With(machine.None{}).As(guard.User))
	_, out := b.try(alice, Pause.With(machine.None{}).As(guard.Model), tells(Good, false))
	require.Equal(t, machine.Refused, out.Kind)
	require.Equal(t, []string{"pause: working -> failed", "pause: alive -> closed"}, []string{out.Findings[0].Edge, out.Findings[1].Edge})
}

func TestGroupsAreDescribed(t *testing.T) {
	d := nested(t).Describe()
	require.Equal(t, []machine.GroupDescription{{Name: Alive, Of: []machine.State{Draft, Working}}, {Name: Working, Of: []machine.State{Asking, Paying}}}, d.Groups)
	for _, e := range d.Edges {
		if e.Event == "pause" && e.To == Closed {
			require.Equal(t, []machine.State{Asking, Draft, Paying}, e.From)
			require.Equal(t, []machine.State{Alive}, e.Leaves)
		}
	}
}

// TestGroupFaults has one row for each way a group can be wrong.
func TestGroupFaults(t *testing.T) {
	for _, row := range []struct {
		code string
		add  func(b B)
	}{
		{"super_empty", func(b B) { b.Super(Alive) }},
		{"super_empty", func(b B) { b.Super(Alive, Working); b.Super(Working, Alive) }},
		{"super_twice", func(b B) { b.Super(Alive, Draft); b.Super(Alive, Draft) }},
		{"unknown_state", func(b B) { b.Super(Alive, Draft, "drafft") }},
		{"name", func(b B) { b.Super("Not A Name", Draft) }},
		{"super_state", func(b B) { b.Super(Draft, Closed) }},
		{"super_state", func(b B) { b.Super(Alive, Draft); b.Final(Alive) }},
		{"super_state", func(b B) { b.Super(Alive, Draft); machine.On(b, Note).From(Draft).To(Alive).By(guard.User) }},
		{"super_state", func(b B) { b.Super(Alive, Draft); b.Wait(Alive, machine.TaskOwner, 1, Lapsed) }},
		{"ambiguous", func(b B) {
			b.Super(Alive, Draft)
			b.Super(Working, Draft)
			machine.On(b, Note).From(Alive).Stay().By(guard.User)
			machine.On(b, Note).From(Working).Stay().By(guard.User)
		}},
	} {
		var codes []string
		for _, f := range faults(t, minimal(row.add)) {
			codes = append(codes, f.Code)
		}
		require.Contains(t, codes, row.code)
	}
}

// reopened is a machine that an operator may force, and that evidence opens again.
func reopened(t *testing.T) *machine.Machine[Desk] {
	b := machine.New[Desk]("reopened", Draft)
	b.Final(Paid, Failed, Closed)
	machine.On(b, Ask).From(Draft).To(Paying).By(guard.User).Then(machine.Emit(Send, func(c Case[machine.None]) Transfer { return Transfer{"1", 5} }))
	machine.On(b, Send.Confirmed()).From(Paying).To(Paid)
	machine.On(b, Send.Failed()).From(Paying).To(Failed)
	machine.Override(b, Force).From(Draft).To(Closed)
	machine.Override(b, Resume).From(Closed, Failed).To(Draft).Reopens().
		Apply(func(d *Desk, c Case[machine.Overridden]) { d.Notes = append(d.Notes, c.Payload.Reason) })
	machine.Override(b, machine.NewEvent[machine.Overridden]("abandon")).From(Paying).To(Closed).
		Accept(machine.LintEndsUnsettled, "the test sees it refused")
	machine.When(b, Returns).From(Paid).To(Draft).Require(guard.True(Returns)).Reopens()
	b.InvariantStep("three notes at most", func(_, next machine.Snapshot[Desk]) error {
		if len(next.Data.Notes) > 3 {
			return errTooMany
		}
		return nil
	})
	m, err := b.Build()
	require.NoError(t, err)
	return m
}

var errTooMany = errors.New("a fourth note")

// TestOverride is law 17: an operator, with a reason, within the invariants, and nothing is settled by it.
func TestOverride(t *testing.T) {
	force := func(reason string) machine.Proposal {
		return Force.With(machine.Overridden{Reason: reason}).As(guard.Operator)
	}
	b := newBench(t, reopened(t))
	for _, row := range []struct {
		who  guard.Principal
		p    machine.Proposal
		code string
	}{
		{olga, force("the shop has closed"), ""},
		{alice, force("because"), machine.CodeActor},
		{olga, force("because").As(guard.Model), machine.CodeActor},
		{olga, force("because").As(guard.User), machine.CodeActor},
		{olga, force(""), machine.CodeForm},
		{olga, force(" \n"), "no_reason"},
		{olga, force(strings.Repeat("x", 401)), machine.CodeForm},
	} {
		_, out := b.try(row.who, row.p)
		require.Equal(t, row.code, out.Code(), "%+v", row.p.Payload())
	}
	out := b.does(olga, force("the shop has closed"))
	require.True(t, out.Entry().Override)
	require.JSONEq(t, `{"reason":"the shop has closed"}`, string(out.Entry().Payload))

	resume := Resume.With(machine.Overridden{Reason: "by mistake"}).As(guard.Operator)
	for range 3 {
		b.does(olga, resume)
		b.does(olga, force("again"))
	}
	_, out = b.try(olga, resume)
	require.Equal(t, machine.CodeInvariant, out.Code(), "an override obeys invariants")
}

// TestOverrideSettlesNothing: an effect that is under way keeps the task open, whoever wants it closed.
func TestOverrideSettlesNothing(t *testing.T) {
	b := newBench(t, reopened(t))
	b.does(alice, Ask.With(machine.None{}).As(guard.User))
	_, out := b.try(olga, b.proposal("abandon", `{"reason":"it takes too long"}`).As(guard.Operator))
	require.Equal(t, machine.CodeUnsettled, out.Code())
}

func (b *bench) proposal(event, raw string) machine.Proposal {
	p, err := b.m.EventNamed(event).Decode([]byte(raw))
	require.NoError(b.t, err)
	return p
}

// TestReopen is law 1: a final state is left by evidence or by an operator, and by nobody else.
func TestReopen(t *testing.T) {
	b := newBench(t, reopened(t))
	b.does(alice, Ask.With(machine.None{}).As(guard.User))
	b.does(guard.Principal{}, Send.Info().Confirm("t1/send/1"), SlipOf.Observe(handles["bank"], guard.Observed[Slip]{Value: Slip{5}, Subject: "t1/send/1"}))
	require.True(t, b.m.IsFinal(b.s.State))
	_, out := b.try(alice, Ask.With(machine.None{}).As(guard.User))
	require.Equal(t, machine.CodeNoTransition, out.Code())
	out = b.does(guard.Principal{}, machine.Proposal{}, tells(Returns, true))
	require.Equal(t, Draft, b.s.State)
	require.Equal(t, guard.Observer, out.Entry().Actor)
}

// TestReopenFaults: Build refuses an override that would bring something about, and a reopening that a proposal could drive.
func TestReopenFaults(t *testing.T) {
	for _, row := range []struct {
		code string
		add  func(b B)
	}{
		{"final_exit", func(b B) { machine.Override(b, Force).From(Closed).To(Draft) }},
		{"reopen", func(b B) { machine.On(b, Note).From(Closed).To(Draft).By(guard.User).Reopens() }},
		{"reopen", func(b B) { machine.On(b, Note).From(Closed).To(Draft).By(guard.Operator).Reopens() }},
		{"reopen", func(b B) { machine.Override(b, Force).From(Draft).Stay().Reopens() }},
		{"override", func(b B) { machine.Override(b, Force).From(Draft).Stay().By(guard.Model) }},
		{"override", func(b B) { machine.Override(b, Force).From(Draft).Stay().Confirm(Answer) }},
		{"override", func(b B) {
			machine.Override(b, Force).From(Draft).Stay().
				Then(machine.Emit(Send, func(Case[machine.Overridden]) Transfer { return Transfer{} }))
		}},
		{"override", func(b B) {
			machine.Override(b, Force).From(Draft).Stay().
				Then(machine.Offer(PayIt, machine.TaskOwner, 1, func(Case[machine.Overridden]) []Pay { return nil }))
		}},
	} {
		var codes []string
		for _, f := range faults(t, minimal(row.add)) {
			codes = append(codes, f.Code)
		}
		require.Contains(t, codes, row.code)
	}
}
