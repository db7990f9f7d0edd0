package guard

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type consentRow struct {
	line               int
	verdict, said, why string
}

func consentRows(t *testing.T) []consentRow {
	t.Helper()
	raw, err := os.ReadFile("testdata/consent.txt")
	require.NoError(t, err)
	var rows []consentRow
	for i, line := range strings.Split(string(raw), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "|")
		require.Len(t, cells, 3, "line %d", i+1)
		for j := range cells {
			cells[j] = strings.Trim(cells[j], " ")
		}
		if strings.HasPrefix(cells[1], `"`) {
			cells[1], err = strconv.Unquote(cells[1])
			require.NoError(t, err, "line %d", i+1)
		}
		rows = append(rows, consentRow{i + 1, cells[0], cells[1], cells[2]})
	}
	return rows
}

func TestExplicitTable(t *testing.T) {
	rows := consentRows(t)
	require.GreaterOrEqual(t, len(rows), 140)
	seen := map[string]int{}
	for _, r := range rows {
		require.NotEmpty(t, r.why, "line %d", r.line)
		require.Zero(t, seen[r.said], "line %d repeats one", r.line)
		seen[r.said] = r.line
		require.Equal(t, r.verdict, Explicit(r.said).String(), "line %d: %q: %s", r.line, r.said, r.why)
	}
}

// Field case B024: any message in the waiting state was taken as consent.
func TestB024StopIsNotApproval(t *testing.T) {
	require.Equal(t, No, Explicit("wait, do not run that"))
	require.Equal(t, No, Explicit("do NOT run that"))
}

// Field case B025, as far as text goes: a yes to something that it names is not a yes to the offer.
func TestB025YesToSomethingElse(t *testing.T) {
	for _, said := range []string{"yes to shipping", "yes, ship it", "yes but to my other card", "yes, to the other question"} {
		require.Equal(t, Unclear, Explicit(said), said)
	}
}

func TestConsentString(t *testing.T) {
	require.Equal(t, "unclear yes no unclear", Consent(0).String()+" "+Yes.String()+" "+No.String()+" "+Consent(7).String())
}

func consentAll(verdict Consent) []string {
	var out []string
	for said, v := range consentUtterances() {
		if v == verdict {
			out = append(out, said)
		}
	}
	return slices.Sorted(slices.Values(out))
}

// The list is closed and says what it is made for: every yes affirms, none denies, and no rule overrules another.
func TestConsentGrammar(t *testing.T) {
	for _, said := range consentAll(Yes) {
		affirms := strings.ContainsAny(said, "是好确同批")
		for _, word := range strings.FieldsFunc(said, func(r rune) bool { return r == ' ' || r == ',' }) {
			affirms = affirms || slices.Contains([]string{"yes", "ok", "okay", "i", "confirmed", "approved"}, word)
		}
		require.True(t, affirms, said)
		for _, denial := range []string{"no", "n't", "not", "stop", "cancel", "wait", "不", "别", "取消", "停", "拒", "吗", "吧", "?"} {
			require.NotContains(t, said, denial)
		}
	}
	total := 0
	byRule := map[string]Consent{}
	for _, r := range consentGrammar {
		for _, said := range consentExpand(r.between, r.slots) {
			former, ok := byRule[said]
			require.True(t, !ok || former == r.verdict, said)
			byRule[said] = r.verdict
			total++
			require.LessOrEqual(t, len(said), consentLimit, said)
			require.Equal(t, said, string(consentNormal(nil, said)), "not in normal form, so never matched")
			require.Equal(t, r.verdict, Explicit(said), said)
		}
	}
	require.Equal(t, byRule, consentUtterances())
	require.NotContains(t, consentUtterances(), "")
	t.Logf("%d utterances, %d yes, %d no", len(byRule), len(consentAll(Yes)), len(consentAll(No)))
}

func TestConsentLimit(t *testing.T) {
	const said = "yes"
	pad := strings.Repeat(" ", consentLimit-len(said))
	require.Equal(t, Yes, Explicit(said+pad))
	require.Equal(t, Unclear, Explicit(said+pad+" "))
}

var consentSpoilers = []string{
	"maybe", "later", "tomorrow", "i think", "i guess", "probably", "not", "no", "don't", "do not", "never", "n't",
	"but", "but to my other card", "if", "if it is free", "unless", "only if", "when it arrives", "once you checked",
	"or not", "right", "why", "really", "haha", "just kidding", "wait", "stop", "cancel", "cancel it", "later please",
	"and the other one", "also ship it", "50", "to 4111", "?", "??", "...", "…", "。。", "!!", "\"", "'", "👍", "\u200b", "\u202e", "\x00", "\xff",
	"吗", "吗？", "？", "吧", "呢", "但是", "如果", "除非", "不", "不要", "别", "取消", "等等", "明天", "可能", "才怪", "了没",
}

func TestNoYesSurvivesASpoiler(t *testing.T) {
	for _, yes := range consentAll(Yes) {
		for _, spoiler := range consentSpoilers {
			for _, between := range []string{"", " ", ", "} {
				for _, said := range []string{yes + between + spoiler, spoiler + between + yes} {
					require.NotEqual(t, Yes, Explicit(said), "%q", said)
				}
			}
		}
	}
}

func TestConsentRapidInsertions(t *testing.T) {
	letters := rapid.SampledFrom([]rune("abcdefghijklmnopqrstuvwxyzABYES是的不要确认吗请退款еуѕ０1?'\u200b\u0301"))
	yes := consentAll(Yes)
	rapid.Check(t, func(t *rapid.T) {
		runes := []rune(rapid.SampledFrom(yes).Draw(t, "yes"))
		for range rapid.IntRange(1, 6).Draw(t, "insertions") {
			at := rapid.IntRange(0, len(runes)).Draw(t, "at")
			runes = slices.Insert(runes, at, letters.Draw(t, "letter"))
		}
		said := string(runes)
		if Explicit(said) == Yes && consentUtterances()[strings.ToLower(said)] != Yes {
			t.Fatalf("%q is taken for a yes", said)
		}
	})
}

// What a yes may be dressed in without losing its meaning: case, outer space, one closing mark.
func TestConsentRapidDress(t *testing.T) {
	all := append(consentAll(Yes), consentAll(No)...)
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SampledFrom(all).Draw(t, "said")
		want := consentUtterances()[said]
		dressed := said
		if rapid.Bool().Draw(t, "upper") {
			dressed = strings.ToUpper(dressed)
		}
		dressed = strings.ReplaceAll(dressed, ",", rapid.SampledFrom([]string{",", ", ", ". ", " , ", "，", "! "}).Draw(t, "mark"))
		dressed += rapid.SampledFrom([]string{"", ".", "!", "。", "！", " .", "\r\n"}).Draw(t, "end")
		if len(dressed) <= consentLimit && Explicit(dressed) != want {
			t.Fatalf("%q is %v, not %v", dressed, Explicit(dressed), want)
		}
	})
}

// Arbitrary text is never a yes unless its normal form is listed, and nothing panics.
func TestConsentRapidText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.String().Draw(t, "said")
		if Explicit(said) != Unclear && consentUtterances()[string(consentNormal(nil, said))] == Unclear {
			t.Fatalf("%q", said)
		}
	})
}
