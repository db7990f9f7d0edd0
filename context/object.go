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
	w.texts("rules", d.words.Rules)
	w.text("question", d.question)
	return w.dst
}

// appendObject writes the whole view as one JSON object: what the Markdown says, and nothing else.
func (p *page) appendObject(b []byte) []byte {
	w := members{dst: append(b, p.decision.object...), some: true}
	w.text("goal", p.goal)
	w.text("stage", p.stage)
	p.dateMember(&w, "now", p.now)
	if p.waiting != nil {
		w.key("waiting")
		in := members{dst: append(w.dst, '{')}
		in.text("for", p.party())
		p.dateMember(&in, "since", p.waiting.Since)
		p.dateMember(&in, "until", p.waiting.Until)
		w.dst = append(in.dst, '}')
	}
	w.lines("task", p.fields, (*line).appendFieldObject, p.decision.words)
	w.lines("facts", p.facts, (*line).appendFactObject, p.decision.words)
	w.lines("has_not_happened", p.undone, (*line).appendUndoneObject, p.decision.words)
	if p.omitted > 0 {
		w.integer("lines_left_out", p.omitted)
	}
	p.listQuotes(&w)
	p.refusalMembers(&w)
	w.key("answers")
	w.dst = append(w.dst, '[')
	for i := range p.open {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = p.open[i].appendObject(w.dst)
	}
	return append(w.dst, "]}"...)
}

func (p *page) dateMember(w *members, name string, t time.Time) {
	w.key(name)
	w.dst = append(p.appendDate(append(w.dst, '"'), t), '"')
}

// lines adds a list of those lines that are shown, unless there are none.
func (w *members) lines(name string, lines []line, each func(*line, []byte, *Words) []byte, words *Words) {
	some := false
	for i := range lines {
		switch l := &lines[i]; {
		case l.dropped:
			continue
		case some:
			w.dst = append(w.dst, ',')
		default:
			w.key(name)
			w.dst = append(w.dst, '[')
		}
		some = true
		w.dst = append(each(&lines[i], append(w.dst, lines[i].label.object...), words), '}')
	}
	if some {
		w.dst = append(w.dst, ']')
	}
}

func (l *line) appendFieldObject(b []byte, _ *Words) []byte  { return l.value.appendMembers(b) }
func (l *line) appendUndoneObject(b []byte, _ *Words) []byte { return b }

func (l *line) appendFactObject(b []byte, w *Words) []byte {
	in := members{dst: b, some: true}
	in.text("about", cutText(l.about, MaxValue))
	switch l.status {
	case guard.Verified:
		in.text("status", "verified")
	case guard.Stale:
		in.text("status", "needs_reverification")
	default:
		in.text("status", "not_known")
		return in.dst
	}
	in.dst = l.value.appendMembers(in.dst)
	in.key("age")
	return append(w.appendAgo(append(in.dst, '"'), l.age), '"')
}

// appendMembers adds what is shown, and how much of it is not.
func (v value) appendMembers(b []byte) []byte {
	in := members{dst: b, some: true}
	in.key("value")
	in.dst = v.appendJSON(in.dst)
	if v.one.size > len(v.one.text) {
		in.integer("of_bytes", v.one.size)
	}
	if v.more > 0 {
		in.integer("more", v.more)
	}
	return in.dst
}

func (p *page) listQuotes(w *members) {
	for i, q := range p.quotes {
		if i == 0 {
			w.key("said")
			w.dst = append(w.dst, '[')
		} else {
			w.dst = append(w.dst, ',')
		}
		in := members{dst: append(w.dst, '{')}
		in.key("origin")
		in.dst = appendQuoted(in.dst, q.origin)
		in.key("text")
		in.dst = appendQuoted(in.dst, q.text)
		if q.size > len(q.text) {
			in.integer("of_bytes", q.size)
		}
		w.dst = append(in.dst, '}')
	}
	if len(p.quotes) > 0 {
		w.dst = append(w.dst, ']')
	}
}

func (a *openAnswer) appendObject(b []byte) []byte {
	if !a.offered {
		return append(b, a.object...)
	}
	return a.answer.appendObject(b, a.shown)
}

func (a *answer) appendObject(b []byte, payload string) []byte {
	in := members{dst: append(b, '{')}
	in.text("event", a.event.Name)
	in.text("payload", payload)
	in.text("means", a.means)
	return append(in.dst, '}')
}
