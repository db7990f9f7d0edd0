package machinetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/machine"
)

// reporter is what a table needs of a test; the tests of this package put another one in.
type reporter interface {
	Helper()
	Name() string
	Errorf(format string, args ...any)
	Run(name string, f func(reporter))
}

// tester is the reporter of go test.
type tester struct{ *testing.T }

// Run is a subtest.
func (t tester) Run(name string, f func(reporter)) {
	t.T.Run(name, func(t *testing.T) { f(tester{t}) })
}

// RunTables runs every table that the pattern matches: each row as a subtest named after its line, and, for files that
// must be complete, a subtest "coverage". A row that fails is printed with the difference and the command that runs
// it again. With the flag -update, the package's own if it has one, it rewrites the files instead, and reports only what cannot be
// written down.
func RunTables(t *testing.T, d machine.Definition, pattern string) {
	t.Helper()
	runTables(tester{t}, d, pattern, updating())
}

// Check is [RunTables] without a test, for one file: the error joins what a test would report. For tools, and for tests that a
// table catches what it should.
func Check(d machine.Definition, path string) error {
	c := &collector{name: path}
	runFile(c, d, path, false)
	return errors.Join(c.all...)
}

// collector is the reporter of Check.
type collector struct {
	name string
	all  []error
}

// Helper does nothing.
func (c *collector) Helper() {}

// Name is the path of the subtest.
func (c *collector) Name() string { return c.name }

// Errorf keeps the message.
func (c *collector) Errorf(format string, args ...any) {
	if len(args) == 1 {
		if err, ok := args[0].(error); ok {
			c.all = append(c.all, err)
			return
		}
	}
	c.all = append(c.all, fmt.Errorf(format, args...))
}

// Run runs f at once, with the same errors.
func (c *collector) Run(name string, f func(reporter)) {
	sub := &collector{name: c.name + "/" + name}
	f(sub)
	c.all = append(c.all, sub.all...)
}

func runTables(r reporter, d machine.Definition, pattern string, update bool) {
	r.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		r.Errorf("no table matches %s", pattern)
		return
	}
	for _, path := range files {
		r.Run(filepath.Base(path), func(r reporter) { runFile(r, d, path, update) })
	}
}

func runFile(r reporter, d machine.Definition, path string, update bool) {
	r.Helper()
	tb, err := readTable(d, path)
	if err != nil {
		r.Errorf("%v", err)
		return
	}
	got := map[int][]string{}
	var all []*trial
	for _, row := range tb.rows {
		trials, err := tb.try(row)
		all = append(all, trials...)
		if err == nil && update && agree(trials) {
			got[row.number] = trials[0].got.cells(row)
		}
		r.Run(fmt.Sprintf("line_%d", row.number), func(r reporter) {
			r.Helper()
			if err != nil {
				r.Errorf("%v", err)
				return
			}
			tb.judge(r, row, trials, update)
		})
	}
	if tb.complete {
		r.Run("coverage", func(r reporter) { r.Helper(); tb.cover(r, all) })
	}
	if text := tb.aligned(got); update && text != strings.Join(tb.lines, "\n") {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			r.Errorf("%v", err)
		}
	}
}

// agree tells whether the same came of every trial.
func agree(trials []*trial) bool {
	return !slices.ContainsFunc(trials, func(t *trial) bool { return t.got != trials[0].got })
}

// judge reports what is wrong with a row.
func (tb *table) judge(r reporter, row *row, trials []*trial, update bool) {
	r.Helper()
	for _, t := range trials {
		if err := tb.check(t); err != nil {
			r.Errorf("%s:%d: %s: %v\n  row    %s\n  rerun  %s", tb.path, row.number, t.title(), err, row.text, rerun(r.Name()))
		}
		if t.got != trials[0].got {
			r.Errorf("%s:%d: what comes of it differs: make two rows of it\n  row    %s\n  %s: %s\n  %s: %s", tb.path, row.number,
				row.text, trials[0].title(), strings.Join(trials[0].got.cells(row), " | "), t.title(), strings.Join(t.got.cells(row), " | "))
			return
		}
	}
	if t := trials[0]; t.got != row.want() && !update {
		r.Errorf("%s:%d: not as the table says%s\n  row    %s%s\n  rerun  %s", tb.path, row.number, of(trials), row.text, difference(row, t), rerun(r.Name()))
	}
}

func of(trials []*trial) string {
	if len(trials) == 1 {
		return ""
	}
	return " (" + trials[0].title() + ")"
}

// difference are the columns that differ, and the reasons in words.
func difference(row *row, t *trial) string {
	var b strings.Builder
	for i, want := range row.want() {
		if got := t.got[i]; got != want {
			fmt.Fprintf(&b, "\n  %-7s want %s\n          got  %s", allColumns[done+i], orNothing(want), orNothing(got))
		}
	}
	for _, f := range t.out.Findings {
		fmt.Fprintf(&b, "\n  said    %s", strings.TrimSuffix(f.Code+": "+f.Text, ": "))
	}
	return b.String()
}

func orNothing(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return s
}

// rerun is the command that runs a test again, to be typed at the root of the module.
func rerun(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("go test ./%s -run '%s'", packagePath(), strings.Join(parts, "/"))
}

// packagePath is the directory of the running test from the root of its module.
func packagePath() string {
	dir, err := os.Getwd()
	if err != nil {
		return "..."
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			rel, err := filepath.Rel(root, dir)
			if err != nil {
				return "..."
			}
			return filepath.ToSlash(rel)
		}
		if root == filepath.Dir(root) {
			return "..."
		}
	}
}
