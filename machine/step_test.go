package machine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestActors: the edge says who, the zero actor and the zero principal are nobody, and nobody outside speaks for the controller.
func TestActors(t *testing.T) {
	w := newWorld(t)
	note := Note.With(Text{"x"}).BasedOn(1)
	for _, row := range []struct {
		name string
		who  guard.Principal
		p    machine.Proposal
		code string
	}{
		{"the model", alice, note, ""},
		{"a user", alice, note.As(guard.User), ""},
		{"an operator where the edge names none", olga, note.As(guard.Operator), machine.CodeActor},
		{"an operator", olga, Cancel.With(Text{"x"}).As(guard.Operator), ""},
		{"an operator without the role", bob, Cancel.With(Text{"x"}).As(guard.Operator), machine.CodeActor},
		{"nobody", alice, note.As(""), machine.CodeActor},
		{"not signed in", guard.Principal{}, note, machine.CodeActor},
		{"a stranger of an unknown kind", alice, note.As("wizard"), machine.CodeActor},
		{"in the timer's name", alice, note.As(guard.Timer), machine.CodeActor},
		{"in the worker's name", alice, note.As(guard.Worker), machine.CodeActor},
		{"in the observer's name", alice, note.As(guard.Observer), machine.CodeActor},
		{"the controller in a user's name", alice, note.AsController(guard.User), machine.CodeActor},
		{"the timer with an event of a user's", alice, note.AsController(guard.Timer), machine.CodeActor},
		{"the worker with an event of a user's", alice, note.AsController(guard.Worker), machine.CodeActor},
		{"a user with the timer's event", alice, Lapsed.With(machine.None{}).BasedOn(1), machine.CodeNoTransition},
	} {
		_, out := w.tryAs(row.who, row.p)
		require.Equal(t, row.code, out.Code(), row.name)
	}
	w = asked(t)
	w.refuses(machine.CodeActor, Lapsed.With(machine.None{}).As(guard.User))
	w = paying(t)
	w.refuses(machine.CodeActor, Send.Failed().With(machine.Settled{Key: w.key()}).As(guard.User))
	w.refuses(machine.CodeActor, Send.Info().Fail(w.key(), "no").As(guard.Worker))
}

func TestVersions(t *testing.T) {
	w := asked(t)
	for _, base := range []uint64{0, 1, 3} {
		next, out := w.tryAs(alice, Note.With(Text{"x"}).BasedOn(base))
		require.Equal(t, machine.Conflict, out.Kind)
		require.Equal(t, machine.CodeStaleVersion, out.Code())
		require.ErrorIs(t, out.Err(), machine.ErrConflict)
		require.Equal(t, uint64(2), next.Version)
	}
	_, out := w.tryAs(alice, Cancel.With(Text{"x"}).BasedOn(1))
	require.NoError(t, out.Err(), "what only narrows is judged on the newest version")
}

// TestForm refuses what cannot be judged, before any guard looks at it.
func TestForm(t *testing.T) {
	w := newWorld(t)
	long := func(n int) string { return strings.Repeat("x", n) }
	fits := long(machine.MaxProposal - len(`{"text":""}`))
	for _, row := range []struct {
		name string
		p    machine.Proposal
		code string
	}{
		{"the zero proposal", machine.Proposal{}, machine.CodeNoEvent},
		{"another machine's event", Foreign.With(machine.None{}), machine.CodeUnknownEvent},
		{"another event of the same name", machine.NewEvent[Text]("note").With(Text{"x"}), machine.CodeUnknownEvent},
		{"of the zero event", machine.Event[Text]{}.With(Text{"x"}), machine.CodeNoEvent},
		{"an invalid payload", Note.With(Text{}), machine.CodeForm},
		{"a payload that is no text", Note.With(Text{"\xff"}), machine.CodeForm},
		{"a payload at the limit", Cancel.With(Text{fits}), ""},
		{"a payload past the limit", Note.With(Text{fits + "x"}), machine.CodeForm},
		{"a key at the limit", Note.With(Text{"x"}).Keyed(long(machine.MaxKey)), ""},
		{"a key past the limit", Note.With(Text{"x"}).Keyed(long(machine.MaxKey + 1)), machine.CodeForm},
		{"a key that is no text", Note.With(Text{"x"}).Keyed("\xff"), machine.CodeForm},
		{"a view at the limit", Note.With(Text{"x"}).Shown(long(machine.MaxShown)), ""},
		{"a view past the limit", Note.With(Text{"x"}).Shown(long(machine.MaxShown + 1)), machine.CodeForm},
		{"a revision at the limit", Note.With(Text{"x"}).Written(long(machine.MaxRevision)), ""},
		{"a revision past the limit", Note.With(Text{"x"}).Written(long(machine.MaxRevision + 1)), machine.CodeForm},
	} {
		_, out := w.try(row.p)
		require.Equal(t, row.code, out.Code(), row.name)
	}
	for _, n := range []int{machine.MaxPrincipal, machine.MaxPrincipal + 1} {
		_, out := w.tryAs(guard.Principal{ID: long(n)}, Note.With(Text{"x"}).BasedOn(1))
		require.Equal(t, n > machine.MaxPrincipal, out.Code() == machine.CodeForm)
	}
}

func TestNoTransition(t *testing.T) {
	w := newWorld(t)
	out := w.refuses(machine.CodeNoTransition, PayIt.With(Pay{"1", 50}))
	require.Equal(t, machine.Refused, out.Kind)
	var events []string
	for _, p := range out.Permits {
		events = append(events, p.Event)
	}
	require.Equal(t, []string{"ask", "break", "cancel", "note", "quote"}, events)
	w.s.State = "nowhere"
	_, out = desk.Step(w.s, machine.Input{Proposal: Note.With(Text{"x"}).BasedOn(1), Principal: alice, Now: w.now})
	require.Equal(t, machine.CodeNoTransition, out.Code())
	require.Contains(t, out.Findings[0].Text, "nowhere")
}

// TestOtherSubject: a payload about another order than the task's is refused.
func TestOtherSubject(t *testing.T) {
	w := asked(t)
	w.refuses(machine.CodeOtherSubject, PayIt.With(Pay{"2", 50}))
	w.refuses(machine.CodeOfferDiffers, PayIt.With(Pay{"", 7}), w.fine()...)
}

// TestEvidenceOfAnotherMachine cannot get into a task: it would never load again.
func TestEvidenceOfAnotherMachine(t *testing.T) {
	other := guard.NewFact[bool]("good", guard.From("policy"), guard.About("order"), guard.Lasting())
	w := newWorld(t)
	ev, err := guard.Verify(other.Observe(handles["policy"], guard.Observed[bool]{Value: true, Subject: "1"}),
		guard.Acceptance{Fact: func(string) *guard.FactInfo { return other.Info() }, Trusts: func(*guard.Authority) bool { return true }, Now: w.now})
	require.NoError(t, err)
	w.refuses(machine.CodeNotEvidence, Ask.With(machine.None{}), saw(w, OwnerOf, "1", "alice"), ev)
	w.refuses(machine.CodeNotEvidence, machine.Proposal{}, guard.Evidence{})
}

// TestMissing: unknown is not false. A proposal that lacks evidence names it, and is not refused for good.
func TestMissing(t *testing.T) {
	w := newWorld(t)
	out := w.refuses(guard.CodeUnknown, Ask.With(machine.None{}))
	require.Equal(t, machine.NeedsEvidence, out.Kind)
	require.ErrorIs(t, out.Err(), machine.ErrNeedsEvidence)
	require.Equal(t, []guard.Key{{Fact: "owner", Subject: "1"}, {Fact: "good", Subject: "1"}}, out.Missing)
	out = w.refuses("not_owner", Ask.With(machine.None{}), saw(w, OwnerOf, "1", "bob"))
	require.Equal(t, machine.Refused, out.Kind, "a denial on what is known goes before what is missing")
	w.does(Ask.With(machine.None{}), w.fine()...)
	w.after(Age + time.Microsecond)
	_, out = w.try(Ask.With(machine.None{}))
	require.Equal(t, []guard.Key{{Fact: "good", Subject: "1"}}, out.Missing, "too old")
}

// TestFreshAndWindow: Fresh facts are of this request, and the commit is good until the first piece of evidence lapses.
func TestFreshAndWindow(t *testing.T) {
	w := asked(t).after(time.Minute)
	reply := w.says("alice", "yes")
	pay := PayIt.With(Pay{"1", 50})
	out := w.refuses(guard.CodeUnknown, pay, reply)
	require.Equal(t, []guard.Key{{Fact: "good", Subject: "1"}}, out.Missing)
	out = w.does(pay, reply, sawAt(w, Good, "1", true, w.now.Add(-time.Second)))
	require.Equal(t, machine.Window{Until: w.now.Add(Age - time.Second + time.Microsecond)}, out.Entry().Window())
	require.Equal(t, []string{"owner", "good", "enough", "confirm"}, out.Entry().Guards)
	var ground []string
	for _, g := range out.Entry().Ground {
		ground = append(ground, g.Fact)
	}
	require.Equal(t, []string{"owner", "good", "answer"}, ground)
}

// TestReceivedByDefault: without a time of its own a proposal came in now, so evidence of before is not fresh.
func TestReceivedByDefault(t *testing.T) {
	w := asked(t).after(time.Minute)
	reply, good := w.says("alice", "yes"), saw(w, Good, "1", true)
	for past, kind := range map[time.Duration]machine.Kind{0: machine.Committed, time.Microsecond: machine.NeedsEvidence} {
		_, out := desk.Step(w.s, machine.Input{Proposal: PayIt.With(Pay{"1", 50}).BasedOn(2), Principal: alice, Evidence: []guard.Evidence{reply, good}, Now: w.now.Add(past)})
		require.Equal(t, kind, out.Kind)
	}
}

func TestChecks(t *testing.T) {
	w := worldWith(t, 1001)
	out := w.refuses("too_much", Ask.With(machine.None{}), w.fine()...)
	require.Equal(t, map[string]any{"most": 1000}, out.Findings[0].Details)
	require.Equal(t, "enough", out.Findings[0].Guard)
}

// TestData: what an edge writes is valid, small, and can be stored, or is not committed. Its panics change nothing.
func TestData(t *testing.T) {
	w := newWorld(t)
	for text, code := range map[string]string{
		"fine": "", "panic": machine.CodeEdgeFault, "invalid": machine.CodeData, "no text": machine.CodeData, "too large": machine.CodeTooMany,
		"nan": machine.CodeForm, "return panic": machine.CodeEdgeFault,
	} {
		_, out := w.try(Break.With(Text{text}).As(guard.User))
		require.Equal(t, code, out.Code(), text)
	}
}

// TestNoSharing: what Apply writes, and what the proposer does with its payload later, is in no other version.
func TestNoSharing(t *testing.T) {
	w := newWorld(t)
	w.does(Note.With(Text{"a"}))
	two := w.s
	w.does(Note.With(Text{"b"}))
	require.Equal(t, []string{"a"}, two.Data.Notes)
	require.Equal(t, map[string]string{"a": "seen"}, two.Data.Tags)
	require.Equal(t, map[string]string{"a": "seen", "b": "seen"}, w.s.Data.Tags)
}

func TestReturned(t *testing.T) {
	w := newWorld(t)
	out := w.does(Note.With(Text{"a"}))
	answer, err := machine.ReturnedAs[Text](out)
	require.NoError(t, err)
	require.Equal(t, Text{"noted a"}, answer)
	require.JSONEq(t, `{"text":"noted a"}`, string(out.Entry().Returned))
	w.refuses(guard.CodeUnknown, Quote.With(machine.None{}))
	out = w.does(Quote.With(machine.None{}), saw(w, Rate, "1", 3))
	require.Equal(t, `150`, string(out.Returned))
	_, kept := w.s.Facts.Entry(guard.Key{Fact: "rate", Subject: "1"})
	require.False(t, kept, "a volatile fact stays in the history only")
	require.Equal(t, "rate", out.Entry().Evidence[0].Fact)
}

// TestInvariants refuse a proposal, and never keep out evidence of what has happened.
func TestInvariants(t *testing.T) {
	w := newWorld(t)
	out := w.refuses(machine.CodeInvariant, Note.With(Text{"judge"}))
	require.Contains(t, out.Findings[0].Text, "panicked")
	w.does(Note.With(Text{"a"}))
	out = w.sees(saw(w, Frozen, "t1", true))
	require.Equal(t, []string{"never too many notes: a note on a frozen task"}, out.Entry().Broken)
	out = w.refuses(machine.CodeInvariant, Note.With(Text{"b"}))
	require.Equal(t, "never too many notes: a note on a frozen task", out.Findings[0].Text)
	w.does(Ask.With(machine.None{}).As(guard.User), append(w.fine(), saw(w, Frozen, "t1", false))...)
	w.refuses(machine.CodeInvariant, Change.With(Pay{"1", 51}).As(guard.User))
}

// TestFirst is version 1, or a clear error.
func TestFirst(t *testing.T) {
	ok := Desk{OrderID: "1", Amount: 1}
	long := strings.Repeat("x", machine.MaxTaskID)
	for _, id := range []string{"a", "A1.b_c:d-e", long} {
		s, entry, err := desk.Task(id, alice, ok).First(start)
		require.NoError(t, err)
		require.Equal(t, uint64(1), s.Version)
		require.Equal(t, Draft, s.State)
		require.Equal(t, machine.EntryStart, entry.Event)
		require.Equal(t, `{"order_id":"1","amount":1,"notes":[],"tags":{}}`, string(entry.Payload))
	}
	for _, id := range []string{"", " a", "a\n", "a/b", "..\\x", "é", "a\x00", long + "x"} {
		_, _, err := desk.Task(id, alice, ok).First(start)
		require.ErrorIs(t, err, machine.ErrTask, "%q", id)
	}
	for _, task := range []machine.Task{
		{},
		desk.Task("a", guard.Principal{}, ok),
		desk.Task("a", guard.Principal{ID: strings.Repeat("x", machine.MaxPrincipal+1)}, ok),
		desk.Task("a", guard.Principal{ID: "\xff"}, ok),
		desk.Task("a", alice, Desk{}),
		desk.Task("a", alice, Desk{OrderID: strings.Repeat("x", machine.MaxData)}),
		desk.Task("a", alice, Desk{OrderID: "\xff"}),
	} {
		_, _, err := task.First(start)
		require.ErrorIs(t, err, machine.ErrTask)
	}
	_, _, err := desk.Task("a", alice, Desk{OrderID: "1", Notes: []string{"judge"}}).First(start)
	require.ErrorContains(t, err, "never too many notes")
	fits := Desk{OrderID: strings.Repeat("x", machine.MaxData-len(`{"order_id":"","amount":0,"notes":[],"tags":{}}`))}
	_, _, err = desk.Task("a", alice, fits).First(start)
	require.NoError(t, err)
	_, _, err = desk.Task("a", guard.Principal{ID: strings.Repeat("x", machine.MaxPrincipal)}, ok).First(start)
	require.NoError(t, err)
	_, err = desk.TaskFrom("a", alice, []byte(`{"order_id":"1","amount":1,"notes":[]}`))
	require.ErrorIs(t, err, guard.ErrForm)
	task, err := desk.TaskFrom("a", alice, []byte(`{"order_id":"1","amount":1,"notes":[],"tags":{}}`))
	require.NoError(t, err)
	_, _, err = task.First(start)
	require.NoError(t, err)
}

// TestFirstOwnsItsData: what the starter does with its own data later is not in the task.
func TestFirstOwnsItsData(t *testing.T) {
	data := Desk{OrderID: "1", Tags: map[string]string{"a": "1"}}
	s, _, err := desk.Task("a", alice, data).First(start)
	require.NoError(t, err)
	data.Tags["a"] = "2"
	require.Equal(t, "1", s.Data.(Desk).Tags["a"])
}

func TestOutcomeErrors(t *testing.T) {
	w := newWorld(t)
	out := w.refuses(guard.CodeUnknown, Ask.With(machine.None{}))
	require.EqualError(t, out.Err(), "task t1, version 1, ask: needs_evidence: owner unknown; good unknown")
	for kind, want := range map[machine.Kind]error{
		machine.Refused: machine.ErrRefused, machine.Ask: machine.ErrAsk, machine.NeedsEvidence: machine.ErrNeedsEvidence,
		machine.Conflict: machine.ErrConflict, machine.Unchanged: machine.ErrUnchanged,
	} {
		require.ErrorIs(t, machine.Outcome{Kind: kind}.Err(), want)
	}
	require.Error(t, machine.Outcome{}.Err(), "the zero outcome is no commit")
	require.NotErrorIs(t, machine.Outcome{}.Err(), machine.ErrRefused)
}

// TestFingerprint tells proposals apart by all that makes them, and by nothing else.
func TestFingerprint(t *testing.T) {
	p := Note.With(Text{"x"}).Keyed("k")
	print := func(p machine.Proposal, who guard.Principal) string {
		f, err := p.Fingerprint(who)
		require.NoError(t, err)
		return f
	}
	same := print(p, alice)
	require.Equal(t, same, print(p.BasedOn(7).Shown("view").Written("m1"), alice))
	for _, other := range []string{
		print(Note.With(Text{"y"}).Keyed("k"), alice), print(p.As(guard.User), alice), print(p, bob), print(p.Keyed("l"), alice),
		print(Break.With(Text{"x"}).Keyed("k"), alice),
	} {
		require.NotEqual(t, same, other)
	}
	require.NotEqual(t, print(p.Keyed("b\x00c"), guard.Principal{ID: "a"}), print(p.Keyed("c"), guard.Principal{ID: "a\x00b"}))
}
