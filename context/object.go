package projection

import (
	"time"

	"github.com/pawlgo/pawl/guard"
)

// staticObject is the head of every view of the decision as JSON, without its closing brace.
func (d *Decision) staticObject() []byte {
	w := members{dst: []byte{'{'}}
	w.text("decision", d.name)
	w.text("intro", d.words.Intro)
	w.key("rules")
	w.list(len(d.words.Rules), func(dst []byte, i int) []byte { return appendQuoted(dst, d.words.Rules[i]) })
	w.text("question", d.question)
	return w.dst
}

// appendObject writes the whole view as one JSON object: what the Markdown says, and nothing else.
func (p *page) appendObject(b []byte) []byte {
	w := members{dst: append(b, p.decision.object...), some: true}
	w.text("goal", p.goal)
	w.text("stage", p.stage)
	w.text("now", p.date(p.now))
	if p.waiting != nil {
		w.key("waiting")
		in := members{dst: append(w.dst, '{')}
		in.text("for", p.party())
		in.text("since", p.date(p.waiting.Since))
		in.text("until", p.date(p.waiting.Until))
		w.dst = append(in.dst, '}')
	}
	p.listLines(&w, "task", p.fields, func(m *members, l *line) { m.text("label", l.label); m.value(l.value) })
	p.listLines(&w, "facts", p.facts, p.factMembers)
	p.listLines(&w, "has_not_happened", p.undone, func(m *members, l *line) { m.text("label", l.label) })
	if p.omitted > 0 {
		w.integer("lines_left_out", p.omitted)
	}
	p.listQuotes(&w)
	p.refusalMembers(&w)
	w.key("answers")
	w.list(len(p.open), func(dst []byte, i int) []byte {
		in := members{dst: append(dst, '{')}
		in.text("event", p.open[i].event.Name)
		in.text("payload", string(p.open[i].appendNotation(nil)))
		in.text("means", p.open[i].means)
		return append(in.dst, '}')
	})
	return append(w.dst, '}')
}

func (p *page) listLines(w *members, name string, lines []line, each func(*members, *line)) {
	some := false
	for i := range lines {
		if lines[i].dropped {
			continue
		}
		if !some {
			w.key(name)
		}
		open := byte('[')
		if some {
			open = ','
		}
		some = true
		in := members{dst: append(w.dst, open, '{')}
		each(&in, &lines[i])
		w.dst = append(in.dst, '}')
	}
	if some {
		w.dst = append(w.dst, ']')
	}
}

func (p *page) factMembers(m *members, l *line) {
	m.text("label", l.label)
	m.text("about", cutText(l.about, MaxValue))
	switch l.status {
	case guard.Verified:
		m.text("status", "verified")
	case guard.Stale:
		m.text("status", "needs_reverification")
	default:
		m.text("status", "not_known")
		return
	}
	m.value(l.value)
	m.text("age", p.decision.words.ago(l.age))
}

// value adds what is shown, and how much of it is not.
func (w *members) value(v value) {
	w.key("value")
	w.dst = v.appendJSON(w.dst)
	if v.one.size > len(v.one.text) {
		w.integer("of_bytes", v.one.size)
	}
	if v.more > 0 {
		w.integer("more", v.more)
	}
}

func (p *page) listQuotes(w *members) {
	if len(p.quotes) == 0 {
		return
	}
	w.key("said")
	w.list(len(p.quotes), func(dst []byte, i int) []byte {
		q := p.quotes[i]
		in := members{dst: append(dst, '{')}
		in.key("origin")
		in.dst = appendQuoted(in.dst, q.origin)
		in.key("text")
		in.dst = appendQuoted(in.dst, q.text)
		if q.size > len(q.text) {
			in.integer("of_bytes", q.size)
		}
		return append(in.dst, '}')
	})
}

// date is an instant in the decision's zone.
func (p *page) date(t time.Time) string { return t.In(p.decision.zone).Format(dateForm) }
