package projection

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// checker finds the faults of one decision.
type checker[D any] struct {
	machine *machine.Machine[D]
	spec    Spec[D]
	answers []answer
	faults  []error
}

func (c *checker[D]) fault(code, text, mend string) {
	c.faults = append(c.faults, &Fault{c.spec.Name, code, text, mend})
}

func (c *checker[D]) check() {
	if err := guard.CheckName(c.spec.Name); err != nil {
		c.fault("name", err.Error(), "rename it")
	}
	if c.spec.Goal == nil {
		c.fault("goal", "it has no goal", "add Goal")
	}
	if c.spec.Budget < 0 {
		c.fault("budget", fmt.Sprintf("budget %d", c.spec.Budget), "give bytes above zero, or nothing")
	}
	if (c.spec.Tokens > 0) != (c.spec.Count != nil) || c.spec.Tokens < 0 {
		c.fault("tokens", "a budget of tokens needs both Tokens and Count", "set both, or none")
	}
	c.checkLines()
	c.checkStates()
	c.checkTexts()
	c.checkDrop()
	c.checkAnswers()
	c.checkFacts()
	c.checkWords()
}

func (c *checker[D]) checkLines() {
	for _, f := range c.spec.Fields {
		if f.Value == nil {
			c.fault("field", "field "+f.Label+" has no value", "add Value")
		}
	}
	for _, u := range c.spec.NotYet {
		known := u.Effect != nil && u.Effect.Info() != nil && c.machine.EffectNamed(u.Effect.Info().Name) == u.Effect.Info()
		switch {
		case (u.Effect == nil) == (u.Holds == nil):
			c.fault("undone", u.Label+" needs either an Effect or Holds", "set one of them")
		case u.Holds == nil && !known:
			c.fault("undone", u.Label+" is about an effect that the machine does not have", "name one of its effects")
		}
	}
}

func (c *checker[D]) checkStates() {
	known := map[machine.State]machine.StateDescription{}
	for _, s := range c.machine.Describe().States {
		known[s.Name] = s
	}
	if len(c.spec.In) == 0 {
		c.fault("in", "it arises in no state", "add In")
	}
	for _, s := range c.spec.In {
		if _, ok := known[s]; !ok {
			c.fault("in", "it arises in "+string(s)+", which the machine does not have", "name one of its states")
		} else if known[s].Final {
			c.fault("in", "it arises in the final state "+string(s), "nothing can be answered there: remove it")
		}
	}
	for _, s := range slices.Sorted(maps.Keys(c.spec.Stages)) {
		if !slices.Contains(c.spec.In, s) {
			c.fault("stage", "it words state "+string(s)+", in which it does not arise", "remove it, or add the state to In")
		}
	}
}

// texts are all fixed texts that are shown.
func (s Spec[D]) texts() []string {
	out := []string{s.Question}
	for _, st := range s.In {
		out = append(out, s.stage(st))
	}
	for _, f := range s.Fields {
		out = append(out, f.Label)
	}
	for _, f := range s.Facts {
		out = append(out, f.Label)
	}
	for _, u := range s.NotYet {
		out = append(out, u.Label)
	}
	for _, a := range s.Allow {
		out = append(out, a.Means)
	}
	return out
}

func (s Spec[D]) stage(st machine.State) string {
	if text, ok := s.Stages[st]; ok {
		return text
	}
	return strings.ReplaceAll(string(st), "_", " ")
}

// spec is the decision in the translation's language.
func (t Translation[D]) spec(s Spec[D]) Spec[D] {
	s.Words, s.Goal, s.Question = t.Words, t.Goal, t.Texts[s.Question]
	stages := map[machine.State]string{}
	for _, st := range s.In {
		stages[st] = t.Texts[s.stage(st)]
	}
	s.Stages = stages
	s.Fields, s.Facts, s.NotYet, s.Allow, s.Drop = slices.Clone(s.Fields), slices.Clone(s.Facts), slices.Clone(s.NotYet), slices.Clone(s.Allow), slices.Clone(s.Drop)
	for i := range s.Fields {
		s.Fields[i].Label = t.Texts[s.Fields[i].Label]
	}
	for i := range s.Facts {
		s.Facts[i].Label = t.Texts[s.Facts[i].Label]
	}
	for i := range s.NotYet {
		s.NotYet[i].Label = t.Texts[s.NotYet[i].Label]
	}
	for i := range s.Allow {
		s.Allow[i].Means = t.Texts[s.Allow[i].Means]
	}
	for i := range s.Drop {
		s.Drop[i] = t.Texts[s.Drop[i]]
	}
	return s
}

func (c *checker[D]) checkTexts() {
	for _, text := range c.spec.texts() {
		c.checkText(text)
	}
	labels := map[string]bool{}
	for _, l := range c.spec.labels() {
		if labels[l] {
			c.fault("label_twice", "two lines are labelled "+l, "word one of them otherwise")
		}
		labels[l] = true
	}
}

func (s Spec[D]) labels() []string {
	var out []string
	for _, f := range s.Fields {
		out = append(out, f.Label)
	}
	for _, f := range s.Facts {
		out = append(out, f.Label)
	}
	for _, u := range s.NotYet {
		out = append(out, u.Label)
	}
	return out
}

func (c *checker[D]) checkText(text string) {
	bad := func(r rune) bool { return unsafeRune(r) || unicode.IsControl(r) }
	switch {
	case text == "":
		c.fault("text", "a text is empty", "Question, labels, stages and Means are all required")
	case len(text) > MaxText:
		c.fault("text", fmt.Sprintf("%.40q... has %d bytes", text, len(text)), fmt.Sprintf("at most %d", MaxText))
	case !utf8.ValidString(text) || strings.ContainsFunc(text, bad) || text != strings.TrimSpace(text):
		c.fault("text", fmt.Sprintf("%.80q does not fill one plain line", text), "no line breaks, backticks, angle brackets or unseen characters")
	}
}

func (c *checker[D]) checkDrop() {
	for _, l := range c.spec.Drop {
		if !slices.Contains(c.spec.labels(), l) {
			c.fault("drop", "nothing is labelled "+l, "name the label of a field, a fact or an undone line")
		}
	}
}

// checkAnswers wants an edge for each answer that a model may propose from one of the states.
func (c *checker[D]) checkAnswers() {
	if len(c.spec.Allow) == 0 {
		c.fault("allow", "nothing may be answered", "add Allow")
	}
	seen := map[string]bool{}
	for _, a := range c.spec.Allow {
		if a.Event == nil || a.Event.Info() == nil || c.machine.EventNamed(a.Event.Info().Name) != a.Event.Info() {
			c.fault("allow", "it allows an event that the machine does not have", "name one of its events")
			continue
		}
		i := a.Event.Info()
		if seen[i.Name] {
			c.fault("allow", "it allows "+i.Name+" twice", "keep one")
		}
		seen[i.Name] = true
		edges := c.edges(i.Name)
		if len(edges) == 0 && len(c.spec.In) > 0 {
			c.fault("no_edge", "no edge lets a model propose "+i.Name+" from the states of this decision", "add one, or allow another event")
		}
		s, err := schemaOf(i.Payload)
		if err != nil {
			c.fault("payload", i.Name+": "+err.Error(), "use a payload that a schema can describe")
			continue
		}
		if s.form != objectForm && s.raw == nil {
			c.fault("payload", i.Name+" carries a "+i.Payload.String()+", and a tool's arguments are an object", "put it into a struct")
		}
		offered := len(edges) > 0 && !slices.ContainsFunc(edges, func(e machine.EdgeDescription) bool { return e.Confirm == "" })
		c.answers = append(c.answers, answer{event: i, schema: s, notation: string(s.appendNotation(nil)), offered: offered})
	}
}

// edges are those by which a model may propose an event from one of the decision's states.
func (c *checker[D]) edges(event string) []machine.EdgeDescription {
	var out []machine.EdgeDescription
	for _, e := range c.machine.Describe().Edges {
		from := slices.ContainsFunc(e.From, func(s machine.State) bool { return slices.Contains(c.spec.In, s) })
		if e.Event == event && from && slices.Contains(e.By, guard.Model) {
			out = append(out, e)
		}
	}
	return out
}

// checkFacts wants every fact that a guard of an allowed event reads to be shown, or hidden for a reason.
func (c *checker[D]) checkFacts() {
	covered := map[string]bool{}
	for _, f := range c.spec.Facts {
		if i := c.known(f.Fact); i != nil {
			covered[i.Name] = true
			switch {
			case i.Hidden:
				c.fault("secret", "it shows "+i.Name+", which is declared Hidden", "show something else")
			case f.show == nil && !canShow(i.Type):
				c.fault("fact_value", fmt.Sprintf("%s is a %v, which cannot be shown as it is", i.Name, i.Type), "use Show, or give the type a String method")
			}
		}
	}
	for _, h := range c.spec.Hidden {
		if i := c.known(h.Fact); i != nil {
			covered[i.Name] = true
			if strings.TrimSpace(h.Reason) == "" {
				c.fault("hidden", i.Name+" is hidden without a reason", "say why the model need not see it")
			}
		}
	}
	for _, a := range c.answers {
		for _, e := range c.edges(a.event.Name) {
			for _, g := range e.Guards {
				for _, name := range g.Reads {
					if !covered[name] {
						c.fault("unseen", fmt.Sprintf("%s reads %s, which is neither shown nor hidden", g.Name, name), "add it to Facts, or to Hidden with a reason")
						covered[name] = true
					}
				}
			}
		}
	}
}

// known is the fact's declaration, when it is one of the machine's.
func (c *checker[D]) known(f guard.AnyFact) *guard.FactInfo {
	if f != nil && f.Info() != nil && c.machine.FactNamed(f.Info().Name) == f.Info() {
		return f.Info()
	}
	c.fault("fact", "it names a fact that the machine does not have", "name one that an edge reads")
	return nil
}

// checkWords wants every language to be whole.
func (c *checker[D]) checkWords() {
	if c.spec.Words != nil {
		c.checkCatalogue(c.spec.Words)
	}
	seen := map[string]bool{English.Language: c.spec.Words == nil}
	if c.spec.Words != nil {
		seen[c.spec.Words.Language] = true
	}
	for _, t := range c.spec.Other {
		if t.Words == nil || t.Goal == nil || seen[t.Words.Language] {
			c.fault("translation", "a translation has no words, no goal, or a language that is there already", "give it Words and Goal")
			continue
		}
		seen[t.Words.Language] = true
		c.checkCatalogue(t.Words)
		for _, text := range c.spec.texts() {
			if t.Texts[text] == "" {
				c.fault("untranslated", fmt.Sprintf("%q has no %s", text, t.Words.Language), "add it to Texts")
			} else {
				c.checkText(t.Texts[text])
			}
		}
	}
}

func (c *checker[D]) checkCatalogue(w *Words) {
	if missing := w.missing(); len(missing) > 0 {
		c.fault("words", fmt.Sprintf("the words of %q lack %s", w.Language, strings.Join(missing, ", ")), "fill them in")
	}
}
