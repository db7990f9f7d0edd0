package machine

import (
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// Description is a definition as data, in sorted order: equal definitions have equal descriptions.
type Description struct {
	Machine    string              `json:"machine"`
	Version    int                 `json:"version"`
	Digest     string              `json:"digest,omitempty"`
	Initial    State               `json:"initial"`
	Data       string              `json:"data"` // the type
	DataShape  string              `json:"data_shape"`
	States     []StateDescription  `json:"states"`
	Groups     []GroupDescription  `json:"groups,omitempty"`
	Events     []EventDescription  `json:"events"`
	Edges      []EdgeDescription   `json:"edges"`
	Facts      []FactDescription   `json:"facts"`
	Effects    []EffectDescription `json:"effects"`
	Invariants []string            `json:"invariants"`
}

// StateDescription is one state. Durations are written like 72h0m0s.
type StateDescription struct {
	Name     State    `json:"name"`
	Final    bool     `json:"final,omitempty"`
	NoSend   bool     `json:"no_send,omitempty"` // nothing is sent in it
	WaitsFor Party    `json:"waits_for,omitempty"`
	Timers   []string `json:"timers,omitempty"` // event, and its delay or its rule and zone
}

// GroupDescription is a group of states, or of other groups, that edges may leave together.
type GroupDescription struct {
	Name State   `json:"name"`
	Of   []State `json:"of"`
}

// EventDescription is one event.
type EventDescription struct {
	Name    string `json:"name"`
	Payload string `json:"payload"` // the type
	Shape   string `json:"shape"`   // its fields, as JSON has them, with their rules
	Narrows bool   `json:"narrows,omitempty"`
}

// EdgeDescription is one edge.
type EdgeDescription struct {
	Event   string             `json:"event"`
	From    []State            `json:"from"`
	Leaves  []State            `json:"leaves,omitempty"` // the groups that From comes from, as declared
	To      State              `json:"to,omitempty"`     // "" stays
	By      []guard.Actor      `json:"by,omitempty"`
	Fresh   []string           `json:"fresh,omitempty"`
	Guards  []GuardDescription `json:"guards,omitempty"`
	Confirm string             `json:"confirm,omitempty"`
	// Need is how many must say yes out of how many, 0 when one of one; Separate keeps out who proposed; Structured may demand a choice.
	Need       int  `json:"need,omitempty"`
	Of         int  `json:"of,omitempty"`
	Separate   bool `json:"separate,omitempty"`
	Structured bool `json:"structured,omitempty"`

	Applies   bool     `json:"applies,omitempty"` // it changes the data
	Emits     []string `json:"emits,omitempty"`
	Offers    []string `json:"offers,omitempty"`
	Withdraws []string `json:"withdraws,omitempty"` // effects that it takes back, while they were not sent
	Returns   bool     `json:"returns,omitempty"`   // it answers its proposer
	Reserves  bool     `json:"reserves,omitempty"`  // takes holds of shared resources
	// Revision is that of the edge's own functions: its checks, and what it applies, emits, offers and returns.
	Revision int  `json:"revision,omitempty"`
	Override bool `json:"override,omitempty"` // an operator's
	Reopens  bool `json:"reopens,omitempty"`  // may leave a final state
}

// GuardDescription is one guard or check of an edge.
type GuardDescription struct {
	Name     string   `json:"name"`
	Revision int      `json:"revision,omitempty"`
	Reads    []string `json:"reads,omitempty"`
}

// FactDescription is one fact: who may evidence it, about what, and for how long it counts.
type FactDescription struct {
	Name      string `json:"name"`
	Authority string `json:"authority"`
	About     string `json:"about,omitempty"`
	Type      string `json:"type"`
	Shape     string `json:"shape"`
	MaxAge    string `json:"max_age,omitempty"`
	Lasting   bool   `json:"lasting,omitempty"`
	Volatile  bool   `json:"volatile,omitempty"`
	Hidden    bool   `json:"hidden,omitempty"`
	Dated     bool   `json:"dated,omitempty"`
	Order     string `json:"order"`
}

// EffectDescription is one effect.
type EffectDescription struct {
	Name    string `json:"name"`
	Args    string `json:"args"`
	Shape   string `json:"shape"`
	Receipt string `json:"receipt"`
	Within  string `json:"within,omitempty"`
	// Keys is how long the provider honours the key of an attempt: "" for [DefaultKeyRetention], [NoKeys] for one that honours none.
	Keys    string `json:"keys,omitempty"`
	Matches bool   `json:"matches,omitempty"`
	// While are the guards that must hold whenever it is sent.
	While []GuardDescription `json:"while,omitempty"`
}

// NoKeys stands in a description for a provider that honours no keys.
const NoKeys = "none"

// Describe gives the definition as data.
func (m *Machine[D]) Describe() Description {
	d := m.c.describe()
	d.Digest = m.c.digest
	return d
}

func (c *core) describe() Description {
	d := Description{Machine: c.name, Version: c.version, Initial: c.initial, Data: c.dataType.String(), DataShape: shape(c.dataType)}
	for _, s := range c.states() {
		d.States = append(d.States, c.describeState(s))
	}
	for _, name := range sorted(c.supers) {
		d.Groups = append(d.Groups, GroupDescription{name, slices.Sorted(slices.Values(c.supers[name]))})
	}
	for _, name := range sorted(c.events) {
		if i := c.events[name]; !i.internal {
			d.Events = append(d.Events, EventDescription{name, i.Payload.String(), shape(i.Payload), i.Narrows})
		}
	}
	for _, e := range c.edges {
		d.Edges = append(d.Edges, e.describe())
	}
	slices.SortStableFunc(d.Edges, func(a, b EdgeDescription) int { return strings.Compare(a.Event, b.Event) })
	for _, name := range sorted(c.facts) {
		d.Facts = append(d.Facts, describeFact(c.facts[name]))
	}
	for _, name := range sorted(c.effects) {
		i := c.effects[name]
		e := EffectDescription{Name: name, Args: i.Args.String(), Shape: shape(i.Args), Receipt: i.Receipt.Name, Matches: i.match != nil}
		if i.Within > 0 {
			e.Within = i.Within.String()
		}
		switch {
		case i.Retention < 0:
			e.Keys = NoKeys
		case i.Retention > 0 && i.Retention != DefaultKeyRetention:
			e.Keys = i.Retention.String()
		}
		for _, g := range i.While {
			e.While = append(e.While, GuardDescription{g.Name(), g.Revision(), factNames(g.Reads())})
		}
		d.Effects = append(d.Effects, e)
	}
	for _, i := range c.invariants {
		d.Invariants = append(d.Invariants, i.name)
	}
	slices.Sort(d.Invariants)
	return d
}

func (c *core) describeState(s State) StateDescription {
	_, final := c.final[s]
	_, noSend := c.noSend[s]
	d := StateDescription{Name: s, Final: final, NoSend: noSend}
	if w := c.waits[s]; w != nil {
		d.WaitsFor = w.party
	}
	for _, t := range c.times(s) {
		d.Timers = append(d.Timers, t.event.Name+t.when(time.Duration.String))
	}
	return d
}

func (e *edge) describe() EdgeDescription {
	d := EdgeDescription{Event: e.event.Name, From: slices.Sorted(slices.Values(e.from)), To: e.to, By: slices.Sorted(slices.Values(e.actors)),
		Applies: e.apply != nil, Revision: e.revision, Override: e.override, Reopens: e.reopens}
	if !slices.Equal(slices.Sorted(slices.Values(e.named)), d.From) {
		d.Leaves = slices.Sorted(slices.Values(e.named))
	}
	for _, f := range e.fresh {
		d.Fresh = append(d.Fresh, f.Info().Name)
	}
	for _, g := range e.guards {
		d.Guards = append(d.Guards, GuardDescription{g.Name(), g.Revision(), factNames(g.Reads())})
	}
	for _, k := range e.checks {
		d.Guards = append(d.Guards, GuardDescription{k.name, 0, factNames(k.reads)})
	}
	if e.confirm != nil {
		d.Confirm = e.confirm.Info().Name
	}
	if e.of > 1 {
		d.Need, d.Of = e.need, e.of
	}
	d.Separate, d.Structured = e.separate, e.structured != nil
	for _, w := range e.withdraws {
		d.Withdraws = append(d.Withdraws, w.Name)
	}
	for _, o := range e.outputs {
		switch o.kind {
		case emits:
			d.Emits = append(d.Emits, o.effect.Name)
		case offers:
			d.Offers = append(d.Offers, o.offer.Name+" to "+string(o.party)+" for "+o.expires.String())
		case returns:
			d.Returns = true
		case reserves:
			d.Reserves = true
		}
	}
	return d
}

func factNames(facts []guard.AnyFact) []string {
	var out []string
	for _, f := range facts {
		if !slices.Contains(out, f.Info().Name) {
			out = append(out, f.Info().Name)
		}
	}
	slices.Sort(out)
	return out
}

func describeFact(i *guard.FactInfo) FactDescription {
	d := FactDescription{Name: i.Name, Authority: i.Source, About: i.About, Type: i.Type.String(), Shape: shape(i.Type), Lasting: i.Lasting,
		Volatile: i.Volatile, Hidden: i.Hidden, Dated: i.Dated, Order: string(i.Order)}
	if i.MaxAge > 0 {
		d.MaxAge = i.MaxAge.String()
	}
	return d
}
