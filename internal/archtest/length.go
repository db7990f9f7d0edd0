package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// maxLines is the longest a function may be, from func to its closing brace.
const maxLines = 70

// longList is the file of functions that are longer, one a line: file, function, lines, reason. It may shrink
// and never grow: a ratchet.
const longList = "internal/archtest/long_functions.txt"

// exception is one line of the list.
type exception struct {
	line, lines int
	met         bool
}

// checkLengths wants no function over the limit that is not listed, none that grew, and no line of the list
// that is no longer needed.
func checkLengths(t *tree) []Fault {
	listed, order, out := t.exceptions()
	for _, f := range t.files {
		for _, d := range f.Decls {
			for _, fn := range functions(d) {
				lines := t.line(fn.end) - t.line(fn.pos) + 1
				key := f.path + " " + fn.name
				if e := listed[key]; e != nil && lines > maxLines {
					e.met = true
					if lines <= e.lines {
						continue
					}
				}
				if lines > maxLines {
					out = append(out, t.fault("length", f, fn.pos,
						fmt.Sprintf("%s has %d lines, more than %s", fn.name, lines, limitOf(listed[key])),
						"split it where a reader would pause"))
				}
			}
		}
	}
	for _, key := range order {
		if e := listed[key]; !e.met {
			out = append(out, Fault{"length", longList, e.line, key + " is no longer too long", "delete its line"})
		}
	}
	return out
}

func limitOf(e *exception) string {
	if e == nil {
		return strconv.Itoa(maxLines)
	}
	return fmt.Sprintf("the %d it is listed with", e.lines)
}

// exceptions reads the list.
func (t *tree) exceptions() (listed map[string]*exception, order []string, faults []Fault) {
	listed = map[string]*exception{}
	for i, l := range strings.Split(t.long, "\n") {
		if l = strings.TrimSpace(l); l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		parts := strings.Fields(l)
		var lines int
		if len(parts) > 3 {
			lines, _ = strconv.Atoi(parts[2])
		}
		if lines <= maxLines {
			faults = append(faults, Fault{"length", longList, i + 1, "not an exception: " + l,
				"write file, function, lines (over the limit) and a reason"})
			continue
		}
		key := parts[0] + " " + parts[1]
		listed[key] = &exception{line: i + 1, lines: lines}
		order = append(order, key)
	}
	return listed, order, faults
}

// function is a declared function, or a literal that a variable holds.
type function struct {
	name     string
	pos, end token.Pos
}

func functions(d ast.Decl) []function {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d) + "." + name
		}
		return []function{{name, d.Type.Func, d.End()}}
	case *ast.GenDecl:
		var out []function
		ast.Inspect(d, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				out = append(out, function{"literal", lit.Pos(), lit.End()})
				return false
			}
			return true
		})
		return out
	}
	return nil
}
