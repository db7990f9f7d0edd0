package trading

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

var (
	trader  = guard.Principal{ID: "trader"}
	atTen   = time.Date(2026, 8, 13, 10, 0, 0, 0, Taipei)
	mistake = machine.NewEvent[machine.None]("mistake")
	of262   = Stop{Key: "stop_loss.2317", Holds: true, Value: price.Must("262"), Version: 1, Until: atTen.Add(time.Hour)}
	day     = Mandate{Low: price.Must("235"), High: price.Must("290"), Most: price.Must("3000"), Lot: price.Must("1000")}
)

// wrong is a machine with the desk's invariants, and one edge that no guard keeps from sending an order.
func wrong(t *testing.T, to machine.State, o Order) *machine.Machine[Book] {
	b := machine.New[Book]("trading", Holding)
	b.Final(Closed)
	b.Facts(LastQuote, Position, Rule, Allowed)
	machine.On(b, mistake).From(Holding).To(to).By(guard.User).
		Then(machine.Emit(SendOrder, func(Case[machine.None]) Order { return o }))
	machine.On(b, SendOrder.Confirmed()).From(to).To(Closed)
	machine.On(b, SendOrder.Failed()).From(to).To(Closed)
	machine.On(b, CloseDay).From(Holding).To(Closed).By(guard.User)
	invariants(b)
	m, err := b.Build()
	require.NoError(t, err)
	return m
}

// world is what is believed when the mistake is made; what is nil is not known.
type world struct {
	quote, position, rule, mandate any
}

// broken are the invariants that refuse the mistake.
func broken(t *testing.T, m *machine.Machine[Book], w world) string {
	first, _, err := m.Task("trader:2317", trader, Book{Symbol: "2317", Rule: "stop_loss.2317"}).First(atTen)
	require.NoError(t, err)
	s, _ := machine.As[Book](first)
	take := func(in machine.Input) machine.Outcome {
		in.Principal, in.Now, in.Received = trader, atTen, atTen
		next, out := m.Step(s, in)
		s = next
		return out
	}
	see := func(o guard.Observation) {
		e, err := guard.Verify(o, guard.Acceptance{Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: atTen, BasedOn: s.Version})
		require.NoError(t, err)
		require.NoError(t, take(machine.Input{Evidence: []guard.Evidence{e}}).Err())
	}
	if w.quote != nil {
		see(LastQuote.Observe(guard.NewAuthority("exchange"), guard.Observed[Quote]{Subject: "2317", Value: w.quote.(Quote)}))
	}
	if w.position != nil {
		see(Position.Observe(guard.NewAuthority("broker"), guard.Observed[price.Decimal]{Subject: "2317", Value: w.position.(price.Decimal)}))
	}
	if w.rule != nil {
		see(Rule.Observe(guard.NewAuthority("working_state"), guard.Observed[Stop]{Subject: "stop_loss.2317", Value: w.rule.(Stop)}))
	}
	if w.mandate != nil {
		see(Allowed.Observe(guard.NewAuthority("operator"), guard.Observed[Mandate]{Subject: "2317", Value: w.mandate.(Mandate)}))
	}
	out := take(machine.Input{Proposal: mistake.With(machine.None{}).As(guard.User).BasedOn(s.Version)})
	if out.Kind == machine.Committed {
		return ""
	}
	require.Equal(t, machine.CodeInvariant, out.Code(), out.Findings)
	name, _, _ := strings.Cut(out.Findings[0].Text, ":")
	return name
}

// TestInvariants violates each invariant of the desk with a machine that has no guards, and sees exactly that refusal.
func TestInvariants(t *testing.T) {
	const (
		underWay  = "an order is under way only while entering or exiting"
		followed  = "a sale follows a rule that the price has touched"
		all       = "a sale is what the broker says is held"
		withLimit = "a purchase stays within the operator's limit"
	)
	sell := Order{Symbol: "2317", Side: Sell, Quantity: price.Must("2000"), Limit: day.Low, Rule: "stop_loss.2317", Stop: of262.Value, Last: price.Must("261")}
	more, atAnother, guessed, buy, big := sell, sell, sell, sell, sell
	more.Quantity = price.Must("2001")
	atAnother.Last = price.Must("260")
	guessed.Stop = price.Must("261")
	buy.Side, buy.Quantity = Buy, price.Must("1000")
	big.Side, big.Quantity = Buy, price.Must("1000.000001")
	touched := world{Quote{Last: price.Must("261"), Trading: true}, price.Must("2000"), of262, day}
	change := func(f func(*world)) world {
		w := touched
		f(&w)
		return w
	}
	ranOut, absent := of262, Stop{Key: "stop_loss.2317"}
	ranOut.Until = atTen
	shown := map[string]bool{}
	for _, row := range []struct {
		to    machine.State
		order Order
		world world
		want  string
	}{
		{Exiting, sell, touched, ""},
		{Entering, buy, touched, ""},
		{Blocked, sell, touched, underWay},
		{Exiting, sell, change(func(w *world) { w.quote = Quote{Last: price.Must("262.000001"), Trading: true} }), followed},
		{Exiting, sell, change(func(w *world) { w.quote = nil }), followed},
		{Exiting, sell, change(func(w *world) { w.rule = nil }), followed},
		{Exiting, sell, change(func(w *world) { w.rule = absent }), followed},
		{Exiting, sell, change(func(w *world) { w.rule = ranOut }), followed},
		{Exiting, atAnother, touched, followed},
		{Exiting, guessed, touched, followed},
		{Exiting, more, touched, all},
		{Exiting, sell, change(func(w *world) { w.position = nil }), all},
		{Entering, big, touched, withLimit},
		{Entering, buy, change(func(w *world) { w.mandate = nil }), withLimit},
		{Entering, buy, change(func(w *world) { w.position = nil }), withLimit},
	} {
		require.Equal(t, row.want, broken(t, wrong(t, row.to, row.order), row.world), "%+v", row)
		shown[row.want] = true
	}
	for _, name := range Machine.Describe().Invariants {
		require.True(t, shown[name], "no row violates %q", name)
	}
}
