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
		if e := ev.Entry(); !a.c.relevant(&a.s, e) {
			return a.refuse(Refused, Finding{Code: CodeOtherSubject, Text: fmt.Sprintf("%s is not about this task", e.Key)})
		}
	}
	j, blocked := a.driven()
	if j != nil {
		a.p = Proposal{event: j.edge.event, payload: j.payload, actor: guard.Observer, basedOn: a.s.Version}
		next, out := a.take(j)
		if out.Kind == Committed {
			return next, out
		}
		a.p, a.payload, blocked = Proposal{}, nil, out.Findings
	}
	if !a.news() {
		return a.s, Outcome{Kind: Unchanged, Task: a.s.Task, Version: a.s.Version, State: a.s.State}
	}
	return a.land(blocked)
}

// relevant tells whether evidence is about this task: a subject that its data names, the task itself, one of its intents,
// an open offer answered by the party it was put to, something that an open offer stands on, or something that was looked at
// before.
func (c *core) relevant(s *Snapshot[any], e guard.Entry) bool {
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
	if ids := c.ground(s)[info.About]; len(ids) > 0 {
		return slices.Contains(ids, e.Key.Subject)
	}
	_, known := s.Facts.Entry(e.Key)
	return known || slices.ContainsFunc(s.Offers, func(o OpenOffer) bool { return o.standsOn(e.Key) })
}

// Relevant tells whether an observation would be accepted on its own; for runtimes that pick what to commit.
func (m *Machine[D]) Relevant(s Snapshot[D], e guard.Entry) bool {
	return m.c.relevant(&Snapshot[any]{s.Head, s.Data}, e)
}

// driven is the open edge that evidence drives from here, nil when there is none. Where several facts each drive one, the
// edge that was declared first is taken. Two edges that one fact drives drive nothing, and the findings say so.
func (a *attempt) driven() (open *judged, blocked []Finding) {
	edges := a.c.driven[a.s.State]
	if edges == nil {
		return nil, nil
	}
	for i := range a.evidence {
		entry := a.evidence[i].Entry()
		if !a.tells(i, entry) {
			continue
		}
		if len(edges[entry.Key.Fact]) == 0 || !a.c.relevant(&a.s, entry) {
			continue
		}
		for _, e := range edges[entry.Key.Fact] {
			j := a.drive(e, entry)
			switch {
			case j == nil:
			case open == nil || a.before(e, open.edge):
				open = j
			case open.edge.when == e.when && open.edge != e && !a.before(open.edge, e):
				return nil, []Finding{ambiguous(open.edge, e)}
			}
		}
	}
	return open, nil
}

// before tells whether one driven edge goes before another: of one fact the inner one, of several the first declared.
func (a *attempt) before(e, o *edge) bool {
	if e.when != o.when {
		return e.index < o.index
	}
	return e.depth[a.s.State] < o.depth[a.s.State]
}

// tells whether evidence says something new: another value, or the same one where what is recorded had gone stale. A value that
// came in too old to count is told when it is observed afresh.
func (a *attempt) tells(i int, e guard.Entry) bool {
	if a.merged[i] != guard.Renewed {
		return a.merged[i] == guard.News
	}
	old, _ := a.s.Facts.Entry(e.Key)
	age := a.evidence[i].Fact().MaxAge
	return age > 0 && a.in.Now.Sub(old.At) > age
}

// drive judges one edge that evidence drives; nil when it is not open.
func (a *attempt) drive(e *edge, entry guard.Entry) *judged {
	j := a.begin(e, &a.s, e.change(entry), e.fresh)
	if j.scene != nil && a.opens(j) {
		return j
	}
	a.spare = j
	return nil
}

// opens tells whether all allow the edge, and stops at the first that does not.
func (a *attempt) opens(j *judged) bool {
	for _, g := range j.edge.guards {
		if !g.Judge(j.scene).Allowed() {
			return false
		}
	}
	for _, k := range j.edge.checks {
		if !k.judge(j.scene, a.s.Data, j.payload).Allowed() {
			return false
		}
	}
	j.withdrawable()
	a.draft(j, &a.s)
	return j.verdict.Allowed()
}

// news tells whether the evidence is worth a version. A pushed observation that only renews is: its order mark must not be
// lost, or a late one could pass for newer (law 6). An answer to our own question is only when what is stored will soon
// be too old, so that asking does not make others conflict. A volatile fact is kept by the commit that uses it or not at all,
// and is news only when it voids an offer: nobody shall be shown what is void.
func (a *attempt) news() bool {
	for i, ev := range a.evidence {
		if ev.Fact().Volatile {
			if a.voids(ev.Entry().Key) {
				return true
			}
			continue
		}
		if a.answersChange(&ev) {
			return true // of several people, and with clocks that differ, what is not the newest counts as well
		}
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

// voids tells whether a fact now has another value than the one that an open offer stands on.
func (a *attempt) voids(k guard.Key) bool {
	return slices.ContainsFunc(a.s.Offers, func(o OpenOffer) bool {
		changed := a.changed(&o)
		return changed != nil && *changed == k
	})
}

// land makes the version that only holds the evidence.
func (a *attempt) land(blocked []Finding) (Snapshot[any], Outcome) {
	next := a.s
	a.stamp(&next, string(guard.Observer))
	voided := a.keepOffers(&next, "")
	voided = append(voided, a.hear(&next)...)
	next.Facts = a.facts.Without(a.c.passing(&next.Head))
	out := Outcome{Kind: Committed, Task: next.Task, Version: next.Version, State: next.State, Before: a.s.Version}
	out.entry = a.entry(next, nil, voided, out)
	out.entry.replies = a.usedReplies(&next, "")
	out.entry.Broken, out.entry.Blocked = a.c.broken(a.s, next), blocked
	return next, out
}
