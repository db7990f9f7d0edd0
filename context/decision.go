package projection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
	"github.com/pawlgo/pawl/machine"
)

// Decision is a checked [Spec] in one language. Safe for concurrent use.
type Decision struct {
	name      string
	machine   *machine.Machine[any]
	fits      func(machine.Snapshot[any]) bool
	in        []machine.State
	goal      func(data any) string
	stages    map[machine.State]string
	fields    []field
	facts     []fact
	undone    []undone
	question  string
	answers   []answer
	drop      []string
	budget    int
	tokens    int
	count     func(string) int
	zone      *time.Location
	words     *Words
	markdown  []byte // the part that is the same for every task and version
	object    []byte
	seal      string // digest of that, and of every schema
	languages map[string]*Decision
}

// label is the label of a line, ready for both renderings.
type label struct {
	text     string
	markdown string // "- label: "
	object   string // {"label":"label"
}

func newLabel(text string) label {
	return label{text, "- " + text + ": ", string(appendQuoted([]byte(`{"label":`), text))}
}

// field, fact, undone and answer are their namesakes in Spec with the data's type hidden.
type field struct {
	label label
	value func(data any) any
}

type fact struct {
	label label
	about guard.AnyFact
	show  func(value any, who guard.Principal) any
}

type undone struct {
	label label
	holds func(machine.Snapshot[any]) bool
}

type answer struct {
	event    *machine.EventInfo
	means    string
	schema   *schema
	notation string
	object   []byte // as it is listed, unless it is offered
	offered  bool   // only what is offered may be answered
}

// Define checks a decision against its machine and reports every fault at once, joined; each is a [*Fault]. What must always
// be shown and does not fit the budget is a [*BudgetError]. All errors wrap [ErrDecision]. It lives here and not in Build, because machine knows no projections.
func Define[D any](m *machine.Machine[D], s Spec[D]) (*Decision, error) {
	c := &checker[D]{machine: m, spec: s}
	c.check()
	if len(c.faults) > 0 {
		return nil, fmt.Errorf("decision %s has %d faults:\n%w", s.Name, len(c.faults), errors.Join(c.faults...))
	}
	all := []*Decision{compile(m, s, c.answers)}
	for _, t := range s.Other {
		all = append(all, compile(m, t.spec(s), c.answers))
	}
	languages := map[string]*Decision{}
	for _, d := range all {
		languages[d.words.Language], d.languages = d, languages
		if err := d.seals(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDecision, err)
		}
	}
	return all[0], nil
}

// MustDefine is Define for package variables; it panics with all faults.
func MustDefine[D any](m *machine.Machine[D], s Spec[D]) *Decision {
	d, err := Define(m, s)
	if err != nil {
		panic(err)
	}
	return d
}

// compile hides the data's type.
func compile[D any](m *machine.Machine[D], s Spec[D], answers []answer) *Decision {
	d := &Decision{
		name: s.Name, machine: machine.Erase(m), in: slices.Clone(s.In), stages: map[machine.State]string{},
		question: s.Question, drop: slices.Clone(s.Drop), budget: s.Budget, tokens: s.Tokens, count: s.Count, zone: s.Zone,
		fits: func(a machine.Snapshot[any]) bool { _, ok := a.Data.(D); return ok && a.Stamp() == m.Stamp() },
		goal: func(data any) string { return s.Goal(data.(D)) },
	}
	for _, st := range s.In {
		d.stages[st] = s.stage(st)
	}
	if d.budget == 0 {
		d.budget = DefaultBudget
	}
	if d.zone == nil {
		d.zone = time.UTC
	}
	words := English
	if s.Words != nil {
		words = *s.Words
	}
	words.Rules, words.Reasons = slices.Clone(words.Rules), maps.Clone(words.Reasons)
	d.words = &words
	for _, f := range s.Fields {
		d.fields = append(d.fields, field{newLabel(f.Label), func(data any) any { return f.Value(data.(D)) }})
	}
	for _, f := range s.Facts {
		d.facts = append(d.facts, fact{newLabel(f.Label), f.Fact, f.show})
	}
	for _, u := range s.NotYet {
		holds := func(a machine.Snapshot[any]) bool { t, _ := machine.As[D](a); return u.Holds(t) }
		if u.Holds == nil {
			holds = func(a machine.Snapshot[any]) bool { return !a.Emitted(u.Effect) }
		}
		d.undone = append(d.undone, undone{newLabel(u.Label), holds})
	}
	d.answers = slices.Clone(answers)
	for i, a := range s.Allow {
		d.answers[i].means = a.Means
		d.answers[i].object = d.answers[i].appendObject(nil, d.answers[i].notation)
	}
	return d
}

// seals makes the part that never changes, and its digest. What must always be shown has to fit the budget already.
func (d *Decision) seals() error {
	d.markdown, d.object = d.staticMarkdown(), d.staticObject()
	all := slices.Concat(d.markdown, d.object)
	for _, a := range d.answers {
		all = a.schema.append(all, standard, false)
	}
	d.seal = canon.DigestBytes(all)
	p := d.least()
	if err := p.over(p.appendMarkdown(nil), p.appendObject(nil)); err != nil {
		return fmt.Errorf("what is always shown: %w", err)
	}
	return nil
}

// least is a page with everything that no task can do without.
func (d *Decision) least() *page {
	p := &page{decision: d, stage: d.stages[d.in[0]]}
	for i := range d.fields {
		if l := &d.fields[i].label; !slices.Contains(d.drop, l.text) {
			p.fields = append(p.fields, line{label: l})
		}
	}
	for i := range d.facts {
		if l := &d.facts[i].label; !slices.Contains(d.drop, l.text) {
			p.facts = append(p.facts, line{label: l})
		}
	}
	for i := range d.answers {
		p.open = append(p.open, openAnswer{answer: &d.answers[i]})
	}
	return p
}

// Name of the decision.
func (d *Decision) Name() string { return d.name }

// Stamp of the definition that the decision was checked against: it serves the tasks of that definition alone, so where
// several versions of a machine stand side by side each has decisions of its own.
func (d *Decision) Stamp() machine.Stamp { return d.machine.Stamp() }

// Language of the decision's texts.
func (d *Decision) Language() string { return d.words.Language }

// In is the same decision in another language that it was defined with. Errors wrap [ErrLanguage].
func (d *Decision) In(language string) (*Decision, error) {
	if other := d.languages[language]; other != nil {
		return other, nil
	}
	return nil, fmt.Errorf("decision %s in %q: %w", d.name, language, ErrLanguage)
}

// View makes the view of a snapshot for a signed-in principal at an instant, with what others said. It is pure: equal
// input gives equal bytes. Errors wrap [ErrNotNow], [ErrOtherMachine], [ErrValue] or [ErrQuotes], or are a
// [*BudgetError].
func (d *Decision) View(s machine.Snapshot[any], who guard.Principal, now time.Time, said ...Quote) (View, error) {
	switch {
	case d == nil || d.fits == nil:
		return View{}, fmt.Errorf("the zero Decision, task %s: %w", s.Task, ErrDecision)
	case !d.fits(s):
		return View{}, fmt.Errorf("decision %s of %s, task %s of %s: %w", d.name, d.machine.Stamp(), s.Task, s.Stamp(), ErrOtherMachine)
	case !slices.Contains(d.in, s.State):
		return View{}, fmt.Errorf("decision %s, task %s in %s: %w", d.name, s.Task, s.State, ErrNotNow)
	case len(said) > MaxQuotes:
		return View{}, fmt.Errorf("decision %s, task %s: %d quotes, at most %d: %w", d.name, s.Task, len(said), MaxQuotes, ErrQuotes)
	}
	p, err := d.page(s, who, now, said)
	if err != nil {
		return View{}, fmt.Errorf("decision %s, task %s, version %d: %w", d.name, s.Task, s.Version, err)
	}
	return p.view()
}
