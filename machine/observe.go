package machine

import (
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// observe applies evidence alone. What is news makes a version, and takes the edge that it drives. Nothing keeps evidence
// out (law 15): when the driven edge is refused, the evidence lands without it.
func (a *attempt) observe() (Snapshot[any], Outcome) {
	for _, ev := range a.evidence {
		if !a.c.relevant(a.s, ev.Entry()) {
			return a.refuse(Refused, Finding{Code: CodeOtherSubject, Text: fmt.Sprintf("%s is not about this task", ev.Entry().Key)})
		}
	}
	if j := a.driven(); j != nil {
		a.p = Proposal{event: j.edge.event, payload: j.payload, actor: guard.Observer, basedOn: a.s.Version}
		if next, out := a.take(j); out.Kind == Committed {
			return next, out
		}
		a.p = Proposal{}
	}
	if !a.news() {
		out := Outcome{Kind: Unchanged, Task: a.s.Task, Version: a.s.Version, State: a.s.State}
		return a.s, out
	}
	return a.land()
}

// relevant tells whether evidence is about this task: a subject that its data names, the task itself, one of its intents,
// an open offer answered by the party it was put to, or something that was looked at before.
func (c *core) relevant(s Snapshot[any], e guard.Entry) bool {
	info := c.facts[e.Key.Fact]
	if info == nil {
		return false
	}
	switch info.About {
	case "":
		return e.Key.Subject == s.Task
	case guard.OfferKind:
		o, open := s.Offer(e.Key.Subject)
		r, isReply := e.Value.(guard.Reply)
		return open && isReply && o.answeredBy(r, s.Owner) && e.At.After(o.OpenedAt)
	case EffectKind:
		_, ok := s.Intent(e.Key.Subject)
		return ok
	}
	if ids, named := c.subjects.of(s.Data)[info.About]; named {
		return slices.Contains(ids, e.Key.Subject)
	}
	_, known := s.Facts.Entry(e.Key)
	return known
}

// Relevant tells whether an observation would be accepted on its own; for runtimes that pick what to commit.
func (m *Machine[D]) Relevant(s Snapshot[D], e guard.Entry) bool {
	return m.c.relevant(Snapshot[any]{s.Head, s.Data}, e)
}

// driven is the open edge that evidence drives from here, nil when there is none or more than one.
func (a *attempt) driven() *judged {
	edges := a.c.driven[a.s.State]
	if edges == nil || len(a.evidence) == 0 {
		return nil
	}
	var open *judged
	for i, ev := range a.evidence {
		entry := ev.Entry()
		if a.merged[i] != guard.News || !a.c.relevant(a.s, entry) {
			continue
		}
		for _, e := range edges[entry.Key.Fact] {
			j := a.begin(e, &a.s, e.change(entry), e.fresh)
			if j.scene == nil {
				continue
			}
			if a.guards(j, &a.s); !j.verdict.Allowed() {
				continue
			}
			if a.draft(j, &a.s); !j.verdict.Allowed() {
				continue
			}
			if open != nil && open.edge != e {
				return nil
			}
			open = j
		}
	}
	return open
}

// news tells whether the evidence is worth a version. A pushed observation that only renews is: its order mark must not be
// lost, or a late one could pass for newer (law 6). An answer to our own question is only when what is stored will soon
// be too old, so that asking does not make others conflict.
func (a *attempt) news() bool {
	for i, ev := range a.evidence {
		switch a.merged[i] {
		case guard.News, guard.Dispute:
			return true
		case guard.Renewed:
			old, _ := a.s.Facts.Entry(ev.Entry().Key)
			age := ev.Fact().MaxAge
			if !ev.WasPulled() || age > 0 && a.in.Now.Sub(old.At) > age-age/4 {
				return true
			}
		}
	}
	return false
}

// land makes the version that only holds the evidence.
func (a *attempt) land() (Snapshot[any], Outcome) {
	next := a.s
	a.stamp(&next, string(guard.Observer))
	voided := a.c.keepOffers(&next, a.s.Offers, a.facts, a.in.Now)
	next.Facts = a.facts.Without(a.c.passing(next.Head))
	out := Outcome{Kind: Committed, Task: next.Task, Version: next.Version, State: next.State, Before: a.s.Version}
	out.entry = a.entry(next, nil, voided, out)
	out.entry.Broken = a.c.broken(a.s, next)
	return next, out
}
