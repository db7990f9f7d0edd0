package machine

import (
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
)

// approval is what an edge demands beyond one yes. The zero approval is one yes of whoever the party is, in any form.
type approval struct {
	need, of   int
	separate   bool
	structured func(s *guard.Scene, data, payload any) bool
}

// Quorum demands the yes of several people, need of the many who have the party's role: two of three. A person counts once. What
// they say is kept in the offer until enough have answered; once more than the rest have said no, it is declined. The edge needs
// Confirm, and its offer is put to a role.
func (e *Edge[D, P]) Quorum(need, of int) *Edge[D, P] {
	e.e.approval.need, e.e.approval.of = need, of
	return e
}

// Separate keeps whoever proposed the offer from approving it: their own yes does not count (separation of duties). Asking again for
// somebody else's offer does not take their part in it away. The edge needs Confirm, and its offer is put to a role.
func (e *Edge[D, P]) Separate() *Edge[D, P] { e.e.approval.separate = true; return e }

// Structured demands that a yes be a choice, not words, whenever f holds: above an amount. It must be pure, and list the facts that it
// looks at; while one of them is not known, it holds. The edge needs Confirm.
func (e *Edge[D, P]) Structured(f func(guard.Case[D, P]) bool, reads ...guard.AnyFact) *Edge[D, P] {
	e.reads(reads)
	e.e.approval.structured = func(s *guard.Scene, data, payload any) bool { return f(caseOf[D, P](s, data, payload)) }
	return e
}

func (p approval) demands() bool {
	return p.need != 0 || p.of != 0 || p.separate || p.structured != nil
}

// choice tells whether a yes must be a choice.
func (p approval) choice(j *judged, data any) (demanded bool) {
	if p.structured == nil {
		return false
	}
	defer func() {
		if recover() != nil {
			demanded = true
		}
	}()
	if v := guard.Grounded(j.scene, func() { demanded = p.structured(j.scene, data, j.payload) }); !v.Allowed() {
		return true
	}
	return demanded
}

// bindApproval writes down who must agree to the offer, and in which form.
func (a *attempt) bindApproval(o *OpenOffer, j *judged, next *Snapshot[any]) {
	p := j.edge.approval
	if p.of > 1 {
		o.Need, o.Of = p.need, p.of
	}
	o.Structured = p.choice(j, next.Data)
	if !p.separate {
		return
	}
	barred := []string{a.in.Principal.ID}
	if old := sameOffer(next.Offers, o); old != nil {
		barred = append(barred, old.Barred...)
	}
	slices.Sort(barred)
	o.Barred = slices.DeleteFunc(slices.Compact(barred), func(id string) bool { return id == "" })
}

// Confirms tells whether an edge of the machine wants a confirmation, so that it needs a store in which a message can be used up once.
func (m *Machine[D]) Confirms() bool {
	return slices.ContainsFunc(m.c.edges, func(e *edge) bool { return e.confirm != nil })
}

func (c *core) lintApproval(e *edge) {
	p := e.approval
	switch {
	case p.demands() && e.confirm == nil:
		c.fault("approval", e.place, e.name+" says who must agree, and wants no confirmation", "add Confirm")
	case p.need == 0 && p.of == 0:
	case p.need < 1 || p.of < p.need || p.of > MaxApprovers:
		c.fault("approval", e.place, fmt.Sprintf("%s wants the yes of %d of %d", e.name, p.need, p.of),
			fmt.Sprintf("give Quorum a number of people, out of at least as many and at most %d", MaxApprovers))
	}
	if p.need < 2 && !p.separate {
		return
	}
	for _, x := range c.edges {
		for _, o := range x.outputs {
			if o.kind == offers && o.offer == e.event && o.party == TaskOwner && slices.ContainsFunc(x.from, func(s State) bool { return e.leaves(x.target(s)) }) {
				c.fault("approval", x.place, fmt.Sprintf("%s offers %s to the task's owner alone, and %s", x.name, e.event.Name, e.name+" wants others' yes"),
					"offer it to a role")
			}
		}
	}
}
