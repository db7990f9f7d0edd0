package machine

import (
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
)

func (c *core) lintEffects() {
	for _, name := range sorted(c.effects) {
		i := c.effects[name]
		switch {
		case i.Receipt == nil || i.Receipt.About != EffectKind:
			c.fault("receipt", c.placeOfEffect(i), "the receipt of "+name+" is not about the effect", "declare it with guard.About(machine.EffectKind)")
		case i.Receipt.MaxAge > 0 || i.Receipt.Volatile:
			c.fault("receipt", c.placeOfEffect(i), "the receipt of "+name+" goes stale", "declare it guard.Lasting")
		}
		if i.Within < 0 {
			c.fault("no_time", c.placeOfEffect(i), name+" must be sent within less than no time", "give SendWithin a time above zero")
		}
		c.lintWhile(i)
		c.lintSettles(i)
	}
}

// lintWhile checks that what an effect is sent under can be judged: each fact is about something that arguments or data name.
func (c *core) lintWhile(i *EffectInfo) {
	for _, g := range i.While {
		if g.Name() == "" {
			c.fault("zero_guard", c.placeOfEffect(i), i.Name+" is sent while the zero Guard holds", "declare it with guard.New")
		}
	}
	for _, f := range i.whileReads() {
		if f.Info() == nil || f.Subject() != "" {
			continue
		}
		if about := f.Info().About; about != "" && !c.subjects.names(about) && !findSubjects(i.Args).names(about) {
			c.fault("about_nothing", c.placeOfEffect(i), fmt.Sprintf("%s looks at %s, which is about %q, and neither %v nor the data names one",
				i.Name, f.Info().Name, about, i.Args), `tag a field about:"`+about+`"`)
		}
	}
}

// placeOfEffect is the edge that first intends it.
func (c *core) placeOfEffect(i *EffectInfo) string {
	for _, e := range c.edges {
		if e.emits(i) {
			return e.place
		}
	}
	return "-"
}

func (e *edge) emits(i *EffectInfo) bool {
	return slices.ContainsFunc(e.outputs, func(o output) bool { return o.kind == emits && o.effect == i })
}

// ends tells whether after the edge no intent of the effect is unsettled: it settles the last, or is taken only when none is.
func (e *edge) ends(i *EffectInfo) bool {
	return e.event == i.confirmed || e.event == i.failed || slices.Contains(e.withdraws, i) ||
		slices.ContainsFunc(e.guards, func(g guard.Guard) bool { return g.Name() == i.Name+idleSuffix })
}

// lintSettles follows an intent from the edges that make it along all others, and wants edges for both ends in every
// state that it can reach unsettled.
func (c *core) lintSettles(i *EffectInfo) {
	for _, s := range c.unsettledIn(i) {
		for _, ev := range []*EventInfo{i.confirmed, i.failed} {
			if !slices.ContainsFunc(c.edges, func(x *edge) bool { return x.event == ev && x.leaves(s) }) {
				c.rule(LintUnsettled, "effect "+i.Name+" in "+string(s), c.placeOfEffect(i), "can be under way there, and there is no edge for "+ev.Name, "add it")
			}
		}
	}
}

// underWay are the states in which an intent of the effect can be without an outcome. Final ones are none: the step refuses to enter
// them.
func (c *core) underWay(i *EffectInfo) map[State]bool {
	in := map[State]bool{}
	for range c.edges {
		for _, e := range c.edges {
			for _, s := range e.from {
				if e.emits(i) || in[s] && !e.ends(i) {
					if to := e.target(s); !c.isFinal(to) {
						in[to] = true
					}
				}
			}
		}
	}
	return in
}

// unsettledIn are those states, sorted. Edges that would end the task from there are reported.
func (c *core) unsettledIn(i *EffectInfo) []State {
	in := c.underWay(i)
	for _, e := range c.edges {
		reaches := !e.stay && c.isFinal(e.to) && slices.ContainsFunc(e.from, func(s State) bool { return in[s] })
		if e.event != nil && (reaches && !e.ends(i) || e.emits(i) && c.isFinal(e.to)) {
			c.rule(LintEndsUnsettled, "edge "+e.name, e.place, "ends the task while "+i.Name+" may have no outcome, and is refused then", "require "+i.Name+"'s Idle")
		}
	}
	return sorted(in)
}

func (c *core) isFinal(s State) bool { _, ok := c.final[s]; return ok }
