package machine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// walker drives one task with proposals and evidence of a liar, and remembers what must never happen twice.
type walker struct {
	*world
	keys   map[string]bool
	agreed int // offers that were used up
}

// TestWalk: whatever is proposed, claimed, repeated and delayed, the version rises by one per commit, a final state is
// final, a key is never used again, at most one payment is under way, and none is intended without a used offer.
func TestWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &walker{newWorld(t), map[string]bool{}, 0}
		t.Repeat(map[string]func(*rapid.T){
			"propose": w.propose,
			"observe": w.observe,
			"settle":  w.settle,
			"fire":    w.fire,
			"wait": func(t *rapid.T) {
				w.after(time.Duration(rapid.IntRange(0, int(Patience/time.Second)).Draw(t, "seconds")) * time.Second)
			},
		})
	})
}

// step judges, and holds the step to what every step must keep.
func (w *walker) step(who guard.Principal, p machine.Proposal, evidence ...guard.Evidence) {
	before := w.s
	next, out := w.tryAs(who, p, evidence...)
	if out.Kind != machine.Committed {
		return
	}
	if desk.IsFinal(before.State) {
		require.Equal(w.t, before.State, next.State, "a final state was left")
		require.Equal(w.t, before.Data, next.Data)
	}
	for _, v := range out.Entry().Voided {
		if v.Reason == "used" {
			w.agreed++
		}
	}
	for _, i := range out.Intents {
		require.False(w.t, w.keys[i.Key], "%s was used before", i.Key)
		w.keys[i.Key] = true
	}
	require.LessOrEqual(w.t, len(w.keys), w.agreed, "an intent without a used offer")
	unsettled := slices.DeleteFunc(slices.Clone(next.Intents), func(i machine.Intent) bool { return !i.Unsettled() })
	require.LessOrEqual(w.t, len(unsettled), 1)
	require.Equal(w.t, next.State == Paying, len(unsettled) == 1)
	require.True(w.t, next.State != Paid || next.Settled(Send))
	w.s = next
}

func (w *walker) propose(t *rapid.T) {
	amount := rapid.SampledFrom([]int64{0, 1, 40, 50, 51, 2000}).Draw(t, "amount")
	order := rapid.SampledFrom([]string{"1", "1", "2", ""}).Draw(t, "order")
	text := Text{rapid.SampledFrom([]string{"", "x", "yes", "confirmed", "judge"}).Draw(t, "text")}
	p := rapid.SampledFrom([]machine.Proposal{
		Ask.With(machine.None{}), Ask.With(machine.None{}), PayIt.With(Pay{order, amount}), PayIt.With(Pay{"1", w.s.Data.Amount}),
		Change.With(Pay{order, amount}), Cancel.With(text), Note.With(text), Quote.With(machine.None{}), Lapsed.With(machine.None{}),
		Send.Confirmed().With(machine.Settled{Key: "t1/send/1"}), {},
	}).Draw(t, "event")
	p = p.As(rapid.SampledFrom([]guard.Actor{guard.Model, guard.Model, guard.User, guard.User, guard.Operator, guard.Worker, ""}).Draw(t, "actor"))
	base := w.s.Version
	if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
		base = uint64(rapid.IntRange(0, 9).Draw(t, "base"))
	}
	who := rapid.SampledFrom([]guard.Principal{alice, alice, alice, bob, olga, {}}).Draw(t, "who")
	w.step(who, p.BasedOn(base), w.evidence(t)...)
}

// evidence is what a source may say, true or not, about this order or another, now or of before.
func (w *walker) evidence(t *rapid.T) (all []guard.Evidence) {
	for range rapid.IntRange(0, 4).Draw(t, "pieces") {
		at := w.now.Add(-time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 60, 1000}).Draw(t, "ago")) * time.Second)
		order := rapid.SampledFrom([]string{"1", "1", "1", "2"}).Draw(t, "order")
		yes := rapid.IntRange(0, 5).Draw(t, "yes") > 0
		switch rapid.IntRange(0, 6).Draw(t, "fact") {
		case 0, 1:
			all = append(all, sawAt(w.world, OwnerOf, order, map[bool]string{true: "alice", false: "bob"}[yes], at))
		case 2:
			all = append(all, sawAt(w.world, Good, order, yes, at))
		case 3:
			all = append(all, saw(w.world, Good, "1", true), saw(w.world, OwnerOf, "1", "alice"))
		case 4:
			all = append(all, sawAt(w.world, Open, order, yes, at))
		default:
			all = append(all, w.reply(t, at))
		}
	}
	return all
}

func (w *walker) reply(t *rapid.T, at time.Time) guard.Evidence {
	offer := "t1/2/pay/0"
	if n := len(w.s.Offers); n > 0 && rapid.IntRange(0, 3).Draw(t, "which") > 0 {
		offer = w.s.Offers[n-1].ID
	}
	return sawAt(w.world, Answer, offer, guard.Reply{
		By:    rapid.SampledFrom([]string{"alice", "alice", "bob"}).Draw(t, "by"),
		Text:  rapid.SampledFrom([]string{"yes", "yes", "no", "maybe", "do not", ""}).Draw(t, "said"),
		Shown: rapid.SampledFrom([]*guard.Shown{nil, {Message: "m1", At: start}, {Message: "m2", At: at.Add(-time.Millisecond)}, {Message: "m3", At: at}}).Draw(t, "shown"),
	}, at)
}

func (w *walker) observe(t *rapid.T) { w.step(guard.Principal{}, machine.Proposal{}, w.evidence(t)...) }

func (w *walker) settle(t *rapid.T) {
	key := rapid.SampledFrom([]string{"t1/send/1", "t1/send/1", "t1/send/2", ""}).Draw(t, "key")
	var evidence []guard.Evidence
	if key != "" && rapid.Bool().Draw(t, "receipt") {
		evidence = append(evidence, saw(w.world, SlipOf, key, Slip{rapid.SampledFrom([]int64{50, 40, 49}).Draw(t, "paid")}))
	}
	p := Send.Info().Confirm(key)
	if rapid.Bool().Draw(t, "failed") {
		p = Send.Info().Fail(key, "refused")
	}
	w.step(guard.Principal{}, p, evidence...)
}

func (w *walker) fire(t *rapid.T) {
	for _, p := range desk.Due(w.s, w.now) {
		w.step(guard.Principal{}, p)
	}
	w.step(guard.Principal{}, rapid.SampledFrom([]machine.Event[machine.None]{Lapsed, Nudged}).Draw(t, "timer").With(machine.None{}).AsController(guard.Timer))
}
