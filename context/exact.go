package projection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// exactly is the schema of one value, given as canonical JSON, and of nothing else. It is written with enums of scalars,
// since not every dialect knows const for objects and lists. Of a list it says the length and what may be in it; that
// the order is right is judged by what reads the answer.
func exactly(raw []byte) (*schema, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return exactValue(d)
}

func exactValue(d *json.Decoder) (*schema, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	scalar := func(f form, raw []byte) *schema { return &schema{form: f, enum: []json.RawMessage{raw}} }
	switch v := token.(type) {
	case nil:
		return &schema{form: nullForm}, nil
	case bool:
		return scalar(booleanForm, strconv.AppendBool(nil, v)), nil
	case string:
		return scalar(stringForm, appendQuoted(nil, v)), nil
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return scalar(integerForm, []byte(v)), nil
		}
		return scalar(numberForm, []byte(v)), nil
	case json.Delim:
		if v == '[' {
			return exactList(d)
		}
		return exactObject(d)
	}
	return nil, fmt.Errorf("%v is no JSON", token)
}

func exactObject(d *json.Decoder) (*schema, error) {
	s := &schema{form: objectForm}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		below, err := exactValue(d)
		if err != nil {
			return nil, err
		}
		s.properties = append(s.properties, property{key.(string), below, false})
	}
	_, err := d.Token()
	return s, err
}

func exactList(d *json.Decoder) (*schema, error) {
	var elements []*schema
	seen := map[string]bool{}
	n := 0
	for ; d.More(); n++ {
		below, err := exactValue(d)
		if err != nil {
			return nil, err
		}
		if key := string(below.append(nil, standard, false)); !seen[key] {
			seen[key] = true
			elements = append(elements, below)
		}
	}
	length := strconv.Itoa(n)
	s := &schema{form: arrayForm, count: bounds{length, length}}
	switch len(elements) {
	case 0:
		s.items = &schema{form: nullForm}
	case 1:
		s.items = elements[0]
	default:
		s.items = &schema{anyOf: elements}
	}
	_, err := d.Token()
	return s, err
}
