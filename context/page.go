package projection

import (
	"encoding/json"
	"fmt"
	"slices"
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
	omitted  int      // lines that were left out
	unshown  []string // questions that only the party may see
	refusal  *Refusal
}

// line is one thing that is shown under a label.
type line struct {
	label   *label
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
	offers []offer
	shown  string // the payloads of the offers, for a reader
}

// offer is one payload that may be given.
type offer struct {
	payload json.RawMessage // canonical
	digest  string
}

func (d *Decision) page(s machine.Snapshot[any], who guard.Principal, now time.Time, said []Quote) (*page, error) {
	p := &page{decision: d, task: s.Task, version: s.Version, now: now, goal: d.goal(s.Data), stage: d.stages[s.State], waiting: s.Waiting}
	lines := make([]line, 0, len(d.fields)+len(d.undone)+2*len(d.facts))
	for i := range d.fields {
		f := &d.fields[i]
		v, err := d.shown(f.value(s.Data))
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.label.text, err)
		}
		lines = append(lines, line{label: &f.label, value: v})
	}
	p.fields = slices.Clip(lines)
	lines = lines[len(lines):]
	for i := range d.undone {
		if u := &d.undone[i]; u.holds(s) {
			lines = append(lines, line{label: &u.label})
		}
	}
	p.undone = slices.Clip(lines)
	p.facts = lines[len(lines):]
	if err := p.readFacts(s, who); err != nil {
		return nil, err
	}
	p.quotes = make([]quoted, len(said))
	for i, q := range said {
		p.quotes[i] = quoted{cutText(q.Origin, MaxOrigin), cutText(q.Text, MaxQuote), len(q.Text)}
	}
	return p, p.readAnswers(s, who)
}

// readFacts reads each fact as a guard would: a fact about several things, or about what only a payload names, once for
// each that is recorded.
func (p *page) readFacts(s machine.Snapshot[any], who guard.Principal) error {
	scene := p.decision.machine.Look(s, who, p.now)
	for i := range p.decision.facts {
		f := &p.decision.facts[i]
		info := f.about.Info()
		if f.about.Subject() != "" || info.About == "" || len(scene.Subjects(info.About)) == 1 {
			e, status := scene.Reading(f.about)
			if err := p.addFact(f, e, status, "", who); err != nil {
				return err
			}
			continue
		}
		if err := p.readEach(f, s.Facts, who); err != nil {
			return err
		}
	}
	return nil
}

func (p *page) readEach(f *fact, facts guard.Facts, who guard.Principal) error {
	info, before := f.about.Info(), len(p.facts)
	for _, e := range facts.All() {
		if e.Key.Fact != info.Name {
			continue
		}
		about := e.Key.Subject
		if info.About == machine.EffectKind || info.About == guard.OfferKind {
			about = "" // an internal key
		}
		if err := p.addFact(f, e, statusOf(info, e, p.now), about, who); err != nil {
			return err
		}
	}
	if len(p.facts) == before {
		p.facts = append(p.facts, line{label: &f.label})
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

func (p *page) addFact(f *fact, e guard.Entry, status guard.Status, about string, who guard.Principal) error {
	l := line{label: &f.label, about: about, status: status}
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
	p.open = make([]openAnswer, 0, len(p.decision.answers))
	for i := range s.Offers {
		if p.hides(&s.Offers[i]) {
			p.unshown = append(p.unshown, s.Offers[i].Question)
		}
	}
	for i := range p.decision.answers {
		a := &p.decision.answers[i]
		if !isOpen(permits, a.event.Name) {
			continue
		}
		open := openAnswer{answer: a}
		if a.offered {
			if err := open.read(s.Offers, p.now); err != nil {
				return err
			}
		}
		if !a.offered || len(open.offers) > 0 {
			p.open = append(p.open, open)
		}
	}
	return nil
}

// hides tells whether an offer stands on a hidden fact: its question shows the party what is made of it.
func (p *page) hides(o *machine.OpenOffer) bool {
	return slices.ContainsFunc(o.Stands, func(st machine.Stand) bool {
		f := p.decision.machine.FactNamed(st.Key.Fact)
		return f != nil && f.Hidden
	})
}

func isOpen(permits []machine.Permit, event string) bool {
	i := slices.IndexFunc(permits, func(p machine.Permit) bool { return p.Event == event })
	return i >= 0 && permits[i].Open && slices.Contains(permits[i].By, guard.Model)
}

// read takes the open offers of the event.
func (a *openAnswer) read(offers []machine.OpenOffer, now time.Time) error {
	for i := range offers {
		o := &offers[i]
		if o.Event != a.event.Name || !now.Before(o.Expires) {
			continue
		}
		raw, err := canon.Append(make([]byte, 0, 256), o.Payload)
		if err != nil {
			return fmt.Errorf("offer of %s: %w", o.Event, err)
		}
		a.offers = append(a.offers, offer{raw, o.Digest})
	}
	shown := make([]byte, 0, 256)
	for i, o := range a.offers {
		if i > 0 {
			shown = append(shown, " | "...)
		}
		shown = appendJSON(shown, o.payload)
	}
	a.shown = string(shown)
	return nil
}

// now is the schema of the payload as it may be answered now.
func (a *openAnswer) now() *schema {
	if !a.offered {
		return a.schema
	}
	alternatives := make([]*schema, 0, len(a.offers))
	for _, o := range a.offers {
		s, err := exactly(o.payload)
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
