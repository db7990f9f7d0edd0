package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

// take makes the next snapshot from an edge whose guards allow it, or refuses.
func (a *attempt) take(j *judged) (Snapshot[any], Outcome) {
	next := a.s
	if f := a.move(j, &next); f != nil {
		return a.refuse(Refused, *f)
	}
	if f := a.apply(j, &next); f != nil {
		return a.refuse(Refused, *f)
	}
	if err := a.reckon(j, &next); err != nil {
		return a.refuse(Refused, Finding{Edge: j.edge.name, Code: CodeEdgeFault, Text: err.Error()})
	}
	out := Outcome{Kind: Committed, Task: next.Task, Version: next.Version, State: next.State, Before: a.s.Version,
		Event: a.p.event.Name, Edge: j.edge.name}
	a.settle(j, &next)
	a.withdraw(j, &next)
	a.intend(j, &next, &out)
	if a.in.Stopped != nil && len(out.Intents) > 0 {
		return a.refuse(Refused, *a.in.Stopped)
	}
	voided := a.voidOffers(j, &next)
	if kind, findings := a.open(j, &next, &out, &voided); findings != nil {
		return a.refuse(kind, findings...)
	}
	if kind, findings := a.returned(j, &out); findings != nil {
		return a.refuse(kind, findings...)
	}
	a.keep(j)
	voided = append(voided, a.hear(&next)...)
	next.Facts = a.facts.Without(a.c.passing(&next.Head))
	if j.edge.apply != nil || next.Facts.Subjects() == nil {
		next.Facts = next.Facts.Bound(a.c.bound(next.Task, next.Data))
	}
	if f := a.whole(j, next); f != nil {
		return a.refuse(Refused, *f)
	}
	out.entry = a.entry(next, j, voided, out)
	out.entry.replies = a.usedReplies(&next, j.offer)
	return next, out
}

func (a *attempt) stamp(next *Snapshot[any], by string) {
	next.Version, next.BasedOn = a.s.Version+1, a.s.Version
	next.UpdatedAt, next.UpdatedBy = a.in.Now, by
	if a.in.Principal.ID != "" {
		next.UpdatedBy += "/" + a.in.Principal.ID
	}
}

// move fires the transition and begins the new stay.
func (a *attempt) move(j *judged, next *Snapshot[any]) *Finding {
	to, err := a.c.engine.Fire(string(a.s.State), j.edge.index)
	if err != nil {
		return &Finding{Edge: j.edge.name, Code: CodeNoTransition, Text: err.Error()}
	}
	by := a.p.actor
	if a.p.byHand != nil {
		by = guard.Operator
	}
	a.stamp(next, string(by))
	if j.edge.stay {
		next.Timers = slices.Clone(next.Timers)
		if a.p.actor == guard.Timer {
			next.Timers = slices.DeleteFunc(next.Timers, func(t ArmedTimer) bool {
				return t.Event == a.p.event.Name && !a.in.Now.Before(t.Due)
			})
		}
		return nil
	}
	next.State = State(to)
	a.c.enter(next, a.in.Now)
	return nil
}

// enter begins a stay: whom it waits for, and the timers that come after a delay.
func (c *core) enter(s *Snapshot[any], now time.Time) {
	s.Entered, s.Waiting, s.Timers = now, nil, nil
	if w := c.waits[s.State]; w != nil {
		s.Waiting = &Waiting{For: w.party, Since: now}
		if w.at == nil {
			s.Waiting.Until = now.Add(w.after)
			s.Timers = append(s.Timers, ArmedTimer{Event: w.event.Name, Due: s.Waiting.Until})
		}
	}
	for _, t := range c.timers[s.State] {
		if t.at != nil {
			continue // when the data is there
		}
		s.Timers = append(s.Timers, ArmedTimer{Event: t.event.Name, Due: now.Add(t.after)})
	}
}

// reckon computes the deadlines that are made of data.
func (a *attempt) reckon(j *judged, next *Snapshot[any]) error {
	switch {
	case !j.edge.stay:
		return a.c.arm(next)
	case j.edge.apply != nil:
		return a.c.rearm(a.s.Data, next)
	}
	return nil
}

// apply writes the payload into a copy of the data.
func (a *attempt) apply(j *judged, next *Snapshot[any]) (f *Finding) {
	if j.edge.apply == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			f = &Finding{Edge: j.edge.name, Code: CodeEdgeFault, Text: fmt.Sprintf("apply panicked: %.200v", p)}
		}
	}()
	next.Data = j.edge.apply(j.scene, a.s.Data, j.payload)
	code := CodeData
	size, err := canon.Size(next.Data)
	switch {
	case err != nil:
	case size > MaxData:
		code, err = CodeTooMany, fmt.Errorf("data of %d bytes, at most %d", size, MaxData)
	default:
		err = cmp.Or(guard.Validate(next.Data), a.c.subjects.visible(next.Data))
	}
	if err != nil {
		return &Finding{Edge: j.edge.name, Code: code, Text: err.Error()}
	}
	return nil
}

// settle ends the intent that an effect's own event names. Of the settled ones, the last of each effect is kept.
func (a *attempt) settle(j *judged, next *Snapshot[any]) {
	key := settledKey(j.edge.event, j.payload)
	if key == "" {
		return
	}
	kept := make([]Intent, 0, len(a.s.Intents))
	ended, _ := a.s.Intent(key)
	for _, i := range a.s.Intents {
		switch {
		case i.Key == key:
			i.Settled, i.Status = next.Version, Confirmed
			if j.edge.event == a.c.effects[i.Effect].failed {
				i.Status = Failed
			}
		case i.Effect == ended.Effect && !i.Unsettled():
			continue
		}
		kept = append(kept, i)
	}
	next.Intents = kept
}

// intend makes an intent of each draft, with a key that no other ever had.
func (a *attempt) intend(j *judged, next *Snapshot[any], out *Outcome) {
	if len(j.drafts) == 0 {
		return
	}
	next.Intents, next.Operations = slices.Clone(next.Intents), slices.Clone(next.Operations)
	for first, d := range j.drafts {
		n := next.raise(d.effect.Name)
		i := Intent{Effect: d.effect.Name, Key: next.Task + "/" + d.effect.Name + "/" + strconv.FormatUint(n, 10), Operation: n,
			Args: d.args, Status: Intended, Since: next.Version, At: a.in.Now}
		if first == 0 {
			i.Holds = j.holds
		}
		next.Intents, out.Intents = append(next.Intents, i), append(out.Intents, i.Copy())
	}
}

// raise gives the next operation number of an effect.
func (h *Head) raise(effect string) uint64 {
	for i := range h.Operations {
		if h.Operations[i].Effect == effect {
			h.Operations[i].Number++
			return h.Operations[i].Number
		}
	}
	h.Operations = append(h.Operations, Operation{effect, 1})
	return 1
}

// returned computes what the edge answers its proposer.
func (a *attempt) returned(j *judged, out *Outcome) (Kind, []Finding) {
	for _, o := range j.edge.outputs {
		if o.kind != returns {
			continue
		}
		made, v := j.run(o, a.s.Data)
		if j.add("return", v); !v.Allowed() {
			return hopeful(Refused, v), j.tell(nil)
		}
		b, err := formed(made[0], MaxReturned, true)
		if err != nil {
			return Refused, []Finding{{Edge: j.edge.name, Guard: "return", Code: CodeForm, Text: err.Error()}}
		}
		out.Returned = b
	}
	return "", nil
}

// whole judges the snapshot that would be committed.
func (a *attempt) whole(j *judged, next Snapshot[any]) *Finding {
	switch _, final := a.c.final[next.State]; {
	case len(next.Offers) > MaxOffers:
		return &Finding{Edge: j.edge.name, Code: CodeTooMany, Text: fmt.Sprintf("%d open offers, at most %d", len(next.Offers), MaxOffers)}
	case final && slices.ContainsFunc(next.Intents, Intent.Unsettled):
		return &Finding{Edge: j.edge.name, Code: CodeUnsettled, Text: "the task cannot end while an effect has no outcome"}
	}
	if broken := a.c.broken(a.s, next); len(broken) > 0 {
		return &Finding{Edge: j.edge.name, Code: CodeInvariant, Text: broken[0]}
	}
	return nil
}

// broken are the invariants that do not hold, with their reasons.
func (c *core) broken(old, next Snapshot[any]) []string {
	var out []string
	for _, i := range c.invariants {
		if err := i.judge(old, next); err != nil {
			out = append(out, fmt.Sprintf("%s: %v", i.name, err))
		}
	}
	return out
}

func (i invariant) judge(old, next Snapshot[any]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panicked: %.200v", p)
		}
	}()
	return i.check(old, next)
}

// passing facts do not outlive the commit: volatile ones, replies to offers that are gone, receipts of intents that are gone.
func (c *core) passing(h *Head) func(guard.Key) bool {
	return func(k guard.Key) bool {
		info := c.facts[k.Fact]
		switch {
		case info == nil:
			return false
		case info.Volatile:
			return true
		case info.About == guard.OfferKind:
			_, open := h.Offer(k.Subject)
			return !open
		case info.About == EffectKind:
			_, kept := h.Intent(k.Subject)
			return !kept
		}
		return false
	}
}
