package machine

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

var noneType = reflect.TypeFor[None]()

// judged is an edge with what its guards said.
type judged struct {
	edge    *edge
	at      *Snapshot[any]
	scene   *guard.Scene // nil when the payload is about another subject
	payload any
	settled string   // the intent that the payload ends
	against []ruling // all that do not allow it
	verdict guard.Verdict
	drafts  []draft // effects that it would cause
	holds   []Hold  // what the first of them takes of shared resources
	offer   string  // the offer that it uses up

	own        guard.Scene
	unsent     []string // keys of intents that were not sent
	draftSpace [1]draft
}

// ruling is what one guard said.
type ruling struct {
	guard   string
	verdict guard.Verdict
}

// draft is an effect on its way to become an intent.
type draft struct {
	effect *EffectInfo
	args   any
	bytes  string // canonical
}

func (j *judged) add(name string, v guard.Verdict) {
	if v.Allowed() {
		return
	}
	j.against = append(j.against, ruling{name, v})
	j.verdict = guard.Both(j.verdict, v)
}

// tell adds what speaks against the edge, in words.
func (j *judged) tell(findings []Finding) []Finding {
	findings = slices.Grow(findings, len(j.against))
	for _, r := range j.against {
		v := r.verdict
		findings = append(findings, Finding{j.edge.name, r.guard, v.Code(), v.Text(), v.Missing(), v.Details()})
	}
	return findings
}

// ready makes a zero judgement one that can be used.
func (j *judged) ready() *judged {
	j.drafts = j.draftSpace[:0]
	return j
}

// Unsettled implements [guard.Effects]: the intent that the edge itself ends does not count.
func (j *judged) Unsettled(effect string) int { return j.at.unsettled(effect, j.settled) }

func (j *judged) deny(name, code, text string) { j.add(name, guard.Deny(code, text)) }

// run computes an output.
func (j *judged) run(o output, data any) (made []any, v guard.Verdict) {
	v = j.grounded(func() { made = o.run(j.scene, data, j.payload) })
	return made, v
}

// grounded runs the function of an output. What it looks at must be known.
func (j *judged) grounded(f func()) (v guard.Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = guard.Deny(CodeEdgeFault, fmt.Sprintf("an output panicked: %.200v", p))
		}
	}()
	return guard.Grounded(j.scene, f)
}

// judge runs everything that may refuse an edge before it is taken.
func (a *attempt) judge(e *edge) *judged {
	j := a.begin(e, &a.s, a.p.payload, e.fresh)
	switch {
	case !a.mayPropose(e):
		j.deny("", CodeActor, fmt.Sprintf("%s may not propose this", orNobody(a.p.actor)))
	case j.scene == nil:
	case e.event.isSettling():
		j.add("settle", a.settles(j))
	case a.p.actor == guard.Timer:
		j.add("timer", a.isDue())
	}
	if j.scene == nil || j.verdict.Denied() {
		return j
	}
	a.guards(j, &a.s)
	j.withdrawable()
	if !j.verdict.Denied() {
		a.draft(j, &a.s)
	}
	if e.confirm != nil && !j.verdict.Denied() {
		j.add("confirm", a.consent(j))
	}
	return j
}

// begin makes the scene of an edge; a subject that differs denies.
func (a *attempt) begin(e *edge, s *Snapshot[any], payload any, fresh []guard.AnyFact) *judged {
	j := a.spare
	if a.spare = nil; j == nil {
		j = new(judged).ready()
	}
	j.edge, j.at, j.payload, j.settled, j.verdict = e, s, payload, settledKey(e.event, payload), guard.Allow()
	j.scene, j.against, j.drafts, j.holds, j.offer, j.unsent = nil, j.against[:0], j.drafts[:0], j.holds[:0], "", a.in.Unsent
	subjects, err := a.c.about(e, s, payload)
	if err != nil {
		j.deny("", CodeOtherSubject, err.Error())
		return j
	}
	j.scene = &j.own
	j.scene.Reset(guard.SceneSpec{
		Task: s.Task, Now: a.in.Now, Received: a.in.Received, Actor: a.p.actor, Principal: a.in.Principal,
		Facts: a.facts, Subjects: subjects, Fresh: fresh, Effects: j,
	})
	return j
}

// about are the subjects that payload and data name; of an edge that evidence drives, also what the evidence is about.
func (c *core) about(e *edge, s *Snapshot[any], payload any) (guard.Subjects, error) {
	subjects, err := e.event.subjects.narrow(c.ground(s), payload)
	if n, ok := payload.(interface{ about() string }); ok && err == nil && e.when.About != "" && len(subjects[e.when.About]) == 0 {
		subjects = maps.Clone(subjects)
		subjects[e.when.About] = []string{n.about()}
	}
	return subjects, err
}

func (a *attempt) guards(j *judged, s *Snapshot[any]) {
	for _, g := range j.edge.guards {
		j.add(g.Name(), g.Judge(j.scene))
	}
	for _, k := range j.edge.checks {
		j.add(k.name, k.judge(j.scene, s.Data, j.payload))
	}
}

func orNobody(a guard.Actor) string {
	if a == "" {
		return "nobody"
	}
	return string(a)
}

// mayPropose judges the actor, and that somebody is signed in.
func (a *attempt) mayPropose(e *edge) bool {
	switch a.p.actor {
	case guard.Timer:
		return a.c.timed[e.event]
	case guard.Worker:
		return e.event.isSettling()
	case guard.Operator:
		if !a.in.Principal.Has(guard.OperatorRole) {
			return false
		}
	}
	return a.in.Principal.ID != "" && slices.Contains(e.actors, a.p.actor)
}

// draft computes the effects that the edge would cause.
func (a *attempt) draft(j *judged, s *Snapshot[any]) {
	if j.verdict.Unknown() {
		return // its case would show zero values where facts are unknown
	}
	for _, o := range j.edge.outputs {
		if o.kind != emits {
			continue
		}
		made, v := j.run(o, s.Data)
		if j.add(o.effect.Name, v); !v.Allowed() {
			return
		}
		if len(j.drafts)+len(made) > MaxEffects {
			j.deny("", CodeTooMany, fmt.Sprintf("more than %d effects in one commit", MaxEffects))
			return
		}
		for _, args := range made {
			b, err := a.bytes(args)
			if err == nil && len(b) > MaxArgs {
				err = fmt.Errorf("arguments of %d bytes, at most %d", len(b), MaxArgs)
			}
			if err != nil {
				j.deny(o.effect.Name, CodeForm, err.Error())
				return
			}
			j.drafts = append(j.drafts, draft{o.effect, args, string(b)})
		}
	}
	a.admit(j, s)
	if j.verdict.Allowed() {
		a.hold(j, s)
	}
}

// bytes is the value as canonical JSON, good until the next call.
func (a *attempt) bytes(v any) ([]byte, error) {
	b, err := canon.Append(a.scratch[:0], v)
	if err == nil {
		a.scratch = b
	}
	return b, err
}

// admit refuses effects beside an unsettled one: the number of an operation rises only when the one before it has an
// outcome.
func (a *attempt) admit(j *judged, s *Snapshot[any]) {
	for i, d := range j.drafts {
		if j.scene.Unsettled(d.effect.Name) > 0 {
			j.deny(d.effect.Name+idleSuffix, CodeUnderWay, "an earlier "+d.effect.Name+" has no outcome yet")
			return
		}
		for _, o := range j.drafts[:i] {
			if o.effect == d.effect && o.bytes == d.bytes {
				j.deny(d.effect.Name, CodeDuplicate, "the same "+d.effect.Name+" twice in one commit")
				return
			}
		}
		if j.edge.confirm == nil && repeats(s, d, j.confirms(d.effect)) > 0 {
			j.deny(d.effect.Name, CodeRepeat, "it has happened already; to do the same again needs a confirmation of its own")
			return
		}
	}
}

// confirms is the intent of the effect that this commit ends well, "" when it ends none.
func (j *judged) confirms(e *EffectInfo) string {
	if j.edge.event != e.confirmed {
		return ""
	}
	return settledKey(j.edge.event, j.payload)
}

// repeats is the version that settled the last effect of the kind, when that was this very one; else 0. The one that this
// commit confirms counts.
func repeats(s *Snapshot[any], d draft, confirming string) uint64 {
	for i := range s.Intents {
		in := &s.Intents[i]
		if in.Effect != d.effect.Name || in.Status != Confirmed && in.Key != confirming {
			continue
		}
		if b, err := canon.Append(nil, in.Args); err == nil && string(b) == d.bytes {
			return max(in.Settled, 1)
		}
	}
	return 0
}

// isDue holds when a timer of the event has come due in this stay.
func (a *attempt) isDue() guard.Verdict {
	for _, t := range a.s.Timers {
		if t.Event == a.p.event.Name && !a.in.Now.Before(t.Due) {
			return guard.Allow()
		}
	}
	return guard.Deny(CodeNotDue, "no timer of this event has come due")
}

func (i *EventInfo) isSettling() bool { return i.internal && i.Payload == settledType }

var settledType = reflect.TypeFor[Settled]()

// settledKey is the intent that an effect's own event ends, "" for other events.
func settledKey(ev *EventInfo, payload any) string {
	if s, ok := payload.(Settled); ok && ev.isSettling() {
		return s.Key
	}
	return ""
}

// settles judges the end of an intent: it exists and is unsettled, a good end has its receipt, and a bad one has none.
func (a *attempt) settles(j *judged) guard.Verdict {
	key := settledKey(j.edge.event, j.payload)
	intent, ok := a.s.Intent(key)
	if !ok || !intent.Unsettled() {
		return guard.Deny(CodeNoIntent, "there is no unsettled intent under this key")
	}
	info := a.c.effects[intent.Effect]
	if j.edge.event != info.failed && j.edge.event != info.confirmed {
		return guard.Deny(CodeNoIntent, "the intent is of another effect")
	}
	receipt := guard.Key{Fact: info.Receipt.Name, Subject: key}
	if j.edge.event == info.failed {
		if _, recorded := a.facts.Entry(receipt); recorded {
			return guard.Deny(CodeHappened, "there is a receipt: it did not fail")
		}
		return guard.Allow()
	}
	entry, known := j.scene.Record(receipt)
	switch {
	case !known:
		return guard.Missing(receipt)
	case info.match == nil:
		return guard.Allow()
	}
	if err := matches(info, intent.Args, entry.Value); err != nil {
		return guard.Deny(CodeReceiptDiffers, err.Error())
	}
	return guard.Allow()
}

func matches(info *EffectInfo, args, receipt any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("matching panicked: %.200v", p)
		}
	}()
	return info.match(args, receipt)
}
