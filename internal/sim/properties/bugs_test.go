package properties

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// forgetful is a store that forgets that an effect was sent.
type forgetful struct {
	store.Store
	store.Resources
}

func (f forgetful) Claim(ctx context.Context, s store.Slots, limit int, holder string, hold store.Micros) ([]store.Effect, error) {
	effects, err := f.Store.Claim(ctx, s, limit, holder, hold)
	for i := range effects {
		effects[i].Was = store.Intent
	}
	return effects, err
}

// talkative is a store that makes a version of each refusal.
type talkative struct {
	store.Store
	store.Resources
}

func (n talkative) Note(ctx context.Context, task string, _ store.Attempt) error {
	r, _, err := n.Load(ctx, task)
	if err != nil {
		return err
	}
	base := r.Tip
	r.Nonce++
	_, err = n.Commit(ctx, &store.Commit{Base: base, Record: store.Record{Task: task, Nonce: r.Nonce, Meta: r.Meta, Snapshot: r.Snapshot, Entry: r.Entry}})
	return err
}

// bugs are setups with one thing wrong each, by the property that must catch it.
var bugs = []struct {
	property, name string
	change         func(*setup)
}{
	{"P1", "the store forgets that an effect was sent", func(s *setup) {
		s.store = func(st store.Store) store.Store { return forgetful{st, st.(store.Resources)} }
	}},
	{"P2", "nobody asks the policy, and no invariant does", func(s *setup) {
		p := whole()
		p.invariants, p.confirming = false, []guard.Guard{guard.Owner(owner)}
		s.machine = p.build()
		s.decision = decision(s.machine)
	}},
	{"P2", "a refusal makes a version", func(s *setup) {
		s.store = func(st store.Store) store.Store { return talkative{st, st.(store.Resources)} }
	}},
	{"P3", "the last one to speak is believed", func(s *setup) {
		p := whole()
		p.stocked = guard.NewFact[int64]("stock", guard.From("shop"), guard.About("order"), guard.Lasting(), guard.Ordered(guard.ByArrival))
		s.machine = p.build()
		s.decision = decision(s.machine)
	}},
	{"P4", "a tool's word is taken for the chat's", func(s *setup) { s.gullible = true }},
	{"P5", "what was cut off is mended", func(s *setup) {
		s.decode = func(m *machine.Machine[any], raw []byte) (machine.Snapshot[any], error) {
			snap, err := m.Decode(raw)
			if err != nil {
				snap, err = m.Decode(append(append([]byte{}, raw...), '}'))
			}
			return snap, err
		}
	}},
	{"P5", "an empty task stands for what cannot be read", func(s *setup) {
		s.decode = func(m *machine.Machine[any], raw []byte) (machine.Snapshot[any], error) {
			snap, err := m.Decode(raw)
			if err != nil {
				return machine.Snapshot[any]{}, nil
			}
			return snap, nil
		}
	}},
	{"P6", "a view shows notes", func(s *setup) {
		s.decision = decision(s.machine, projection.Field[claim]{Label: "notes", Value: func(c claim) any { return c.Notes }})
	}},
	{"P6", "a view counts how often it was made", func(s *setup) {
		n := 0
		s.decision = decision(s.machine, projection.Field[claim]{Label: "n", Value: func(claim) any { n++; return n }})
	}},
	{"P7", "an invariant takes what is unknown for true", func(s *setup) {
		p := whole()
		p.more = func(b *machine.Builder[claim]) {
			b.Accept(machine.LintUnguarded, "invariant in stock", "it is the bug")
			b.Invariant("in stock", func(s machine.Snapshot[claim]) error {
				if n, known := stock.Get(s.Facts); known && n == 0 {
					return errors.New("sold out")
				}
				return nil
			})
		}
		s.machine = p.build()
		s.decision = decision(s.machine)
	}},
	{"P8", "notes are taken in the morning only", func(s *setup) {
		p := whole()
		p.noting = func(c check[words]) guard.Verdict {
			if c.Now().Hour() >= 12 {
				return guard.Deny("too_late", "come back in the morning")
			}
			return guard.Allow()
		}
		s.machine = p.build()
		s.decision = decision(s.machine)
	}},
}

// TestBugs seeds one bug at a time, and sees the property that it belongs to fail.
func TestBugs(t *testing.T) {
	for _, bug := range bugs {
		t.Run(bug.property+" "+bug.name, func(t *testing.T) {
			s := sound()
			bug.change(&s)
			require.Contains(t, walks(t, s), bug.property+": ")
		})
	}
}

// TestEveryPropertyHasABug: none of them holds only because it can never fail.
func TestEveryPropertyHasABug(t *testing.T) {
	seen := map[string]bool{}
	for _, bug := range bugs {
		seen[bug.property] = true
	}
	for n := 1; n <= 8; n++ {
		require.True(t, seen[fmt.Sprint("P", n)], "P%d", n)
	}
}

// failing is a test that is expected to fail.
type failing struct {
	testing.TB
	said strings.Builder
}

func (f *failing) Errorf(format string, args ...any) { fmt.Fprintf(&f.said, format+"\n", args...) }
func (f *failing) Logf(format string, args ...any)   { f.Errorf(format, args...) }
func (f *failing) Fail()                             {}
func (f *failing) FailNow()                          { runtime.Goexit() }
func (f *failing) Fatalf(format string, args ...any) { f.Errorf(format, args...); f.FailNow() }

// walks takes walks that must fail, and gives what they report.
func walks(t *testing.T, s setup) string {
	t.Chdir(t.TempDir()) // where the failing case is kept
	require.NoError(t, flag.Set("rapid.shrinktime", "0s"))
	require.NoError(t, flag.Set("rapid.checks", "2000")) // it ends with the first that fails
	require.NoError(t, flag.Set("rapid.seed", "1"))      // which property meets a bug first depends on the walk
	defer func() {
		require.NoError(t, flag.Set("rapid.seed", "0"))
		require.NoError(t, flag.Set("rapid.shrinktime", "30s"))
		require.NoError(t, flag.Set("rapid.checks", "100"))
	}()
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.Check(f, func(t *rapid.T) {
			all, w := actions(t, s)
			defer w.close()
			t.Repeat(all)
		})
	}()
	<-done
	return f.said.String()
}
