package properties

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

var (
	alice   = guard.Principal{ID: "alice"}
	mallory = guard.Principal{ID: "mallory"}
)

// setup is what a bench is made of; a seeded bug changes one part of it.
type setup struct {
	machine  *machine.Machine[claim]
	decision *projection.Decision
	store    func(store.Store) store.Store
	decode   func(*machine.Machine[any], []byte) (machine.Snapshot[any], error)
	gullible bool // it takes the word of a tool for that of the chat
}

func sound() setup {
	m := whole().build()
	return setup{machine: m, decision: decision(m), store: func(st store.Store) store.Store { return st },
		decode: func(m *machine.Machine[any], raw []byte) (machine.Snapshot[any], error) { return m.Decode(raw) }}
}

// bench is a controller on a Pebble store, on a disk that forgets what was not synced when the power fails.
type bench struct {
	t      *rapid.T
	setup  setup
	world  *world
	fs     *vfs.MemFS
	pebble *pebblestore.Store
	st     store.Store
	ctl    *resume.Controller
	hands  map[string]*guard.Authority // by the source's name
	forged *guard.Authority            // what a liar holds

	tasks []string
	known map[string][]machine.Snapshot[any] // of each task, the versions that were looked at
	said  map[string]bool                    // offers that somebody answered in the chat
	heard map[string]bool                    // those that the owner said yes to
}

func newBench(t *rapid.T, s setup, at time.Time) *bench {
	b := &bench{t: t, setup: s, world: newWorld(at), fs: vfs.NewCrashableMem(), forged: guard.NewAuthority("chat"),
		hands: map[string]*guard.Authority{}, known: map[string][]machine.Snapshot[any]{}, said: map[string]bool{}, heard: map[string]bool{}}
	for _, name := range []string{"shop", "policy", "chat", "bank"} {
		b.hands[name] = guard.NewAuthority(name)
	}
	b.power()
	return b
}

// power opens store and controller on what is on the disk.
func (b *bench) power() {
	var err error
	b.pebble, err = pebblestore.Open("store", pebblestore.Options{FS: b.fs, Now: b.world.clock, CacheBytes: 1 << 20})
	require.NoError(b.t, err)
	b.st = b.setup.store(b.pebble)
	trust := []*guard.Authority{b.hands["shop"], b.hands["policy"], b.hands["chat"], b.hands["bank"]}
	if b.setup.gullible {
		trust = append(trust, b.forged)
	}
	m := machine.Erase(b.setup.machine)
	b.ctl, err = resume.Open(b.t.Context(), b.st, resume.Config{Machines: []machine.Definition{m}, Trust: trust, Holder: "worker",
		Observers: []resume.Observer{resume.Pull(owner, b.world.whose), resume.Pull(eligible, b.world.allows)},
		Effects:   []resume.Handler{resume.Perform(pay, b.world.send, b.world.find)}})
	require.NoError(b.t, err)
}

// cut takes the power away.
func (b *bench) cut() {
	old := b.pebble
	b.fs = b.fs.CrashClone(vfs.CrashCloneCfg{})
	_ = old.Close() // a store that was cut off reports what it likes
	b.power()
}

func (b *bench) close() { require.NoError(b.t, b.pebble.Close()) }

func (b *bench) resume(task string) *resume.Session {
	s, err := b.ctl.Resume(b.t.Context(), task, alice)
	require.NoError(b.t, err)
	return s
}

func (b *bench) start(id string, c claim) string {
	_, err := b.ctl.Start(b.t.Context(), b.setup.machine.Task(id, alice, c), alice)
	require.NoError(b.t, err)
	b.tasks = append(b.tasks, id)
	return "started"
}

// told is an outcome without the instants and names that differ from bench to bench.
func told(out machine.Outcome) string {
	var codes []string
	for _, f := range out.Findings {
		codes = append(codes, f.Code)
	}
	var permits []string
	for _, p := range out.Permits {
		permits = append(permits, fmt.Sprint(p.Event, p.Open, p.Needs))
	}
	return fmt.Sprint(out.Kind, " ", out.Version, " ", out.State, " ", codes, out.Missing, permits, len(out.Offers), len(out.Intents), out.Observed, out.Replayed)
}

// tries hands something to the controller that it may refuse; a refusal must leave the stored bytes as they were (P2).
func (b *bench) tries(task string, f func(*resume.Session) (machine.Outcome, error)) string {
	s := b.resume(task)
	return b.takes(task, func() (machine.Outcome, error) { return f(s) })
}

func (b *bench) takes(task string, f func() (machine.Outcome, error)) string {
	before := b.stored()
	out, err := f()
	require.NoError(b.t, err)
	if out.Kind == machine.Committed {
		return told(out)
	}
	for id, now := range b.stored() {
		if now == before[id] || id == task && out.Observed > 0 && b.onlyObserved(task) {
			continue
		}
		b.t.Fatalf("P2: %s of task %s was %s, and the bytes of %s changed: they were\n%s\nand are\n%s", out.Event, task, out.Kind, id, before[id], now)
	}
	return told(out)
}

// onlyObserved tells whether the newest version of a task came from evidence alone.
func (b *bench) onlyObserved(task string) bool {
	for r, err := range b.st.History(b.t.Context(), task, 0, 0) {
		require.NoError(b.t, err)
		e, err := machine.DecodeEntry(r.Entry)
		require.NoError(b.t, err)
		return e.Actor == guard.Observer
	}
	return false
}

// stored are the bytes of each task, and of what the tasks share.
func (b *bench) stored() map[string]string {
	out := map[string]string{}
	for _, task := range b.tasks {
		r, effects, err := b.st.Load(b.t.Context(), task)
		require.NoError(b.t, err)
		out[task] = fmt.Sprintf("%x %s %s %v", r.Tip.Hash, r.Snapshot, r.Entry, effects)
	}
	for _, order := range orders {
		r, err := b.pebble.Resource(b.t.Context(), "claim_of_order/"+order)
		require.NoError(b.t, err)
		out[order] = fmt.Sprint(r.Rev, string(r.Value))
	}
	return out
}

// observe pushes what a source says.
func (b *bench) observe(task string, o guard.Observation) string {
	return b.takes(task, func() (machine.Outcome, error) { return b.ctl.Observe(b.t.Context(), task, o) })
}

// says is what the shop or the policy said some time ago.
func (b *bench) says(what, order string, n int, ago time.Duration) guard.Observation {
	at := b.world.clock().Add(-ago)
	switch what {
	case "owner":
		return owner.Observe(b.hands["shop"], guard.Observed[string]{Value: []string{"alice", "mallory"}[n%2], Subject: order, At: at})
	case "stock":
		info := machine.Erase(b.setup.machine).FactNamed("stock") // a seeded bug declares another
		o, err := info.Observe(b.hands["shop"], fmt.Append(nil, n), order, "", at)
		require.NoError(b.t, err)
		return o
	case "eligible":
		return eligible.Observe(b.hands["policy"], guard.Observed[bool]{Value: n%3 > 0, Subject: order, At: at})
	}
	return riskScore.Observe(b.hands["policy"], guard.Observed[string]{Value: fmt.Sprint(secret, n), Subject: order, At: at})
}

// reply is a button that somebody pressed, or what they typed, in the chat.
func (b *bench) reply(task, by string, choice guard.Choice, text string) string {
	offers := b.resume(task).Offers()
	if len(offers) == 0 {
		return "no offer"
	}
	id := offers[0].ID
	b.said[id] = true
	b.world.sleep(tick)
	out := b.observe(task, b.replied(b.hands["chat"], id, by, choice, text))
	if by == alice.ID && choice == guard.ChoiceYes {
		b.heard[id] = true
	}
	return out
}

func (b *bench) replied(hand *guard.Authority, id, by string, choice guard.Choice, text string) guard.Observation {
	return answer.Observe(hand, guard.Observed[guard.Reply]{Value: guard.Reply{By: by, Text: text, Choice: choice}, Subject: id, At: b.world.clock()})
}

// newest is the newest version of a task, as it is stored.
func (b *bench) newest(task string) machine.Snapshot[any] {
	r, _, err := b.st.Load(b.t.Context(), task)
	require.NoError(b.t, err)
	s, err := machine.Erase(b.setup.machine).Decode(r.Snapshot)
	require.NoError(b.t, err)
	return s
}

// views are what a model would be shown of each task that waits for its owner.
func (b *bench) views() map[string]projection.View {
	out := map[string]projection.View{}
	for _, task := range b.tasks {
		s := b.resume(task)
		v, err := s.Project(b.t.Context(), b.setup.decision)
		if errors.Is(err, projection.ErrNotNow) {
			continue
		}
		require.NoError(b.t, err)
		out[task] = v
	}
	return out
}

// foreign are the ids of other tasks and orders than those of a view, that it holds.
func (b *bench) foreign(task, order, text string) string {
	for _, id := range slices.Concat(b.tasks, orders, []string{secret}) {
		if id != task && id != order && strings.Contains(text, id) {
			return id
		}
	}
	return ""
}
