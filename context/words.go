package projection

import (
	"fmt"
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
	JustNow   string    // an age
	Minutes   [2]string // one minute ago, and %1 minutes ago
	Hours     [2]string
	Days      [2]string
	Reasons   map[string]string // what the codes of refusals mean; a guard's own codes may be added
}

// appendAgo writes an age in words. Ages below a minute, and times ahead of the clock, are just now.
func (w *Words) appendAgo(dst []byte, age time.Duration) []byte {
	for _, u := range []struct {
		unit  time.Duration
		words *[2]string
	}{{24 * time.Hour, &w.Days}, {time.Hour, &w.Hours}, {time.Minute, &w.Minutes}} {
		switch n := int64(age / u.unit); {
		case n == 1:
			return append(dst, u.words[0]...)
		case n > 1:
			return fill(dst, u.words[1], func(dst []byte, _ int) []byte { return strconv.AppendInt(dst, n, 10) })
		}
	}
	return append(dst, w.JustNow...)
}

// missing are the names of the fields that have no text.
func (w *Words) missing() []string {
	var out []string
	for name, text := range map[string]string{
		"Waiting %1": w.Waiting, "Waiting %2": w.Waiting, "Waiting %3": w.Waiting, "Verified %1": w.Verified,
		"LastKnown %1": w.LastKnown, "LastKnown %2": w.LastKnown, "Cut %1": w.Cut, "Cut %2": w.Cut, "More %1": w.More,
		"Omitted %1": w.Omitted, "Minutes %1": w.Minutes[1], "Hours %1": w.Hours[1], "Days %1": w.Days[1],
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
		if strings.ContainsFunc(fmt.Sprint(f.Interface()), unsafeRune) {
			out = append(out, v.Type().Field(i).Name+" in one plain line")
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

// fill writes a text, with what put writes for %1, %2 and %3 in their places.
func fill(dst []byte, text string, put func(dst []byte, n int) []byte) []byte {
	for {
		before, after, found := strings.Cut(text, "%")
		dst = append(dst, before...)
		switch {
		case !found:
			return dst
		case after != "" && '1' <= after[0] && after[0] <= '3':
			dst, text = put(dst, int(after[0]-'0')), after[1:]
		default:
			dst, text = append(dst, '%'), after
		}
	}
}

// number puts a number into a text.
func number(n int) func([]byte, int) []byte {
	return func(dst []byte, _ int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
}

// numbers puts two numbers into a text.
func numbers(one, two int) func([]byte, int) []byte {
	return func(dst []byte, n int) []byte {
		if n == 1 {
			return strconv.AppendInt(dst, int64(one), 10)
		}
		return strconv.AppendInt(dst, int64(two), 10)
	}
}
