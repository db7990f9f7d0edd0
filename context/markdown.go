package projection

import (
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// staticMarkdown is the head of every view of the decision.
func (d *Decision) staticMarkdown() []byte {
	w := d.words
	b := append([]byte("# "), d.name...)
	b = append(append(b, "\n\n"...), w.Intro...)
	b = append(b, '\n')
	for _, r := range w.Rules {
		b = append(append(append(b, "- "...), r...), '\n')
	}
	b = append(append(append(append(b, '\n'), w.Question...), ": "...), d.question...)
	return append(b, "\n\n"...)
}

// appendMarkdown writes the whole view. Every line that data can reach begins with our own characters, and data has no
// way to end it.
func (p *page) appendMarkdown(b []byte) []byte {
	w := p.decision.words
	b = append(b, p.decision.markdown...)
	b = appendProse(append(append(b, w.Goal...), ": "...), p.goal)
	b = append(append(append(b, '\n'), w.Stage...), ": "...)
	b = append(append(append(b, p.stage...), '\n'), w.Now...)
	b = append(p.appendDate(append(b, ": "...), p.now), '\n')
	if p.waiting != nil {
		b = append(fill(b, w.Waiting, p.appendWaiting), '\n')
	}
	for i := range p.fields {
		if l := &p.fields[i]; !l.dropped {
			b = append(heading(b, w.Task, p.fields[:i]), l.label.markdown...)
			b = append(l.value.appendTo(b, w), '\n')
		}
	}
	for i := range p.facts {
		if l := &p.facts[i]; !l.dropped {
			b = append(l.appendFact(heading(b, w.Facts, p.facts[:i]), w), '\n')
		}
	}
	for i := range p.undone {
		if l := &p.undone[i]; !l.dropped {
			b = append(append(append(heading(b, w.NotYet, p.undone[:i]), "- "...), l.label.text...), '\n')
		}
	}
	if p.omitted > 0 {
		b = append(fill(append(b, '\n'), w.Omitted, number(p.omitted)), '\n')
	}
	b = p.appendQuotes(b)
	b = p.appendRefusal(b)
	return p.appendAnswers(b)
}

// heading writes the heading of a section before the first of its lines that is shown.
func heading(b []byte, text string, before []line) []byte {
	if slices.ContainsFunc(before, func(l line) bool { return !l.dropped }) {
		return b
	}
	return append(append(append(b, '\n'), text...), ":\n"...)
}

func (l *line) appendFact(b []byte, w *Words) []byte {
	if l.about == "" {
		b = append(b, l.label.markdown...)
	} else {
		b = append(append(append(b, "- "...), l.label.text...), ' ')
		b = append(appendQuoted(b, cutText(l.about, MaxValue)), ": "...)
	}
	switch l.status {
	case guard.Verified:
		b = append(l.value.appendTo(b, w), ' ')
		return fill(b, w.Verified, func(b []byte, _ int) []byte { return w.appendAgo(b, l.age) })
	case guard.Stale:
		return fill(append(append(b, w.Stale...), ' '), w.LastKnown, func(b []byte, n int) []byte {
			if n == 1 {
				return l.value.appendTo(b, w)
			}
			return w.appendAgo(b, l.age)
		})
	}
	return append(b, w.Unknown...)
}

// appendWaiting writes for whom the task waits, since when and until when.
func (p *page) appendWaiting(b []byte, n int) []byte {
	switch n {
	case 1:
		return appendProse(b, p.party())
	case 2:
		return p.appendDate(b, p.waiting.Since)
	}
	return p.appendDate(b, p.waiting.Until)
}

// party is who is waited for, in words.
func (p *page) party() string {
	if p.waiting.For == machine.TaskOwner {
		return p.decision.words.Owner
	}
	return string(p.waiting.For)
}

// appendDate writes an instant in the decision's zone.
func (p *page) appendDate(b []byte, t time.Time) []byte {
	return t.In(p.decision.zone).AppendFormat(b, dateForm)
}

func (p *page) appendQuotes(b []byte) []byte {
	w := p.decision.words
	for i, q := range p.quotes {
		if i == 0 {
			b = append(append(append(b, '\n'), w.Said...), ":\n"...)
		}
		b = append(b, "- "...)
		if calm(q.origin) {
			b = append(b, q.origin...)
		} else {
			b = appendQuoted(b, q.origin)
		}
		b = append(atom{q.text, false, q.size}.appendTo(append(b, ": "...), w), '\n')
	}
	return b
}

func (p *page) appendAnswers(b []byte) []byte {
	w := p.decision.words
	b = append(append(append(b, '\n'), w.Answers...), ':')
	if len(p.open) == 0 {
		return append(append(append(b, ' '), w.NoAnswers...), '\n')
	}
	b = append(b, '\n')
	for i := range p.open {
		a := &p.open[i]
		b = append(append(append(b, "- "...), a.event.Name...), ' ')
		b = append(append(b, a.payload()...), ": "...)
		b = append(append(b, a.means...), '\n')
	}
	return b
}

// payload is what may be given, for a reader: of an offer, the payload itself.
func (a *openAnswer) payload() string {
	if a.offered {
		return a.shown
	}
	return a.notation
}
