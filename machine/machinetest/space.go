package machinetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
	"github.com/pawlgo/pawl/machine"
)

// people are all who act in the table, sorted.
func (tb *table) people() []string {
	var out []string
	for _, r := range tb.rows {
		if actor, _, err := party(r.cells[3]); err == nil && actor.Outside() {
			out = append(out, r.cells[3])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ages are the times after which a fact of the table has gone stale, shortest first.
func (tb *table) ages() []string {
	var all []time.Duration
	for _, f := range tb.facts {
		if f.info.MaxAge > 0 {
			all = append(all, f.info.MaxAge+time.Second)
		}
	}
	slices.Sort(all)
	var out []string
	for _, d := range slices.Compact(all) {
		out = append(out, short(d))
	}
	return out
}

// unnamed are the facts that edges are judged by, and of which the table names no value, sorted.
func (tb *table) unnamed() (out []string) {
	judged := map[string]bool{}
	for _, e := range tb.about.Edges {
		tb.readsOf(e, judged)
	}
	for _, f := range tb.about.Facts {
		if judged[f.Name] && len(tb.valuesOf(f.Name)) == 0 {
			out = append(out, f.Name)
		}
	}
	return out
}

// matters says of each state which facts a guard may still read from there: true when their age counts too.
func (tb *table) matters() map[machine.State]map[string]bool {
	out := map[machine.State]map[string]bool{}
	for _, s := range tb.about.States {
		facts := map[string]bool{}
		for _, from := range tb.reachable(s.Name) {
			for _, e := range tb.about.Edges {
				if slices.Contains(e.From, from) {
					tb.readsOf(e, facts)
				}
			}
		}
		out[s.Name] = facts
	}
	return out
}

// readsOf adds the facts that an edge reads: of one that must be fresh, or that drives it, the recorded age never counts.
func (tb *table) readsOf(e machine.EdgeDescription, facts map[string]bool) {
	ageless := slices.Concat(e.Fresh, drivenBy(e.Event))
	for _, f := range slices.Concat(guarded(e), ageless) {
		facts[f] = facts[f] || !slices.Contains(ageless, f)
	}
	for _, o := range e.Offers {
		offered, _, _ := strings.Cut(o, " to ")
		for _, next := range tb.about.Edges {
			if next.Event == offered {
				for _, f := range guarded(next) {
					facts[f] = true
				}
			}
		}
	}
	if e.Confirm != "" {
		facts[e.Confirm] = true
	}
	if effect, ok := strings.CutSuffix(e.Event, ".confirmed"); ok {
		if i := tb.m.EffectNamed(effect); i != nil {
			facts[i.Receipt.Name] = true
		}
	}
}

// reachable are the states that edges lead to from one, itself included.
func (tb *table) reachable(s machine.State) []machine.State {
	out := []machine.State{s}
	for i := 0; i < len(out); i++ {
		for _, e := range tb.about.Edges {
			if to := target(e, out[i]); slices.Contains(e.From, out[i]) && !slices.Contains(out, to) {
				out = append(out, to)
			}
		}
	}
	return out
}

// moves are all that can be tried in a situation beside observations, in a fixed order. A proposal that carries a fact which moves
// the task by itself is refused, so there is none.
func (x *explorer) moves(s machine.Snapshot[any], movers []string) []move {
	var out []move
	for _, event := range x.tb.events() {
		edges := x.tb.edges(s.State, event)
		switch {
		case len(edges) == 0 || drivenBy(event) != nil:
		case x.tb.m.EventNamed(event) == nil:
			out = append(out, settlements(s, event)...)
		default:
			out = append(out, x.proposals(s, event, edges, movers)...)
			out = append(out, x.timers(s, event)...)
		}
	}
	return out
}

func (x *explorer) observations(s machine.Snapshot[any]) []move {
	waits := append([]string{""}, x.tb.ages()...)
	var out []move
	for _, f := range x.tb.facts {
		if _, err := subjectIn(s, f.subject); err != nil {
			continue
		}
		facts := withdrawals(s, x.tb.edges(s.State, f.info.Name+".changed"), []string{f.name})
		for _, after := range waits {
			for _, with := range facts {
				out = append(out, move{after: after, facts: with, by: string(guard.Observer)})
			}
		}
		if f.info.MaxAge > 0 {
			out = append(out, move{facts: f.name + "=stale", by: string(guard.Observer)})
		}
	}
	return out
}

func (x *explorer) proposals(s machine.Snapshot[any], event string, edges []machine.EdgeDescription, movers []string) []move {
	var out []move
	carried := withdrawals(s, edges, x.carried(s, event, edges, movers))
	for _, by := range x.people {
		actor, _, _ := party(by)
		if !slices.ContainsFunc(edges, func(e machine.EdgeDescription) bool { return slices.Contains(e.By, actor) }) {
			continue
		}
		payloads := x.tb.payloadsOf(event)
		for _, facts := range carried {
			for _, payload := range payloads {
				out = append(out, move{"", facts, by, event, payload})
			}
			for _, after := range untilDue(s, "") {
				out = append(out, move{after, facts, by, event, payloads[0]})
			}
		}
	}
	return out
}

// withdrawals adds, for edges that withdraw an effect, what comes of each while it was not sent.
func withdrawals(s machine.Snapshot[any], edges []machine.EdgeDescription, carried []string) []string {
	out := carried
	for _, e := range edges {
		for _, effect := range e.Withdraws {
			under := slices.ContainsFunc(s.Intents, func(i machine.Intent) bool { return i.Effect == effect && i.Unsettled() })
			for _, facts := range carried {
				if under {
					out = append(out, strings.TrimPrefix(facts+", "+effect+"=unsent", ", "))
				}
			}
		}
	}
	return out
}

// carried are the combinations of facts that come with a proposal: those that must be fresh or are never kept, with every value.
// Where several edges could be taken, some of the facts may be lacking, too.
func (x *explorer) carried(s machine.Snapshot[any], event string, edges []machine.EdgeDescription, movers []string) []string {
	var need []string
	for _, e := range edges {
		need = append(need, e.Fresh...)
	}
	for _, f := range x.tb.reads(s.State, event) {
		if x.tb.m.FactNamed(f).Volatile {
			need = append(need, f)
		}
	}
	slices.Sort(need)
	sets := []string{""}
	for _, fact := range slices.Compact(need) {
		var more []string
		for _, v := range x.tb.valuesOf(fact) {
			if _, err := subjectIn(s, v.subject); err != nil || slices.Contains(movers, v.name) {
				continue
			}
			for _, before := range sets {
				more = append(more, strings.TrimPrefix(before+", "+v.name, ", "))
			}
		}
		if len(edges) > 1 || more == nil {
			more = append(more, sets...)
		}
		sets = more
	}
	if !slices.Contains(sets, "") {
		sets = append(sets, "")
	}
	return sets
}

// payloadsOf are the named payloads of an event that are in the required form, or the empty one.
func (tb *table) payloadsOf(event string) []string {
	var out []string
	info := tb.m.EventNamed(event)
	for _, p := range tb.payloads {
		if p.event == event {
			if _, err := info.Decode([]byte(p.raw)); err == nil {
				out = append(out, p.name)
			}
		}
	}
	if out == nil {
		return []string{""}
	}
	return out
}

// untilDue is the time until the next timer, or the next of an event; nothing when there is none.
func untilDue(s machine.Snapshot[any], event string) []string {
	var due time.Time
	for _, t := range s.Timers {
		if (event == "" || t.Event == event) && (due.IsZero() || t.Due.Before(due)) {
			due = t.Due
		}
	}
	if due.IsZero() {
		return nil
	}
	return []string{short(max(0, due.Sub(s.UpdatedAt)))}
}

func (x *explorer) timers(s machine.Snapshot[any], event string) []move {
	var out []move
	for _, after := range untilDue(s, event) {
		out = append(out, move{after: after, by: string(guard.Timer), event: event})
	}
	return out
}

// settlements are the ends of the unsettled intents that an effect's own event is for.
func settlements(s machine.Snapshot[any], event string) []move {
	effect, _, _ := strings.Cut(event, ".")
	var out []move
	for _, i := range s.Intents {
		if i.Effect == effect && i.Unsettled() {
			out = append(out, move{by: string(guard.Worker), event: event, payload: fmt.Sprintf(`{"key":%q}`, i.Key)})
		}
	}
	return out
}

// key is what tells situations apart, with names in the place of ids and instants.
func (x *explorer) key(s machine.Snapshot[any]) (string, error) {
	data, err := x.data(s.Data)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", s.State, data)
	for _, o := range s.Offers {
		fmt.Fprintf(&b, "offer %s %s %v", o.Event, o.Digest, s.UpdatedAt.Before(o.Expires))
		for _, a := range o.Answers {
			fmt.Fprintf(&b, " %s said %s %v", a.By, a.Says, a.Choice)
		}
		for _, st := range o.Stands {
			fmt.Fprintf(&b, " %s %s", st.Key, st.Digest)
		}
		b.WriteByte('\n')
	}
	for _, i := range s.Intents {
		args, err := canon.Append(nil, i.Args)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "intent %s %s %s\n", i.Effect, i.Status, args)
	}
	for _, o := range s.Operations {
		fmt.Fprintf(&b, "emitted %s\n", o.Effect)
	}
	for _, t := range s.Timers {
		fmt.Fprintf(&b, "timer %s %v\n", t.Event, s.UpdatedAt.Before(t.Due))
	}
	for _, e := range s.Facts.All() {
		x.factKey(&b, s, e)
	}
	return b.String(), nil
}

func (x *explorer) factKey(b *strings.Builder, s machine.Snapshot[any], e guard.Entry) {
	age, matters := x.matters[s.State][e.Key.Fact]
	if !matters {
		return
	}
	subject := e.Key.Subject
	if o, ok := s.Offer(subject); ok {
		subject = "@" + o.Event
	} else if i, ok := s.Intent(subject); ok {
		subject = "$" + i.Effect
	}
	value, err := canon.Append(nil, timeless(e.Value))
	if err != nil || e.Disputed {
		value = []byte("disputed")
	}
	info := x.tb.m.FactNamed(e.Key.Fact)
	old := age && info.MaxAge > 0 && s.UpdatedAt.Sub(e.At) > info.MaxAge
	fmt.Fprintf(b, "fact %s %s %s %v\n", e.Key.Fact, subject, value, old)
}

// data is the task's data without the fields that are to be ignored.
func (x *explorer) data(v any) (string, error) {
	raw, err := canon.Append(nil, v)
	if err != nil || len(x.limits.Ignore) == 0 {
		return string(raw), err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return string(raw), nil // no object: it has no fields
	}
	for _, name := range x.limits.Ignore {
		delete(fields, name)
	}
	raw, err = json.Marshal(fields)
	return string(raw), err
}
