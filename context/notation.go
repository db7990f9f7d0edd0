package projection

// appendNotation writes a schema for a reader, shorter than the schema itself and the same in every language:
// {"text": string(1..400), "kind"?: "a" | "b"}.
func (s *schema) appendNotation(dst []byte) []byte {
	switch {
	case s.raw != nil, s.form == anyForm && len(s.anyOf) == 0:
		dst = append(dst, "any"...)
	case len(s.enum) > 0:
		dst = alternatives(dst, len(s.enum), func(dst []byte, i int) []byte { return append(dst, s.enum[i]...) })
	case len(s.anyOf) > 0:
		dst = alternatives(dst, len(s.anyOf), func(dst []byte, i int) []byte { return s.anyOf[i].appendNotation(dst) })
	case s.form == objectForm && s.values == nil:
		dst = s.appendFields(dst)
	case s.form == objectForm:
		dst = append(s.values.appendNotation(append(dst, "{string: "...)), '}')
		dst = s.count.appendNotation(dst)
	case s.form == arrayForm:
		dst = append(s.items.appendNotation(append(dst, '[')), ']')
		dst = s.count.appendNotation(dst)
	default:
		dst = append(dst, s.form...)
		if s.format != "" {
			dst = append(append(dst, ' '), s.format...)
		}
		dst = s.length.appendNotation(dst)
		dst = s.number.appendNotation(dst)
	}
	if s.nullable {
		dst = append(dst, " | null"...)
	}
	return dst
}

func (s *schema) appendFields(dst []byte) []byte {
	dst = append(dst, '{')
	for i, p := range s.properties {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendQuoted(dst, p.name)
		if p.optional {
			dst = append(dst, '?')
		}
		dst = p.schema.appendNotation(append(dst, ": "...))
	}
	return append(dst, '}')
}

func (b bounds) appendNotation(dst []byte) []byte {
	if b == (bounds{}) {
		return dst
	}
	dst = append(append(append(dst, '('), b.min...), ".."...)
	return append(append(dst, b.max...), ')')
}

func alternatives(dst []byte, n int, each func([]byte, int) []byte) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, " | "...)
		}
		dst = each(dst, i)
	}
	return dst
}
