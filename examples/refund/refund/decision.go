package refund

import (
	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
)

// InterpretReply is the model call that reads what the customer said while the desk waits for their word.
var InterpretReply = projection.MustDefine(Machine, projection.Spec[Refund]{
	Name:   "interpret_reply",
	In:     []machine.State{AwaitingUserConfirmation},
	Goal:   func(r Refund) string { return "Refund order " + r.OrderID + " after confirmation" },
	Stages: map[machine.State]string{AwaitingUserConfirmation: "waiting for the customer's confirmation"},
	Fields: []projection.Field[Refund]{
		{Label: "order", Value: func(r Refund) any { return r.OrderID }},
		{Label: "amount", Value: func(r Refund) any { return r.Amount }},
		{Label: "questions asked again", Value: func(r Refund) any { return r.Asked }},
	},
	Facts: []projection.Fact{
		projection.ShowOwned("the order belongs to the signed-in customer", OrderOwner),
		{Label: "status of the order", Fact: OrderStatus},
		projection.Show("the policy allows the refund", Eligible, func(e Eligibility) any { return e.Eligible }),
	},
	NotYet:   []projection.Undone[Refund]{{Label: "the refund has not been sent", Effect: IssueRefund}},
	Question: "Does this message amount to explicit confirmation?",
	Allow: []projection.Answer{
		{Event: ConfirmRefund, Means: "the customer explicitly confirmed exactly this refund"},
		{Event: AskAgain, Means: "it is not clear: ask once more; text is put to the customer"},
		{Event: CancelRefund, Means: "the customer does not want the refund; text says why"},
	},
	Drop: []string{"questions asked again"},
	Other: []projection.Translation[Refund]{
		{Words: &projection.TraditionalChinese, Texts: traditional, Goal: func(r Refund) string { return "經確認後為訂單 " + r.OrderID + " 退款" }},
		{Words: &projection.SimplifiedChinese, Texts: simplified, Goal: func(r Refund) string { return "经确认后为订单 " + r.OrderID + " 退款" }},
	},
})

var traditional = map[string]string{
	"waiting for the customer's confirmation": "等待顧客確認",
	"order":                 "訂單",
	"amount":                "金額",
	"questions asked again": "再次詢問的次數",
	"the order belongs to the signed-in customer":                 "訂單屬於已登入的這位顧客",
	"status of the order":                                         "訂單狀態",
	"the policy allows the refund":                                "政策允許退款",
	"the refund has not been sent":                                "退款尚未發出",
	"Does this message amount to explicit confirmation?":          "這則訊息是否等於明確確認？",
	"the customer explicitly confirmed exactly this refund":       "顧客已明確確認這筆退款",
	"it is not clear: ask once more; text is put to the customer": "不夠明確：再問一次；text 會轉達給顧客",
	"the customer does not want the refund; text says why":        "顧客不想退款；text 說明原因",
}

var simplified = map[string]string{
	"waiting for the customer's confirmation": "等待顾客确认",
	"order":                 "订单",
	"amount":                "金额",
	"questions asked again": "再次询问的次数",
	"the order belongs to the signed-in customer":                 "订单属于已登录的这位顾客",
	"status of the order":                                         "订单状态",
	"the policy allows the refund":                                "政策允许退款",
	"the refund has not been sent":                                "退款尚未发出",
	"Does this message amount to explicit confirmation?":          "这条消息是否等于明确确认？",
	"the customer explicitly confirmed exactly this refund":       "顾客已明确确认这笔退款",
	"it is not clear: ask once more; text is put to the customer": "不够明确：再问一次；text 会转达给顾客",
	"the customer does not want the refund; text says why":        "顾客不想退款；text 说明原因",
}
