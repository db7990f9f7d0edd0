package projection

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
	"github.com/pawlgo/pawl/machine"
)

// page is all that one view shows. Both renderings are made of it, and of nothing else.
type page struct {
	decision *Decision
	task     string
	version  uint64
	now      time.Time
	goal     string
	stage    string
	waiting  *machine.Waiting
	fields   []line
	facts    []line
	undone   []line
	quotes   []quoted
	open     []openAnswer
	omitted  int // lines that were left out
	refusal  *Refusal
}

// line is one thing that is shown under a label.
type line struct {
	label   string
	about   string // the subject, when there are several
	value   value
	status  guard.Status
	age     time.Duration
	dropped bool
}

// quoted is a quote as far as it is shown.
type quoted struct {
	origin string
	text   string
	size   int // bytes of the whole text
}

// openAnswer is an answer that is open now; of an offered one, with the payloads that may be given.
type openAnswer struct {
	*answer
	payloads []json.RawMessage
	digests  []string
}

func (d *Decision) page(s machine.Snapshot[any], who guard.Principal, now time.Time, said []Quote) (*page, error) {
	p := &page{decision: d, task: s.Task, version: s.Version, now: now, goal: d.goal(s.Data), stage: d.stages[s.State], waiting: s.Waiting}
	for _, f := range d.fields {
		v, err := d.shown(f.value(s.Data))
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.label, err)
		}
		p.fields = append(p.fields, line{label: f.label, value: v})
	}
	if err := p.readFacts(s, who); err != nil {
		return nil, err
	}
	for _, u := range d.undone {
		if u.holds(s) {
			p.undone = append(p.undone, line{label: u.label})
		}
	}
	for _, q := range said {
		p.quotes = append(p.quotes, quoted{cutText(q.Origin, MaxOrigin), cutText(q.Text, MaxQuote), len(q.Text)})
	}
	return p, p.readAnswers(s, who)
}

// readFacts reads each fact as a guard would: a fact about several things, or about what only a payload names, once for
// each that is recorded.
func (p *page) readFacts(s machine.Snapshot[any], who guard.Principal) error {
	scene := p.decision.machine.Look(s, who, p.now)
	for i := range p.decision.facts {
		f := &p.decision.facts[i]
		info := f.Fact.Info()
		if f.Fact.Subject() != "" || info.About == "" || len(scene.Subjects(info.About)) == 1 {
			e, status := scene.Reading(f.Fact)
			if err := p.addFact(f, e, status, "", who); err != nil {
				return err
			}
			continue
		}
		some := false
		for _, e := range s.Facts.All() {
			if e.Key.Fact != info.Name {
				continue
			}
			some = true
			about := e.Key.Subject
			if info.About == machine.EffectKind || info.About == guard.OfferKind {
				about = "" // an internal key
			}
			if err := p.addFact(f, e, statusOf(info, e, p.now), about, who); err != nil {
				return err
			}
		}
		if !some {
			p.facts = append(p.facts, line{label: f.Label})
		}
	}
	return nil
}

// statusOf is what a guard would say of an entry, for facts that a scene cannot read by themselves.
func statusOf(info *guard.FactInfo, e guard.Entry, now time.Time) guard.Status {
	switch {
	case e.Disputed:
		return guard.Unknown
	case info.Volatile, info.MaxAge > 0 && now.Sub(e.At) > info.MaxAge:
		return guard.Stale
	}
	return guard.Verified
}

func (p *page) addFact(f *Fact, e guard.Entry, status guard.Status, about string, who guard.Principal) error {
	l := line{label: f.Label, about: about, status: status}
	if status != guard.Unknown {
		v := e.Value
		if f.show != nil {
			v = f.show(v, who)
		}
		shown, err := p.decision.shown(v)
		if err != nil {
			return fmt.Errorf("fact %s: %w", e.Key.Fact, err)
		}
		l.value, l.age = shown, p.now.Sub(e.At)
	}
	p.facts = append(p.facts, l)
	return nil
}

// readAnswers lists what the machine permits the model now. What is offered may be answered only as it is offered.
func (p *page) readAnswers(s machine.Snapshot[any], who guard.Principal) error {
	permits := p.decision.machine.Permits(s, machine.Input{
		Proposal: machine.Proposal{}.As(guard.Model), Principal: who, Received: p.now, Now: p.now,
	})
	for i := range p.decision.answers {
		a := &p.decision.answers[i]
		if !isOpen(permits, a.event.Name) {
			continue
		}
		open := openAnswer{answer: a}
		for _, o := range s.Offers {
			if !a.offered || o.Event != a.event.Name || !p.now.Before(o.Expires) {
				continue
			}
			raw, err := canon.Append(nil, o.Payload)
			if err != nil {
				return fmt.Errorf("offer of %s: %w", o.Event, err)
			}
			open.payloads, open.digests = append(open.payloads, raw), append(open.digests, canon.DigestBytes(raw))
		}
		if !a.offered || len(open.payloads) > 0 {
			p.open = append(p.open, open)
		}
	}
	return nil
}

func isOpen(permits []machine.Permit, event string) bool {
	for _, p := range permits {
		if p.Event == event {
			for _, by := range p.By {
				if by == guard.Model {
					return p.Open
				}
			}
		}
	}
	return false
}

// schema of the payload as it may be answered now.
func (a openAnswer) now() *schema {
	if !a.offered {
		return a.schema
	}
	alternatives := make([]*schema, 0, len(a.payloads))
	for _, raw := range a.payloads {
		s, err := exactly(raw)
		if err != nil {
			s = a.schema // canonical JSON always has a schema
		}
		alternatives = append(alternatives, s)
	}
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return &schema{form: objectForm, anyOf: alternatives}
}
