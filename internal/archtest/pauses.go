package archtest

import (
	"go/ast"
	"strings"
)

// checkPauses wants a reason beside every sleep and every skipped test.
func checkPauses(t *tree) []Fault {
	var out []Fault
	for _, f := range t.files {
		if !f.test() && !testPackage(f.pkg) {
			continue
		}
		reasons, time := t.reasons(f), f.importName("time")
		ast.Inspect(f.File, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if what := pause(call, time); what != "" && !reasons[t.line(call.Pos())] {
				out = append(out, t.fault("pause", f, call.Pos(), what+" in a test without a reason",
					"inject the clock or wait for the event itself; where there is no way, write // reason: ... beside it"))
			}
			return true
		})
	}
	return out
}

// pause names the call if it sleeps or skips. time is the file's name for the package.
func pause(call *ast.CallExpr, time string) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	switch sel.Sel.Name {
	case "Sleep":
		if time == "" || x.Name != time {
			return ""
		}
	case "Skip", "Skipf", "SkipNow":
	default:
		return ""
	}
	return x.Name + "." + sel.Sel.Name
}

// reasons are the lines that a comment "reason: ..." stands on or directly above.
func (t *tree) reasons(f *file) map[int]bool {
	out := map[int]bool{}
	for _, g := range f.Comments {
		for _, c := range g.List {
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			if why, ok := strings.CutPrefix(text, "reason:"); ok && strings.TrimSpace(why) != "" {
				for l := t.line(c.Pos()); l <= t.line(g.End())+1; l++ {
					out[l] = true
				}
			}
		}
	}
	return out
}
