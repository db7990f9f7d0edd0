package trading

import (
	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// WakeUp is the model call of each wake-up: what to do at the price of now. The view ends where the block of the agent's working state
// begins; see [Prompt].
var WakeUp = projection.MustDefine(Machine, projection.Spec[Book]{
	Name: "wake_up",
	In:   []machine.State{Flat, Holding},
	Goal: func(b Book) string { return "Trade " + b.Symbol + " for one day by the rule that stands" },
	Stages: map[machine.State]string{
		Flat:    "nothing is held",
		Holding: "a position is held",
	},
	Fields: []projection.Field[Book]{
		{Label: "instrument", Value: func(b Book) any { return b.Symbol }},
		{Label: "key of the stop in the working state", Value: func(b Book) any { return b.Rule }},
	},
	Facts: []projection.Fact{
		projection.Show("last price", LastQuote, func(q Quote) any { return q.Last }),
		projection.Show("the market is trading", LastQuote, func(q Quote) any { return q.Trading }),
		{Label: "quantity held, says the broker", Fact: Position},
		projection.Show("the stop that stands", Rule, stopShown),
		projection.Show("the stop ends at", Rule, endShown),
		projection.Show("lowest price the operator allows", Allowed, func(m Mandate) any { return m.Low }),
		projection.Show("highest price the operator allows", Allowed, func(m Mandate) any { return m.High }),
		projection.Show("most that may be held", Allowed, func(m Mandate) any { return m.Most }),
	},
	NotYet:   []projection.Undone[Book]{{Label: "no order has been sent today", Effect: SendOrder}},
	Question: "What follows from the stop that stands and the price now? Notes are not rules.",
	Allow: []projection.Answer{
		{Event: ExitPosition, Means: "the price is at or below the stop that stands: sell what is held"},
		{Event: Hold, Means: "the price is above the stop, or no stop stands; text says why"},
		{Event: EnterPosition, Means: "buy one lot of the operator's, with the stop that stands"},
	},
	Zone: Taipei,
	Other: []projection.Translation[Book]{
		{Words: &projection.TraditionalChinese, Texts: traditional, Goal: func(b Book) string { return "依現行規則，在一日內交易 " + b.Symbol }},
		{Words: &projection.SimplifiedChinese, Texts: simplified, Goal: func(b Book) string { return "依现行规则，在一日内交易 " + b.Symbol }},
	},
})

func stopShown(s Stop) any {
	if !s.Holds {
		return nil
	}
	return s.Value
}

func endShown(s Stop) any {
	if !s.Holds || s.Until.IsZero() {
		return nil
	}
	return s.Until
}

// Prompt is what the model of a wake-up is given: the view, and behind it the blocks of the agent's working state, so that what is the
// same each time comes first.
func Prompt(v projection.View, blocks ...string) string {
	return workingstate.Tail(v.Markdown(), blocks...)
}

var traditional = map[string]string{
	"nothing is held":                      "未持有部位",
	"a position is held":                   "持有部位",
	"instrument":                           "標的",
	"key of the stop in the working state": "工作狀態中停損的鍵",
	"last price":                           "最新成交價",
	"the market is trading":                "市場交易中",
	"quantity held, says the broker":       "券商所載持有數量",
	"the stop that stands":                 "現行停損價",
	"the stop ends at":                     "停損有效至",
	"lowest price the operator allows":     "營運者允許的最低價",
	"highest price the operator allows":    "營運者允許的最高價",
	"most that may be held":                "持有上限",
	"no order has been sent today":         "今日尚未送出任何委託",
	"What follows from the stop that stands and the price now? Notes are not rules.": "依現行停損與現在的價格，該做什麼？筆記不是規則。",
	"the price is at or below the stop that stands: sell what is held":               "價格已到或低於現行停損：賣出所持部位",
	"the price is above the stop, or no stop stands; text says why":                  "價格高於停損，或沒有停損；text 說明原因",
	"buy one lot of the operator's, with the stop that stands":                       "依營運者的單位買進一單位，並以現行停損保護",
}

var simplified = map[string]string{
	"nothing is held":                      "未持有头寸",
	"a position is held":                   "持有头寸",
	"instrument":                           "标的",
	"key of the stop in the working state": "工作状态中止损的键",
	"last price":                           "最新成交价",
	"the market is trading":                "市场交易中",
	"quantity held, says the broker":       "券商所载持有数量",
	"the stop that stands":                 "现行止损价",
	"the stop ends at":                     "止损有效至",
	"lowest price the operator allows":     "运营者允许的最低价",
	"highest price the operator allows":    "运营者允许的最高价",
	"most that may be held":                "持有上限",
	"no order has been sent today":         "今日尚未发出任何委托",
	"What follows from the stop that stands and the price now? Notes are not rules.": "依现行止损与现在的价格，该做什么？笔记不是规则。",
	"the price is at or below the stop that stands: sell what is held":               "价格已到或低于现行止损：卖出所持头寸",
	"the price is above the stop, or no stop stands; text says why":                  "价格高于止损，或没有止损；text 说明原因",
	"buy one lot of the operator's, with the stop that stands":                       "按运营者的单位买进一单位，并以现行止损保护",
}
