// Package visible writes text so that a reader sees all of it.
package visible

import (
	"strconv"
	"strings"
)

// Text writes out what cannot be seen, line breaks first of all, and leaves the rest alone (case B042). What is not UTF-8 comes out as
// the replacement character.
func Text(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
