package machinetest

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// T0 is the instant at which every task of a table starts.
var T0 = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// table is a file that was read, with its names resolved against the machine.
type table struct {
	path       string
	lines      []string
	m          *machine.Machine[any]
	about      machine.Description
	facts      []*namedFact
	payloads   []*namedPayload
	situations []*situation
	starts     []start
	rows       []*row
	excuses    []*excuse
	complete   bool // no cell may be missing
	leaving    bool // a section says which facts each step leaves
	hands      map[string]*guard.Authority
	faults     []*fault                    // of declarations and rows
	unreached  []*fault                    // of situations that legal steps do not reach
	proposed   map[string]machine.Proposal // decoded before, by event and payload
	seen       map[observed]guard.Evidence // nil, or evidence made before in the situation being explored
}

// namedFact is a fact of the machine about a subject, with a value.
type namedFact struct {
	name    string
	info    *guard.FactInfo
	subject string // as written: an id, @event or $effect
	value   any
	raw     []byte
}

// namedPayload is a payload of one event. It need not be in the required form.
type namedPayload struct {
	name  string
	event string
	raw   string
}

// situation is a snapshot that legal steps have reached.
type situation struct {
	name string
	at   machine.Snapshot[any]
	task machine.Task
	way  []Step
}

// start is a task that a situation starts, as its line is written.
type start struct {
	text string
	at   machine.Snapshot[any]
	task machine.Task
}

// readTable reads a file. The error joins every fault of it, with file and line.
func readTable(d machine.Definition, path string) (*table, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tb := parseTable(d, path, string(raw))
	return tb, joined(tb.faults, tb.unreached)
}

// joined are faults in the order of their lines.
func joined(faults ...[]*fault) error {
	all := slices.Concat(faults...)
	slices.SortStableFunc(all, func(a, b *fault) int { return a.line - b.line })
	var errs []error
	for _, f := range all {
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

func parseTable(d machine.Definition, path, text string) *table {
	tb := &table{path: path, lines: strings.Split(text, "\n"), m: machine.Erase(d), about: d.Describe(), hands: map[string]*guard.Authority{}, proposed: map[string]machine.Proposal{}}
	for _, s := range sections(tb.lines) {
		tb.section(s)
	}
	if len(tb.rows) == 0 {
		tb.fault(1, "the file has no row: write a section -- table --")
	}
	return tb
}

func (tb *table) fault(line int, format string, args ...any) {
	tb.faults = append(tb.faults, &fault{tb.path, line, fmt.Sprintf(format, args...)})
}

// miss is a fault of a situation: the machine may be at fault, and not the table.
func (tb *table) miss(line int, format string, args ...any) {
	tb.unreached = append(tb.unreached, &fault{tb.path, line, fmt.Sprintf(format, args...)})
}

func (tb *table) section(s section) {
	switch s.kind {
	case "facts":
		for _, l := range s.body {
			tb.fact(l)
		}
	case "payloads":
		for _, l := range s.body {
			tb.payload(l)
		}
	case "situation":
		tb.situation(s)
	case "table":
		tb.header(s)
	case "impossible", "uncovered":
		tb.complete = true
		for _, l := range s.body {
			tb.excuse(l, s.kind == "impossible")
		}
	default:
		tb.fault(s.number, "there is no section %q: it is facts, payloads, situation, table, impossible or uncovered", s.kind)
	}
}

var factLine = regexp.MustCompile(`^([a-z]\w*)\s*=\s*(\w+)\(([^)]*)\)\s+(.+)$`)

func (tb *table) fact(l line) {
	m := factLine.FindStringSubmatch(l.text)
	if m == nil {
		tb.fault(l.number, "not a fact: write NAME = FACT(SUBJECT) VALUE")
		return
	}
	f := &namedFact{name: m[1], info: tb.m.FactNamed(m[2]), subject: m[3], raw: []byte(m[4])}
	switch {
	case f.info == nil:
		tb.fault(l.number, "the machine knows no fact %q; it knows %s", m[2], names(tb.about.Facts, func(f machine.FactDescription) string { return f.Name }))
		return
	case tb.factNamed(f.name) != nil:
		tb.fault(l.number, "two facts are called %q", f.name)
		return
	}
	v, err := f.info.Decode(f.raw)
	if err != nil {
		tb.fault(l.number, "fact %s: %v", f.name, err)
		return
	}
	f.value = v
	tb.facts = append(tb.facts, f)
	if tb.hands[f.info.Source] == nil {
		tb.hands[f.info.Source] = guard.NewAuthority(f.info.Source)
	}
}

func (tb *table) factNamed(name string) *namedFact {
	if i := slices.IndexFunc(tb.facts, func(f *namedFact) bool { return f.name == name }); i >= 0 {
		return tb.facts[i]
	}
	return nil
}

var payloadLine = regexp.MustCompile(`^([a-z]\w*)\s*=\s*([a-z][\w.]*)\s+(.+)$`)

func (tb *table) payload(l line) {
	m := payloadLine.FindStringSubmatch(l.text)
	switch {
	case m == nil:
		tb.fault(l.number, "not a payload: write NAME = EVENT JSON")
	case tb.m.EventNamed(m[2]) == nil:
		tb.fault(l.number, "%s", tb.unknownEvent(m[2]))
	case slices.ContainsFunc(tb.payloads, func(p *namedPayload) bool { return p.name == m[1] }):
		tb.fault(l.number, "two payloads are called %q", m[1])
	default:
		tb.payloads = append(tb.payloads, &namedPayload{m[1], m[2], m[3]})
	}
}

// situation takes the steps of a situation; the first that is not committed ends it.
func (tb *table) situation(s section) {
	switch {
	case s.name == "":
		tb.fault(s.number, "the situation has no name")
		return
	case tb.situationNamed(s.name) != nil:
		tb.fault(s.number, "two situations are called %q", s.name)
		return
	case len(s.body) == 0:
		tb.fault(s.number, "situation %s is empty: begin it with start TASK OWNER DATA, or with from SITUATION", s.name)
		return
	}
	at := tb.begin(s.body[0])
	for _, l := range s.body[1:] {
		if at == nil || !tb.legal(at, l, s.name) {
			return
		}
	}
	if at != nil {
		at.name = s.name
		tb.situations = append(tb.situations, at)
	}
}

func (tb *table) begin(l line) *situation {
	if from, ok := strings.CutPrefix(l.text, "from "); ok {
		if s := tb.situationNamed(from); s != nil {
			return &situation{at: s.at, task: s.task, way: slices.Clone(s.way)}
		}
		tb.miss(l.number, "%s", tb.unknownSituation(from))
		return nil
	}
	f := strings.SplitN(l.text, " ", 4)
	if f[0] != "start" || len(f) < 4 {
		tb.fault(l.number, "a situation begins with start TASK OWNER DATA, or with from SITUATION")
		return nil
	}
	task, err := tb.m.TaskFrom(f[1], guard.Principal{ID: f[2]}, []byte(f[3]))
	if err != nil {
		tb.fault(l.number, "start: %v", err)
		return nil
	}
	s, _, err := task.First(T0)
	if err != nil {
		tb.fault(l.number, "start: %v", err)
		return nil
	}
	if !slices.ContainsFunc(tb.starts, func(o start) bool { return o.text == l.text }) {
		tb.starts = append(tb.starts, start{l.text, s, task})
	}
	return &situation{at: s, task: task}
}

// legal takes a step of a situation, and tells whether it was committed.
func (tb *table) legal(s *situation, l line, name string) bool {
	mv, err := parseStep(l.text)
	if err != nil {
		tb.miss(l.number, "%v", err)
		return false
	}
	next, out, err := tb.step(s.at, mv)
	switch {
	case err != nil:
		tb.miss(l.number, "%v", err)
		return false
	case out.Kind != machine.Committed:
		tb.miss(l.number, "situation %s is not reached: in %s this step is %s: %s", name, s.at.State, out.Kind, reasons(out))
		return false
	}
	step, err := tb.asStep(s.at, mv)
	if err != nil {
		tb.miss(l.number, "%v", err)
		return false
	}
	s.at, s.way = next, append(s.way, step)
	return true
}

func (tb *table) situationNamed(name string) *situation {
	if i := slices.IndexFunc(tb.situations, func(s *situation) bool { return s.name == name }); i >= 0 {
		return tb.situations[i]
	}
	return nil
}

func (tb *table) unknownSituation(name string) string {
	return fmt.Sprintf("no situation is called %q; there are %s", name, names(tb.situations, func(s *situation) string { return s.name }))
}

func (tb *table) unknownEvent(name string) string {
	known := slices.DeleteFunc(tb.events(), func(e string) bool { return drivenBy(e) != nil })
	return fmt.Sprintf("the machine knows no event %q; it knows %s", name, strings.Join(known, ", "))
}

// names lists what could have been meant.
func names[T any](of []T, name func(T) string) string {
	if len(of) == 0 {
		return "none"
	}
	out := make([]string, len(of))
	for i, v := range of {
		out[i] = name(v)
	}
	return strings.Join(out, ", ")
}

// reasons are the findings in words.
func reasons(out machine.Outcome) string {
	parts := make([]string, 0, len(out.Findings))
	for _, f := range out.Findings {
		parts = append(parts, strings.TrimSuffix(f.Code+": "+f.Text, ": "))
	}
	if len(parts) == 0 {
		return "nothing new"
	}
	return strings.Join(parts, "; ")
}
