package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// checkNames refuses package names that say nothing.
func checkNames(t *tree) []Fault {
	var out []Fault
	for _, f := range t.files {
		name := strings.TrimSuffix(f.Name.Name, "_test")
		if slices.Contains(vagueNames, name) || slices.Contains(vagueNames, f.pkg[strings.LastIndex(f.pkg, "/")+1:]) {
			out = append(out, t.fault("name", f, f.Name.Pos(),
				fmt.Sprintf("package %s in %s says nothing about what it holds", name, f.pkg),
				"name it after the one thing it provides, or move each piece to its only user"))
		}
	}
	return out
}

// checkPackageDocs wants a comment above the package clause of one file per package.
func checkPackageDocs(t *tree) []Fault {
	var out []Fault
	for _, pkg := range t.packages() {
		files := t.of(pkg)
		if !slices.ContainsFunc(files, hasPackageDoc) {
			f := files[0]
			out = append(out, t.fault("package-doc", f, f.Name.Pos(), "package "+pkg+" has no doc comment",
				"say in doc.go what it is for, in one sentence that begins with its name"))
		}
	}
	return out
}

// hasPackageDoc tells whether the file introduces its package in the usual words.
func hasPackageDoc(f *file) bool {
	name, text := f.Name.Name, f.Doc.Text()
	if name == "main" {
		return text != ""
	}
	return strings.HasPrefix(text, "Package "+name+" ") || strings.HasPrefix(text, "Package "+name+"\n")
}

// checkSymbolDocs wants a comment on everything that users of the public packages can name.
func checkSymbolDocs(t *tree) []Fault {
	var out []Fault
	for _, f := range t.files {
		if f.test() || !slices.Contains(documented, f.pkg) {
			continue
		}
		for _, s := range undocumented(f) {
			out = append(out, t.fault("symbol-doc", f, s.Pos(),
				fmt.Sprintf("exported %s of package %s has no doc comment", s.Name, f.pkg),
				"say what it means, its limits and zero value, and which error comes when"))
		}
	}
	return out
}

// undocumented are the names of exported declarations without a comment.
func undocumented(f *file) []*ast.Ident {
	var out []*ast.Ident
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d))) {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				out = append(out, undocumentedSpec(d, s)...)
			}
		}
	}
	return out
}

// undocumentedSpec looks at one type, constant or variable. The comment of a group speaks for its constants,
// which are values of one thing, but not for its variables or types.
func undocumentedSpec(d *ast.GenDecl, s ast.Spec) []*ast.Ident {
	var out []*ast.Ident
	alone := d.Doc != nil && !d.Lparen.IsValid()
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && !alone {
			out = append(out, s.Name)
		}
		if i, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
			out = append(out, undocumentedMethods(i)...)
		}
	case *ast.ValueSpec:
		if s.Doc != nil || s.Comment != nil || alone || d.Tok == token.CONST && d.Doc != nil {
			break
		}
		for _, n := range s.Names {
			if n.IsExported() {
				out = append(out, n)
			}
		}
	}
	return out
}

func undocumentedMethods(i *ast.InterfaceType) []*ast.Ident {
	var out []*ast.Ident
	if len(i.Methods.List) == 1 {
		return nil // the comment of the interface is about its one method
	}
	for _, m := range i.Methods.List {
		if len(m.Names) == 1 && m.Names[0].IsExported() && m.Doc == nil && m.Comment == nil {
			out = append(out, m.Names[0])
		}
	}
	return out
}

// receiver is the name of the type that a method is of.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
