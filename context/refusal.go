package projection

import (
	"errors"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
	"github.com/pawlgo/pawl/machine"
)

// Refusal is why an answer was refused, for a model to act on: in words of the decision's language, and as data. It
// holds nothing that a view does not show. Show it with [View.After], or send it back as the result of a tool call.
type Refusal struct {
	Code    string   `json:"code"`               // of the first reason; stable
	Text    string   `json:"text"`               // one line of at most [MaxReason] bytes
	Needs   []string `json:"needs,omitempty"`    // labels of the facts that must be observed first
	Allowed []string `json:"allowed"`            // the answers that were open
	Details []string `json:"details,omitempty"`  // what guards say as data, as JSON
	Ask     string   `json:"question,omitempty"` // what a person must be asked
}

// Refusal explains an error of [View.Read], [View.Call] or [machine.Outcome.Err]; false for every other error, which is
// none of the model's making.
func (v View) Refusal(err error) (Refusal, bool) {
	if v.page == nil || err == nil {
		return Refusal{}, false
	}
	if e, ok := errors.AsType[*RefusedError](err); ok {
		return v.refusalOfForm(e), true
	}
	if e, ok := errors.AsType[*machine.NotCommittedError](err); ok {
		return v.refusalOfOutcome(e.Outcome), true
	}
	return Refusal{}, false
}

// maxReasons is how many reasons of one refusal are told; the first ones decide.
const maxReasons = 4

func (v View) refusalOfForm(e *RefusedError) Refusal {
	w := v.page.decision.words
	r := Refusal{Code: e.Code, Allowed: v.Allowed()}
	var texts []string
	for _, f := range e.Faults[:min(len(e.Faults), maxReasons)] {
		texts = append(texts, w.form(f.Code, f.Path, f.Text))
	}
	return r.say(texts)
}

// form is what was wrong with the form of an answer, and where. Rules that are not met are told in their own words.
func (w *Words) form(code, path, own string) string {
	text := w.reason(code, own)
	if path != "" {
		text += " " + string(appendQuoted(nil, cutText(path, MaxDetail)))
	}
	if code == "invalid" && own != "" {
		text += ": " + string(appendProse(nil, cutText(own, MaxText)))
	}
	return text
}

func (v View) refusalOfOutcome(o machine.Outcome) Refusal {
	w := v.page.decision.words
	r := Refusal{Code: o.Code(), Allowed: v.Allowed()}
	var texts []string
	for _, f := range o.Findings[:min(len(o.Findings), maxReasons)] {
		if code, _ := f.Details["reason"].(string); f.Code == machine.CodeForm && code != "" {
			path, _ := f.Details["path"].(string)
			r.Code, texts = code, append(texts, w.form(code, path, f.Text))
			continue
		}
		if text := w.reason(f.Code, f.Text); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		if raw, err := canon.Append(nil, f.Details); err == nil && len(f.Details) > 0 && len(raw) <= MaxDetail {
			r.Details = append(r.Details, string(appendJSON(nil, raw)))
		}
	}
	for _, k := range o.Missing {
		for _, f := range v.page.decision.facts {
			if f.about.Info().Name == k.Fact && !slices.Contains(r.Needs, f.label.text) {
				r.Needs = append(r.Needs, f.label.text)
			}
		}
	}
	if o.Question != "" && !slices.Contains(v.page.unshown, o.Question) {
		r.Ask = string(appendProse(nil, cutText(o.Question, MaxText)))
	}
	return r.say(texts)
}

func (r Refusal) say(texts []string) Refusal {
	r.Text = cutText(strings.Join(texts, "; "), MaxReason)
	return r
}

// silent are codes whose texts tell of the program and not of the answer.
var silent = []string{machine.CodeEdgeFault, guard.CodeGuardFault, machine.CodeInvariant, machine.CodeStaleVersion, guard.CodeUnknown,
	machine.CodeForbidden, machine.CodeData}

// reason is what a code means: the catalogue's words, else the guard's own, which are fixed prose for the model.
func (w *Words) reason(code, own string) string {
	if text, ok := w.Reasons[code]; ok {
		return text
	}
	if own == "" || slices.Contains(silent, code) {
		return strings.ReplaceAll(code, "_", " ")
	}
	return string(appendProse(nil, cutText(own, MaxText)))
}

// After is the same view, followed by why the last answer was refused. The state that it shows is the one that it
// showed before: a refusal changes nothing. The digest is another.
func (v View) After(r Refusal) (View, error) {
	if v.page == nil {
		return v, nil
	}
	p := *v.page
	p.refusal = &r
	for p.refusalSize() > MaxRefusal && p.refusal.shrink() {
	}
	return p.view()
}

// refusalSize is what the refusal takes in the larger rendering.
func (p *page) refusalSize() int {
	w := members{some: true}
	p.refusalMembers(&w)
	return max(len(p.appendRefusal(nil)), len(w.dst))
}

// shrink leaves out what a refusal can do without: details first, then needs, then the end of its text; false when there
// is nothing left to leave out.
func (r *Refusal) shrink() bool {
	switch {
	case len(r.Details) > 0:
		r.Details = r.Details[:len(r.Details)-1]
	case len(r.Needs) > 1:
		r.Needs = r.Needs[:len(r.Needs)-1]
	case len(r.Text) > MaxDetail:
		r.Text = cutText(r.Text, max(MaxDetail, len(r.Text)/2))
	case r.Ask != "":
		r.Ask = ""
	default:
		return false
	}
	return true
}

// appendRefusal writes the section of a refused answer.
func (p *page) appendRefusal(b []byte) []byte {
	r, w := p.refusal, p.decision.words
	if r == nil {
		return b
	}
	b = append(append(append(b, '\n'), w.Refused...), ":\n- "...)
	b = appendProse(append(appendProse(b, r.Code), ": "...), r.Text)
	for _, n := range r.Needs {
		b = append(append(appendProse(append(b, "\n- "...), n), ": "...), w.Unknown...)
	}
	for _, d := range r.Details {
		b = appendProse(append(b, "\n- "...), d)
	}
	if r.Ask != "" {
		b = appendProse(append(b, "\n- "...), r.Ask)
	}
	return append(append(append(b, "\n- "...), w.Unchanged...), '\n')
}

func (p *page) refusalMembers(w *members) {
	if p.refusal == nil {
		return
	}
	w.key("last_answer_refused")
	in := members{dst: append(w.dst, '{')}
	in.text("code", p.refusal.Code)
	in.text("text", p.refusal.Text)
	in.texts("needs", p.refusal.Needs)
	in.texts("details", p.refusal.Details)
	in.text("question", p.refusal.Ask)
	in.text("note", p.decision.words.Unchanged)
	w.dst = append(in.dst, '}')
}

// texts adds a list of strings, unless it is empty.
func (w *members) texts(name string, values []string) {
	if len(values) > 0 {
		w.key(name)
		w.list(len(values), func(dst []byte, i int) []byte { return appendQuoted(dst, values[i]) })
	}
}
