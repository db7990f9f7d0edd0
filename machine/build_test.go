package machine_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// faults are the faults of an error of Build.
func faults(t *testing.T, err error) (all []*machine.Fault) {
	t.Helper()
	require.Error(t, err)
	require.ErrorIs(t, err, machine.ErrDefinition)
	joined := errors.Unwrap(err).(interface{ Unwrap() []error }).Unwrap()
	for _, e := range joined {
		var f *machine.Fault
		require.ErrorAs(t, e, &f)
		all = append(all, f)
	}
	require.Equal(t, all, machine.Faults(err))
	require.Empty(t, machine.Faults(errors.New("something else")))
	return all
}

// minimal is the smallest whole machine; extra adds to it.
func minimal(extra func(b *machine.Builder[Desk])) error {
	b := machine.New[Desk]("small", Draft)
	b.Final(Closed)
	machine.On(b, Cancel).From(Draft).To(Closed).By(guard.User)
	extra(b)
	_, err := b.Build()
	return err
}

type (
	chans struct {
		C chan int `json:"c"`
	}
	floats struct {
		Fee float64 `json:"fee"`
	}
	harmless struct {
		Feedback float64 `json:"feedback"`
		Share    *int    `json:"share,omitempty"`
	}
	loose struct {
		Any any `json:"any"`
	}
	hidden struct {
		Name string `json:"name"`
		seen bool
	}
	dropped struct {
		Name string `json:"-"`
	}
	optional struct {
		Name string `json:"name,omitempty"`
	}
	secretive struct {
		APIToken string `json:"api_token"`
	}
)

var _ = hidden{}.seen

func payload[P any](b *machine.Builder[Desk]) {
	machine.On(b, machine.NewEvent[P]("odd")).From(Draft).Stay().By(guard.User)
}

type B = *machine.Builder[Desk]

func on(b B, name string) *machine.Edge[Desk, Text] {
	return machine.On(b, machine.NewEvent[Text](name)).From(Draft).By(guard.User)
}

func emit(e machine.Effect[Transfer, Slip]) machine.Output[Desk, Text] {
	return machine.Emit(e, func(Case[Text]) Transfer { return Transfer{} })
}

func offer(party machine.Party, d time.Duration) machine.Output[Desk, Text] {
	return machine.Offer(PayIt, party, d, func(Case[Text]) []Pay { return nil })
}

func ends(b B, e machine.Effect[Transfer, Slip], from ...machine.State) {
	machine.On(b, e.Confirmed()).From(from...).Stay()
	machine.On(b, e.Failed()).From(from...).Stay()
}

var (
	stray     = guard.NewFact[bool]("stray", guard.From("x"), guard.About("planet"), guard.Lasting())
	stale     = machine.NewEffect[Transfer]("stale", guard.NewFact[Slip]("old", guard.From("bank"), guard.About(machine.EffectKind), guard.MaxAge(1)))
	elsewhere = machine.NewEffect[Transfer]("elsewhere", guard.NewFact[Slip]("other", guard.From("bank"), guard.Lasting()))
)

// faultRows has a row for each code: what to add to a whole machine to get it, and some of its text.
var faultRows = []struct {
	code string
	add  func(b B)
	text string
}{
	{"name", func(b B) { on(b, "Bad").Stay() }, `"Bad"`},
	{"name", func(b B) { on(b, "ok").To("Bad State") }, "state"},
	{"name", func(b B) { on(b, "ok").Stay().Then(emit(machine.NewEffect[Transfer]("Bad", SlipOf))) }, "effect"},
	{"version", func(b B) { b.Version(0) }, "version 0"},
	{"no_way", func(b B) { machine.On(b, Note).To(Closed).By(guard.User) }, "needs From"},
	{"no_way", func(b B) { on(b, "ok") }, "either To or Stay"},
	{"no_way", func(b B) { on(b, "ok").To(Closed).Stay() }, "either To or Stay"},
	{"from_twice", func(b B) { on(b, "ok").From(Draft).Stay() }, "draft twice"},
	{"nobody", func(b B) { machine.On(b, Note).From(Draft).Stay() }, "nobody may propose note"},
	{"actor", func(b B) { machine.On(b, Note).From(Draft).Stay().By(guard.Worker) }, `"worker"`},
	{"actor", func(b B) { machine.On(b, Note).From(Draft).Stay().By("") }, `""`},
	{"zero_event", func(b B) { machine.On(b, machine.Event[Text]{}).From(Draft).Stay().By(guard.User) }, "zero Event"},
	{"zero_event", func(b B) { b.After(Draft, 1, machine.Event[machine.None]{}) }, "zero Event"},
	{"zero_fact", func(b B) { on(b, "ok").Stay().Require(guard.True(guard.Fact[bool]{})) }, "zero Fact"},
	{"zero_fact", func(b B) { machine.When(b, guard.Fact[bool]{}).From(Draft).To(Closed) }, "zero Fact"},
	{"zero_fact", func(b B) { on(b, "ok").Stay().Confirm(guard.Fact[guard.Reply]{}) }, "zero Fact"},
	{"zero_guard", func(b B) { on(b, "ok").Stay().Require(guard.Guard{}) }, "zero Guard"},
	{"zero_effect", func(b B) { on(b, "ok").Stay().Then(emit(machine.Effect[Transfer, Slip]{})) }, "zero Effect"},
	{"check_name", func(b B) { on(b, "ok").Stay().Check("", func(Case[Text]) guard.Verdict { return guard.Allow() }) }, "without a name"},
	{"event_twice", func(b B) { on(b, "cancel").Stay() }, "called cancel"},
	{"fact_twice", func(b B) { b.Facts(Good, guard.NewFact[bool]("good", guard.From("x"), guard.Lasting())) }, "called good"},
	{"effect_twice", func(b B) {
		ends(b, Send, Draft)
		on(b, "ok").Stay().Then(emit(Send))
		on(b, "two").Stay().Then(emit(machine.NewEffect[Transfer]("send", SlipOf)))
	}, "called send"},
	{"fact", func(b B) { b.Facts(guard.NewFact[bool]("bare", guard.From("x"))) }, "fact bare never goes stale"},
	{"unreachable", func(b B) { machine.On(b, Note).From(Paying).Stay().By(guard.User) }, "paying"},
	{"unknown_state", func(b B) { b.Final(Paid) }, "final state paid"},
	{"unknown_state", func(b B) { b.NoSend(Paid) }, "no-send state paid"},
	{"unknown_state", func(b B) { b.Wait(Paid, machine.TaskOwner, 1, Lapsed) }, "waiting state paid"},
	{"unknown_state", func(b B) { b.After(Paid, 1, Lapsed) }, "timed state paid"},
	{"dead_end", func(b B) { on(b, "ok").To(Paying) }, "paying has no way out"},
	{"final_exit", func(b B) { machine.On(b, Note).From(Closed).Stay().By(guard.User) }, "closed has an edge"},
	{"final_waits", func(b B) { b.Wait(Closed, machine.TaskOwner, 1, Lapsed) }, "closed waits"},
	{"waits_twice", func(b B) {
		b.Wait(Draft, machine.TaskOwner, 1, Lapsed)
		b.Wait(Draft, machine.TaskOwner, 1, Lapsed)
	}, "draft waits twice"},
	{"waits_for_nobody", func(b B) { b.Wait(Draft, "", 1, Lapsed) }, "names no party"},
	{"no_time", func(b B) { b.Wait(Draft, machine.TaskOwner, 0, Lapsed) }, "has no time"},
	{"no_time", func(b B) { b.After(Draft, -1, Lapsed) }, "has no time"},
	{"no_time", func(b B) { on(b, "ok").Stay().Then(offer(machine.TaskOwner, 0)) }, "for no time"},
	{"no_lapse", func(b B) { b.Wait(Draft, machine.TaskOwner, 1, Lapsed) }, "no edge for lapsed"},
	{"guarded_lapse", func(b B) {
		b.Wait(Draft, machine.TaskOwner, 1, Lapsed)
		machine.On(b, Lapsed).From(Draft).To(Closed).Require(guard.True(Good))
	}, "waits for ever"},
	{"too_many", func(b B) {
		for i := range machine.MaxTimers + 1 {
			b.After(Draft, time.Duration(i+1), Lapsed)
		}
	}, "17 timers"},
	{"too_many", func(b B) {
		for i := range machine.MaxEdges {
			on(b, fmt.Sprint("ok", i)).Stay()
		}
	}, "513 edges"},
	{"invariant_name", func(b B) { b.Invariant("", func(machine.Snapshot[Desk]) error { return nil }) }, `invariant ""`},
	{"ambiguous", func(b B) { machine.On(b, Cancel).From(Draft).Stay().By(guard.User) }, "open at once"},
	{"ambiguous", func(b B) { machine.On(b, Cancel).From(Draft).Stay().By(guard.User).Require(guard.True(Good)) }, "build_test.go"},
	{"about_nothing", func(b B) { on(b, "ok").Stay().Require(guard.True(stray)) }, `about "planet"`},
	{"about_nothing", func(b B) { on(b, "ok").Stay().Fresh(stray) }, `about "planet"`},
	{"settled_by_hand", func(b B) { machine.On(b, Send.Confirmed()).From(Draft).Stay().By(guard.User) }, "by hand"},
	{"confirm", func(b B) {
		on(b, "ok").Stay().Confirm(guard.NewFact[guard.Reply]("r", guard.From("x"), guard.Lasting()))
	}, "no reply"},
	{"never_offered", func(b B) { on(b, "ok").Stay().Confirm(Answer) }, "nothing offers ok"},
	{"never_confirmed", func(b B) { on(b, "ok").Stay().Then(offer(machine.TaskOwner, 1)) }, "no edge that confirms"},
	{"offers_to_nobody", func(b B) { on(b, "ok").Stay().Then(offer("", 1)) }, "to nobody"},
	{"returns_twice", func(b B) {
		r := machine.Return(func(Case[Text]) int { return 1 })
		on(b, "ok").Stay().Then(r, r)
	}, "two answers"},
	{"receipt", func(b B) { ends(b, stale, Draft); on(b, "ok").Stay().Then(emit(stale)) }, "goes stale"},
	{"receipt", func(b B) { ends(b, elsewhere, Draft); on(b, "ok").Stay().Then(emit(elsewhere)) }, "not about the effect"},
	{"unsettled", func(b B) { on(b, "ok").Stay().Then(emit(Send)) }, "send in draft can be under way there, and there is no edge for send.confirmed"},
	{"unsettled", func(b B) {
		ends(b, Send, Draft)
		on(b, "ok").Stay().Then(emit(Send))
		on(b, "go").To(Paying)
		machine.On(b, Cancel).From(Paying).To(Closed).By(guard.User).Accept(machine.LintEndsUnsettled, "only one thing is wrong here")
	}, "send in paying"},
	{"ends_unsettled", func(b B) { ends(b, Send, Draft); on(b, "ok").Stay().Then(emit(Send)) }, "edge cancel: draft -> closed"},
	{"widens", func(b B) {
		ends(b, Send, Draft)
		machine.On(b, machine.NewEvent[Text]("stop", machine.Narrowing())).From(Draft).Stay().By(guard.User).Then(emit(Send))
	}, "newest version"},
	{"not_data", payload[chans], "chan int in C"},
	{"lossy_type", payload[floats], "float in Fee"},
	{"lossy_type", payload[loose], "interface in Any"},
	{"lossy_type", payload[hidden], "field seen"},
	{"lossy_type", payload[dropped], "field Name"},
	{"optional_field", payload[optional], "leaves out Name"},
	{"secret", payload[secretive], "APIToken"},
	{"accepted_nothing", func(b B) { b.Accept(machine.LintSecret, "data x", "because") }, "is not there"},
	{"accepted_silently", func(b B) { b.Accept(machine.LintSecret, machine.Everywhere, " ") }, "without a reason"},
	{"accepted_fault", func(b B) { b.Accept("dead_end", machine.Everywhere, "because") }, "cannot be accepted"},
}

// TestFaults: each fault has a place in this file and says how it is mended.
func TestFaults(t *testing.T) {
	for _, row := range faultRows {
		found := false
		for _, f := range faults(t, minimal(row.add)) {
			require.Regexp(t, regexp.MustCompile(`^build_test\.go:\d+$`), f.Place, "%s: %v", row.code, f)
			require.NotEmpty(t, f.Mend, row.code)
			require.ErrorIs(t, f, machine.ErrDefinition)
			found = found || f.Code == row.code && strings.Contains(f.Text, row.text)
		}
		require.True(t, found, "%s %q: %v", row.code, row.text, minimal(row.add))
	}
	require.NoError(t, minimal(func(B) {}))
}

// TestAllFaultsAtOnce: a definition that is not whole says everything that is wrong with it (law 13).
func TestAllFaultsAtOnce(t *testing.T) {
	err := minimal(func(b *machine.Builder[Desk]) {
		b.Version(0)
		b.Final(Paid)
		machine.On(b, Note).From(Draft).Stay()
		machine.On(b, machine.Event[Text]{}).From(Draft).Stay().By(guard.User)
		payload[secretive](b)
	})
	var codes []string
	for _, f := range faults(t, err) {
		codes = append(codes, f.Code)
	}
	require.ElementsMatch(t, []string{"version", "unknown_state", "nobody", "zero_event", "secret"}, codes)
	require.ErrorContains(t, err, "machine small has 5 faults:\n")
	for range 20 {
		again := minimal(func(b *machine.Builder[Desk]) {
			b.Wait(Draft, "", 0, Lapsed)
			b.Wait(Closed, "", 0, Lapsed)
			b.After(Paying, 0, Lapsed)
			b.After(Asking, 0, Lapsed)
		})
		require.Equal(t, strip(again), strip(minimal(func(b *machine.Builder[Desk]) {
			b.Wait(Draft, "", 0, Lapsed)
			b.Wait(Closed, "", 0, Lapsed)
			b.After(Paying, 0, Lapsed)
			b.After(Asking, 0, Lapsed)
		})), "in the same order")
	}
	require.Panics(t, func() { machine.New[Desk]("Bad", Draft).MustBuild() })
}

// strip leaves the places out.
func strip(err error) string {
	return regexp.MustCompile(`:\d+:`).ReplaceAllString(err.Error(), "")
}

// TestAccepted: a rule is silenced where it is, and nowhere else.
func TestAccepted(t *testing.T) {
	odd := machine.NewEvent[secretive]("odd")
	build := func(accept func(*machine.Builder[Desk])) error {
		return minimal(func(b *machine.Builder[Desk]) {
			machine.On(b, odd).From(Draft).Stay().By(guard.User)
			accept(b)
		})
	}
	require.NoError(t, build(func(b *machine.Builder[Desk]) {
		b.Accept(machine.LintSecret, "payload of odd machine_test.secretive", "it is a test")
	}))
	require.NoError(t, build(func(b *machine.Builder[Desk]) { b.Accept(machine.LintSecret, machine.Everywhere, "it is a test") }))
	require.Len(t, faults(t, build(func(b *machine.Builder[Desk]) { b.Accept(machine.LintSecret, "data", "it is a test") })), 2)
	require.NoError(t, minimal(payload[harmless]), "whole words count, and pointers are optional by themselves")
}

// TestEffectUnderWay: with its guard of idleness an edge may end the task.
func TestEffectUnderWay(t *testing.T) {
	b := machine.New[Desk]("idle", Draft)
	b.Final(Closed)
	machine.On(b, Note).From(Draft).Stay().By(guard.User).Then(machine.Emit(Send, func(c Case[Text]) Transfer { return Transfer{"1", 5} }))
	machine.On(b, Cancel).From(Draft).To(Closed).By(guard.User).Require(Send.Idle())
	machine.On(b, Send.Confirmed()).From(Draft).Stay()
	machine.On(b, Send.Failed()).From(Draft).Stay()
	m := b.MustBuild()
	s, _, err := m.Task("t1", alice, Desk{OrderID: "1"}).First(start)
	require.NoError(t, err)
	erased := machine.Erase(m)
	step := func(p machine.Proposal, code string) {
		next, out := erased.Step(s, machine.Input{Proposal: p.BasedOn(s.Version), Principal: alice, Now: start})
		require.Equal(t, code, out.Code())
		s = next
	}
	step(Note.With(Text{"x"}).As(guard.User), "")
	step(Cancel.With(Text{"x"}).As(guard.User), machine.CodeUnderWay)
	step(Send.Info().Fail("t1/send/1", "no"), "")
	step(Cancel.With(Text{"x"}).As(guard.User), "")
}
