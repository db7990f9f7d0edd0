package workingstate

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Layout is how the blocks are put into a prompt. The zero Layout is English, UTC, [DefaultBlock] bytes and
// [DefaultActions] rows. Safe for concurrent use.
type Layout struct {
	Words   *Words         // nil: [English]
	Zone    *time.Location // nil: UTC
	Budget  int            // bytes of the block, all of it; 0: [DefaultBlock]; less than [MinBlock] counts as that
	Actions int            // rows of recent actions; 0: [DefaultActions]; more than [MaxActions] count as that
}

func (l Layout) words() *Words {
	if l.Words == nil {
		return &English
	}
	return l.Words
}

func (l Layout) zone() *time.Location {
	if l.Zone == nil {
		return time.UTC
	}
	return l.Zone
}

func (l Layout) budget() int {
	if l.Budget == 0 {
		return DefaultBlock
	}
	return max(l.Budget, MinBlock)
}

// Tail puts blocks behind a prompt whose bytes stay as they are, so that a prompt cache ends where the prompt does. Empty
// blocks add nothing: with none, the prompt itself comes back.
func Tail(prompt string, blocks ...string) string {
	var b strings.Builder
	b.WriteString(prompt)
	for _, block := range blocks {
		if block != "" {
			b.WriteString("\n\n")
			b.WriteString(block)
		}
	}
	return b.String()
}

// at writes an instant: month, day and minute.
func (l Layout) at(t time.Time) string { return t.In(l.zone()).Format("01-02 15:04") }

// say fills a text of the words. What is filled in is not looked through again.
func say(text string, values ...string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text = after
		if after != "" && after[0] >= '1' && int(after[0]-'1') < len(values) {
			b.WriteString(values[after[0]-'1'])
			text = after[1:]
		} else {
			b.WriteByte('%')
		}
	}
}

// quoted writes a text as data: on one line, in double quotes, with a mark in place of each character that cannot be seen
// or that reorders others. It takes at most four bytes a character.
func quoted(s string) string {
	s = collapse(s)
	b := make([]byte, 0, len(s)+2+len(s)/8)
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < utf8.RuneSelf && r >= ' ' && r != 0x7f:
			b = append(b, byte(r))
		case !strconv.IsPrint(r):
			b = utf8.AppendRune(b, utf8.RuneError)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(append(b, '"'))
}

// fit cuts a text so that it takes at most n bytes when it is quoted, and marks the cut; at least one character stays.
func fit(s string, n int) string {
	if whole := quoted(s); len(whole) <= n {
		return whole
	}
	runes := []rune(collapse(s))
	low, high := 1, len(runes)
	for low < high { // the most runes that fit
		middle := (low + high + 1) / 2
		if len(quoted(string(runes[:middle])+"…")) <= n {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return quoted(string(runes[:min(low, len(runes))]) + "…")
}
