package canon

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
	"strings"
)

func (p *parser) expectNumber() (literal []byte, offset int, err error) {
	if err := p.expect(kindNumber); err != nil {
		return nil, 0, err
	}
	offset = p.pos
	literal, err = p.number()
	return literal, offset, err
}

func (p *parser) lossy(offset int, literal []byte, t reflect.Type) error {
	return p.fail(offset, CodeLossyNumber, quoted(string(literal))+" does not fit "+t.String()+" exactly")
}

func parseInt(p *parser, v reflect.Value) error {
	literal, offset, err := p.expectNumber()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(literal), 10, v.Type().Bits())
	if err != nil {
		return p.lossy(offset, literal, v.Type())
	}
	v.SetInt(n)
	return nil
}

func parseUint(p *parser, v reflect.Value) error {
	literal, offset, err := p.expectNumber()
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(string(literal), 10, v.Type().Bits())
	if err != nil {
		return p.lossy(offset, literal, v.Type())
	}
	v.SetUint(n)
	return nil
}

// parseFloat refuses a decimal that the float would not give back, and integers in a range where their
// neighbours are lost.
func parseFloat(p *parser, v reflect.Value) error {
	literal, offset, err := p.expectNumber()
	if err != nil {
		return err
	}
	bits := v.Type().Bits()
	f, err := strconv.ParseFloat(string(literal), bits)
	integer := !bytes.ContainsAny(literal, ".eE")
	if err != nil || integer && math.Abs(f) > exactIntegers(bits) || !sameDecimal(string(literal), f, bits) {
		return p.lossy(offset, literal, v.Type())
	}
	v.SetFloat(f)
	return nil
}

func sameDecimal(literal string, f float64, bits int) bool {
	a, aExp, aOK := decimal(literal)
	b, bExp, bOK := decimal(strconv.FormatFloat(f, 'e', -1, bits))
	return aOK && bOK && a == b && aExp == bExp
}

// decimal gives the significant digits of a literal and the power of ten of the last one; not ok when
// the exponent is out of all range.
func decimal(literal string) (digits string, exp int, ok bool) {
	mantissa, power, hasPower := strings.Cut(strings.ToLower(strings.TrimPrefix(literal, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "", 0, true
	}
	if hasPower {
		n, err := strconv.Atoi(power)
		if err != nil {
			return "", 0, false
		}
		exp = n
	}
	return trimmed, exp - len(fraction) + len(digits) - len(trimmed), true
}

func parseNumber(p *parser, v reflect.Value) error {
	literal, _, err := p.expectNumber()
	v.SetString(string(literal))
	return err
}
