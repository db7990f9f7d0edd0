package guard

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// Consent is what a reply says about the offer it answers. The zero value is Unclear.
type Consent int

// The three verdicts. Only Yes permits anything, and only No declines; Unclear asks once more.
const (
	Unclear Consent = iota
	Yes
	No
)

// String is "unclear", "yes" or "no"; any other value is unclear too.
func (c Consent) String() string {
	switch c {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "unclear"
}

// consentLimit is the longest text that can be explicit, in bytes. Who writes more says more than yes or no.
const consentLimit = 80

// Explicit judges free text, English or Chinese, by one rule: the whole utterance, but for case, spacing
// and single marks between its clauses, is one of a closed list built from the slots below. Every
// Yes on it says yes or confirms, or says ok and names the act. All else is Unclear, be it hedged,
// conditional, quoted, a question, "yes but", a bare "ok", an emoji or a letter of another script: a false
// yes costs money, a false unclear one more question. It does not know the offer: what a reply is about, and whether
// it counts at all, is judged by the offer's id, party and time. (Field cases B024, B025 and B027.)
func Explicit(text string) Consent {
	if len(text) > consentLimit {
		return Unclear
	}
	var space [2 * consentLimit]byte
	return consentUtterances()[string(consentNormal(space[:0], text))]
}

// consentSlot lists the phrases for one place in an utterance; "" makes the place optional.
type consentSlot []string

// consentRule is a row of slots. Clauses of English may run together ("yes please") or be marked off
// ("Yes, please."); in Chinese, where words run together and change each other, a mark or a space parts them.
type consentRule struct {
	verdict Consent
	between []string
	slots   []consentSlot
}

var (
	consentOpen   = []string{" ", ","}
	consentMarked = []string{",", " "}
	consentTight  = []string{""}

	consentPlease = consentSlot{"", "please"}
	consentThanks = consentSlot{"", "thanks", "thank you"}
	consentAct    = consentSlot{"go ahead", "do it", "proceed", "send it", "refund it",
		"send the refund", "issue the refund", "process the refund"}
	consentConfirm = consentPhrases(" ", consentSlot{"confirm", "approve"}, consentSlot{"", "it", "the refund"})
	consentIDo     = consentPhrases(" ", consentSlot{"i"}, consentConfirm)
	consentWait    = consentSlot{"", "wait", "stop", "hold on"}
	consentDont    = consentPhrases(" ", consentSlot{"do not", "don't"},
		consentSlot{"", "do it", "do that", "send it", "send that", "run it", "run that", "refund it", "proceed", "go ahead", "confirm"})
	consentStop = consentSlot{"stop", "stop it", "stop that", "cancel", "cancel it", "cancel that", "i refuse", "i decline",
		"i do not confirm", "i don't confirm", "i do not approve", "i don't approve"}

	consentXie     = consentSlot{"", "谢谢"}
	consentQing    = consentSlot{"请退款", "请执行", "请发送", "请办理"}
	consentZuo     = consentSlot{"退款", "执行", "发送", "办理", "请退款", "请执行", "请发送", "请办理"}
	consentQueren  = consentPhrases("", consentSlot{"", "我"}, consentSlot{"确认", "同意", "批准"}, consentSlot{"", "退款", "执行", "发送"})
	consentBuyao   = consentPhrases("", consentSlot{"", "请"}, consentSlot{"不要", "别"}, consentSlot{"", "退款", "执行", "发送"})
	consentJujue   = consentPhrases("", consentSlot{"", "我"}, consentSlot{"拒绝", "不同意", "不确认"}, consentSlot{"", "退款"})
	consentQuxiao  = consentSlot{"不", "不行", "不可以", "不用", "不用了", "取消", "请取消", "停", "停止", "请停止"}
	consentDengyi  = consentSlot{"", "不", "等等", "等一下", "停"}
	consentGrammar = []consentRule{
		{Yes, consentOpen, []consentSlot{{"yes"}, consentPlease, consentThanks}},
		{Yes, consentOpen, []consentSlot{{"yes", "ok", "okay"}, consentPlease, consentAct, consentPlease, consentThanks}},
		{Yes, consentOpen, []consentSlot{{"yes"}, consentConfirm, consentThanks}}, // alone it may ask us to confirm
		{Yes, consentOpen, []consentSlot{{"", "yes"}, consentIDo, consentThanks}},
		{Yes, consentOpen, []consentSlot{{"", "yes"}, {"confirmed", "approved"}, consentThanks}},
		{Yes, consentMarked, []consentSlot{{"是", "是的", "确定", "我确定"}, consentXie}},
		{Yes, consentMarked, []consentSlot{{"是", "是的", "好", "好的"}, consentZuo, consentXie}},
		{Yes, consentTight, []consentSlot{{"是的", "好的"}, consentQing}},
		{Yes, consentMarked, []consentSlot{{"", "是的", "好的"}, consentQueren, consentXie}},

		{No, consentOpen, []consentSlot{{"no", "nope", "no way", "absolutely not", "definitely not"}, consentThanks}},
		{No, consentOpen, []consentSlot{consentWait, {"", "no"}, consentPlease, consentDont, consentThanks}},
		{No, consentOpen, []consentSlot{consentWait, {"", "no"}, consentPlease, consentStop, consentThanks}},
		{No, consentMarked, []consentSlot{consentDengyi, consentBuyao, consentXie}},
		{No, consentMarked, []consentSlot{consentDengyi, consentJujue, consentXie}},
		{No, consentMarked, []consentSlot{consentDengyi, consentQuxiao, consentXie}},
	}

	// consentUtterances is every utterance of the grammar, in normal form: some 15,000, made on first use.
	consentUtterances = sync.OnceValue(func() map[string]Consent {
		all := map[string]Consent{}
		for _, r := range consentGrammar {
			for _, u := range consentExpand(r.between, r.slots) {
				all[u] = r.verdict
			}
		}
		return all
	})
)

// consentPhrases makes one slot of several whose words run together.
func consentPhrases(between string, slots ...consentSlot) consentSlot {
	return consentExpand([]string{between}, slots)
}

// consentExpand lists what a row of slots can say, with every way to join two of them.
func consentExpand(between []string, slots []consentSlot) []string {
	said := []string{""}
	for _, slot := range slots {
		var next []string
		for _, before := range said {
			for _, phrase := range slot {
				if before == "" || phrase == "" {
					next = append(next, before+phrase)
					continue
				}
				for _, b := range between {
					next = append(next, before+b+phrase)
				}
			}
		}
		said = next
	}
	return said
}

// consentForms are spellings that mean the same: marks between clauses, the typographic apostrophe, and
// traditional characters for the simplified ones of the grammar.
var consentForms = map[rune]rune{
	'.': ',', '!': ',', '，': ',', '。': ',', '！': ',', '’': '\'',
	'確': '确', '認': '认', '請': '请', '執': '执', '發': '发', '辦': '办', '謝': '谢', '絕': '绝',
}

// consentNormal appends text in lower-case ASCII, one space between words and one comma between clauses.
// Nothing is dropped that could carry a meaning: "yes..." keeps an empty clause, which no utterance has.
func consentNormal(b []byte, text string) []byte {
	space, begun := false, false // one is due before the next word; the clause has a word
	for _, r := range strings.Trim(text, " \t\r\n") {
		r = consentLower(r)
		if r < 'a' || r > 'z' {
			if form, ok := consentForms[r]; ok {
				r = form
			}
		}
		switch {
		case r == ' ':
			space = begun
			continue
		case r == ',':
			space, begun = false, false
		case space:
			b = append(b, ' ')
			space = false
		default:
			begun = true
		}
		b = utf8.AppendRune(b, r)
	}
	return bytes.TrimSuffix(b, []byte(","))
}

// consentLower leaves all but ASCII alone: the Kelvin sign must not become a k.
func consentLower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
