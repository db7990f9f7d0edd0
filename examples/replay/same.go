package replay

import (
	"bytes"
	"encoding/json"
	"math/big"
)

// halfACent is how far two amounts may be apart.
var halfACent = big.NewRat(5, 1000)

// same compares a value with recorded JSON: numbers to half a cent, everything else exactly.
func same(is any, want json.RawMessage) (bool, error) {
	raw, err := json.Marshal(is)
	if err != nil {
		return false, err
	}
	a, err := plain(raw)
	if err != nil {
		return false, err
	}
	b, err := plain(want)
	return err == nil && equal(a, b), err
}

func plain(raw []byte) (any, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err
}

func equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := b.(json.Number)
		return ok && near(x, y)
	}
	return a == b
}

func near(a, b json.Number) bool {
	x, ok := new(big.Rat).SetString(a.String())
	y, fine := new(big.Rat).SetString(b.String())
	if !ok || !fine {
		return false
	}
	d := x.Sub(x, y)
	return d.Abs(d).Cmp(halfACent) <= 0
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
