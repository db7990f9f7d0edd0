package canon

import "strconv"

// appendRaw appends JSON text in canonical form: no space, keys sorted, strings escaped minimally,
// numbers as they are written. depth is that of the place it goes to.
func appendRaw(dst, raw []byte, depth int) ([]byte, error) {
	p, err := newParser(raw, Limits{Size: max(len(raw), 1), Depth: DefaultDepth})
	if err != nil {
		return nil, err
	}
	defer p.free()
	p.depth = depth
	if dst, err = p.appendValue(dst); err != nil {
		return nil, err
	}
	return dst, p.end()
}

func (p *parser) appendValue(dst []byte) ([]byte, error) {
	switch p.kind() {
	case kindString:
		s, err := p.text()
		if err != nil {
			return nil, err
		}
		return appendString(dst, string(s))
	case kindArray:
		return p.appendArray(dst)
	case kindObject:
		return p.appendObject(dst)
	}
	start := p.pos
	if err := p.skip(); err != nil {
		return nil, err
	}
	return append(dst, p.raw[start:p.pos]...), nil
}

func (p *parser) appendArray(dst []byte) ([]byte, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	dst = append(dst, '[')
	for n := 0; ; n++ {
		more, err := p.more(n, ']')
		if err != nil {
			return nil, err
		}
		if !more {
			return append(dst, ']'), nil
		}
		if n > 0 {
			dst = append(dst, ',')
		}
		if dst, err = p.appendValue(dst); err != nil {
			return nil, at(err, strconv.Itoa(n))
		}
	}
}

func (p *parser) appendObject(dst []byte) ([]byte, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	var seen keySet
	var all []member[[]byte]
	for n := 0; ; n++ {
		more, err := p.more(n, '}')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		key, err := p.uniqueKey(&seen)
		if err != nil {
			return nil, err
		}
		value, err := p.appendValue(nil)
		if err != nil {
			return nil, at(err, key)
		}
		all = append(all, member[[]byte]{key, value})
	}
	return appendMembers(dst, all, func(dst, value []byte) ([]byte, error) { return append(dst, value...), nil })
}
