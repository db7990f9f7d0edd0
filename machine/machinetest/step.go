package machinetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// move is one step as a table writes it.
type move struct {
	after, facts, by, event, payload string
}

var stepTail = regexp.MustCompile(`^(| .*?)(?: with ([\w=, .µ]+?))?(?: after (\S+))?$`)

// parseStep reads a line of a situation: BY EVENT PAYLOAD with FACTS after TIME.
func parseStep(text string) (move, error) {
	by, tail, _ := strings.Cut(text, " ")
	mv := move{by: by}
	if tail != "" {
		tail = " " + tail
	}
	if word, _, _ := strings.Cut(strings.TrimPrefix(tail, " "), " "); word != "with" && word != "after" {
		mv.event, tail = word, strings.TrimPrefix(tail, " "+word)
	}
	m := stepTail.FindStringSubmatch(tail)
	if m == nil {
		return mv, fmt.Errorf("not a step: write BY EVENT PAYLOAD with FACTS after TIME")
	}
	mv.payload, mv.facts, mv.after = strings.TrimSpace(m[1]), m[2], m[3]
	return mv, nil
}

// String is the move as a line of a situation.
func (mv move) String() string {
	out := mv.by
	for _, part := range []string{mv.event, mv.payload} {
		if part != "" {
			out += " " + part
		}
	}
	if mv.facts != "" {
		out += " with " + mv.facts
	}
	if mv.after != "" {
		out += " after " + mv.after
	}
	return out
}

// step takes a move. A payload that is not in the required form is refused before the machine sees it, as a controller does.
func (tb *table) step(s machine.Snapshot[any], mv move) (machine.Snapshot[any], machine.Outcome, error) {
	in, err := tb.input(s, mv)
	if err != nil {
		return s, machine.Outcome{}, err
	}
	if mv.event == "" {
		next, out := tb.m.Step(s, in)
		return next, out, nil
	}
	form, err := tb.propose(s, mv, &in)
	switch {
	case err != nil:
		return s, machine.Outcome{}, err
	case form != nil:
		return s, machine.Outcome{Kind: machine.Refused, Task: s.Task, Version: s.Version, State: s.State, Event: mv.event,
			Findings: []machine.Finding{{Code: machine.CodeForm, Text: form.Error()}}}, nil
	}
	next, out := tb.m.Step(s, in)
	return next, out, nil
}

// input is time, evidence and principal of a move.
func (tb *table) input(s machine.Snapshot[any], mv move) (machine.Input, error) {
	after := time.Second
	if mv.after != "" {
		var err error
		if after, err = time.ParseDuration(mv.after); err != nil || after < 0 {
			return machine.Input{}, fmt.Errorf("%q is no time such as 90s, 15m or 72h", mv.after)
		}
	}
	var err error
	now := s.UpdatedAt.Add(after)
	in := machine.Input{Now: now, Received: now}
	facts, effects := tb.specs(mv.facts)
	for _, effect := range effects {
		key, err := subjectIn(s, "$"+effect)
		if err != nil {
			return in, err
		}
		in.Unsent = append(in.Unsent, key)
	}
	for _, spec := range facts {
		ev, err := tb.evidence(s, spec, now)
		if err != nil {
			return in, err
		}
		if ev != nil {
			in.Evidence = append(in.Evidence, *ev)
		}
	}
	_, in.Principal, err = party(mv.by)
	return in, err
}

// specs are the facts of a cell, and apart from them the effects of which it says EFFECT=unsent.
func (tb *table) specs(cell string) (facts, unsent []string) {
	for _, spec := range list(cell) {
		if name, ok := strings.CutSuffix(spec, "=unsent"); ok && tb.m.EffectNamed(name) != nil {
			unsent = append(unsent, name)
			continue
		}
		facts = append(facts, spec)
	}
	return facts, unsent
}

var byPattern = regexp.MustCompile(`^(?:(model|user|operator)/([\w.:@-]+)((?:\+\w+)*)|(timer|worker|observer))$`)

// party reads ACTOR/PRINCIPAL+ROLE, or one of the controller's own hands.
func party(by string) (guard.Actor, guard.Principal, error) {
	m := byPattern.FindStringSubmatch(by)
	if m == nil {
		return "", guard.Principal{}, fmt.Errorf("by %q is nobody: it is model, user or operator with a principal, as in user/alice, or timer, worker or observer", by)
	}
	who := guard.Principal{ID: m[2]}
	if m[3] != "" {
		who.Roles = strings.Split(m[3][1:], "+")
	}
	return guard.Actor(m[1] + m[4]), who, nil
}

// observed is evidence that was made before, for one situation.
type observed struct {
	spec string
	now  int64
}

// evidence verifies what a spec observes; nil when it observes nothing.
func (tb *table) evidence(s machine.Snapshot[any], spec string, now time.Time) (*guard.Evidence, error) {
	known := observed{spec, now.UnixMicro()}
	if ev, ok := tb.seen[known]; ok {
		return &ev, nil
	}
	o, asked, err := tb.observation(s, spec, now)
	if err != nil || o == nil {
		return nil, err
	}
	ev, err := guard.Verify(*o, guard.Acceptance{Fact: tb.m.FactNamed, Trusts: tb.trusts, Now: now, BasedOn: s.Version})
	if err != nil {
		return nil, err
	}
	if asked {
		ev = ev.Pulled()
	}
	if tb.seen != nil {
		tb.seen[known] = ev
	}
	return &ev, nil
}

// observation makes NAME, NAME=stale, NAME=1h ago, NAME=asked or NAME=asked 1h ago; nothing of NAME=unknown.
func (tb *table) observation(s machine.Snapshot[any], spec string, now time.Time) (o *guard.Observation, asked bool, err error) {
	name, status, _ := strings.Cut(spec, "=")
	f := tb.factNamed(name)
	if f == nil {
		return nil, false, fmt.Errorf("no fact is called %q; there are %s", name, names(tb.facts, func(f *namedFact) string { return f.name }))
	}
	subject, err := subjectIn(s, f.subject)
	if err != nil {
		return nil, false, fmt.Errorf("fact %s: %w", name, err)
	}
	if status == unknown {
		if e, ok := s.Facts.Entry(guard.Key{Fact: f.info.Name, Subject: subject}); ok && !e.Disputed {
			return nil, false, fmt.Errorf("%s is not unknown here: it was observed at %s", name, e.At.Format(time.DateTime))
		}
		return nil, false, nil
	}
	at, asked, err := f.observedAt(status, now)
	if err != nil {
		return nil, false, fmt.Errorf("fact %s: %w", name, err)
	}
	raw, err := f.shownIn(s, subject)
	if err != nil {
		return nil, asked, fmt.Errorf("fact %s: %w", name, err)
	}
	made, err := f.info.Observe(tb.hands[f.info.Source], raw, subject, "table", at)
	return &made, asked, err
}

// shownByTable is the message in which a table shows a question.
const shownByTable = "question"

// shownIn is the fact's value in a situation. A reply that does not say what the channel showed before it comes right after the
// question, which was shown as soon as it was put; one that says null comes after nothing.
func (f *namedFact) shownIn(s machine.Snapshot[any], subject string) ([]byte, error) {
	r, isReply := f.value.(guard.Reply)
	offer, open := s.Offer(subject)
	if !isReply || !open || r.Shown != nil || f.says("shown") {
		return f.raw, nil
	}
	r.Shown = &guard.Shown{Message: shownByTable, At: offer.OpenedAt}
	return json.Marshal(r)
}

// timeless is a value without the instant at which a question was shown: that is the situation's, not the value's.
func timeless(v any) any {
	r, isReply := v.(guard.Reply)
	if !isReply {
		return v
	}
	if r.Shown != nil && r.Shown.Message == shownByTable {
		r.Shown = nil
	}
	return r
}

// says tells whether the value, as it is written, names a field.
func (f *namedFact) says(field string) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(f.raw, &fields) != nil {
		return false
	}
	_, has := fields[field]
	return has
}

func (tb *table) trusts(a *guard.Authority) bool { return tb.hands[a.Name()] == a }

// observedAt reads what follows the name of a fact.
func (f *namedFact) observedAt(status string, now time.Time) (at time.Time, asked bool, err error) {
	if status == "asked" {
		return now, true, nil
	}
	age, asked := strings.CutPrefix(status, "asked ")
	switch ago, ok := strings.CutSuffix(age, " ago"); {
	case status == "":
		return now, false, nil
	case status == stale && f.info.MaxAge == 0:
		return now, false, fmt.Errorf("it never goes stale")
	case status == stale:
		return now.Add(-f.info.MaxAge - time.Second), false, nil
	case ok:
		d, err := time.ParseDuration(ago)
		if err != nil || d < 0 {
			return now, asked, fmt.Errorf("%q is no time such as 90s, 15m or 72h", ago)
		}
		return now.Add(-d), asked, nil
	}
	return now, asked, fmt.Errorf("=%s means nothing; it is unknown, stale, asked, or a time such as 15m ago", status)
}

// subjectIn finds the open offer of @event and the newest intent of $effect.
func subjectIn(s machine.Snapshot[any], written string) (string, error) {
	if event, ok := strings.CutPrefix(written, "@"); ok {
		for i := len(s.Offers) - 1; i >= 0; i-- {
			if s.Offers[i].Event == event {
				return s.Offers[i].ID, nil
			}
		}
		return "", fmt.Errorf("no %s is offered in %s", event, s.State)
	}
	if effect, ok := strings.CutPrefix(written, "$"); ok {
		for i := len(s.Intents) - 1; i >= 0; i-- {
			if s.Intents[i].Effect == effect {
				return s.Intents[i].Key, nil
			}
		}
		return "", fmt.Errorf("no %s is intended in %s", effect, s.State)
	}
	return written, nil
}

// propose puts the proposal of a move into its input. form is what is wrong with the payload.
func (tb *table) propose(s machine.Snapshot[any], mv move, in *machine.Input) (form, err error) {
	actor, _, err := party(mv.by)
	switch {
	case err != nil:
		return nil, err
	case actor == guard.Observer:
		return nil, fmt.Errorf("an observer brings facts and proposes nothing: leave event empty")
	}
	event, base, err := baseOf(mv.event, s.Version)
	if err != nil {
		return nil, err
	}
	payload, err := tb.payloadOf(event, mv.payload)
	if err != nil {
		return nil, err
	}
	if strings.Contains(payload, "$") {
		if payload, err = tb.withKeys(s, payload); err != nil {
			return nil, err
		}
	}
	p, form, err := tb.proposal(s, event, payload)
	if err != nil || form != nil {
		return form, err
	}
	if p = p.BasedOn(base); actor.Outside() {
		in.Proposal = p.As(actor)
	} else {
		in.Proposal = p.AsController(actor)
	}
	return nil, nil
}

// baseOf reads "EVENT based on VERSION".
func baseOf(cell string, newest uint64) (event string, base uint64, err error) {
	event, version, ok := strings.Cut(cell, " based on ")
	if !ok {
		return event, newest, nil
	}
	base, err = strconv.ParseUint(version, 10, 64)
	if err != nil {
		return event, 0, fmt.Errorf("%q is no version", version)
	}
	return event, base, nil
}

// payloadOf is the JSON of a payload cell.
func (tb *table) payloadOf(event, cell string) (string, error) {
	for _, p := range tb.payloads {
		if p.name == cell || cell == "" && p.event == event {
			return p.raw, nil
		}
	}
	switch {
	case cell == "":
		return "{}", nil
	case json.Valid([]byte(cell)), strings.ContainsAny(cell[:1], `{["`):
		return cell, nil
	}
	return "", fmt.Errorf("no payload is called %q; there are %s", cell, names(tb.payloads, func(p *namedPayload) string { return p.name }))
}

// withKeys puts the key of the newest intent in the place of $effect.
func (tb *table) withKeys(s machine.Snapshot[any], payload string) (string, error) {
	for _, effect := range slices.Backward(tb.m.Effects()) { // a longer name before its own beginning
		if !strings.Contains(payload, "$"+effect) {
			continue
		}
		key, err := subjectIn(s, "$"+effect)
		if err != nil {
			return "", err
		}
		payload = strings.ReplaceAll(payload, "$"+effect, key)
	}
	return payload, nil
}

// proposal decodes a payload. An effect's own event takes its key, and settles the newest intent when the payload is empty.
func (tb *table) proposal(s machine.Snapshot[any], event, payload string) (p machine.Proposal, form, err error) {
	if i := tb.m.EventNamed(event); i != nil {
		known := event + " " + payload
		if p, ok := tb.proposed[known]; ok {
			return p, nil, nil
		}
		if p, form = i.Decode([]byte(payload)); form == nil {
			tb.proposed[known] = p
		}
		return p, form, nil
	}
	name, end, _ := strings.Cut(event, ".")
	effect := tb.m.EffectNamed(name)
	if effect == nil || end != "confirmed" && end != "failed" {
		return p, nil, fmt.Errorf("%s", tb.unknownEvent(event))
	}
	var settled machine.Settled
	if payload == "{}" {
		if settled.Key, err = subjectIn(s, "$"+name); err != nil {
			settled.Key, err = "none", nil
		}
	} else if settled, form = guard.Decode[machine.Settled]([]byte(payload)); form != nil {
		return p, form, nil
	}
	if end == "confirmed" {
		return effect.Confirm(settled.Key), nil, nil
	}
	return effect.Fail(settled.Key, settled.Reason), nil, nil
}
