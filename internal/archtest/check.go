package archtest

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
)

// Fault is one broken rule.
type Fault struct {
	Rule string // its name, as in Rules
	File string // from the module's root
	Line int
	Text string // what is wrong
	Mend string // what to do instead
}

// String is the fault on one line, place first.
func (f Fault) String() string {
	return fmt.Sprintf("%s:%d: [%s] %s; instead: %s", f.File, f.Line, f.Rule, f.Text, f.Mend)
}

// rule reports what of it a tree breaks.
type rule struct {
	name  string
	check func(*tree) []Fault
}

var rules = []rule{
	{"parse", func(t *tree) []Fault { return t.broken }},
	{"unlisted", checkListed},
	{"import", checkImports},
	{"engine", checkEngine},
	{"heavy", checkHeavy},
	{"test-library", checkTestLibraries},
	{"dependency", checkDependencies},
	{"name", checkNames},
	{"package-doc", checkPackageDocs},
	{"symbol-doc", checkSymbolDocs},
	{"doc-link", checkLinks},
	{"money", checkMoney},
	{"pause", checkPauses},
	{"length", checkLengths},
	{"field-case", checkCases},
}

// Rules are the names of all rules.
func Rules() []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.name)
	}
	return out
}

// Check reports everything that breaks a rule in the module whose root is fsys, in order of place. The error is
// about reading the files only.
func Check(fsys fs.FS) ([]Fault, error) {
	t, err := readTree(fsys)
	if err != nil {
		return nil, fmt.Errorf("read the module: %w", err)
	}
	var out []Fault
	for _, r := range rules {
		out = append(out, r.check(t)...)
	}
	slices.SortStableFunc(out, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out, nil
}
