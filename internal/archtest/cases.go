package archtest

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// casePage has a row for each field case: what went wrong, what stops it, and links to the tests that show it.
const casePage = "docs/field_cases.md"

var (
	caseID   = regexp.MustCompile(`B\d{3}`)
	caseRow  = regexp.MustCompile(`^\| (B\d{3}) \|`)
	caseTest = regexp.MustCompile(`\[(Test\w+)\]\(\.\./([\w./-]+)\)`)
)

// testOf is a test function of a file.
type testOf struct {
	file *file
	decl *ast.FuncDecl
}

// checkCases wants each row of the page to name tests that exist and that say the id of the case: in their name, their comment or their
// body. An id in the name of a test must have a row.
func checkCases(t *tree) []Fault {
	rows, out := t.caseRows()
	if rows == nil {
		return out
	}
	for _, x := range t.testFunctions() {
		for _, id := range caseID.FindAllString(x.decl.Name.Name, -1) {
			if !rows[id] {
				out = append(out, t.fault("field-case", x.file, x.decl.Pos(), x.decl.Name.Name+" shows the field case "+id+", which "+casePage+" does not list",
					"add a row, or take the id out of the name"))
			}
		}
	}
	return out
}

// caseRows are the ids that the page lists, nil when there is no page, and what is wrong with its rows.
func (t *tree) caseRows() (rows map[string]bool, faults []Fault) {
	tests := map[string]testOf{}
	for _, x := range t.testFunctions() {
		tests[x.file.path+" "+x.decl.Name.Name] = x
	}
	for _, p := range t.prose {
		if p.path != casePage {
			continue
		}
		rows = map[string]bool{}
		for i, line := range p.lines {
			m := caseRow.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			for _, text := range t.rowFaults(m[1], line, rows[m[1]], tests) {
				faults = append(faults, Fault{"field-case", casePage, i + 1, text, "name a test that replays the case and says its id"})
			}
			rows[m[1]] = true
		}
	}
	return rows, faults
}

func (t *tree) rowFaults(id, line string, again bool, tests map[string]testOf) (out []string) {
	if again {
		out = append(out, id+" has a row already")
	}
	links := caseTest.FindAllStringSubmatch(line, -1)
	if len(links) == 0 {
		out = append(out, id+" names no test")
	}
	for _, l := range links {
		switch x, there := tests[l[2]+" "+l[1]]; {
		case !there:
			out = append(out, fmt.Sprintf("%s has no %s, which is to show %s", l[2], l[1], id))
		case !x.says(id):
			out = append(out, fmt.Sprintf("%s does not say that it shows %s", l[1], id))
		}
	}
	return out
}

// testFunctions are the tests of the module.
func (t *tree) testFunctions() (out []testOf) {
	for _, f := range t.files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && f.test() && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test") {
				out = append(out, testOf{f, d})
			}
		}
	}
	return out
}

// says tells whether the test has the id in its name, in its comment, or in a comment or a text of its body.
func (x testOf) says(id string) bool {
	if strings.Contains(x.decl.Name.Name+x.decl.Doc.Text(), id) {
		return true
	}
	found := false
	ast.Inspect(x.decl.Body, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		found = found || ok && strings.Contains(l.Value, id)
		return !found
	})
	for _, g := range x.file.Comments {
		found = found || g.Pos() >= x.decl.Pos() && g.End() <= x.decl.End() && strings.Contains(g.Text(), id)
	}
	return found
}
