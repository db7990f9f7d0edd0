package resume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Limits and defaults of a controller.
const (
	DefaultObserveWithin = 10 * time.Second // one round of questions to observers
	DefaultPerformWithin = 30 * time.Second // one attempt of an effect, or one lookup
	DefaultPoll          = time.Second      // how often Run looks for what is due
	DefaultCache         = 4096             // snapshots kept in memory
	MaxRounds            = 4                // rounds of questions for one proposal
	MaxFound             = 1000             // tasks that one search returns
	MaxHandlers          = 8                // effects performed side by side
	MaxRetryAfter        = 6 * time.Hour    // the longest that a provider's Retry-After puts an effect off
	MaxAsking            = 256              // questions that one observer is asked side by side; more wait, within their deadline
)

// Config is all that a controller is made of. Nothing can be registered later, so no timer and no effect ever fires before
// its handler is there.
type Config struct {
	// Machines are the definitions that the controller serves. Several versions of one machine may stand side by side: a task
	// stays on the one that it was begun under until it is migrated. Required.
	Machines []machine.Definition
	// Migrations lead tasks of older versions to the newest, one step for each version; there may be no gap between the first
	// step and the newest version. A task goes over when it is resumed, when something is observed about it or a timer of it
	// comes due, and by [Controller.Migrate].
	Migrations []machine.Migration
	// Observers ask the sources of facts. A fact without one must be pushed, or carried by a proposal.
	Observers []Observer
	// Effects perform effects. Each effect of the machines needs exactly one.
	Effects []Handler
	// Trust are the handles whose observations are accepted, beside those of Observers and Effects.
	Trust []*guard.Authority
	// May says who may see a task and act on it. Nil means its owner, whoever it waits for or has an open offer to, and
	// principals with the operator role.
	May func(guard.Principal, machine.Head) bool
	// ObserveWithin bounds one round of questions to observers. 0 means DefaultObserveWithin.
	ObserveWithin time.Duration
	// PerformWithin bounds one attempt of an effect, and one lookup. 0 means DefaultPerformWithin.
	PerformWithin time.Duration
	// AbsentAfter is how long after it may last have been sent an effect can be called absent by [Controller.SettleByHand]: for so long a
	// provider may still carry out what it was sent. 0 means DefaultAbsentAfter.
	AbsentAfter time.Duration
	// Poll is how often Run looks for what is due. 0 means DefaultPoll.
	Poll time.Duration
	// TaskRate bounds the proposals to one task, PrincipalRate those of one principal, counted by each
	// controller for itself. The zero Rate bounds nothing.
	TaskRate, PrincipalRate Rate
	// InFlight bounds the calls of this controller that are under way at once, TaskInFlight those about one task: proposals,
	// observations, and what resumes or looks. As many updates may wait for their turn. Past it a call gets [ErrBusy] before anything is
	// done. 0 means DefaultInFlight and DefaultTaskInFlight, less than 0 no limit.
	InFlight, TaskInFlight int
	// Cache is how many snapshots are kept in memory. 0 means DefaultCache, less than 0 none.
	Cache int
	// Holder names this controller's claims on effects. "" means a random name.
	Holder string
	// Logger is told each [Signal] as a record of its own, called "pawl." and the kind: what committed at debug, what was refused and
	// what became of effects at info, what an operator should look at as a warning. Nil logs nothing.
	Logger *slog.Logger
	// Monitor hears each [Signal] and measures each [Operation]. Nil costs nothing.
	Monitor Monitor
	// Problem hears what goes wrong where no caller waits: an observer or a handler that fails, a worker that cannot read a
	// task. Nil means nobody. It must not block, and may be called from several goroutines at once.
	Problem func(error)
}

// ErrConfig is wrapped by the error of [Open].
var ErrConfig = errors.New("configuration is not whole")

func (c Config) withDefaults() Config {
	if c.May == nil {
		c.May = mayByDefault
	}
	if c.ObserveWithin == 0 {
		c.ObserveWithin = DefaultObserveWithin
	}
	if c.PerformWithin == 0 {
		c.PerformWithin = DefaultPerformWithin
	}
	if c.AbsentAfter == 0 {
		c.AbsentAfter = DefaultAbsentAfter
	}
	if c.Poll == 0 {
		c.Poll = DefaultPoll
	}
	if c.InFlight == 0 {
		c.InFlight = DefaultInFlight
	}
	if c.TaskInFlight == 0 {
		c.TaskInFlight = DefaultTaskInFlight
	}
	if c.Cache == 0 {
		c.Cache = DefaultCache
	}
	if c.Problem == nil {
		c.Problem = func(error) {}
	}
	return c
}

// mayByDefault lets in who owns the task, who is waited for or asked by it, and operators.
func mayByDefault(p guard.Principal, h machine.Head) bool {
	asked := func(party machine.Party) bool { return party != machine.TaskOwner && p.Has(string(party)) }
	return p.ID != "" && p.ID == h.Owner || p.Has(guard.OperatorRole) || h.Waiting != nil && asked(h.Waiting.For) ||
		slices.ContainsFunc(h.Offers, func(o machine.OpenOffer) bool { return asked(o.To) })
}

// Open checks the configuration, reports all that is wrong with it at once, and opens a controller on the store. The
// store stays the caller's to close, after the controller is no longer used. Errors wrap [ErrConfig] or are the store's.
func Open(ctx context.Context, st store.Store, cfg Config) (*Controller, error) {
	if st == nil {
		return nil, fmt.Errorf("no store: %w", ErrConfig)
	}
	c := &Controller{
		st: st, cfg: cfg.withDefaults(), ruled: cfg.May != nil,
		machines: definitions{}, steps: map[machine.Stamp]machine.Migration{}, observers: map[string]Observer{},
		handlers: map[string]Handler{}, trusted: map[*guard.Authority]bool{}, cache: newCache(cfg.withDefaults().Cache),
		wake: make(chan struct{}, 1), timerWake: make(chan struct{}, 1), freezes: freezes{m: map[string]freeze{}},
		turns: newTurns(), knocking: newKnocking(), taskRate: newBuckets(cfg.TaskRate), principalRate: newBuckets(cfg.PrincipalRate),
	}
	c.trusts = func(a *guard.Authority) bool { return c.trusted[a] }
	c.flights = newFlights(c.cfg.InFlight, c.cfg.TaskInFlight)
	c.queue = newFlights(c.cfg.InFlight, c.cfg.TaskInFlight)
	r := register{c: c, facts: map[string]*guard.FactInfo{}}
	r.times()
	r.machines()
	r.migrations()
	r.children()
	r.observers()
	r.effects()
	r.trust()
	r.vouched()
	if len(r.faults) > 0 {
		return nil, fmt.Errorf("%w:\n%w", ErrConfig, errors.Join(r.faults...))
	}
	if c.cfg.Holder == "" {
		c.cfg.Holder = fmt.Sprintf("controller-%016x", newNonce())
	}
	if _, err := st.Now(ctx); err != nil {
		return nil, fmt.Errorf("open the controller: %w", err)
	}
	return c, nil
}

// register gathers the parts of a configuration and their faults.
type register struct {
	c      *Controller
	facts  map[string]*guard.FactInfo
	faults []error
}

func (r *register) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

func (r *register) times() {
	for _, x := range []struct {
		name string
		d    time.Duration
	}{{"ObserveWithin", r.c.cfg.ObserveWithin}, {"PerformWithin", r.c.cfg.PerformWithin}, {"AbsentAfter", r.c.cfg.AbsentAfter}, {"Poll", r.c.cfg.Poll}} {
		if x.d < 0 {
			r.fault("%s is %s: give a time above zero, or 0 for the default", x.name, x.d)
		}
	}
	for _, x := range []struct {
		name string
		r    Rate
	}{{"TaskRate", r.c.cfg.TaskRate}, {"PrincipalRate", r.c.cfg.PrincipalRate}} {
		if x.r != (Rate{}) && (x.r.Burst < 1 || x.r.Per <= 0) {
			r.fault("%s is %d per %s: give both above zero, or neither", x.name, x.r.Burst, x.r.Per)
		}
	}
	if most, task := r.c.cfg.InFlight, r.c.cfg.TaskInFlight; most >= 0 && task > most && task != DefaultTaskInFlight {
		r.fault("TaskInFlight is %d, more than InFlight, %d", task, most)
	}
	switch least, most := time.Microsecond, store.MaxHold*time.Microsecond/2; {
	case r.c.cfg.PerformWithin > most:
		r.fault("PerformWithin is %s, at most %s", r.c.cfg.PerformWithin, most)
	case r.c.cfg.PerformWithin >= 0 && r.c.cfg.PerformWithin < least:
		r.fault("PerformWithin is %s, at least %s", r.c.cfg.PerformWithin, least)
	}
	switch h := r.c.cfg.Holder; {
	case len(h) > store.MaxName:
		r.fault("Holder has %d bytes, at most %d", len(h), store.MaxName)
	case strings.IndexByte(h, 0) >= 0:
		r.fault("Holder %q has a zero byte", h)
	}
}

func (r *register) machines() {
	if len(r.c.cfg.Machines) == 0 {
		r.fault("Machines: no machine")
	}
	for i, d := range r.c.cfg.Machines {
		if d == nil {
			r.fault("Machines[%d]: a machine is nil", i)
			continue
		}
		m := machine.Erase(d)
		if m == nil {
			r.fault("Machines[%d]: a machine is the zero Machine: make it with Build", i)
			continue
		}
		if m.Name() == freezeMachine || m.Name() == incarnationMachine {
			r.fault("Machines[%d]: the name %s is the controller's own", i, m.Name())
			continue
		}
		if err := r.c.machines.add(m); err != nil {
			r.fault("Machines[%d]: %w", i, err)
			continue
		}
		if _, can := r.c.st.(store.Resources); !can {
			if m.Reserves() {
				r.fault("machine %s reserves, and the store has no resources", m.Name())
			}
			if m.Confirms() {
				r.fault("machine %s wants confirmations, and the store has no resources to use a message up once", m.Name())
			}
		}
		for _, f := range d.Describe().Facts {
			info := m.FactNamed(f.Name)
			switch other := r.facts[f.Name]; {
			case other == nil:
			case other.Source != info.Source:
				r.fault("fact %s is claimed by %q and by %q", f.Name, other.Source, info.Source)
			case other.About != info.About || other.Type != info.Type:
				r.fault("fact %s is a %v about a kind %q in one machine, a %v about %q in another", f.Name, other.Type, other.About, info.Type, info.About)
			}
			r.facts[f.Name] = info
		}
	}
}

func (r *register) observers() {
	for i, o := range r.c.cfg.Observers {
		switch {
		case o.fact == nil || o.ask == nil:
			r.fault("Observers[%d]: an observer is empty: make it with resume.Pull", i)
		case r.facts[o.fact.Name] == nil:
			r.fault("Observers[%d]: an observer asks for %s, which no machine declares", i, o.fact.Name)
		case r.facts[o.fact.Name].Source != o.fact.Source:
			r.fault("Observers[%d]: an observer asks %q for %s, whose authority is %q", i, o.fact.Source, o.fact.Name, r.facts[o.fact.Name].Source)
		case r.facts[o.fact.Name].About != o.fact.About || r.facts[o.fact.Name].Type != o.fact.Type:
			r.fault("Observers[%d]: an observer asks for a namesake of %s, of another type or about something else", i, o.fact.Name)
		case r.c.observers[o.fact.Name].fact != nil:
			r.fault("Observers[%d]: fact %s has two observers", i, o.fact.Name)
		default:
			r.c.observers[o.fact.Name] = o
			r.c.trusted[o.by] = true
		}
	}
}

func (r *register) effects() {
	declared := map[string]*machine.EffectInfo{}
	for _, m := range r.c.machines.all() {
		for _, name := range m.Effects() {
			if other := declared[name]; other != nil && other != m.EffectNamed(name) {
				r.fault("two machines declare an effect %s; use one declaration for both", name)
			}
			declared[name] = m.EffectNamed(name)
		}
	}
	for i, h := range r.c.cfg.Effects {
		switch {
		case h.effect == nil || h.send == nil || h.find == nil:
			r.fault("Effects[%d]: a handler is empty: make it with resume.Perform, with both a send and a find", i)
		case declared[h.effect.Name] != h.effect:
			r.fault("Effects[%d]: a handler performs %s, which no machine declares", i, h.effect.Name)
		case r.c.handlers[h.effect.Name].effect != nil:
			r.fault("Effects[%d]: effect %s has two handlers", i, h.effect.Name)
		default:
			r.c.handlers[h.effect.Name] = h
			r.c.trusted[h.by] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if r.c.handlers[name].effect == nil {
			r.fault("Effects: nothing performs %s: add resume.Perform", name)
		}
	}
}

func (r *register) trust() {
	sources := map[string]bool{}
	for _, f := range r.facts {
		sources[f.Source] = true
	}
	for i, a := range r.c.cfg.Trust {
		switch {
		case a == nil:
			r.fault("Trust[%d]: a trusted handle is nil", i)
		case !sources[a.Name()]:
			r.fault("Trust[%d]: a trusted handle speaks for %q, and no fact has that authority", i, a.Name())
		default:
			r.c.trusted[a] = true
		}
	}
}

// vouched checks that somebody can speak for each fact: one that nobody can would keep its guards waiting for ever.
func (r *register) vouched() {
	speaks := map[string]bool{}
	for a := range r.c.trusted {
		speaks[a.Name()] = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.facts)) {
		if f := r.facts[name]; !speaks[f.Source] {
			r.fault("nobody speaks for %q, the authority of fact %s: add resume.Pull, or its handle to Trust", f.Source, name)
		}
	}
}
