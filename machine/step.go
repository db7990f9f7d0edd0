package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

// Input is all that Step may use besides the snapshot.
type Input struct {
	Proposal  Proposal // zero: only apply the evidence
	Principal guard.Principal
	Evidence  []guard.Evidence
	Received  time.Time // when the proposal came in, and Fresh counts from there; zero means Now
	Now       time.Time // the store's clock
	// Unsent are the keys of intents that surely were not sent, as the runtime knows; it fences them in the write. All others may have been.
	// Nil, for permits, says that the runtime does not know.
	Unsent []string
	// NoPermits leaves out of a refusal what is permitted: for a runtime that will judge again, or say it later.
	NoPermits bool
	// Stopped says why nothing may be intended now, whatever edge would do it; nil when it may. Evidence lands without the edge that it
	// would drive.
	Stopped *Finding
}

// Step judges one proposal and gives the next snapshot, or the same one and why not. It is pure: equal input gives equal
// output, and the snapshot that it was given stays as it was. Safe for concurrent use.
func (m *Machine[D]) Step(s Snapshot[D], in Input) (Snapshot[D], Outcome) {
	next, out := m.c.step(Snapshot[any]{s.Head, s.Data}, in)
	typed, _ := As[D](next)
	return typed, out
}

// attempt is one proposal being judged.
type attempt struct {
	c        *core
	s        Snapshot[any]
	in       Input
	p        Proposal
	payload  []byte // canonical
	facts    guard.Facts
	merged   []guard.Merged
	evidence []guard.Evidence
	stood    []*guard.Entry // what offers stand on
	scratch  []byte         // for bytes that nobody keeps
	spare    *judged        // to be used again: all that was to be known of it is
	heard    struct {       // the answers to the offer that was looked at last
		offer   string
		answers []Answer
	}

	first        judged // where spare and scratch begin
	scratchSpace [256]byte
}

func (c *core) step(s Snapshot[any], in Input) (Snapshot[any], Outcome) {
	in.Now, in.Received = whole(in.Now), whole(in.Received)
	a := &attempt{c: c, s: s, in: in, p: in.Proposal, facts: s.Facts, evidence: in.Evidence}
	a.spare, a.scratch = a.first.ready(), a.scratchSpace[:0]
	if f := a.admits(); f != nil {
		return a.refuse(Refused, *f)
	}
	var facts guard.Facts
	if facts, a.merged = s.Facts.With(in.Evidence...); facts.Len() > MaxFacts {
		return a.refuse(Refused, Finding{Code: CodeTooMany, Text: fmt.Sprintf("%d facts, at most %d", facts.Len(), MaxFacts)})
	}
	a.facts = facts
	if a.p.event == nil && len(in.Evidence) > 0 {
		return a.observe()
	}
	return a.propose()
}

// admits refuses what no edge can be judged on.
func (a *attempt) admits() *Finding {
	if len(a.evidence) > MaxEvidence {
		return &Finding{Code: CodeTooMany, Text: fmt.Sprintf("%d observations, at most %d", len(a.evidence), MaxEvidence)}
	}
	if !a.c.engine.Knows(string(a.s.State)) {
		return &Finding{Code: CodeNoTransition, Text: fmt.Sprintf("the machine declares no state %q", a.s.State)}
	}
	for _, ev := range a.evidence {
		if info := ev.Fact(); info == nil || a.c.facts[info.Name] != info {
			return &Finding{Code: CodeNotEvidence, Text: "the evidence is of no fact of this machine"}
		}
	}
	return nil
}

// whole is the instant in microseconds, as it will be stored.
func whole(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Microsecond)
}

func (a *attempt) propose() (Snapshot[any], Outcome) {
	if kind, f := a.form(); f != nil {
		return a.refuse(kind, *f)
	}
	if j, _ := a.driven(); j != nil {
		return a.refuse(Refused, Finding{Code: CodeMovesFirst, Text: "what was observed moves the task by itself; read it again"})
	}
	open, kind, findings := a.candidates()
	if open == nil {
		return a.refuse(kind, findings...)
	}
	return a.take(open)
}

// form refuses what cannot be judged at all.
func (a *attempt) form() (Kind, *Finding) {
	p := a.p
	switch {
	case p.event == nil:
		return Refused, &Finding{Code: CodeNoEvent, Text: "the proposal is empty"}
	case a.c.events[p.event.Name] != p.event:
		return Refused, &Finding{Code: CodeUnknownEvent, Text: "the machine declares no event " + p.event.Name}
	case p.basedOn != a.s.Version && !p.Narrows():
		return Conflict, &Finding{Code: CodeStaleVersion, Text: fmt.Sprintf("based on version %d, the newest is %d", p.basedOn, a.s.Version)}
	}
	if text := p.faults(a.in.Principal); text != "" {
		return Refused, &Finding{Code: CodeForm, Text: text}
	}
	var err error
	if a.payload, err = formed(p.payload, MaxProposal, p.checked || p.event.Payload == noneType); err != nil {
		return Refused, &Finding{Code: CodeForm, Text: err.Error()}
	}
	if err := p.event.subjects.visible(p.payload); err != nil {
		return Refused, &Finding{Code: CodeForm, Text: err.Error()}
	}
	a.p.payload = p.event.clone(p.payload)
	return "", nil
}

// formed is a value as canonical JSON, when it is valid and not too large.
func formed(v any, most int, valid bool) ([]byte, error) {
	b, err := canon.Bytes(v)
	if err == nil && len(b) > most {
		err = fmt.Errorf("%d bytes, at most %d", len(b), most)
	}
	if err == nil && !valid {
		err = guard.Validate(v)
	}
	return b, err
}

// candidates judges the edges of the event from this state, the innermost first, and gives the one that is open. While
// another edge as near cannot be judged none is: it could turn out to be open as well, and turning a fact into unknown
// must never let anything pass (law 4).
func (a *attempt) candidates() (*judged, Kind, []Finding) {
	levels := a.c.ways[a.s.State][a.p.event.Name]
	if len(levels) == 0 {
		return nil, Refused, []Finding{{Code: CodeNoTransition, Text: fmt.Sprintf("%s is not possible in %s", a.p.event.Name, a.s.State)}}
	}
	var findings []Finding
	kind := Refused
	for _, edges := range levels {
		open, k, found := a.level(edges, kind)
		findings, kind = append(findings, found...), k
		switch {
		case open == nil && found != nil && found[len(found)-1].Code == CodeAmbiguous:
			return nil, Refused, found[len(found)-1:]
		case kind == NeedsEvidence:
			return nil, NeedsEvidence, findings
		case open != nil:
			return open, kind, findings
		}
	}
	return nil, kind, findings
}

// level judges edges that are as near as each other.
func (a *attempt) level(edges []*edge, kind Kind) (open *judged, _ Kind, findings []Finding) {
	for _, e := range edges {
		j := a.judge(e)
		if !j.verdict.Allowed() {
			findings, kind = j.tell(findings), hopeful(kind, j.verdict)
			a.spare = j
			continue
		}
		if open != nil {
			return nil, Refused, append(findings, ambiguous(open.edge, j.edge))
		}
		open = j
	}
	if open != nil && kind == NeedsEvidence {
		findings = slices.DeleteFunc(findings, func(f Finding) bool { return len(f.Missing) == 0 })
	}
	return open, kind, findings
}

// ambiguous says that two edges are open at once, and which.
func ambiguous(a, b *edge) Finding {
	return Finding{Code: CodeAmbiguous, Text: "both are open: " + a.name + " and " + b.name, Details: map[string]any{"edges": []string{a.name, b.name}}}
}

// hopeful is the kind of a refusal by several edges: what evidence or a person could still open goes before what is denied.
func hopeful(kind Kind, v guard.Verdict) Kind {
	switch {
	case v.Unknown():
		return NeedsEvidence
	case v.Asks() && kind == Refused:
		return Ask
	}
	return kind
}

// refuse is the outcome that changes nothing.
func (a *attempt) refuse(kind Kind, findings ...Finding) (Snapshot[any], Outcome) {
	out := Outcome{Kind: kind, Task: a.s.Task, Version: a.s.Version, State: a.s.State, Event: a.p.Event(), Findings: findings}
	missing := 0
	for _, f := range findings {
		missing += len(f.Missing)
	}
	out.Missing = slices.Grow(out.Missing, missing)
	for _, f := range findings {
		for _, k := range f.Missing {
			if !slices.Contains(out.Missing, k) {
				out.Missing = append(out.Missing, k)
			}
		}
		if f.Code == guard.CodeAsk && kind == Ask && out.Question == "" {
			out.Question = f.Text
		}
	}
	if !a.in.NoPermits {
		out.Permits = a.permits()
	}
	return a.s, out
}
