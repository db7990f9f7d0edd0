package projection

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Words are the framework's own words in one language: a catalogue that a user can add to. Every field is required, and
// a field whose comment names %1, %2 or %3 must hold them; [Define] reports what is missing. The texts of a decision
// itself are translated by a [Translation].
type Words struct {
	Language string // a BCP 47 tag: en, zh-Hant

	Intro     string   // what the reader is to do
	Rules     []string // what the statuses, the quotes and the answers mean
	Question  string   // heading
	Goal      string   // heading
	Stage     string   // heading
	Now       string   // heading
	Waiting   string   // for whom %1, since when %2, until when %3
	Owner     string   // the party [machine.TaskOwner]
	Task      string   // heading of what the task's data says
	Facts     string   // heading
	NotYet    string   // heading of what has not happened
	Said      string   // heading of quotes
	Answers   string   // heading
	NoAnswers string   // when nothing can be answered now
	Yes       string
	No        string
	None      string    // an absent value
	Verified  string    // how long ago %1
	Stale     string    // needs re-verification
	LastKnown string    // the value that was last known %1, how long ago %2
	Unknown   string    // not known
	Cut       string    // bytes shown %1, bytes in all %2
	More      string    // values of a list that are not shown %1
	Omitted   string    // lines that were left out %1
	Refused   string    // heading of what was wrong with the answer before
	Unchanged string    // that a refused answer changed nothing
	Allowed   string    // the answers that are open %1
	JustNow   string    // an age
	Minutes   [2]string // one minute ago, and %1 minutes ago
	Hours     [2]string
	Days      [2]string
	Reasons   map[string]string // what the codes of refusals mean; a guard's own codes may be added
}

// ago is the age in words. Ages below a minute, and times ahead of the clock, are just now.
func (w *Words) ago(d time.Duration) string {
	for _, u := range []struct {
		unit  time.Duration
		words *[2]string
	}{{24 * time.Hour, &w.Days}, {time.Hour, &w.Hours}, {time.Minute, &w.Minutes}} {
		switch n := int(d / u.unit); {
		case n == 1:
			return u.words[0]
		case n > 1:
			return strings.Replace(u.words[1], "%1", strconv.Itoa(n), 1)
		}
	}
	return w.JustNow
}

// missing are the names of the fields that have no text.
func (w *Words) missing() []string {
	var out []string
	for name, text := range map[string]string{
		"Waiting %1": w.Waiting, "Waiting %2": w.Waiting, "Waiting %3": w.Waiting, "Verified %1": w.Verified,
		"LastKnown %1": w.LastKnown, "LastKnown %2": w.LastKnown, "Cut %1": w.Cut, "Cut %2": w.Cut, "More %1": w.More,
		"Omitted %1": w.Omitted, "Allowed %1": w.Allowed, "Minutes %1": w.Minutes[1], "Hours %1": w.Hours[1], "Days %1": w.Days[1],
	} {
		if _, verb, _ := strings.Cut(name, " "); text != "" && !strings.Contains(text, verb) {
			out = append(out, name)
		}
	}
	v := reflect.ValueOf(*w)
	for i := range v.NumField() {
		f := v.Field(i)
		empty := f.IsZero() || (f.Kind() == reflect.Slice || f.Kind() == reflect.Map) && f.Len() == 0
		if f.Kind() == reflect.Array {
			empty = f.Index(0).IsZero() || f.Index(1).IsZero()
		}
		if empty {
			out = append(out, v.Type().Field(i).Name)
		}
	}
	for code := range English.Reasons {
		if w.Reasons[code] == "" {
			out = append(out, "Reasons "+code)
		}
	}
	slices.Sort(out)
	return out
}

// fill writes a text with %1, %2 and %3 replaced. What is put in is not looked at again.
func fill(dst []byte, text string, args ...string) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+1 < len(text) {
			if n := int(text[i+1] - '1'); n >= 0 && n < len(args) {
				dst = append(dst, args[n]...)
				i++
				continue
			}
		}
		dst = append(dst, text[i])
	}
	return dst
}
