package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// file is one parsed source file.
type file struct {
	*ast.File
	path string // from the module's root
	pkg  string // directory, "." for the root
}

// tree is the parsed module.
type tree struct {
	fset   *token.FileSet
	files  []*file // in order of path
	broken []Fault // files that do not parse
	prose  []page  // Markdown
	long   string  // text of the list of long functions
}

// page is one Markdown file.
type page struct {
	path  string
	lines []string
}

// readTree parses every Go file that the go command would build or test with ./... , and reads the prose beside them.
func readTree(fsys fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && foreign(fsys, name):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return t.read(fsys, name)
	})
	return t, err
}

// foreign tells whether a directory is none of ours: ignored by the go command, or a module of its own.
func foreign(fsys fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func (t *tree) read(fsys fs.FS, name string) error {
	ext := path.Ext(name)
	if ext != ".go" && ext != ".md" && name != longList {
		return nil
	}
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	switch ext {
	case ".go":
		t.parse(name, src)
	case ".md":
		t.prose = append(t.prose, page{name, strings.Split(string(src), "\n")})
	default:
		t.long = string(src)
	}
	return nil
}

func (t *tree) parse(name string, src []byte) {
	f, err := parser.ParseFile(t.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.broken = append(t.broken, Fault{"parse", name, 1, err.Error(), "mend the syntax"})
		return
	}
	t.files = append(t.files, &file{File: f, path: name, pkg: path.Dir(name)})
}

// packages are the directories that hold files, in order.
func (t *tree) packages() []string {
	var out []string
	for _, f := range t.files {
		out = append(out, f.pkg)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// of are the files of one package.
func (t *tree) of(pkg string) []*file {
	var out []*file
	for _, f := range t.files {
		if f.pkg == pkg {
			out = append(out, f)
		}
	}
	return out
}

func (t *tree) line(p token.Pos) int { return t.fset.Position(p).Line }

func (t *tree) fault(rule string, f *file, at token.Pos, text, mend string) Fault {
	return Fault{rule, f.path, t.line(at), text, mend}
}

// test tells whether the go command compiles the file for tests only.
func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// shipped tells whether the file can end up in a user's binary.
func (f *file) shipped() bool { return !f.test() && !testPackage(f.pkg) && !tool(f.pkg) }

// imported is the path of an import.
func imported(s *ast.ImportSpec) string {
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return s.Path.Value
	}
	return p
}
