package canon

import (
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// parser reads JSON from raw, strictly. raw is valid UTF-8. Its methods leave pos behind what they read.
type parser struct {
	raw      []byte
	pos      int
	depth    int // containers open
	maxDepth int
}

type kind byte

const (
	kindNone kind = iota
	kindNull
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

func (k kind) String() string {
	return [...]string{"nothing", "null", "boolean", "number", "string", "array", "object"}[k]
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// free gives the parser back. Nothing of it may be used any more.
func (p *parser) free() {
	*p = parser{}
	parsers.Put(p)
}

// newParser is a parser that free gives back.
func newParser(raw []byte, lim Limits) (*parser, error) {
	if len(raw) > lim.size() {
		return nil, &SyntaxError{Code: CodeTooLarge, Offset: lim.size(),
			Text: strconv.Itoa(len(raw)) + " bytes, at most " + strconv.Itoa(lim.size())}
	}
	if !utf8.Valid(raw) {
		return nil, &SyntaxError{Code: CodeNotUTF8, Offset: invalidAt(raw), Text: "invalid UTF-8"}
	}
	p := parsers.Get().(*parser)
	p.raw, p.maxDepth = raw, lim.depth()
	return p, nil
}

func invalidAt(raw []byte) int {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(raw)
}

func (p *parser) fail(offset int, code, text string) error {
	return &SyntaxError{Code: code, Offset: offset, Text: text}
}

func (p *parser) unexpected(want string) error {
	if p.pos >= len(p.raw) {
		return p.fail(p.pos, CodeSyntax, "ends where "+want+" is expected")
	}
	r, _ := utf8.DecodeRune(p.raw[p.pos:])
	return p.fail(p.pos, CodeSyntax, strconv.QuoteRune(r)+" where "+want+" is expected")
}

func (p *parser) space() {
	for p.pos < len(p.raw) {
		switch p.raw[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) is(c byte) bool { return p.pos < len(p.raw) && p.raw[p.pos] == c }

// kind says by its first byte what value comes next.
func (p *parser) kind() kind {
	p.space()
	if p.pos >= len(p.raw) {
		return kindNone
	}
	switch c := p.raw[p.pos]; {
	case c == '{':
		return kindObject
	case c == '[':
		return kindArray
	case c == '"':
		return kindString
	case c == '-' || digit(c):
		return kindNumber
	case c == 't' || c == 'f':
		return kindBool
	case c == 'n':
		return kindNull
	}
	return kindNone
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// end refuses whatever follows the document.
func (p *parser) end() error {
	p.space()
	if p.pos < len(p.raw) {
		return p.fail(p.pos, CodeTrailing, "bytes after the value")
	}
	return nil
}

func (p *parser) literal(word string) error {
	if len(p.raw)-p.pos < len(word) || string(p.raw[p.pos:p.pos+len(word)]) != word {
		return p.unexpected(word)
	}
	p.pos += len(word)
	return nil
}

func (p *parser) boolean() (bool, error) {
	if p.is('t') {
		return true, p.literal("true")
	}
	return false, p.literal("false")
}

// number returns the literal as written.
func (p *parser) number() ([]byte, error) {
	start := p.pos
	if p.is('-') {
		p.pos++
	}
	if p.is('0') {
		p.pos++
	} else if err := p.digits(); err != nil {
		return nil, err
	}
	if p.is('.') {
		p.pos++
		if err := p.digits(); err != nil {
			return nil, err
		}
	}
	if p.is('e') || p.is('E') {
		p.pos++
		if p.is('+') || p.is('-') {
			p.pos++
		}
		if err := p.digits(); err != nil {
			return nil, err
		}
	}
	return p.raw[start:p.pos], nil
}

func (p *parser) digits() error {
	start := p.pos
	for p.pos < len(p.raw) && digit(p.raw[p.pos]) {
		p.pos++
	}
	if p.pos == start {
		return p.unexpected("a digit")
	}
	return nil
}

// text returns the content of a string: a part of raw, or a copy if it has escapes.
func (p *parser) text() ([]byte, error) {
	if !p.is('"') {
		return nil, p.unexpected("a string")
	}
	p.pos++
	start := p.pos
	for p.pos < len(p.raw) {
		switch c := p.raw[p.pos]; {
		case c == '"':
			p.pos++
			return p.raw[start : p.pos-1], nil
		case c == '\\':
			return p.escaped(append([]byte(nil), p.raw[start:p.pos]...))
		case c < 0x20:
			return nil, p.unexpected("an escaped control character")
		}
		p.pos++
	}
	return nil, p.unexpected("the end of a string")
}

func (p *parser) escaped(out []byte) ([]byte, error) {
	for p.pos < len(p.raw) {
		switch c := p.raw[p.pos]; {
		case c == '"':
			p.pos++
			return out, nil
		case c < 0x20:
			return nil, p.unexpected("an escaped control character")
		case c != '\\':
			out = append(out, c)
			p.pos++
		default:
			r, err := p.escape()
			if err != nil {
				return nil, err
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return nil, p.unexpected("the end of a string")
}

var shortEscapes = map[byte]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

func (p *parser) escape() (rune, error) {
	start := p.pos
	p.pos++
	if p.pos >= len(p.raw) {
		return 0, p.unexpected("an escape")
	}
	if r, ok := shortEscapes[p.raw[p.pos]]; ok {
		p.pos++
		return r, nil
	}
	r, err := p.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if p.is('\\') {
		p.pos++
		low, err := p.hex()
		if err != nil {
			return 0, p.fail(start, CodeSyntax, "half of a surrogate pair")
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, p.fail(start, CodeSyntax, "half of a surrogate pair")
}

// hex reads the u and four digits of an escape.
func (p *parser) hex() (rune, error) {
	if !p.is('u') {
		return 0, p.unexpected("an escape")
	}
	p.pos++
	if len(p.raw)-p.pos < 4 {
		return 0, p.unexpected("four hexadecimal digits")
	}
	r, err := strconv.ParseUint(string(p.raw[p.pos:p.pos+4]), 16, 32)
	if err != nil {
		return 0, p.unexpected("four hexadecimal digits")
	}
	p.pos += 4
	return rune(r), nil
}

// open enters the object or array that kind announced.
func (p *parser) open() error {
	if p.depth++; p.depth > p.maxDepth {
		return p.fail(p.pos, CodeTooDeep, "nested deeper than "+strconv.Itoa(p.maxDepth))
	}
	p.pos++
	return nil
}

// more says whether element n of the container that ends with close follows, and leaves it otherwise.
func (p *parser) more(n int, close byte) (bool, error) {
	p.space()
	if p.is(close) {
		p.pos++
		p.depth--
		return false, nil
	}
	if n == 0 {
		return true, nil
	}
	if !p.is(',') {
		return false, p.unexpected("a comma or " + strconv.QuoteRune(rune(close)))
	}
	p.pos++
	return true, nil
}

// key reads a key and its colon.
func (p *parser) key() (key []byte, offset int, err error) {
	p.space()
	offset = p.pos
	if key, err = p.text(); err != nil {
		return nil, offset, err
	}
	p.space()
	if !p.is(':') {
		return nil, offset, p.unexpected("a colon")
	}
	p.pos++
	return key, offset, nil
}

// uniqueKey is key for objects whose keys no type declares.
func (p *parser) uniqueKey(seen *keySet) (string, error) {
	raw, offset, err := p.key()
	if err != nil {
		return "", err
	}
	key := string(raw)
	if code := seen.add(key); code != "" {
		return "", at(p.fail(offset, code, quoted(key)+" is here already"), key)
	}
	return key, nil
}
