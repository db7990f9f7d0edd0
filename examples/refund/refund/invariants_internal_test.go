package refund

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// mistake is an event of the deliberately wrong machines below.
var mistake = machine.NewEvent[machine.None]("mistake")

// wrong is a machine with the desk's invariants and edges that break one of them.
func wrong(t *testing.T, edges func(*machine.Builder[Refund])) *day {
	b := machine.New[Refund]("refund", CheckingEligibility)
	edges(b)
	b.Facts(Eligible)
	b.Accept(machine.LintUnguarded, machine.Everywhere, "these machines are wrong on purpose")
	invariants(b)
	m, err := b.Build()
	require.NoError(t, err)
	return begin(t, m)
}

// broken wants the mistake to be refused by this invariant and no other.
func (d *day) broken(name string) {
	d.t.Helper()
	out := d.refuses(machine.Refused, machine.CodeInvariant, mistake.With(machine.None{}).As(guard.User), alice)
	require.Len(d.t, out.Findings, 1)
	got, _, _ := strings.Cut(out.Findings[0].Text, ":")
	require.Equal(d.t, name, got)
}

func pay(Case[machine.None]) Payment { return Payment{OrderID: "123", Amount: euros} }

// settles adds the edges that every effect needs.
func settles(b *machine.Builder[Refund], from machine.State) {
	b.Final(RefundFailed)
	machine.On(b, IssueRefund.Confirmed()).From(from).To(Refunded)
	machine.On(b, IssueRefund.Failed()).From(from).To(RefundFailed)
}

// TestInvariants violates each invariant of the desk, those of essay.md 5.3 by their names there, and sees exactly that refusal.
func TestInvariants(t *testing.T) {
	violated := map[string]func(t *testing.T){
		"nothing is sent while waiting": func(t *testing.T) { // INV-1
			d := wrong(t, func(b *machine.Builder[Refund]) {
				b.Final(Refunded)
				machine.On(b, mistake).From(CheckingEligibility).To(AwaitingUserConfirmation).By(guard.User).
					Then(machine.Emit(IssueRefund, pay))
				settles(b, AwaitingUserConfirmation)
			})
			d.commits(machine.Proposal{}, alice, d.policy(true, "v7"))
			d.broken("nothing is sent while waiting")
		},
		"no intent without eligibility": func(t *testing.T) { // INV-2
			for name, facts := range map[string]func(d *day) []guard.Observation{
				"unknown": func(*day) []guard.Observation { return nil },
				"false":   func(d *day) []guard.Observation { return []guard.Observation{d.policy(false, "v7")} },
				"disputed": func(d *day) []guard.Observation {
					return []guard.Observation{d.policy(true, "v7"), d.policy(true, "v8")}
				},
			} {
				d := wrong(t, func(b *machine.Builder[Refund]) {
					b.Final(Refunded)
					machine.On(b, mistake).From(CheckingEligibility).To(DispatchingRefund).By(guard.User).
						Then(machine.Emit(IssueRefund, pay))
					settles(b, DispatchingRefund)
				})
				if o := facts(d); o != nil {
					d.commits(machine.Proposal{}, alice, o...)
				}
				t.Log(name)
				d.broken("no intent without eligibility")
			}
		},
		"completed stays completed": func(t *testing.T) { // INV-3
			d := wrong(t, func(b *machine.Builder[Refund]) {
				b.Final(Cancelled)
				machine.On(b, RequestRefund).From(CheckingEligibility).To(DispatchingRefund).By(guard.User).
					Then(machine.Emit(IssueRefund, pay))
				settles(b, DispatchingRefund)
				machine.On(b, mistake).From(Refunded).To(HandledElsewhere).By(guard.User)
				machine.On(b, CancelRefund).From(HandledElsewhere).To(Cancelled).By(guard.User)
			})
			d.commits(machine.Proposal{}, alice, d.policy(true, "v7"))
			d.commits(RequestRefund.With(machine.None{}).As(guard.User), alice)
			d.paid(euros)
			require.Equal(t, Refunded, d.at.State)
			d.broken("completed stays completed")
		},
		"refunded means paid": func(t *testing.T) {
			d := wrong(t, func(b *machine.Builder[Refund]) {
				b.Final(Refunded)
				machine.On(b, mistake).From(CheckingEligibility).To(Refunded).By(guard.User)
			})
			d.broken("refunded means paid")
		},
	}
	for _, name := range Machine.Describe().Invariants {
		violate := violated[name]
		require.NotNil(t, violate, "no test violates %q", name)
		t.Run(name, violate)
	}
	require.Len(t, violated, len(Machine.Describe().Invariants))
}

// paid settles the one intent with its receipt.
func (d *day) paid(amount money.Money) {
	d.t.Helper()
	require.Len(d.t, d.at.Intents, 1)
	key := d.at.Intents[0].Key
	receipt := RefundRecord.Observe(d.hands["payments"], guard.Observed[Record]{
		Value: Record{ID: "re_1", OrderID: "123", Amount: amount}, Subject: key, At: d.now,
	})
	d.commits(IssueRefund.Info().Confirm(key), guard.Principal{}, receipt)
}

// TestWrongSnapshot judges a stored snapshot that is already wrong: it cannot go on, and evidence of what has happened still lands
// and says what it broke (law 15).
func TestWrongSnapshot(t *testing.T) {
	d := asked(t)
	d.at.Operations = []machine.Operation{{Effect: "issue_refund", Number: 1}} // as if it had been sent
	out := d.refuses(machine.Refused, machine.CodeInvariant, AskAgain.With(Question{"send it?"}), alice)
	require.Contains(t, out.Findings[0].Text, "nothing is sent while waiting")

	out = d.take(machine.Proposal{}, alice, d.status(OrderOpen))
	require.Equal(t, machine.Committed, out.Kind)
	require.Len(t, out.Entry().Broken, 1)
	require.Contains(t, out.Entry().Broken[0], "nothing is sent while waiting")
}
