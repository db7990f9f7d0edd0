package machine

import (
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
)

func (c *core) lintEdge(e *edge) {
	if len(e.from) == 0 || e.stay == (e.to != "") {
		c.fault("no_way", e.place, e.name+" needs From, and either To or Stay", "add them")
	}
	for i, s := range e.named {
		if slices.Contains(e.named[:i], s) {
			c.fault("from_twice", e.place, e.name+" leaves "+string(s)+" twice", "name it once")
		}
	}
	own := e.event.internal || c.timed[e.event]
	if !own && len(e.actors) == 0 {
		c.fault("nobody", e.place, "nobody may propose "+e.name, "add By")
	}
	if e.event.isSettling() && len(e.actors) > 0 {
		c.fault("settled_by_hand", e.place, e.name+" is proposed by hand", "remove By: only a receipt settles an effect")
	}
	for _, actor := range e.actors {
		if !actor.Outside() && e.when == nil {
			c.fault("actor", e.place, fmt.Sprintf("%q cannot propose %s", actor, e.name), "use guard.Model, guard.User or guard.Operator")
		}
	}
	c.lintOverride(e)
	c.lintWithdraw(e)
	for _, g := range e.guards {
		if g.Name() == "" {
			c.fault("zero_guard", e.place, e.name+" requires the zero Guard", "declare it with guard.New")
		}
	}
	for _, k := range e.checks {
		if k.name == "" {
			c.fault("check_name", e.place, e.name+" has a check without a name", "name it: refusals and the history show it")
		}
	}
}

// lintRivals finds two edges of one event of which one is open whenever the other is: that one can never be taken.
func (c *core) lintRivals(e *edge) {
	for _, o := range c.edges[:e.index] {
		rivals := slices.ContainsFunc(e.from, func(s State) bool { return o.leaves(s) && o.depth[s] == e.depth[s] })
		if o.event != e.event || !rivals || !meet(o.actors, e.actors) {
			continue
		}
		if within(o.judges, e.judges) || within(e.judges, o.judges) {
			c.fault("ambiguous", e.place, fmt.Sprintf("%s and %s (%s) are open at once", e.name, o.name, o.place), "guard them apart, or keep one")
		}
	}
}

// meet tells whether one actor may propose both edges; those of timers, workers and observers have none.
func meet(a, b []guard.Actor) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(x guard.Actor) bool { return slices.Contains(b, x) })
}

func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

// lintGround checks that each fact an edge looks at is about something that payload or data name.
func (c *core) lintGround(e *edge) {
	var reads []guard.AnyFact
	for _, g := range e.guards {
		reads = append(reads, g.Reads()...)
	}
	for _, f := range append(reads, e.fresh...) {
		if f.Info() == nil || f.Subject() != "" {
			continue
		}
		about := f.Info().About
		named := e.event.subjects.names(about) || c.subjects.names(about) || e.when != nil && e.when.About == about
		if about != "" && !named {
			c.fault("about_nothing", e.place, fmt.Sprintf("%s looks at %s, which is about %q, and neither %v nor the data names one",
				e.name, f.Info().Name, about, e.event.Payload), `tag a field about:"`+about+`"`)
		}
	}
}

func (c *core) lintOutputs(e *edge) {
	returned := 0
	for _, o := range e.outputs {
		switch o.kind {
		case returns:
			returned++
		case offers:
			for _, s := range e.from {
				c.lintOffer(e, o, e.target(s))
			}
		}
		if o.kind == reserves && !slices.ContainsFunc(e.outputs, func(o output) bool { return o.kind == emits }) {
			c.fault("reserves_for_nothing", e.place, e.name+" reserves, and intends no effect that could give it back", "add machine.Emit, or remove Reserve")
		}
		if o.kind != returns && e.event.Narrows {
			c.rule(LintWidens, "edge "+e.name, e.place, "is judged on the newest version although it brings something about", "remove Narrowing")
		}
	}
	if returned > 1 {
		c.fault("returns_twice", e.place, e.name+" returns two answers", "keep one Return")
	}
	c.lintConfirm(e)
	c.lintApproval(e)
}

func (c *core) lintConfirm(e *edge) {
	if e.confirm == nil {
		return
	}
	if info := e.confirm.Info(); info != nil && info.About != guard.OfferKind {
		c.fault("confirm", e.place, e.name+" confirms with a fact that is no reply", "declare it with guard.NewReply")
	}
	if !slices.ContainsFunc(c.edges, func(x *edge) bool {
		return slices.ContainsFunc(x.outputs, func(o output) bool { return o.kind == offers && o.offer == e.event })
	}) {
		c.fault("never_offered", e.place, e.name+" wants a confirmation, and nothing offers "+e.event.Name, "add machine.Offer to the edge before it")
	}
}

func (c *core) lintOffer(e *edge, o output, to State) {
	if o.offer == nil {
		return
	}
	if o.expires <= 0 {
		c.fault("no_time", e.place, e.name+" offers "+o.offer.Name+" for no time", "give the offer a time above zero")
	}
	if o.party == "" {
		c.fault("offers_to_nobody", e.place, e.name+" offers "+o.offer.Name+" to nobody", "name a party")
	}
	if !slices.ContainsFunc(c.edges, func(x *edge) bool { return x.event == o.offer && x.leaves(to) && x.confirm != nil }) {
		c.fault("never_confirmed", e.place, fmt.Sprintf("%s offers %s, and %s has no edge that confirms it", e.name, o.offer.Name, to), "add an edge with Confirm")
	}
}
