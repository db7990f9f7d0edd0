package machine_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

type (
	price struct {
		Fee float64 `json:"fee"`
	}
	cents struct {
		Fee int64 `json:"fee"`
	}
	remark struct {
		Text string `json:"text,omitempty"`
	}
	spoken struct {
		Text string `json:"text"`
	}
	login struct {
		Password string `json:"password"`
	}
	reference struct {
		CredentialID string `json:"credential_id"`
	}
)

var (
	signed   = guard.NewFact[bool]("signed", guard.From("notary"), guard.About("order"), guard.MaxAge(time.Hour))
	nobodys  = guard.NewFact[bool]("nobodys", guard.From(""), guard.MaxAge(time.Hour))
	bare     = machine.NewEffect[Transfer]("bare", guard.Fact[Slip]{})
	mustSign = func(s machine.Snapshot[Desk]) error {
		if ok, known := signed.Get(s.Facts); known && !ok && s.State == Closed {
			return errors.New("it is not signed")
		}
		return nil
	}
	looks = func(reads ...guard.AnyFact) guard.Guard {
		return guard.New("looks", func(s *guard.Scene) guard.Verdict {
			if ok, _ := signed.Get(s); !ok {
				return guard.Deny("unsigned", "it is not signed")
			}
			return guard.Allow()
		}, reads...)
	}
	sends = func(b B, to machine.State) *machine.Edge[Desk, Text] {
		ends(b, Send, Paying)
		return machine.On(b, Note).From(Draft).To(to).By(guard.User).Then(machine.Emit(Send, func(Case[Text]) Transfer { return Transfer{} }))
	}
)

// lintList has both sides of each rule that a definition is held to: one definition that breaks it, and nothing else; and the
// same one mended.
var lintList = map[string]struct {
	code        string
	wrong, good func(b B)
}{
	"unreachable state": {"unreachable",
		func(b B) { machine.On(b, Note).From(Asking).To(Closed).By(guard.User) },
		func(b B) {
			machine.On(b, Note).From(Asking).To(Closed).By(guard.User)
			machine.On(b, Ask).From(Draft).To(Asking).By(guard.User)
		}},
	"dead end that is not final": {"dead_end",
		func(b B) { on(b, "go").To(Paid) },
		func(b B) { on(b, "go").To(Paid); b.Final(Paid) }},
	"final state with an exit": {"final_exit",
		func(b B) { machine.On(b, Note).From(Closed).Stay().By(guard.User) },
		func(b B) {
			machine.Override(b, machine.NewEvent[machine.Overridden]("reopen")).From(Closed).To(Draft).Reopens()
		}},
	"event nowhere used": {machine.LintUnused,
		func(b B) { b.Events(Cancel, Note) },
		func(b B) { b.Events(Cancel, Note); machine.On(b, Note).From(Draft).Stay().By(guard.User) }},
	"waiting state without anyone to wait for": {"waits_for_nobody",
		func(b B) { b.Wait(Draft, "", time.Hour, Lapsed); machine.On(b, Lapsed).From(Draft).To(Closed) },
		func(b B) { b.Wait(Draft, "clerk", time.Hour, Lapsed); machine.On(b, Lapsed).From(Draft).To(Closed) }},
	"waiting state without a way to expire": {"no_lapse",
		func(b B) { b.Wait(Draft, "clerk", time.Hour, Lapsed) },
		func(b B) { b.Wait(Draft, "clerk", time.Hour, Lapsed); machine.On(b, Lapsed).From(Draft).To(Closed) }},
	"waiting state whose way to expire is guarded": {machine.LintLapse,
		func(b B) {
			b.Wait(Draft, "clerk", time.Hour, Lapsed)
			machine.On(b, Lapsed).From(Draft).To(Closed).Require(guard.True(signed))
		},
		func(b B) {
			b.Wait(Draft, "clerk", time.Hour, Lapsed)
			machine.On(b, Lapsed).From(Draft).To(Closed).Require(guard.True(signed))
			machine.On(b, Lapsed).From(Draft).To(Paid).Check("late", func(Case[machine.None]) guard.Verdict { return guard.Allow() })
			b.Final(Paid)
			b.Accept(machine.LintLapse, "state draft", "one of the two is always open")
		}},
	"effect without receipt": {"receipt",
		func(b B) { ends(b, elsewhere, Draft); on(b, "ok").To(Draft).Then(emit(elsewhere)); idle(b, elsewhere) },
		func(b B) { ends(b, Send, Draft); on(b, "ok").To(Draft).Then(emit(Send)); idle(b, Send) }},
	"effect without any fact as its receipt": {"zero_fact",
		func(b B) { ends(b, bare, Draft); on(b, "ok").To(Draft).Then(emit(bare)); idle(b, bare) },
		func(b B) { ends(b, Send, Draft); on(b, "ok").To(Draft).Then(emit(Send)); idle(b, Send) }},
	"effect without a way to end": {machine.LintUnsettled,
		func(b B) {
			machine.On(b, Note).From(Draft).To(Paying).By(guard.User).Then(machine.Emit(Send, func(Case[Text]) Transfer { return Transfer{} }))
			machine.On(b, Send.Confirmed()).From(Paying).To(Closed)
		},
		func(b B) {
			machine.On(b, Note).From(Draft).To(Paying).By(guard.User).Then(machine.Emit(Send, func(Case[Text]) Transfer { return Transfer{} }))
			machine.On(b, Send.Confirmed()).From(Paying).To(Closed)
			machine.On(b, Send.Failed()).From(Paying).To(Closed)
		}},
	"terminal success without receipt": {machine.LintEndsUnsettled,
		func(b B) { sends(b, Paying); machine.On(b, Cancel).From(Paying).To(Paid).By(guard.User); b.Final(Paid) },
		func(b B) {
			sends(b, Paying)
			machine.On(b, Cancel).From(Paying).To(Paid).By(guard.User).Require(Send.Idle())
			b.Final(Paid)
		}},
	"guard reading an unregistered fact": {"undeclared_look",
		func(b B) { on(b, "ok").Stay().Require(looks()) },
		func(b B) { on(b, "ok").Stay().Require(looks(signed)) }},
	"check reading an unregistered fact": {"undeclared_look",
		func(b B) {
			on(b, "ok").Stay().Check("c", func(c Case[Text]) guard.Verdict { return guard.Holds("h", "", signed, yes).Judge(c.Scene) })
		},
		func(b B) {
			on(b, "ok").Stay().Check("c", func(c Case[Text]) guard.Verdict { return guard.Holds("h", "", signed, yes).Judge(c.Scene) }, signed)
		}},
	"fact without authority": {"fact",
		func(b B) { b.Facts(nobodys) },
		func(b B) { b.Facts(signed) }},
	"two edges that can never differ": {"ambiguous",
		func(b B) { machine.On(b, Cancel).From(Draft).Stay().By(guard.User).Require(guard.True(signed)) },
		func(b B) { machine.On(b, Cancel).From(Draft).Stay().By(guard.Operator).Require(guard.True(signed)) }},
	"invariant that no guard protects": {machine.LintUnguarded,
		func(b B) { b.Facts(signed); b.Invariant("signed", mustSign) },
		func(b B) { on(b, "ok").Stay().Require(guard.True(signed)); b.Invariant("signed", mustSign) }},
	"omitempty":       {machine.LintOptional, payload[remark], payload[spoken]},
	"float for money": {machine.LintLossy, payload[price], payload[cents]},
	"secret":          {machine.LintSecret, payload[login], payload[reference]},
}

func yes(ok bool) bool { return ok }

// idle lets the one edge of minimal that ends the task be.
func idle(b B, e machine.Effect[Transfer, Slip]) {
	b.Accept(machine.LintEndsUnsettled, "edge cancel: draft -> closed", "only one thing is wrong here")
}

// TestLintList: each rule has a stable code, a place in this file and a mend; it finds nothing where the definition is mended; and it
// can be silenced at the declaration, with a reason, when the author may know better.
func TestLintList(t *testing.T) {
	for name, row := range lintList {
		t.Run(name, func(t *testing.T) {
			var hit *machine.Fault
			for _, f := range faults(t, minimal(row.wrong)) {
				require.True(t, f.Code == row.code || strings.HasPrefix(row.code, "zero"), "%v", f)
				if f.Code == row.code {
					hit = f
				}
			}
			require.NotNil(t, hit)
			require.Regexp(t, regexp.MustCompile(`^(lint_list|build)_test\.go:\d+$`), hit.Place)
			require.NotEmpty(t, hit.Mend)
			require.NoError(t, minimal(row.good))
			if strings.Contains(hit.Mend, "Accept(") {
				require.NoError(t, minimal(func(b B) { row.wrong(b); b.Accept(row.code, machine.Everywhere, "the test wants it") }))
			}
		})
	}
}

// TestUnguarded: what an invariant looks at is found in whatever state, effect and value it depends on.
func TestUnguarded(t *testing.T) {
	after := func(invariant func(b B)) error {
		return minimal(func(b B) {
			sends(b, Paying)
			machine.On(b, Send.Failed()).From(Draft).To(Closed)
			b.Facts(signed)
			invariant(b)
		})
	}
	look := func(s machine.Snapshot[Desk]) error { signed.Get(s.Facts); return nil }
	for name, invariant := range map[string]func(b B){
		"in one state": func(b B) {
			b.Invariant("i", func(s machine.Snapshot[Desk]) error {
				if s.State == Paying {
					return look(s)
				}
				return nil
			})
		},
		"between two": func(b B) {
			b.InvariantStep("i", func(old, next machine.Snapshot[Desk]) error {
				if old.State == Paying && next.State == Paying {
					return look(next)
				}
				return nil
			})
		},
		"when it is intended": func(b B) {
			b.InvariantStep("i", func(old, next machine.Snapshot[Desk]) error {
				if !old.Emitted(Send) && next.Emitted(Send) {
					return look(old)
				}
				return nil
			})
		},
		"at the beginning": func(b B) {
			b.InvariantStep("i", func(old, next machine.Snapshot[Desk]) error {
				if old.Version == 0 {
					return look(next)
				}
				return nil
			})
		},
		"with data": func(b B) {
			b.Invariant("i", func(s machine.Snapshot[Desk]) error {
				if s.Data.Amount > 0 && len(s.Data.Notes) > 0 {
					return look(s)
				}
				return nil
			})
		},
		"by key, before a panic": func(b B) {
			b.Invariant("i", func(s machine.Snapshot[Desk]) error {
				s.Facts.Entry(guard.Key{Fact: "signed", Subject: "1"})
				panic("cannot judge this")
			})
		},
	} {
		all := faults(t, after(invariant))
		require.Len(t, all, 1, name)
		require.Equal(t, machine.LintUnguarded, all[0].Code, name)
		require.Contains(t, all[0].Text, "invariant i looks at signed, and no guard does", name)
	}
	require.NoError(t, after(func(b B) {
		b.Invariant("receipts are judged by their effect", func(s machine.Snapshot[Desk]) error { SlipOf.Get(s.Facts); return nil })
	}))
}
