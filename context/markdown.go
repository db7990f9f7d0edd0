package projection

import (
	"strconv"

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
	b = append(append(append(b, w.Goal...), ": "...), appendProse(nil, p.goal)...)
	b = append(append(append(b, '\n'), w.Stage...), ": "...)
	b = append(append(b, p.stage...), '\n')
	b = append(append(append(b, w.Now...), ": "...), p.date(p.now)...)
	b = append(b, '\n')
	if p.waiting != nil {
		b = fill(b, w.Waiting, string(appendProse(nil, p.party())), p.date(p.waiting.Since), p.date(p.waiting.Until))
		b = append(b, '\n')
	}
	b = p.appendSection(b, w.Task, p.fields, (*page).appendField)
	b = p.appendSection(b, w.Facts, p.facts, (*page).appendFact)
	b = p.appendSection(b, w.NotYet, p.undone, (*page).appendUndone)
	if p.omitted > 0 {
		b = append(fill(append(b, '\n'), w.Omitted, strconv.Itoa(p.omitted)), '\n')
	}
	b = p.appendQuotes(b)
	b = p.appendRefusal(b)
	return p.appendAnswers(b)
}

func (p *page) appendSection(b []byte, heading string, lines []line, each func(*page, []byte, *line) []byte) []byte {
	some := false
	for i := range lines {
		if lines[i].dropped {
			continue
		}
		if !some {
			b = append(append(append(b, '\n'), heading...), ":\n"...)
			some = true
		}
		b = append(each(p, append(b, "- "...), &lines[i]), '\n')
	}
	return b
}

func (p *page) appendField(b []byte, l *line) []byte {
	return l.value.appendTo(append(append(b, l.label...), ": "...), p.decision.words)
}

func (p *page) appendUndone(b []byte, l *line) []byte { return append(b, l.label...) }

func (p *page) appendFact(b []byte, l *line) []byte {
	w := p.decision.words
	b = append(b, l.label...)
	if l.about != "" {
		b = appendQuoted(append(b, ' '), cutText(l.about, MaxValue))
	}
	b = append(b, ": "...)
	switch l.status {
	case guard.Verified:
		b = append(l.value.appendTo(b, w), ' ')
		return fill(b, w.Verified, w.ago(l.age))
	case guard.Stale:
		b = append(append(b, w.Stale...), ' ')
		return fill(b, w.LastKnown, string(l.value.appendTo(nil, w)), w.ago(l.age))
	}
	return append(b, w.Unknown...)
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
	for _, a := range p.open {
		b = append(append(append(b, "- "...), a.event.Name...), ' ')
		b = append(a.appendNotation(b), ": "...)
		b = append(append(b, a.means...), '\n')
	}
	return b
}

func (a openAnswer) appendNotation(b []byte) []byte {
	if a.offered {
		return exactNotation(b, a.payloads)
	}
	return append(b, a.notation...)
}

// party is who is waited for, in words.
func (p *page) party() string {
	if p.waiting.For == machine.TaskOwner {
		return p.decision.words.Owner
	}
	return string(p.waiting.For)
}
