package archtest

import (
	"go/ast"
	"slices"
	"strings"
)

// checkMoney wants no float in a struct field or a parameter that is named like an amount.
func checkMoney(t *tree) []Fault {
	var out []Fault
	for _, pkg := range t.packages() {
		files := t.of(pkg)
		floats := floatTypes(files)
		for _, f := range files {
			ast.Inspect(f.File, func(n ast.Node) bool {
				field, ok := n.(*ast.Field)
				if !ok || !mentions(field.Type, floats) {
					return true
				}
				for _, name := range field.Names {
					if isMoney(name.Name) {
						out = append(out, t.fault("money", f, name.Pos(), name.Name+" is an amount held in a float",
							"hold int64 minor units and a currency, or rename what is no amount"))
					}
				}
				return true
			})
		}
	}
	return out
}

func isMoney(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(moneyWords, func(w string) bool { return strings.Contains(name, w) })
}

// floatTypes are the names that mean a float in a package: the two of the language, and its own for them.
func floatTypes(files []*file) map[string]bool {
	out := map[string]bool{"float64": true, "float32": true}
	for again := true; again; {
		again = false
		for _, f := range files {
			ast.Inspect(f.File, func(n ast.Node) bool {
				if ts, ok := n.(*ast.TypeSpec); ok && !out[ts.Name.Name] {
					if id, ok := ts.Type.(*ast.Ident); ok && out[id.Name] {
						out[ts.Name.Name], again = true, true
					}
				}
				return true
			})
		}
	}
	return out
}

// mentions tells whether a type is made of one of the names. The fields of a struct speak for themselves.
func mentions(typ ast.Expr, names map[string]bool) bool {
	found := false
	ast.Inspect(typ, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType, *ast.SelectorExpr:
			return false
		case *ast.Ident:
			found = found || names[n.Name]
		}
		return true
	})
	return found
}
