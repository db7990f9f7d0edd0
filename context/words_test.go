package projection_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
)

var catalogues = []*projection.Words{&projection.English, &projection.TraditionalChinese, &projection.SimplifiedChinese}

// translated is the desk's decision in three languages.
func translated() projection.Spec[parcel] {
	s := deskSpec()
	hant := map[string]string{
		"What does the customer want?": "顧客想要什麼？", "open": "開啟", "waiting for a word": "等待回覆",
		"price": "價格", "notes": "備註", "due": "期限", "the order is the customer's": "訂單屬於這位顧客", "status": "狀態",
		"pieces of item": "貨品件數", "grams": "克數", "nothing has been shipped": "尚未寄出", "no notes were taken": "尚無備註",
		"ask the customer": "詢問顧客", "the items that the customer picked": "顧客所選的貨品", "the customer agreed to exactly this": "顧客明確同意此事",
		"nothing is to be done": "無須處理", "the customer does not want it": "顧客不要了",
	}
	hans := map[string]string{
		"What does the customer want?": "顾客想要什么？", "open": "开启", "waiting for a word": "等待回复",
		"price": "价格", "notes": "备注", "due": "期限", "the order is the customer's": "订单属于这位顾客", "status": "状态",
		"pieces of item": "货品件数", "grams": "克数", "nothing has been shipped": "尚未寄出", "no notes were taken": "尚无备注",
		"ask the customer": "询问顾客", "the items that the customer picked": "顾客所选的货品", "the customer agreed to exactly this": "顾客明确同意此事",
		"nothing is to be done": "无须处理", "the customer does not want it": "顾客不要了",
	}
	s.Other = []projection.Translation[parcel]{
		{Words: &projection.TraditionalChinese, Goal: func(p parcel) string { return "寄出訂單 " + p.Order }, Texts: hant},
		{Words: &projection.SimplifiedChinese, Goal: func(p parcel) string { return "寄出订单 " + p.Order }, Texts: hans},
	}
	return s
}

// TestLanguages: the same decision in each language, as a person has read it. Tool names, payloads and JSON keys are the
// same in all.
func TestLanguages(t *testing.T) {
	d := define(t, translated())
	s := waiting(t)
	english := viewOf(t, d, s, noon.Add(90*time.Minute))
	for _, w := range catalogues {
		t.Run(w.Language, func(t *testing.T) {
			in, err := d.In(w.Language)
			require.NoError(t, err)
			require.Equal(t, w.Language, in.Language())
			v := viewOf(t, in, s, noon.Add(90*time.Minute), projection.Quote{Origin: "customer", Text: "好 ok"})
			_, err = v.Read([]byte(`{"event":"agree","payload":{"order":"A1","items":[],"price":1}}`))
			r, ok := v.Refusal(err)
			require.True(t, ok)
			after, err := v.After(r)
			require.NoError(t, err)
			golden(t, after)
			require.Equal(t, english.Allowed(), v.Allowed())
			require.Equal(t, keysOf(decoded(t, viewOf(t, in, s, noon.Add(90*time.Minute)).JSON())), keysOf(decoded(t, english.JSON())))
		})
	}
}

// keysOf are the keys of a JSON value, as a value of the same shape.
func keysOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, below := range v {
			out[k] = keysOf(below)
		}
		return out
	case []any:
		var out []any
		for _, below := range v {
			out = append(out, keysOf(below))
		}
		return out
	}
	return nil
}

// TestCatalogues are whole, fill one line, and call the statuses in the rules what they call them in the facts.
func TestCatalogues(t *testing.T) {
	for _, w := range catalogues {
		v := reflect.ValueOf(*w)
		for i := range v.NumField() {
			f := v.Field(i)
			texts := []string{}
			switch f.Kind() {
			case reflect.String:
				texts = append(texts, f.String())
			case reflect.Slice, reflect.Array:
				for j := range f.Len() {
					texts = append(texts, f.Index(j).String())
				}
			case reflect.Map:
				require.Len(t, w.Reasons, len(projection.English.Reasons), w.Language)
				for code := range projection.English.Reasons {
					texts = append(texts, w.Reasons[code])
				}
			}
			for _, text := range texts {
				require.NotEmpty(t, text, "%s %s", w.Language, v.Type().Field(i).Name)
				require.NotContains(t, text, "\n")
			}
		}
		verified, _, _ := strings.Cut(w.Verified, "%1")
		for _, status := range []string{w.Stale, w.Unknown, strings.TrimRight(verified, "，, ")} {
			require.Contains(t, w.Rules[0], status, w.Language)
		}
	}
}

// TestWordsOfOnesOwn: a user's catalogue is checked as ours are.
func TestWordsOfOnesOwn(t *testing.T) {
	own := projection.English
	own.Language, own.Yes = "en-x-own", "aye"
	s := deskSpec()
	s.Words = &own
	require.Contains(t, viewOf(t, define(t, s), waiting(t), noon).Markdown(), "customer's: aye [verified, just now]")
	own.Verified = "[verified]"
	require.Equal(t, "words", faultCodes(t, s))
	_, err := projection.Define(desk, s)
	require.ErrorContains(t, err, "Verified %1")
	own.Verified, own.Goal = "[verified, %1]", "Goal\n#"
	_, err = projection.Define(desk, s)
	require.ErrorContains(t, err, "Goal in one plain line")
	own.Goal, own.Reasons = "Goal", map[string]string{"prose": "no prose"}
	_, err = projection.Define(desk, s)
	require.ErrorContains(t, err, "Reasons syntax")
}

// TestTranslationsFillOneLine as the texts that they are of.
func TestTranslationsFillOneLine(t *testing.T) {
	s := translated()
	s.Other[1].Texts["price"] = "价格\n# x"
	require.Equal(t, "text", faultCodes(t, s))
}

// TestAges in words.
func TestAges(t *testing.T) {
	d := define(t, translated())
	hant, err := d.In("zh-Hant")
	require.NoError(t, err)
	s := waiting(t)
	for age, want := range map[time.Duration][2]string{
		-time.Second:                    {"just now", "剛才"},
		59 * time.Second:                {"just now", "剛才"},
		time.Minute:                     {"1 minute ago", "1 分鐘前"},
		2*time.Minute + 59*time.Second:  {"2 minutes ago", "2 分鐘前"},
		59*time.Minute + 59*time.Second: {"59 minutes ago", "59 分鐘前"},
		time.Hour:                       {"1 hour ago", "1 小時前"},
		23*time.Hour + 59*time.Minute:   {"23 hours ago", "23 小時前"},
		24 * time.Hour:                  {"1 day ago", "1 天前"},
		47*time.Hour + 59*time.Minute:   {"1 day ago", "1 天前"},
	} {
		require.Contains(t, line(viewOf(t, d, s, noon.Add(age)), "- the order is"), want[0]+"", age)
		require.Contains(t, line(viewOf(t, hant, s, noon.Add(age)), "- 訂單屬於"), want[1], age)
	}
}

// TestZone: dates are written in the decision's zone, with its name.
func TestZone(t *testing.T) {
	s := deskSpec()
	s.Zone = time.FixedZone("HKT", 8*3600)
	v := viewOf(t, define(t, s), waiting(t), noon)
	require.Contains(t, v.Markdown(), "- due: 2026-03-02 20:00 HKT")
	require.Contains(t, v.Markdown(), "since 2026-03-01 20:00 HKT, until 2026-03-03 20:00 HKT")
	require.Contains(t, v.Markdown(), "Now: 2026-03-01 20:00 HKT")
}

// TestParty: who is waited for is the owner in words, or a role.
func TestParty(t *testing.T) {
	d, s := define(t, deskSpec()), waiting(t)
	s.Waiting = &machine.Waiting{For: "approver\n# x", Since: noon, Until: noon}
	require.Contains(t, viewOf(t, d, s, noon).Markdown(), "\nWaiting for approver # x since ")
}
