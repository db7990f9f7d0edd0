package canon

import "strconv"

// Scan checks the form of a document without a Go type: size, UTF-8, strict JSON, one value with
// nothing after it, depth, no key twice in an object and no two that differ only by case (Unicode
// simple folding, as in encoding/json), no half surrogate pairs. Its errors are *SyntaxError.
func Scan(raw []byte, lim Limits) error {
	p, err := newParser(raw, lim)
	if err != nil {
		return err
	}
	defer p.free()
	if err := p.skip(); err != nil {
		return err
	}
	return p.end()
}

// skip checks the next value and passes over it.
func (p *parser) skip() error {
	var err error
	switch p.kind() {
	case kindNull:
		return p.literal("null")
	case kindBool:
		_, err = p.boolean()
	case kindNumber:
		_, err = p.number()
	case kindString:
		_, err = p.text()
	case kindArray:
		return p.skipArray()
	case kindObject:
		return p.skipObject()
	default:
		return p.unexpected("a value")
	}
	return err
}

func (p *parser) skipArray() error {
	if err := p.open(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		more, err := p.more(n, ']')
		if err != nil || !more {
			return err
		}
		if err := p.skip(); err != nil {
			return at(err, strconv.Itoa(n))
		}
	}
}

func (p *parser) skipObject() error {
	if err := p.open(); err != nil {
		return err
	}
	var seen keySet
	for n := 0; ; n++ {
		more, err := p.more(n, '}')
		if err != nil || !more {
			return err
		}
		key, err := p.uniqueKey(&seen)
		if err != nil {
			return err
		}
		if err := p.skip(); err != nil {
			return at(err, key)
		}
	}
}
