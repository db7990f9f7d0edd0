package machine

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

var noneType = reflect.TypeFor[None]()

// judged is an edge with what its guards said.
type judged struct {
	edge     *edge
	scene    *guard.Scene
	payload  any
	findings []Finding
	verdict  guard.Verdict
	drafts   []draft // effects that it would cause
	offer    string  // the offer that it uses up
	guards   []string
}

// draft is an effect on its way to become an intent.
type draft struct {
	effect *EffectInfo
	args   any
	bytes  string // canonical
}

func (j *judged) add(name string, v guard.Verdict) {
	if j.guards = append(j.guards, name); !v.Allowed() {
		j.findings = append(j.findings, Finding{j.edge.name, name, v.Code(), v.Text(), v.Missing(), v.Details()})
	}
	j.verdict = guard.Both(j.verdict, v)
}

func (j *judged) deny(name, code, text string) { j.add(name, guard.Deny(code, text)) }

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
	j := &judged{edge: e, payload: payload, verdict: guard.Allow()}
	subjects, err := a.c.about(s, e.event, payload)
	if err != nil {
		j.deny("", CodeOtherSubject, err.Error())
		return j
	}
	j.scene = guard.NewScene(guard.SceneSpec{
		Task: s.Task, Now: a.in.Now, Received: a.in.Received, Actor: a.p.actor, Principal: a.in.Principal,
		Facts: a.facts, Subjects: subjects, Fresh: fresh, Unsettled: s.unsettled,
	})
	return j
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

func (a *attempt) mayPropose(e *edge) bool {
	switch a.p.actor {
	case guard.Timer:
		return a.c.timed[e.event]
	case guard.Worker:
		return e.event.isSettling()
	}
	return slices.Contains(e.actors, a.p.actor)
}

// about are the subjects that payload and data name. If both name one of a kind, they must agree.
func (c *core) about(s *Snapshot[any], ev *EventInfo, payload any) (guard.Subjects, error) {
	subjects := c.subjects.of(s.Data)
	named := ev.subjects.of(payload)
	if len(named) == 0 {
		return subjects, nil
	}
	if subjects == nil {
		return named, nil
	}
	for kind, ids := range named {
		mine, both := subjects[kind]
		for _, id := range ids {
			if both && !slices.Contains(mine, id) {
				return nil, fmt.Errorf("the payload is about %s %s, the task about %v", kind, id, mine)
			}
		}
		if len(ids) > 0 || !both {
			subjects[kind] = ids
		}
	}
	return subjects, nil
}

// draft computes the effects that the edge would cause.
func (a *attempt) draft(j *judged, s *Snapshot[any]) {
	defer func() {
		if p := recover(); p != nil {
			j.deny("", CodeEdgeFault, fmt.Sprintf("an output panicked: %.200v", p))
		}
	}()
	if j.verdict.Unknown() {
		return // its case would show zero values where facts are unknown
	}
	for _, o := range j.edge.outputs {
		if o.kind != emits {
			continue
		}
		for _, args := range o.run(j.scene, s.Data, j.payload) {
			b, err := canon.Append(nil, args)
			if err != nil {
				j.deny("", CodeForm, o.effect.Name+": "+err.Error())
				return
			}
			j.drafts = append(j.drafts, draft{o.effect, args, string(b)})
		}
	}
	a.admit(j, s)
}

// admit refuses effects beside an unsettled one: the number of an operation rises only when the one before it has an
// outcome.
func (a *attempt) admit(j *judged, s *Snapshot[any]) {
	if len(j.drafts) > MaxEffects {
		j.deny("", CodeTooMany, fmt.Sprintf("%d effects in one commit, at most %d", len(j.drafts), MaxEffects))
		return
	}
	for i, d := range j.drafts {
		if s.unsettled(d.effect.Name) > 0 {
			j.deny(d.effect.Name+"_idle", CodeUnderWay, "an earlier "+d.effect.Name+" has no outcome yet")
			return
		}
		for _, o := range j.drafts[:i] {
			if o.effect == d.effect && o.bytes == d.bytes {
				j.deny("", CodeDuplicate, "the same "+d.effect.Name+" twice in one commit")
				return
			}
		}
	}
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

// settles judges the end of an intent: it exists and is unsettled, and a good end has its receipt.
func (a *attempt) settles(j *judged) guard.Verdict {
	key := j.payload.(Settled).Key
	intent, ok := a.s.Intent(key)
	if !ok || !intent.Unsettled() {
		return guard.Deny(CodeNoIntent, "there is no unsettled intent under this key")
	}
	info := a.c.effects[intent.Effect]
	switch j.edge.event {
	case info.failed:
		return guard.Allow()
	case info.confirmed:
	default:
		return guard.Deny(CodeNoIntent, "the intent is of another effect")
	}
	receipt, known := j.scene.Record(guard.Key{Fact: info.Receipt.Name, Subject: key})
	if !known {
		return guard.Missing(guard.Key{Fact: info.Receipt.Name, Subject: key})
	}
	if info.match == nil {
		return guard.Allow()
	}
	if err := matches(info, intent.Args, receipt.Value); err != nil {
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
