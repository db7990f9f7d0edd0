package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/guard"
)

// way is an edge as it leaves one state.
type way struct {
	from State
	edge EdgeDescription
}

func (w way) String() string {
	to := string(w.edge.To)
	if to == "" {
		to = "(stay)"
	}
	return fmt.Sprintf("%s: %s -> %s", w.edge.Event, w.from, to)
}

func waysOf(d Description) []way {
	var out []way
	for _, e := range d.Edges {
		for _, s := range e.From {
			out = append(out, way{s, e})
		}
	}
	return out
}

// edges pairs the ways of two definitions that have the same event, state and target: those that are alike first, then in the
// order of declaration.
func (d *diff) edges(old, new Description) {
	olds, news := waysOf(old), waysOf(new)
	for _, alike := range []bool{true, false} {
		olds = slices.DeleteFunc(olds, func(o way) bool {
			i := slices.IndexFunc(news, func(n way) bool {
				return n.String() == o.String() && (!alike || len(edgeDifferences(o, n)) == 0)
			})
			if i < 0 {
				return false
			}
			d.out = append(d.out, edgeDifferences(o, news[i])...)
			news = slices.Delete(news, i, i+1)
			return true
		})
	}
	for _, w := range olds {
		if hasState(new, w.from) {
			d.add(Tightened, "edge", w.String(), "it is gone")
		} else {
			d.add(Removed, "edge", w.String(), "")
		}
	}
	for _, w := range news {
		if hasState(old, w.from) {
			d.review(Loosened, "edge", w.String(), "it is new, guarded by "+orNothing(guardNames(w.edge)))
		} else {
			d.add(Added, "edge", w.String(), "")
		}
	}
}

func hasState(d Description, s State) bool {
	return slices.ContainsFunc(d.States, func(x StateDescription) bool { return x.Name == s })
}

func guardNames(e EdgeDescription) []string {
	names := namesOf(e.Guards)
	if e.Confirm != "" {
		names = append(names, "confirm "+e.Confirm)
	}
	return names
}

func namesOf(guards []GuardDescription) []string {
	var names []string
	for _, g := range guards {
		names = append(names, g.Name)
	}
	return names
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// edgeDifferences are those of one way in two definitions.
func edgeDifferences(o, n way) []Difference {
	d, name := &diff{}, n.String()
	was, is := o.edge, n.edge
	d.guards("edge", name, was.Guards, is.Guards)
	d.needs(name, "fresh ", was.Fresh, is.Fresh)
	d.needs(name, "confirmation ", present(was.Confirm), present(is.Confirm))
	d.approval(name, was, is)
	d.actors(name, was.By, is.By)
	d.flag("edge", name, "takes holds of shared resources", was.Reserves, is.Reserves, false)
	d.flag("edge", name, "leaves a final state", was.Reopens, is.Reopens, true)
	if was.Override != is.Override {
		d.review(Altered, "edge", name, fmt.Sprintf("an operator's override: %t", is.Override))
	}
	if was.Revision != is.Revision {
		d.review(Altered, "edge", name, fmt.Sprintf("its functions were revision %d, are %d", was.Revision, is.Revision))
	}
	d.altered("edge", name, "applies", fmt.Sprint(was.Applies), fmt.Sprint(is.Applies))
	d.altered("edge", name, "answers", fmt.Sprint(was.Returns), fmt.Sprint(is.Returns))
	d.doubtful("edge", name, "emits", strings.Join(was.Emits, ", "), strings.Join(is.Emits, ", "))
	d.doubtful("edge", name, "withdraws", strings.Join(was.Withdraws, ", "), strings.Join(is.Withdraws, ", "))
	d.doubtful("edge", name, "offers", strings.Join(was.Offers, ", "), strings.Join(is.Offers, ", "))
	return d.out
}

// approval is who must say yes, and how: fewer of them, more who may say no, or a weaker form loosens.
func (d *diff) approval(name string, was, is EdgeDescription) {
	if was.Need != is.Need || was.Of != is.Of {
		less := is.Confirm == "" || is.Need < was.Need || is.Of-is.Need > was.Of-was.Need
		text := fmt.Sprintf("the yes of %d of %d was demanded, %d of %d is", max(was.Need, 1), max(was.Of, 1), max(is.Need, 1), max(is.Of, 1))
		if less {
			d.review(Loosened, "edge", name, text)
		} else {
			d.add(Tightened, "edge", name, text)
		}
	}
	d.flag("edge", name, "keeps out who proposed it", was.Separate, is.Separate, false)
	d.flag("edge", name, "may demand a choice", was.Structured, is.Structured, false)
}

func present(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

func (d *diff) guards(part, owner string, was, is []GuardDescription) {
	named := func(gs []GuardDescription, name string) int {
		return slices.IndexFunc(gs, func(g GuardDescription) bool { return g.Name == name })
	}
	for _, o := range was {
		i := named(is, o.Name)
		switch {
		case i < 0:
			d.review(Loosened, part, owner, "guard "+o.Name+" is gone")
		case o.Revision != is[i].Revision:
			d.review(Altered, part, owner, fmt.Sprintf("guard %s was revision %d, is %d", o.Name, o.Revision, is[i].Revision))
		case !slices.Equal(o.Reads, is[i].Reads):
			d.review(Altered, part, owner, fmt.Sprintf("guard %s read %s, reads %s", o.Name, orNothing(o.Reads), orNothing(is[i].Reads)))
		}
	}
	for _, n := range is {
		if named(was, n.Name) < 0 {
			d.add(Tightened, part, owner, "guard "+n.Name+" is new")
		}
	}
}

// needs are what an edge demands: one more tightens, one less loosens.
func (d *diff) needs(edge, what string, was, is []string) {
	for _, name := range was {
		if !slices.Contains(is, name) {
			d.review(Loosened, "edge", edge, what+name+" is no longer demanded")
		}
	}
	for _, name := range is {
		if !slices.Contains(was, name) {
			d.add(Tightened, "edge", edge, what+name+" is demanded")
		}
	}
}

// actors are who may propose: one more loosens, one less tightens.
func (d *diff) actors(edge string, was, is []guard.Actor) {
	for _, a := range was {
		if !slices.Contains(is, a) {
			d.add(Tightened, "edge", edge, string(a)+" may no longer propose it")
		}
	}
	for _, a := range is {
		if !slices.Contains(was, a) {
			d.review(Loosened, "edge", edge, string(a)+" may propose it")
		}
	}
}
