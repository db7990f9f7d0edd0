package machine

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// Some faults only show when the author's own functions run. Build tries them, which must be pure, on tasks that hold nothing
// real: with every fact unknown; with every fact known and every value zero; and with no value zero. What they do with other
// values is for the explorer of machinetest to find out.

// triedTask is the task, and each subject, of a trial.
const triedTask = "tried"

// triedAt is when trials are judged.
var triedAt = time.Unix(0, 0).UTC()

// trial is what functions are tried on.
type trial struct {
	facts guard.Facts
	value func(reflect.Type) any
}

func (c *core) trials() []trial {
	zero := func(t reflect.Type) any { return reflect.Zero(t).Interface() }
	some := func(t reflect.Type) any { return filled(t, maxFilled).Interface() }
	return []trial{{guard.Facts{}.Bound(c.triedSubjects()), zero}, {c.triedFacts(zero), zero}, {c.triedFacts(some), some}}
}

// triedSubjects name one thing of each kind.
func (c *core) triedSubjects() guard.Subjects {
	out := guard.Subjects{"": {triedTask}}
	for _, f := range c.facts {
		out[f.About] = []string{triedTask}
	}
	fields := slices.Clone(c.subjects)
	for _, i := range c.events {
		fields = append(fields, i.subjects...)
	}
	for _, f := range fields {
		out[f.kind] = []string{triedTask}
	}
	return out
}

func (c *core) triedFacts(value func(reflect.Type) any) guard.Facts {
	var entries []guard.Entry
	for _, name := range sorted(c.facts) {
		f := c.facts[name]
		entries = append(entries, guard.Entry{Key: guard.Key{Fact: name, Subject: triedTask}, Value: value(f.Type), Source: f.Source,
			At: triedAt, Seen: triedAt})
	}
	return guard.FactsOf(entries).Bound(c.triedSubjects())
}

// maxFilled is how deep filled goes.
const maxFilled = 4

// filled is a value of the type that is not zero, as far as that goes.
func filled(t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	if depth == 0 || marshals(t) {
		return v
	}
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(triedTask)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem(), depth-1))
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem(), depth-1)))
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(filled(t.Field(i).Type, depth-1))
			}
		}
	}
	return v
}

// lintLooks finds guards and checks that look at what they do not declare: those are refused whenever they are judged.
func (c *core) lintLooks() {
	trials := c.trials()
	for _, e := range c.edges {
		if e.event == nil {
			continue
		}
		told := map[string]bool{}
		tell := func(name string, v guard.Verdict) {
			if text := v.Text(); v.Code() == guard.CodeGuardFault && strings.HasSuffix(text, guard.Undeclared) && !told[name+text] {
				told[name+text] = true
				c.fault("undeclared_look", e.place, e.name+": guard "+name+" "+text, "name the fact where the guard is declared")
			}
		}
		for _, t := range trials {
			e.tryLooks(c, t, tell)
		}
	}
}

func (e *edge) tryLooks(c *core, t trial, tell func(string, guard.Verdict)) {
	s := guard.NewScene(guard.SceneSpec{Task: triedTask, Now: triedAt, Actor: guard.User, Principal: guard.Principal{ID: triedTask},
		Facts: t.facts, Subjects: t.facts.Subjects()})
	for _, g := range e.guards {
		if g.Name() != "" {
			tell(g.Name(), g.Judge(s))
		}
	}
	data, payload := t.value(c.dataType), t.value(e.event.Payload)
	for _, k := range e.checks {
		tell(k.name, k.judge(s, data, payload))
	}
}

// lintInvariants finds invariants that look at a fact which nothing looks at before them: whatever breaks one is permitted, judged
// and then refused without a way to see it coming.
func (c *core) lintInvariants() {
	judged := c.judgedFacts()
	for _, i := range c.invariants {
		for _, fact := range c.looksOf(i) {
			if !slices.Contains(judged, fact) {
				c.rule(LintUnguarded, "invariant "+i.name, i.place, "looks at "+fact+", and no guard does",
					"require it of the edges that could break the invariant")
			}
		}
	}
}

// judgedFacts are all that some edge is judged by: what its guards and checks read, what must be fresh, what drives it, replies and
// receipts.
func (c *core) judgedFacts() []string {
	var out []string
	add := func(facts ...guard.AnyFact) {
		for _, f := range facts {
			if f.Info() != nil {
				out = append(out, f.Info().Name)
			}
		}
	}
	for _, e := range c.edges {
		for _, g := range e.guards {
			add(g.Reads()...)
		}
		for _, k := range e.checks {
			add(k.reads...)
		}
		add(e.fresh...)
		if e.confirm != nil {
			add(*e.confirm)
		}
		if e.when != nil {
			out = append(out, e.when.Name)
		}
	}
	for _, i := range c.effects {
		if i.Receipt != nil {
			out = append(out, i.Receipt.Name)
		}
	}
	return out
}

// looksOf are the facts that an invariant looks at in any step that the machine can take, sorted.
func (c *core) looksOf(i invariant) []string {
	seen := map[string]bool{}
	look := func(fact string) { seen[fact] = true }
	for _, t := range c.trials() {
		made := func(s State, version uint64, emitted bool) Snapshot[any] {
			h := Head{Task: triedTask, Machine: c.name, Definition: c.version, Version: version, State: s, Owner: triedTask, Facts: t.facts.Watched(look)}
			for _, name := range sorted(c.effects) {
				if emitted {
					h.Operations = append(h.Operations, Operation{name, 1})
				}
			}
			return Snapshot[any]{h, t.value(c.dataType)}
		}
		_ = i.judge(Snapshot[any]{}, made(c.initial, 1, false))
		for _, e := range c.edges {
			for _, from := range e.from {
				for _, effects := range [][2]bool{{false, false}, {false, true}, {true, true}} {
					_ = i.judge(made(from, 1, effects[0]), made(e.target(from), 2, effects[1]))
				}
			}
		}
	}
	return sorted(seen)
}
