package refund

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/machinetest"
)

// parts are what a desk is built of, so that a mutant can change one.
type parts struct {
	request, confirm, cancel []guard.Guard
	fresh                    []guard.AnyFact
	consent                  bool
	cancelBy                 []guard.Actor
	cancelFrom, declineFrom  []machine.State
	ineligible, handled      guard.Guard
	asked                    func(Case[Question]) guard.Verdict
	count                    func(*Refund, Case[Question])
	note                     func(*Refund, Case[Note])
	offer                    func(Case[machine.None]) []Confirm
	payment                  func(Case[Confirm]) Payment
	patience, offered        time.Duration
	confirming               machine.Event[Confirm]
	cancelling               machine.Event[Reason]
	lapsesTo, paid, failed   machine.State
	more                     func(*machine.Builder[Refund])
}

// whole are the parts of the desk as it is.
func whole() parts {
	return parts{
		request: []guard.Guard{owner, open, eligible}, confirm: []guard.Guard{owner, open, eligible}, cancel: []guard.Guard{owner},
		fresh: []guard.AnyFact{OrderOwner, OrderStatus, Eligible}, consent: true, cancelBy: []guard.Actor{guard.Model, guard.User},
		cancelFrom:  []machine.State{CheckingEligibility, AwaitingUserConfirmation},
		declineFrom: []machine.State{CheckingEligibility, AwaitingUserConfirmation},
		ineligible:  guard.Not(eligible), handled: guard.Not(open), asked: atMostThreeTimes,
		count:    func(r *Refund, _ Case[Question]) { r.Asked++ },
		note:     func(r *Refund, c Case[Note]) { r.Notes = append(r.Notes, c.Payload.Text) },
		offer:    theRefund[machine.None],
		payment:  func(c Case[Confirm]) Payment { return Payment{c.Data.OrderID, c.Payload.Amount} },
		patience: Patience, offered: Patience, confirming: ConfirmRefund, cancelling: CancelRefund,
		lapsesTo: Cancelled, paid: Refunded, failed: RefundFailed, more: func(*machine.Builder[Refund]) {},
	}
}

func (p parts) build() (*machine.Machine[Refund], error) {
	b := machine.New[Refund]("refund", CheckingEligibility)
	b.Final(Refunded, RefundFailed, Declined, HandledElsewhere, Cancelled)
	b.Wait(AwaitingUserConfirmation, machine.TaskOwner, p.patience, Lapsed)
	machine.On(b, RequestRefund).From(CheckingEligibility).To(AwaitingUserConfirmation).By(guard.Model, guard.User).
		Require(p.request...).Then(machine.Offer(p.confirming, machine.TaskOwner, p.offered, p.offer))
	machine.On(b, AskAgain).From(AwaitingUserConfirmation).Stay().By(guard.Model).
		Check("asked_enough", p.asked).Apply(p.count).
		Then(machine.Offer(p.confirming, machine.TaskOwner, p.offered, theRefund[Question]))
	confirm := machine.On(b, p.confirming).From(AwaitingUserConfirmation).To(DispatchingRefund).By(guard.Model, guard.User).
		Fresh(p.fresh...).Require(p.confirm...)
	if p.consent {
		confirm.Confirm(Reply)
	}
	confirm.Then(machine.Emit(IssueRefund, p.payment), machine.Reserve(oneRefund))
	machine.On(b, p.cancelling).From(p.cancelFrom...).To(Cancelled).By(p.cancelBy...).Require(p.cancel...)
	machine.On(b, Lapsed).From(AwaitingUserConfirmation).To(p.lapsesTo)
	machine.When(b, Eligible).From(p.declineFrom...).To(Declined).Require(p.ineligible)
	machine.When(b, OrderStatus).From(CheckingEligibility, AwaitingUserConfirmation).To(HandledElsewhere).Require(p.handled)
	machine.On(b, LeaveNote).From(AwaitingUserConfirmation, DispatchingRefund).Stay().By(guard.User, guard.Operator).Apply(p.note)
	machine.On(b, IssueRefund.Confirmed()).From(DispatchingRefund).To(p.paid)
	machine.On(b, IssueRefund.Failed()).From(DispatchingRefund).To(p.failed)
	p.more(b)
	invariants(b)
	return b.Build()
}

// mutants are desks with one thing wrong each, and the words of the rule that catches it: of the lint, the table, or the explorer.
var mutants = []struct {
	name, by, rule string
	change         func(*parts)
}{
	{"request: anybody", "table", "got  awaiting_user_confirmation", func(p *parts) { p.request, p.confirm = p.request[1:], p.confirm[1:] }},
	{"request: whatever the order's status", "table", "unknown order_status", func(p *parts) {
		p.request, p.confirm = []guard.Guard{owner, eligible}, []guard.Guard{owner, eligible}
	}},
	{"confirm: anybody", "table", "want not_owner", func(p *parts) { p.confirm = p.confirm[1:] }},
	{"confirm: whatever the policy says", "table", "want unknown refund_eligibility", func(p *parts) { p.confirm = p.confirm[:2] }},
	{"confirm: on yesterday's evidence", "table", "want needs_evidence", func(p *parts) { p.fresh = nil }},
	{"confirm: on yesterday's owner", "table", "want unknown order_owner", func(p *parts) { p.fresh = p.fresh[1:] }},
	{"confirm: without a reply", "lint", "never_confirmed", func(p *parts) { p.consent = false }},
	{"confirm: on any version", "lint", "widens", func(p *parts) {
		p.confirming = machine.NewEvent[Confirm]("confirm_refund", machine.Narrowing())
	}},
	{"cancel: anybody's", "table", "want not_owner", func(p *parts) { p.cancel = nil }},
	{"cancel: by an operator", "table", "want actor", func(p *parts) { p.cancelBy = append(p.cancelBy, guard.Operator) }},
	{"cancel: on the newest version only", "table", "got  stale_version", func(p *parts) { p.cancelling = machine.NewEvent[Reason]("cancel_refund") }},
	{"cancel: while the money is on its way", "lint", "ends_unsettled", func(p *parts) { p.cancelFrom = append(p.cancelFrom, DispatchingRefund) }},
	{"decline: who is eligible", "table", "is not reached", func(p *parts) { p.ineligible = eligible }},
	{"decline: while the money is on its way", "lint", "ends_unsettled", func(p *parts) { p.declineFrom = append(p.declineFrom, DispatchingRefund) }},
	{"handled: who is open", "table", "is not reached", func(p *parts) { p.handled = open }},
	{"ask: four times", "table", "want asked_enough", func(p *parts) {
		p.asked = func(c Case[Question]) guard.Verdict { return limit(c.Data.Asked, 4) }
	}},
	{"ask: twice", "table", "situation asked is not reached", func(p *parts) {
		p.asked = func(c Case[Question]) guard.Verdict { return limit(c.Data.Asked, 2) }
	}},
	{"ask: for ever", "table", "want asked_enough", func(p *parts) { p.count = func(*Refund, Case[Question]) {} }},
	{"note: only the last", "table", "want data", func(p *parts) { p.note = func(r *Refund, c Case[Note]) { r.Notes = []string{c.Payload.Text} } }},
	{"offer: another amount", "table", "offer_differs", func(p *parts) {
		p.offer = func(c Case[machine.None]) []Confirm { return []Confirm{{c.Data.OrderID, plusOne(c.Data)}} }
	}},
	{"offer: for an hour", "table", "offer_expired", func(p *parts) { p.offered = time.Hour }},
	{"pay: another amount", "table", "receipt_differs", func(p *parts) {
		p.payment = func(c Case[Confirm]) Payment { return Payment{c.Data.OrderID, plusOne(c.Data)} }
	}},
	{"wait: a day less", "table", "timer lapsed 48h", func(p *parts) { p.patience = 48 * time.Hour }},
	{"lapse: as if declined", "table", "got  declined", func(p *parts) { p.lapsesTo = Declined }},
	{"settle: failed is paid", "table", "got  refund_failed", func(p *parts) { p.paid, p.failed = RefundFailed, Refunded }},
	{"settle: to a state that goes on", "lint", "final_exit", func(p *parts) {
		p.more = func(b *machine.Builder[Refund]) { machine.On(b, LeaveNote).From(Refunded).Stay().By(guard.User) }
	}},
	{"two edges for one event", "explorer", "ambiguous: both are open", func(p *parts) {
		p.more = func(b *machine.Builder[Refund]) {
			machine.On(b, CancelRefund).From(CheckingEligibility).To(Declined).By(guard.User).Require(guard.Known(OrderOwner))
		}
	}},
	{"nobody asks the policy", "explorer", "invariant: no intent without eligibility", func(p *parts) {
		p.request, p.confirm, p.fresh = p.request[:2], p.confirm[:2], p.fresh[:2]
	}},
	{"a status that no order has", "explorer", "unreached: state awaiting_user_confirmation", func(p *parts) {
		p.request = append(p.request, guard.Is(OrderStatus, "opened"))
	}},
	{"a check that panics", "explorer", "fault: asked_enough panicked", func(p *parts) {
		p.asked = func(c Case[Question]) guard.Verdict { return limit(len(c.Data.Notes[c.Data.Asked]), 400) }
	}},
}

func limit(n, most int) guard.Verdict {
	if n >= most {
		return guard.Deny("asked_enough", "")
	}
	return guard.Allow()
}

func plusOne(r Refund) (m money.Money) {
	m = r.Amount
	m.Minor++
	return m
}

// TestMutants seeds one mistake at a time, and sees it caught by the rule that should. The desk without one is the desk.
func TestMutants(t *testing.T) {
	same, err := whole().build()
	require.NoError(t, err)
	require.Equal(t, Machine.Describe(), same.Describe())
	require.NoError(t, machinetest.Check(same, "testdata/refund.txtar"))
	for _, c := range mutants {
		t.Run(c.name, func(t *testing.T) {
			p := whole()
			c.change(&p)
			m, err := p.build()
			if c.by == "lint" {
				require.ErrorContains(t, err, c.rule)
				return
			}
			require.NoError(t, err)
			if c.by == "table" {
				require.ErrorContains(t, machinetest.Check(m, "testdata/refund.txtar"), c.rule)
				return
			}
			x, err := machinetest.Explore(m, "testdata/refund.txtar", machinetest.Limits{States: 400, Ignore: []string{"notes"}})
			require.NoError(t, err)
			require.Contains(t, x.String(), c.rule)
		})
	}
}
