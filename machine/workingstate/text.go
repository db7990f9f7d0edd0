package workingstate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// collapse makes one line of a text: each run of white space becomes a space (the specification, 1.3). So no value can
// begin a line of a prompt.
func collapse(s string) string {
	if collapsed(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// collapsed tells whether nothing is to be collapsed: all white space are single spaces between other characters.
func collapsed(s string) bool {
	before := ' '
	for _, r := range s {
		if unicode.IsSpace(r) && (r != ' ' || before == ' ') {
			return false
		}
		before = r
	}
	return before != ' ' || s == ""
}

// clean is collapse, cut after n characters; it tells whether something was cut.
func clean(s string, n int) (string, bool) {
	s = collapse(s)
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[at:])
		if size == 0 {
			return s, false
		}
		at += size
	}
	return s[:at], at < len(s)
}

// opt is an optional text, collapsed; "" when it is absent.
func opt(p *string) string {
	if p == nil {
		return ""
	}
	return collapse(*p)
}

// head is what shows of a long text in a refusal: at most n characters.
func head(s string, n int) string {
	s, _ = clean(s, n)
	return s
}
