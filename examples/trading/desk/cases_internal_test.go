package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine"
)

// lookAgain lets the time of a retry come, and the worker take it up.
func (l *lab) lookAgain() {
	l.now = l.now.Add(time.Minute)
	require.NoError(l.t, l.market.SetNow(l.t.Context(), l.now))
	require.NoError(l.t, l.desk.Work(l.t.Context()))
}

// touched is a desk that has intended its exit, and sent nothing.
func touched(t *testing.T, held string) *lab {
	l := openLab(t, held)
	l.commits(l.set("262", nil))
	l.at("10:07")
	w := l.wake(exitIt)
	require.Equal(t, machine.Committed, w.Turns[0].Outcome.Kind)
	return l
}

// B015: an order that fills at once is absent from the open orders. That says nothing: it is unknown until it is found under its
// client order id, fills included, and until then there is no other order.
func TestB015InstantlyFilledOrderIsNotSentAgain(t *testing.T) {
	l := touched(t, "2000")
	fault, err := l.market.SetFault(t.Context(), exchange.Fault{Op: exchange.OpPlace, Action: exchange.CutAfter})
	require.NoError(t, err)
	require.NoError(t, l.desk.Work(t.Context()), "the answer never comes")
	require.NoError(t, l.market.AwaitFault(t.Context(), fault))

	open, err := l.market.Open(t.Context())
	require.NoError(t, err)
	require.Empty(t, open, "it is not among the open orders")
	require.Len(t, l.orders(), 1, "and it was filled")
	require.Equal(t, trading.Exiting, l.standing().State)

	_, err = l.market.SetFault(t.Context(), exchange.Fault{Op: exchange.OpFind, Action: exchange.Fail})
	require.NoError(t, err)
	l.lookAgain() // the lookup fails: still unknown, not failed
	require.Equal(t, trading.Exiting, l.standing().State)
	out, err := l.desk.Exit(t.Context(), Rule)
	l.refuses(machine.CodeNoTransition, out, err)

	l.lookAgain()
	require.Equal(t, trading.Flat, l.standing().State)
	require.Len(t, l.standing().Exits, 1)
	require.Len(t, l.orders(), 1)
}

// B015: a rejection for funds blocks the book for a person to look at, at once or when it is found later, and nothing is sent again.
func TestB015RejectedForFundsBlocks(t *testing.T) {
	for name, lost := range map[string]bool{"answered": false, "answer lost": true} {
		t.Run(name, func(t *testing.T) {
			l := openLab(t, "0")
			l.commits(l.set("262", nil))
			require.NoError(t, l.market.SetCash(t.Context(), price.Must("263999.999999")))
			l.commits(l.desk.Enter(t.Context(), Rule))
			if lost {
				_, err := l.market.SetFault(t.Context(), exchange.Fault{Op: exchange.OpPlace, Action: exchange.CutAfter})
				require.NoError(t, err)
			}
			require.NoError(t, l.desk.Work(t.Context()))
			require.Equal(t, lost, l.standing().State == trading.Entering, "a definite answer needs no lookup")
			for range 5 {
				l.lookAgain()
			}
			require.Equal(t, trading.Blocked, l.standing().State)
			require.Len(t, l.orders(), 1)
			require.Equal(t, exchange.Rejected, l.orders()[0].Status)
			require.Equal(t, exchange.CodeFunds, l.orders()[0].Reason)
			out, err := l.desk.Enter(t.Context(), Rule)
			l.refuses(machine.CodeNoTransition, out, err)
		})
	}
}

// B084: of 172.1, 24.4 are filled and the rest is cancelled. The next order is of 147.7, exactly, since the quantity is the broker's.
func TestB084PartialFill(t *testing.T) {
	l := openLab(t, "172.1")
	l.commits(l.set("262", nil))
	require.NoError(t, l.market.SetDepth(t.Context(), Symbol, price.Must("24.4")))
	l.at("10:07")
	l.wake(exitIt)
	require.NoError(t, l.desk.Work(t.Context()))
	s := l.standing()
	require.Equal(t, trading.Holding, s.State, "what is left is held, and its rule stands")
	require.Equal(t, "24.4", s.Exits[0].Fill.Filled.String())

	require.NoError(t, l.market.SetDepth(t.Context(), Symbol, price.Must("1000")))
	w := l.wake(holdIt, exitIt)
	require.Equal(t, machine.Refused, w.Turns[0].Outcome.Kind)
	require.Equal(t, machine.Committed, w.Turns[1].Outcome.Kind)
	require.NoError(t, l.desk.Work(t.Context()))

	orders := l.orders()
	require.Len(t, orders, 2)
	require.Equal(t, "172.1", orders[0].Quantity.String())
	require.Equal(t, "147.7", orders[1].Quantity.String())
	sum, err := orders[0].Filled.Add(orders[1].Filled)
	require.NoError(t, err)
	require.Equal(t, orders[0].Quantity, sum, "never more than what was held")
	require.Equal(t, trading.Flat, l.standing().State)
}

// An exit that found nobody to trade with is no exit: the book holds on, and the next wake-up tries again.
func TestNothingFilled(t *testing.T) {
	l := openLab(t, "2000")
	l.commits(l.set("262", nil))
	require.NoError(t, l.market.SetDepth(t.Context(), Symbol, price.Must("0")))
	l.at("10:07")
	l.wake(exitIt)
	require.NoError(t, l.desk.Work(t.Context()))
	require.Equal(t, trading.Holding, l.standing().State)
	require.Empty(t, l.standing().Exits)
	require.NoError(t, l.market.SetDepth(t.Context(), Symbol, price.Must("2000")))
	l.wake(exitIt)
	require.NoError(t, l.desk.Work(t.Context()))
	require.Len(t, l.standing().Exits, 1)
}

// An order that could not leave in time does not leave at all: its price is an old one.
func TestNotSentInTime(t *testing.T) {
	l := touched(t, "2000")
	l.now = l.now.Add(trading.SendWithin + time.Second)
	require.NoError(t, l.desk.Work(t.Context()))
	require.Equal(t, trading.Blocked, l.standing().State)
	require.Empty(t, l.orders())
	l = touched(t, "2000")
	l.now = l.now.Add(trading.SendWithin)
	require.NoError(t, l.desk.Work(t.Context()))
	require.Len(t, l.orders(), 1)
}
