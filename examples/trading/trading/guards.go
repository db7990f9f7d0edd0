package trading

import (
	"time"

	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/guard"
)

// Codes of the desk's own refusals. All are stable.
const (
	CodeNotTrading  = "not_trading"       // the market is closed
	CodeCollar      = "outside_collar"    // the price is outside what the operator allows
	CodeNoRule      = "no_rule"           // the working state holds no such key
	CodeRuleExpired = "rule_expired"      // it did, and its time is over
	CodeNoPrice     = "rule_no_price"     // what it holds is no price
	CodeNotTouched  = "stop_not_touched"  // the price is above the rule
	CodeTouched     = "stop_touched"      // the price is at or below the rule: it is too late to hold, or to enter
	CodeOverLimit   = "over_limit"        // more than the operator allows to be held
	CodeLotOverflow = "quantity_overflow" // a sum that does not fit
)

var (
	trading = guard.Holds("trading", "the market is closed", LastQuote, func(q Quote) bool { return q.Trading })
	collar  = guard.New("collar", insideCollar, LastQuote, Allowed)
	held    = guard.Holds("held", "the broker says that nothing is held", Position, func(q price.Decimal) bool { return q.Sign() > 0 })
	limit   = guard.New("limit", withinLimit, Position, Allowed)
	touched = guard.New("touched", stopTouched, LastQuote, Rule)
	above   = guard.New("above", notTouched, LastQuote, Rule)
	ruled   = guard.New("ruled", ruleStands, Rule)

	taken   = guard.Holds("taken", "the exchange rejected the order", OrderState, func(f Fill) bool { return f.Rejected == "" })
	soldOut = guard.Holds("sold_out", "a part was not sold", OrderState, func(f Fill) bool { return f.Filled == f.Quantity })
	bought  = guard.Holds("bought", "nothing was bought", OrderState, func(f Fill) bool { return f.Filled.Sign() > 0 })
)

func insideCollar(s *guard.Scene) guard.Verdict {
	q, _ := LastQuote.Get(s)
	m, _ := Allowed.Get(s)
	if q.Last.Cmp(m.Low) < 0 || q.Last.Cmp(m.High) > 0 {
		return guard.Deny(CodeCollar, "the price is outside the operator's collar").
			With("last", q.Last.String()).With("low", m.Low.String()).With("high", m.High.String())
	}
	return guard.Allow()
}

func withinLimit(s *guard.Scene) guard.Verdict {
	has, _ := Position.Get(s)
	m, _ := Allowed.Get(s)
	sum, err := has.Add(m.Lot)
	if err != nil {
		return guard.Deny(CodeLotOverflow, "position and lot do not add up to a quantity")
	}
	if m.Lot.Sign() <= 0 || sum.Cmp(m.Most) > 0 {
		return guard.Deny(CodeOverLimit, "it would be more than the operator's limit").
			With("position", has.String()).With("lot", m.Lot.String()).With("most", m.Most.String())
	}
	return guard.Allow()
}

// stopAt is the price that a commitment names, at an instant; the verdict says why there is none. It may have run out since it was
// read.
func stopAt(c Stop, now time.Time) (price.Decimal, guard.Verdict) {
	switch {
	case !c.Holds:
		return price.Decimal{}, guard.Deny(CodeNoRule, "the working state holds no such rule")
	case !c.Until.IsZero() && !now.Before(c.Until):
		return price.Decimal{}, guard.Deny(CodeRuleExpired, "the rule's time is over")
	case c.Value.Sign() <= 0:
		return price.Decimal{}, guard.Deny(CodeNoPrice, "what the rule says is no price")
	}
	return c.Value, guard.Allow()
}

func ruleStands(s *guard.Scene) guard.Verdict {
	c, _ := Rule.Get(s)
	_, v := stopAt(c, s.Now())
	return v
}

// stopTouched holds when the rule stands and the price is at or below it.
func stopTouched(s *guard.Scene) guard.Verdict {
	q, _ := LastQuote.Get(s)
	c, _ := Rule.Get(s)
	stop, v := stopAt(c, s.Now())
	if v.Allowed() && q.Last.Cmp(stop) > 0 {
		v = guard.Deny(CodeNotTouched, "the price is above the rule").With("last", q.Last.String()).With("rule", stop.String())
	}
	return v
}

// notTouched holds unless the rule stands and the price is at or below it: where no rule stands, none forbids, and while the market is
// closed there is nothing to do but to hold.
func notTouched(s *guard.Scene) guard.Verdict {
	q, _ := LastQuote.Get(s)
	c, _ := Rule.Get(s)
	stop, v := stopAt(c, s.Now())
	if v.Allowed() && q.Trading && q.Last.Cmp(stop) <= 0 {
		return guard.Deny(CodeTouched, "the price has touched the rule that stands").With("last", q.Last.String()).With("rule", stop.String())
	}
	return guard.Allow()
}
