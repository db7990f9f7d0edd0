package properties

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// check holds both benches to what must hold after every action.
func (w *walk) check(t *rapid.T) {
	for _, b := range w.benches {
		b.t = t
		b.checkProvider()
		news := false
		for _, task := range b.tasks {
			for _, r := range b.unseen(task) {
				b.checkRecord(task, r)
				news = true
			}
		}
		if news {
			b.checkViews()
		}
	}
}

// checkProvider is P1. The provider does whatever arrives, as often as it arrives.
func (b *bench) checkProvider() {
	tasks, orders := map[string]int{}, map[string]int{}
	for _, a := range b.world.arrived {
		tasks[a.task]++
		orders[a.payment.Order]++
		if tasks[a.task] > 1 || orders[a.payment.Order] > 1 {
			b.t.Fatalf("P1: the provider was made to pay twice: %+v", b.world.arrived)
		}
	}
}

// unseen are the records of a task that were not looked at yet, oldest first.
func (b *bench) unseen(task string) (out []store.Record) {
	for r, err := range b.st.History(b.t.Context(), task, 0, uint64(len(b.known[task])+1)) {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		require.NoError(b.t, err)
		out = append(out, r)
	}
	slices.Reverse(out)
	return out
}

// checkRecord holds one version to P2, P4, P5 and P7.
func (b *bench) checkRecord(task string, r store.Record) {
	m := machine.Erase(b.setup.machine)
	is := b.checkStored(m, r)
	var was machine.Snapshot[any]
	if n := len(b.known[task]); n > 0 {
		was = b.known[task][n-1]
	}
	b.known[task] = append(b.known[task], is)
	entry, err := machine.DecodeEntry(r.Entry)
	require.NoError(b.t, err)

	old, _ := machine.As[claim](was)
	next, _ := machine.As[claim](is)
	for _, rule := range rules {
		if !rule.holds(old, next) {
			b.t.Fatalf("P2: version %d of %s breaks the invariant: %s", is.Version, task, rule.name)
		}
	}
	b.checkConsent(task, is, entry)
	b.checkMonotone(m, is)
}

// checkStored is P5: what is stored reads back as it was, and no part of it reads back at all.
func (b *bench) checkStored(m *machine.Machine[any], r store.Record) machine.Snapshot[any] {
	s, err := b.setup.decode(m, r.Snapshot)
	require.NoError(b.t, err)
	again, err := m.Encode(nil, s)
	require.NoError(b.t, err)
	if !bytes.Equal(again, r.Snapshot) {
		b.t.Fatalf("P5: stored\n%s\nand read back\n%s", r.Snapshot, again)
	}
	cuts := []int{0, len(r.Snapshot) - 1, rapid.IntRange(0, len(r.Snapshot)-1).Draw(b.t, "cut")}
	for _, n := range cuts {
		if _, err := b.setup.decode(m, r.Snapshot[:n]); !errors.Is(err, machine.ErrStored) {
			b.t.Fatalf("P5: %d of %d bytes of a snapshot were read: %v", n, len(r.Snapshot), err)
		}
	}
	n := rapid.IntRange(0, len(r.Entry)-1).Draw(b.t, "cut of entry")
	if _, err := machine.DecodeEntry(r.Entry[:n]); !errors.Is(err, machine.ErrStored) {
		b.t.Fatalf("P5: %d of %d bytes of an entry were read: %v", n, len(r.Entry), err)
	}
	return s
}

// checkConsent is P4: the only way to a payment is an owner's yes to the very offer that it used up.
func (b *bench) checkConsent(task string, s machine.Snapshot[any], e machine.Entry) {
	for _, f := range s.Facts.All() {
		if f.Key.Fact == answer.Info().Name && !b.said[f.Key.Subject] {
			b.t.Fatalf("P4: %s believes that %s was answered, and nobody did", task, f.Key.Subject)
		}
	}
	for _, i := range s.Intents {
		agreed := slices.ContainsFunc(e.Voided, func(v machine.Voided) bool { return v.Reason == "used" && b.heard[v.Offer] })
		if i.Since == s.Version && !agreed {
			b.t.Fatalf("P4: %s intends %s, and its owner agreed to nothing", task, i.Key)
		}
	}
	if s.State == paid && len(b.world.done) == 0 {
		b.t.Fatalf("P4: %s is paid, and nobody paid", task)
	}
	if e.Principal == mallory.ID {
		b.t.Fatalf("P4: %s was changed by a stranger: %s", task, e.Event)
	}
}

// checkMonotone is P7: each fact becomes unknown in turn, and whatever was blocked stays blocked.
func (b *bench) checkMonotone(m *machine.Machine[any], s machine.Snapshot[any]) {
	data, _ := machine.As[claim](s)
	for _, p := range []machine.Proposal{
		ask.With(machine.None{}), remind.With(machine.None{}), confirm.With(agreement{data.Data.Order, data.Data.Amount}),
		cancel.With(words{"stop"}), note.With(words{"x"}),
	} {
		in := machine.Input{Proposal: p.As(guard.User).BasedOn(s.Version), Principal: alice, Now: b.world.clock(), NoPermits: true}
		if slices.Contains([]machine.State{asking}, s.State) {
			in.Evidence = b.fresh(m, s, data.Data.Order)
		}
		_, out := m.Step(s, in)
		if out.Kind == machine.Committed {
			continue
		}
		for _, e := range s.Facts.All() {
			less := s
			less.Facts = s.Facts.Without(func(k guard.Key) bool { return k == e.Key })
			if _, now := m.Step(less, in); now.Kind == machine.Committed {
				b.t.Fatalf("P7: %s is %s (%s), and passes when %s is unknown", p.Event(), out.Kind, out.Code(), e.Key)
			}
		}
	}
}

// fresh is what the policy says right now.
func (b *bench) fresh(m *machine.Machine[any], s machine.Snapshot[any], order string) []guard.Evidence {
	e, err := guard.Verify(b.says("eligible", order, 1, 0), guard.Acceptance{Fact: m.FactNamed,
		Trusts: func(*guard.Authority) bool { return true }, Now: b.world.clock(), BasedOn: s.Version})
	require.NoError(b.t, err)
	return []guard.Evidence{e}
}

// checkViews is P6.
func (b *bench) checkViews() {
	first := b.views()
	for task, v := range b.views() {
		b.checkView(task, first[task], v)
	}
}

func (b *bench) checkView(task string, v, again projection.View) {
	data, _ := machine.As[claim](b.newest(task))
	text := v.Markdown() + string(v.JSON()) + string(v.Schema())
	if v.Digest() != again.Digest() || v.Markdown() != again.Markdown() || !bytes.Equal(v.JSON(), again.JSON()) {
		b.t.Fatalf("P6: the same state of %s gives two views:\n%s\nand\n%s", task, v.Markdown(), again.Markdown())
	}
	for _, label := range []string{"the order's owner", "the policy allows it"} {
		if !strings.Contains(string(v.JSON()), label) {
			b.t.Fatalf("P6: the view of %s lacks %q, which a guard reads:\n%s", task, label, v.JSON())
		}
	}
	if id := b.foreign(task, data.Data.Order, text); id != "" {
		b.t.Fatalf("P6: the view of %s holds %q:\n%s", task, id, v.Markdown())
	}
}
