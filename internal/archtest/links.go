package archtest

import (
	"go/ast"
	"regexp"
)

// link is a doc link to a package's symbol: [pkg.Name], [pkg.Name.Member], or with the whole import path.
var link = regexp.MustCompile(`\[\*?((?:[\w.-]+/)*)(\w+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?\]`)

// Beside a word the brackets are an index or a type argument, and before a colon or parenthesis a URL's text.
var (
	indexed = regexp.MustCompile(`[\w\])]$`)
	goesOn  = regexp.MustCompile(`^(?:[\w(\[*]|:\s*http)`)
)

// symbol is what an exported name of a package offers to link to.
type symbol struct {
	members map[string]bool
	open    bool // has members that are declared elsewhere: an embedded field, an alias
}

// span is a symbol of a package in prose: a code span that holds nothing else.
var span = regexp.MustCompile("`(\\w+)\\.([A-Z]\\w*)(?:\\.([A-Z]\\w*))?(?:\\(\\))?`")

// checkLinks wants every doc link to one of our packages to name something that exists, and every symbol in prose.
// A link by a package's name need not be to an imported package, so that a contract can cite its conformance suite.
func checkLinks(t *tree) []Fault {
	byName, byPath := t.symbols()
	var out []Fault
	for _, f := range t.files {
		for _, g := range f.Comments {
			for _, c := range g.List {
				for _, l := range danglingIn(c.Text, byName, byPath) {
					out = append(out, t.fault("doc-link", f, c.Pos(), "doc link ["+l+"] leads nowhere",
						"name what it was renamed to, or drop the brackets"))
				}
			}
		}
	}
	return append(out, checkProse(t, byName)...)
}

// checkProse wants every symbol that Markdown names in a code span to exist.
func checkProse(t *tree, byName map[string]map[string]*symbol) []Fault {
	var out []Fault
	for _, p := range t.prose {
		for i, text := range p.lines {
			for _, m := range span.FindAllStringSubmatch(text, -1) {
				if syms, ours := byName[m[1]]; ours && !resolves(syms, m[2], m[3]) {
					out = append(out, Fault{"doc-link", p.path, i + 1, m[0] + " is no symbol of package " + m[1],
						"name what it was renamed to"})
				}
			}
		}
	}
	return out
}

func danglingIn(text string, byName, byPath map[string]map[string]*symbol) []string {
	var out []string
	for _, at := range link.FindAllStringIndex(text, -1) {
		if indexed.MatchString(text[:at[0]]) || goesOn.MatchString(text[at[1]:]) {
			continue
		}
		m := link.FindStringSubmatch(text[at[0]:at[1]])
		dir, name, sym, member := m[1], m[2], m[3], m[4]
		syms, ours := byName[name]
		if dir != "" {
			local, inside := inModule(dir + name)
			if !inside {
				continue
			}
			syms, ours = byPath[local], true
		}
		if ours && !resolves(syms, sym, member) {
			l := dir + name + "." + sym
			if member != "" {
				l += "." + member
			}
			out = append(out, l)
		}
	}
	return out
}

func resolves(syms map[string]*symbol, sym, member string) bool {
	s := syms[sym]
	return s != nil && (member == "" || s.open || s.members[member])
}

// symbols indexes the exported names of all packages, by package name and by path. Packages of one name are
// taken together.
func (t *tree) symbols() (byName, byPath map[string]map[string]*symbol) {
	byName, byPath = map[string]map[string]*symbol{}, map[string]map[string]*symbol{}
	for _, f := range t.files {
		if f.test() || f.Name.Name == "main" {
			continue
		}
		for _, index := range []map[string]*symbol{entry(byName, f.Name.Name), entry(byPath, f.pkg)} {
			addSymbols(index, f)
		}
	}
	return byName, byPath
}

func entry(m map[string]map[string]*symbol, key string) map[string]*symbol {
	if m[key] == nil {
		m[key] = map[string]*symbol{}
	}
	return m[key]
}

func addSymbols(index map[string]*symbol, f *file) {
	named := func(name string) *symbol {
		if index[name] == nil {
			index[name] = &symbol{members: map[string]bool{}}
		}
		return index[name]
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				named(receiver(d)).members[d.Name.Name] = true
			} else {
				named(d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					named(s.Name.Name).addMembers(s)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						named(n.Name)
					}
				}
			}
		}
	}
}

// addMembers adds the fields of a struct or the methods of an interface.
func (s *symbol) addMembers(ts *ast.TypeSpec) {
	var fields *ast.FieldList
	switch x := ts.Type.(type) {
	case *ast.StructType:
		fields = x.Fields
	case *ast.InterfaceType:
		fields = x.Methods
	default:
		s.open = s.open || ts.Assign.IsValid()
		return
	}
	for _, f := range fields.List {
		s.open = s.open || len(f.Names) == 0
		for _, n := range f.Names {
			s.members[n.Name] = true
		}
	}
}
