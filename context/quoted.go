package projection

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendQuoted writes a string as JSON on one line. Beyond what JSON demands it escapes whatever could mean something
// to a reader of Markdown or to an eye: backticks, angle brackets, line and paragraph separators, and characters that
// control the direction of text or are not seen at all. Bytes that are not UTF-8 become U+FFFD.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i, r := range s {
		if r < utf8.RuneSelf && plainASCII[r] || r >= utf8.RuneSelf && !unsafeRune(r) && (r != utf8.RuneError || isRuneError(s[i:])) {
			continue
		}
		dst = append(dst, s[done:i]...)
		done = i + utf8.RuneLen(r)
		switch r {
		case '"', '\\':
			dst = append(dst, '\\', byte(r))
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case utf8.RuneError: // a byte that is no UTF-8
			dst, done = utf8.AppendRune(dst, r), i+1
		default:
			dst = appendEscaped(dst, r)
		}
	}
	return append(append(dst, s[done:]...), '"')
}

// plainASCII are the characters that stand for themselves in a JSON string of ours.
var plainASCII = func() (plain [utf8.RuneSelf]bool) {
	for r := range plain {
		plain[r] = r != '"' && r != '\\' && !unsafeRune(rune(r))
	}
	return plain
}()

// isRuneError tells whether a text begins with the character U+FFFD itself, and not with a byte that is no UTF-8.
func isRuneError(s string) bool { return strings.HasPrefix(s, "\uFFFD") }

// unsafeRune tells whether a character could open or hide something when it is shown as it is. What is not seen is
// escaped, but for the joiners that are parts of written characters in many scripts; so are the planes of tags and
// variations, in which a text can be hidden in another, and whatever Unicode has not assigned.
func unsafeRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == '`' || r == '<' || r == '>' || r == 0x7f
	case r == 0x200c, r == 0x200d:
		return false
	case r == 0x2800, r == 0x3164, r == 0xffa0, r == 0x115f, r == 0x1160: // blanks that count as letters or signs
		return true
	}
	return r >= 0xe0000 || !unicode.IsGraphic(r)
}

func appendEscaped(dst []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		dst = appendEscaped(dst, 0xd800+(r>>10))
		r = 0xdc00 + (r & 0x3ff)
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// appendJSON writes canonical JSON with the same escapes: inside strings only, since nothing else has such characters.
func appendJSON(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if c := raw[i]; c < utf8.RuneSelf && (plainASCII[c] || c == '"' || c == '\\') {
			dst, i = append(dst, c), i+1
			continue
		}
		r, n := utf8.DecodeRune(raw[i:])
		if unsafeRune(r) {
			dst = appendEscaped(dst, r)
		} else {
			dst = append(dst, raw[i:i+n]...)
		}
		i += n
	}
	return dst
}

// appendProse writes a sentence in which data may stand: one line, whatever the data holds.
func appendProse(dst []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			dst = append(dst, ' ')
		case unsafeRune(r):
			dst = appendEscaped(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// calm tells whether a text can be shown without quotes: letters, digits, single spaces and a few marks that numbers,
// dates and amounts need. No status can be made of these.
func calm(s string) bool {
	if s == "" || s != strings.TrimSpace(s) || strings.Contains(s, "  ") {
		return false
	}
	for _, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == ' ', r == '.', r == ',', r == ':', r == '+', r == '-', r == '/', r == '%':
		default:
			return false
		}
	}
	return true
}
