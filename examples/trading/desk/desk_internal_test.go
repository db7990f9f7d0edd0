package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// The rule of 262 fires at 261, once, whatever the notes say; the whole position is sold.
func TestTheRuleThatStandsFires(t *testing.T) {
	l := openLab(t, "2000")
	l.commits(l.set("262", map[string]any{"ttl_hours": "4.5"}))
	w := l.wake(exitIt, holdIt)
	require.Equal(t, trading.CodeNotTouched, w.Turns[0].Outcome.Code(), "the price is 264")
	require.Equal(t, machine.Committed, w.Turns[1].Outcome.Kind)

	l.at("10:07")
	w = l.wake(holdIt, exitIt)
	require.Len(t, w.Turns, 2)
	require.Equal(t, machine.Refused, w.Turns[0].Outcome.Kind)
	require.NotEmpty(t, w.Turns[0].Told)
	require.Equal(t, machine.Committed, w.Turns[1].Outcome.Kind)
	require.Contains(t, w.Prompt, `- stop_loss.2317 = "262"`)
	out, err := l.desk.Exit(t.Context(), Rule)
	l.refuses(machine.CodeNoTransition, out, err)
	require.NoError(t, l.desk.Work(t.Context()))
	require.NoError(t, l.desk.Work(t.Context()))
	out, err = l.desk.Exit(t.Context(), Rule)
	l.refuses(machine.CodeNoTransition, out, err)

	s := l.standing()
	require.Equal(t, trading.Flat, s.State)
	require.Len(t, s.Exits, 1)
	require.Equal(t, Rule, s.Exits[0].Rule)
	require.Equal(t, "x_1, sell 2000 of 2000 2317, 2000 at 261", s.Exits[0].Fill.String())
	require.Len(t, l.orders(), 1)
	require.Equal(t, price.Must("2000"), l.orders()[0].Quantity)
	require.Equal(t, mandate.Low, l.orders()[0].Limit)
}

// After 254 has superseded 262 the price of 256 fires nothing; 257 under a stale guard is refused, and 254 stands.
func TestASupersededRuleFiresNothing(t *testing.T) {
	l := openLab(t, "2000")
	l.commits(l.set("262", nil))
	l.commits(l.set("254", nil))
	out, err := l.set("257", map[string]any{"expected_value": "262"})
	l.refuses(workingstate.CodeConflict, out, err)
	require.Equal(t, "254", out.Findings[0].Details["current"])

	l.at("11:20")
	w := l.wake(exitIt, holdIt)
	require.Equal(t, "256", w.Last.Last.String())
	require.NotEqual(t, machine.Committed, w.Turns[0].Outcome.Kind)
	require.Equal(t, machine.Committed, w.Turns[1].Outcome.Kind)
	require.Empty(t, l.orders())
	s := l.standing()
	require.Len(t, s.Superseded(), 1)
	require.Equal(t, "262", *s.Superseded()[0].PrevValue)
	require.Equal(t, "254", s.Superseded()[0].Value)

	l.at("12:30") // 253: now it is 254's turn
	w = l.wake(exitIt)
	require.Equal(t, machine.Committed, w.Turns[0].Outcome.Kind)
	require.NoError(t, l.desk.Work(t.Context()))
	require.Equal(t, "253", l.orders()[0].Fills[0].Price.String())
}

// What is not a rule, or no longer one, fires nothing: none set, retired, run out, no price, the market closed, outside the collar.
func TestNoRuleNoExit(t *testing.T) {
	for name, row := range map[string]struct {
		at   string
		set  func(l *lab)
		code string
	}{
		"none":     {"10:07", func(*lab) {}, trading.CodeNoRule},
		"run out":  {"10:07", func(l *lab) { l.commits(l.set("262", map[string]any{"ttl_hours": 1})) }, trading.CodeNoRule},
		"no price": {"10:07", func(l *lab) { l.commits(l.set("about 262", nil)) }, "unknown"},
		"exponent": {"10:07", func(l *lab) { l.commits(l.set("2.62e2", nil)) }, "unknown"},
		"zero":     {"10:07", func(l *lab) { l.commits(l.set("0", nil)) }, "unknown"},
		"negative": {"10:07", func(l *lab) { l.commits(l.set("-262", nil)) }, "unknown"},
		"above":    {"10:06", func(l *lab) { l.commits(l.set("262", nil)) }, trading.CodeNotTouched},
		"closed":   {"13:30", func(l *lab) { l.commits(l.set("262", nil)) }, trading.CodeNotTrading},
		"collar":   {"12:10", func(l *lab) { l.commits(l.set("262", nil)) }, trading.CodeCollar},
		"elsewhere": {"10:07", func(l *lab) {
			l.commits(l.desk.Call(t.Context(), ToolCall{"run", "working_state_set", `{"key":"stop_loss.2330","value":"262","reason":"r"}`}))
		}, trading.CodeNoRule},
		"retired": {"10:07", func(l *lab) {
			l.commits(l.set("262", nil))
			l.commits(l.desk.Call(t.Context(), ToolCall{"run", "working_state_clear", `{"key":"stop_loss.2317","reason":"r"}`}))
		}, trading.CodeNoRule},
	} {
		t.Run(name, func(t *testing.T) {
			l := openLab(t, "2000")
			row.set(l)
			l.at(row.at)
			l.wake()
			out, err := l.desk.Exit(t.Context(), Rule)
			l.refuses(row.code, out, err)
			require.NoError(t, l.desk.Work(t.Context()))
			require.Empty(t, l.orders())
			require.Empty(t, l.standing().Exits)
		})
	}
}

// A rule names its own instrument: another one's is about something else.
func TestAnotherRule(t *testing.T) {
	l := openLab(t, "2000")
	l.commits(l.desk.Call(t.Context(), ToolCall{"run", "working_state_set", `{"key":"stop_loss.2330","value":"900","reason":"r"}`}))
	l.at("10:07")
	l.wake()
	out, err := l.desk.Exit(t.Context(), "stop_loss.2330")
	l.refuses(machine.CodeOtherSubject, out, err)
}

// A purchase is one lot, within the operator's limit, and only with a stop below the price.
func TestEntering(t *testing.T) {
	l := openLab(t, "0")
	out, err := l.desk.Enter(t.Context(), Rule)
	l.refuses(trading.CodeNoRule, out, err)
	l.commits(l.set("262", nil))
	tight := mandate
	tight.Most = price.Must("999")
	l.now = l.now.Add(time.Second)
	l.commits(l.desk.Allow(t.Context(), tight))
	out, err = l.desk.Enter(t.Context(), Rule)
	l.refuses(trading.CodeOverLimit, out, err)
	l.now = l.now.Add(time.Second)
	tight.Most = price.Must("1000") // just one lot
	l.commits(l.desk.Allow(t.Context(), tight))
	l.commits(l.desk.Enter(t.Context(), Rule))
	require.NoError(t, l.desk.Work(t.Context()))
	require.Equal(t, trading.Holding, l.standing().State)
	require.Equal(t, exchange.Filled, l.orders()[0].Status)
	require.Equal(t, "1000", l.orders()[0].Quantity.String())
	require.Equal(t, mandate.High, l.orders()[0].Limit)
}
