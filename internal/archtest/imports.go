package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// checkListed wants a row for every package, so that nothing grows outside the table.
func checkListed(t *tree) []Fault {
	var out []Fault
	for _, pkg := range t.packages() {
		if _, ok := rowOf(pkg); !ok && !testPackage(pkg) {
			f := t.of(pkg)[0]
			out = append(out, t.fault("unlisted", f, f.Name.Pos(),
				fmt.Sprintf("package %s has no row in the import table", pkg),
				"put the code where its row is, or add a row to internal/archtest/table.go and say in docs/adr why"))
		}
	}
	return out
}

// checkImports holds shipped files to the table.
func checkImports(t *tree) []Fault {
	var out []Fault
	for _, f := range t.files {
		r, ok := rowOf(f.pkg)
		if !ok || f.test() || testPackage(f.pkg) {
			continue
		}
		for _, s := range f.Imports {
			if p := imported(s); !standard(p) && !r.allows(f.pkg, p) {
				out = append(out, t.fault("import", f, s.Pos(),
					fmt.Sprintf("package %s may not import %s (it may: %s)", f.pkg, p, r.list()), r.instead))
			}
		}
	}
	return out
}

// list is what a row allows, for people.
func (r row) list() string {
	may := slices.Clone(r.may)
	if r.family {
		may = append(may, "its own tree")
	}
	if len(may) == 0 {
		return "the standard library only"
	}
	return strings.Join(may, ", ")
}

// checkEngine keeps stateless behind internal/engine, in tests as well.
func checkEngine(t *tree) []Fault {
	var out []Fault
	for _, f := range t.files {
		for _, s := range f.Imports {
			if f.pkg != "internal/engine" && within(imported(s), stateless) {
				out = append(out, t.fault("engine", f, s.Pos(),
					"imports stateless, whose traps are handled in internal/engine and nowhere else",
					"use machine, or extend internal/engine"))
			}
		}
	}
	return out
}

// checkTestLibraries keeps test libraries, and our own test packages, out of shipped files.
func checkTestLibraries(t *tree) []Fault {
	var out []Fault
	for _, f := range t.files {
		if !f.shipped() {
			continue
		}
		for _, s := range f.Imports {
			if p := imported(s); isTestLibrary(p) {
				out = append(out, t.fault("test-library", f, s.Pos(),
					"shipped code imports the test library "+p,
					"move the code into a _test.go file or into a package whose name ends in test"))
			}
		}
	}
	return out
}

func isTestLibrary(p string) bool {
	local, ours := inModule(p)
	return ours && testPackage(local) ||
		slices.ContainsFunc(testLibraries, func(l string) bool { return within(p, l) })
}

// checkDependencies wants every foreign module that any file imports to be explained in dependencyPage: in a row of its
// table that begins with the module's path.
func checkDependencies(t *tree) []Fault {
	listed := t.dependencies()
	var out []Fault
	for _, f := range t.files {
		for _, s := range f.Imports {
			p := imported(s)
			if _, ours := inModule(p); ours || standard(p) ||
				slices.ContainsFunc(listed, func(m string) bool { return within(p, m) }) {
				continue
			}
			out = append(out, t.fault("dependency", f, s.Pos(), p+" is not explained in "+dependencyPage,
				"do without it, or say there why it is needed and where it may be imported"))
		}
	}
	return out
}

// dependencies are the modules that dependencyPage explains.
func (t *tree) dependencies() []string {
	var out []string
	for _, p := range t.prose {
		for _, l := range p.lines {
			if row, ok := strings.CutPrefix(l, "| `"); ok && p.path == dependencyPage {
				module, _, _ := strings.Cut(row, "`")
				out = append(out, module)
			}
		}
	}
	return out
}

// checkHeavy follows the imports of each core package through this module to a heavy one.
func checkHeavy(t *tree) []Fault {
	var out []Fault
	for _, pkg := range core {
		for _, f := range t.of(pkg) {
			if f.test() {
				continue
			}
			for _, s := range f.Imports {
				if way := t.wayToHeavy(imported(s), map[string]bool{pkg: true}); way != nil {
					out = append(out, t.fault("heavy", f, s.Pos(),
						"core reaches a heavy dependency: "+strings.Join(append([]string{pkg}, way...), " -> "),
						"take a func or a small interface and let an example or a command pass the client in"))
				}
			}
		}
	}
	return out
}

// wayToHeavy is a chain of imports from a path to a heavy module, nil without one.
func (t *tree) wayToHeavy(p string, seen map[string]bool) []string {
	if slices.ContainsFunc(heavy, func(h string) bool { return within(p, h) }) {
		return []string{p}
	}
	local, ours := inModule(p)
	if !ours || seen[local] {
		return nil
	}
	seen[local] = true
	for _, f := range t.of(local) {
		if f.test() {
			continue
		}
		for _, s := range f.Imports {
			if way := t.wayToHeavy(imported(s), seen); way != nil {
				return append([]string{local}, way...)
			}
		}
	}
	return nil
}

// importName is the name under which a file uses an imported path, "" if it does not.
func (f *file) importName(p string) string {
	for _, s := range f.Imports {
		if imported(s) != p {
			continue
		}
		if s.Name != nil {
			return s.Name.Name
		}
		return p[strings.LastIndex(p, "/")+1:]
	}
	return ""
}
