package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Limits of a strict schema, as the OpenAI guide to structured outputs gives them.
const (
	MaxDepth      = 10   // objects within objects
	MaxProperties = 5000 // in all
)

// unsupported are keywords that a strict schema may not use.
var unsupported = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties",
}

// CheckStrict reports why a server with strict structured output would refuse a schema: the root is an object,
// not a choice; every object is closed and requires all its properties; some keywords do not exist; and there
// are limits to its size.
func CheckStrict(schema json.RawMessage) error {
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	if root["type"] != "object" || root["anyOf"] != nil {
		return errors.New("schema: the root is not an object")
	}
	properties := 0
	return checkNode("#", root, 1, &properties)
}

func checkNode(path string, node map[string]any, depth int, properties *int) error {
	for _, keyword := range unsupported {
		if _, ok := node[keyword]; ok {
			return fmt.Errorf("schema: %s uses %s", path, keyword)
		}
	}
	if isObject(node["type"]) {
		if err := checkObject(path, node, depth, properties); err != nil {
			return err
		}
		depth++
	}
	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		children, _ := node[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(children)) {
			if err := checkChild(path+"/"+keyword+"/"+name, children[name], depth, properties); err != nil {
				return err
			}
		}
	}
	if items, ok := node["items"]; ok {
		if err := checkChild(path+"/items", items, depth, properties); err != nil {
			return err
		}
	}
	choices, _ := node["anyOf"].([]any)
	for i, choice := range choices {
		if err := checkChild(fmt.Sprintf("%s/anyOf/%d", path, i), choice, depth, properties); err != nil {
			return err
		}
	}
	return nil
}

func checkChild(path string, child any, depth int, properties *int) error {
	node, ok := child.(map[string]any)
	if !ok {
		return fmt.Errorf("schema: %s is not an object", path)
	}
	return checkNode(path, node, depth, properties)
}

func checkObject(path string, node map[string]any, depth int, properties *int) error {
	children, _ := node["properties"].(map[string]any)
	*properties += len(children)
	switch {
	case depth > MaxDepth:
		return fmt.Errorf("schema: %s is nested more than %d deep", path, MaxDepth)
	case *properties > MaxProperties:
		return fmt.Errorf("schema: more than %d properties", MaxProperties)
	case node["additionalProperties"] != false:
		return fmt.Errorf("schema: %s is not closed: additionalProperties is not false", path)
	}
	required, _ := node["required"].([]any)
	for name := range children {
		if !slices.Contains(required, any(name)) {
			return fmt.Errorf("schema: %s does not require all its properties", path)
		}
	}
	if len(required) != len(children) {
		return fmt.Errorf("schema: %s requires what it does not have", path)
	}
	return nil
}

// isObject is true of "object" and of a list of types that has it, such as a nullable object.
func isObject(kind any) bool {
	kinds, _ := kind.([]any)
	return kind == "object" || slices.Contains(kinds, any("object"))
}
