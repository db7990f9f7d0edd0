package resume_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pays is withdraw, and done.
func (b *branch) pays(id string, amount int64) {
	b.t.Helper()
	require.NoError(b.t, b.withdraw(id, amount).Err())
	b.work()
}

// used is what is used up of a resource, and then what is held of it, each hold by itself.
type used []int64

func (b *branch) used(name string) used {
	b.t.Helper()
	var s struct {
		Used  int64
		Holds []struct{ Amount int64 }
	}
	require.NoError(b.t, json.Unmarshal([]byte(b.resource(name)), &s))
	out := used{s.Used}
	for _, h := range s.Holds {
		out = append(out, h.Amount)
	}
	return out
}

// counts are what the store's history of incarnations says was counted, oldest first.
func (b *branch) counts() (all []resume.Counted) {
	b.t.Helper()
	for r, err := range b.st.History(b.ctx, "pawl.incarnation", 0, 0) {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		require.NoError(b.t, err)
		if r.Meta.State == "counting" {
			var c resume.Counted
			require.NoError(b.t, json.Unmarshal(r.Entry, &c))
			all = append([]resume.Counted{c}, all...)
		}
	}
	return all
}

// sound sees that the store agrees with itself.
func (b *branch) sound() {
	b.t.Helper()
	for p, err := range b.st.Verify(b.ctx) {
		require.NoError(b.t, err)
		require.Fail(b.t, "a problem", "%+v", p)
	}
}

// What a task used up elsewhere is used up here, of tasks that have ended as well; the history says who counted it, and why.
func TestImportedUseIsCounted(t *testing.T) {
	from, to := newBranch(t), newBranch(t)
	from.pays("a", 30)
	from.pays("b", 20)
	from.send = func() error { return machine.Declined(errReset) }
	from.pays("c", 50) // failed: it took nothing
	to.pays("z", 10)
	from.give(to, "a", "b", "c")

	dry, err := to.ctl.Imported(to.ctx)
	require.NoError(t, err)
	want := resume.Imports{Tasks: []string{"a", "b", "c"}, Resources: []resume.Brought{{Resource: "account/1", Used: 50, Total: 60, Limit: 100}}}
	require.Equal(t, want, dry)
	require.Equal(t, used{10}, to.used("account/1"), "nothing is done yet")
	to.release()
	require.Equal(t, used{60}, to.used("account/1"))
	require.Equal(t, machine.CodeShort, to.withdraw("short", 41).Code())
	require.NoError(t, to.withdraw("fits", 40).Err())

	counts := to.counts()
	require.Len(t, counts, 3)
	require.Equal(t, "a", counts[0].Task)
	require.EqualValues(t, 3, counts[0].Version)
	require.Equal(t, operator.ID, counts[0].By)
	require.Equal(t, "the other branch is closed", counts[0].Reason)
	require.Equal(t, []resume.Brought{{Resource: "account/1", Used: 30, Total: 40, Limit: 100}}, counts[0].Resources)
	require.Empty(t, to.problems)
	dry, err = to.ctl.Imported(to.ctx)
	require.NoError(t, err)
	require.Empty(t, dry)
	to.sound()
}

// A part is moved, and later the rest: each task counts once, whatever is imported or released again, and in a copy as well.
func TestImportedUseIsCountedOnce(t *testing.T) {
	from, to := newBranch(t), newBranch(t)
	from.pays("a", 30)
	from.pays("b", 20)
	from.give(to, "a")
	to.release()
	require.Equal(t, used{30}, to.used("account/1"))
	for range 2 {
		from.give(to, "a", "b") // a is passed over
		to.release()
		require.Equal(t, used{50}, to.used("account/1"))
	}
	require.Len(t, to.counts(), 2)
	third := newBranch(t)
	to.give(third, "a", "b") // what a store counted is not in the tasks
	third.release()
	require.Equal(t, used{50}, third.used("account/1"))
	third.sound()
}

// A task that was settled here before it was counted is counted by that, and one that lives here is not imported over itself.
func TestImportedUseIsNotDoubled(t *testing.T) {
	from, to := newBranch(t), newBranch(t)
	require.NoError(t, from.withdraw("a", 60).Err())
	from.give(to, "a")
	to.found = true
	to.work()
	to.sleep(time.Hour)
	to.work()
	require.Equal(t, used{60}, to.used("account/1"), "settled in quarantine")
	to.release()
	require.Equal(t, used{60}, to.used("account/1"))

	require.NoError(t, from.withdraw("b", 5).Err())
	require.NoError(t, to.withdraw("b", 5).Err())
	var lines bytes.Buffer
	require.NoError(t, store.Export(from.ctx, from.st, "b", &lines))
	_, err := store.Import(to.ctx, to.st, &lines)
	require.ErrorIs(t, err, store.ErrConflict)
	to.release()
	require.Equal(t, used{60, 5}, to.used("account/1"))
}

// What two stores promised together past a limit is not passed over in silence: it is told, and kept with the release; nothing more fits.
func TestImportedOverTheLimit(t *testing.T) {
	for name, at := range map[string]struct {
		here int64
		over bool
	}{"full": {40, false}, "over": {41, true}} {
		for _, pays := range []bool{true, false} {
			t.Run(fmt.Sprint(name, pays), func(t *testing.T) {
				from, to := newBranch(t), newBranch(t)
				require.NoError(t, from.withdraw("a", 30).Err())
				require.NoError(t, from.withdraw("b", 30).Err())
				if pays {
					from.work()
				}
				to.pays("z", at.here)
				from.give(to, "a", "b")
				dry, err := to.ctl.Imported(to.ctx)
				require.NoError(t, err)
				require.Equal(t, at.over, dry.Resources[0].Over)
				require.EqualValues(t, 60+at.here, dry.Resources[0].Total)
				to.release()
				require.Equal(t, machine.CodeShort, to.withdraw("more", 1).Code())
				r, _, err := to.st.Load(to.ctx, "pawl.incarnation")
				require.NoError(t, err)
				var released resume.Released
				require.NoError(t, json.Unmarshal(r.Snapshot, &released))
				if !at.over {
					require.Empty(t, to.problems)
					require.Empty(t, released.Over)
					return
				}
				require.Len(t, to.problems, 1)
				require.Contains(t, to.problems[0], "resource account/1 has 101 taken of 100")
				require.Len(t, released.Over, 1)
				require.EqualValues(t, 101, released.Over[0].Total)
			})
		}
	}
}

// Sums that cannot be counted any more stand at the most: nothing fits any more.
func TestImportedSumsOverflow(t *testing.T) {
	m := withdrawing("withdrawal", func(d draw) machine.Hold {
		return machine.Hold{Resource: "account/" + d.Account, Amount: d.Amount, Limit: math.MaxInt64, Spent: true}
	})
	for here, over := range map[int64]bool{1: false, 2: true} {
		from, to := newBranchOf(t, m), newBranchOf(t, m)
		from.pays("a", math.MaxInt64-1)
		to.pays("z", here)
		from.give(to, "a")
		to.release()
		require.Equal(t, used{math.MaxInt64}, to.used("account/1"))
		require.Equal(t, machine.CodeShort, to.withdraw("b", 1).Code())
		require.Equal(t, over, len(to.problems) == 1)
	}
}

// What was taken of a velocity limit counts here for as long as it would have there, each at its own instant, and however its effect ended.
func TestImportedVelocityIsCounted(t *testing.T) {
	from, to := newBranchOf(t, hourly()), newBranchOf(t, hourly())
	both := func(d time.Duration) { from.sleep(d); to.sleep(d) }
	from.pays("old", 100)
	both(61 * time.Minute)
	from.pays("a", 30)
	both(30 * time.Minute)
	from.send = func() error { return machine.Declined(errReset) }
	from.pays("b", 20)
	to.pays("z", 10)
	from.give(to, "old", "a", "b")
	dry, err := to.ctl.Imported(to.ctx)
	require.NoError(t, err)
	require.Equal(t, []resume.Brought{{Resource: "hourly/1", Taken: 50, Total: 60, Limit: 100, Window: time.Hour}}, dry.Resources)
	to.release()
	short := to.withdraw("c", 41)
	require.Equal(t, machine.CodeShort, short.Code())
	require.EqualValues(t, 40, short.Findings[0].Details["left"])
	require.NoError(t, to.withdraw("d", 40).Err())
	both(34 * time.Minute) // a has left, within a sixteenth
	require.Equal(t, machine.CodeShort, to.withdraw("e", 31).Code())
	require.NoError(t, to.withdraw("f", 30).Err())
	to.sound()
}

// A clock that ran ahead where a task came from lets go of nothing that was taken here.
func TestImportedVelocityFromAFastClock(t *testing.T) {
	from, to := newBranchOf(t, hourly()), newBranchOf(t, hourly())
	from.sleep(24 * time.Hour)
	from.pays("a", 10)
	to.pays("z", 90)
	from.give(to, "a")
	to.release()
	require.Equal(t, machine.CodeShort, to.withdraw("b", 1).Code())
	to.sleep(59 * time.Minute)
	require.Equal(t, machine.CodeShort, to.withdraw("c", 1).Code())
}

// A task of a machine that nobody serves here is counted all the same, once it has ended.
func TestImportedOfAnotherMachine(t *testing.T) {
	from, to := newBranch(t), newBranch(t)
	from.pays("a", 60)
	from.give(to, "a")
	to.m = withdrawing("other", func(d draw) machine.Hold {
		return machine.Hold{Resource: "account/" + d.Account, Amount: d.Amount, Limit: 100, Spent: true}
	})
	to.ctl = to.serving(to.m)
	to.release()
	require.Equal(t, machine.CodeShort, to.withdraw("b", 41).Code())
	require.NoError(t, to.withdraw("c", 40).Err())
}

// outlay is what a purse pays, from any account.
type outlay struct {
	Account string `json:"account"`
	Amount  int64  `json:"amount"`
}

var (
	disburse   = machine.NewEvent[outlay]("disburse")
	closePurse = machine.NewEvent[machine.None]("shut")
	purses     = func() *machine.Machine[draw] {
		b := machine.New[draw]("purse", "open")
		b.Final("shut")
		machine.On(b, disburse).From("open").To("paying").By(guard.User).Then(
			machine.Emit(payOut, func(c guard.Case[draw, outlay]) draw { return draw(c.Payload) }),
			machine.Reserve(func(c guard.Case[draw, outlay]) []machine.Hold {
				return []machine.Hold{{Resource: "account/" + c.Payload.Account, Amount: c.Payload.Amount, Limit: 100, Spent: true}}
			}))
		machine.On(b, payOut.Confirmed()).From("paying").To("open")
		machine.On(b, payOut.Failed()).From("paying").To("open")
		machine.On(b, closePurse).From("open").To("shut").By(guard.User)
		return b.MustBuild()
	}()
)

// spends lets a purse pay 8 from account 1, 9 from account 2, and so on, up to account n.
func (b *branch) spends(id string, n int) {
	_, err := b.ctl.Start(b.ctx, purses.Task(id, alice, draw{"0", 1}), alice)
	require.NoError(b.t, err)
	for i := 1; i <= n; i++ {
		s, err := b.ctl.Resume(b.ctx, id, alice)
		require.NoError(b.t, err)
		b.commits(s, disburse.With(outlay{fmt.Sprint(i), int64(7 + i)}).As(guard.User))
		b.work()
	}
}

// torn is a store that fails at one commit, before or after it has landed.
type torn struct {
	*brittle
	left  int
	after bool
}

type brittle struct {
	store.Store
	store.Resources
}

func (s *torn) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	if s.left--; s.left == 0 && !s.after {
		return store.Tip{}, errReset
	}
	tip, err := s.Store.Commit(ctx, c)
	if s.left == 0 && err == nil {
		return store.Tip{}, errReset
	}
	return tip, err
}

// A task that took from more resources than one commit can hold is counted in several; a release that breaks off at any of them, before
// or after it has landed, is made again and counts each resource once.
func TestCountingBreaksOff(t *testing.T) {
	const accounts = 35
	from := newBranchOf(t, withdrawals())
	from.ctl = from.serving(purses)
	from.spends("purse", accounts)
	failed := 0
	for at := 1; at <= 5; at++ {
		for _, after := range []bool{false, true} {
			to := newBranchOf(t, withdrawals())
			to.ctl = to.serving(purses)
			from.give(to, "purse")
			ctl, err := resume.Open(to.ctx, &torn{&brittle{to.st, to.st}, at, after}, resume.Config{Machines: []machine.Definition{purses},
				Effects: []resume.Handler{resume.Perform(payOut, func(context.Context, machine.Job[draw]) (slip, error) { return slip{}, nil },
					func(context.Context, machine.Job[draw]) (slip, bool, error) { return slip{}, false, nil })}})
			require.NoError(t, err)
			if ctl.Release(to.ctx, operator, "breaks off") != nil {
				failed++
				if !after {
					s, err := ctl.Resume(to.ctx, "purse", alice)
					require.NoError(t, err)
					require.Equal(t, "quarantined", to.refuses(s, disburse.With(outlay{"1", 1}).As(guard.User)).Code())
				}
			}
			to.release()
			for i := 1; i <= accounts; i++ {
				require.Equal(t, used{int64(7 + i)}, to.used(fmt.Sprintf("account/%d", i)), "at %d, after %t", at, after)
			}
			require.Len(t, to.counts(), 3)
			to.sound()
		}
	}
	require.Equal(t, 8, failed, "three commits that count, and the release")
}

// Two controllers that release at once count once.
func TestTwoReleasesAtOnce(t *testing.T) {
	from, to := newBranch(t), newBranch(t)
	for i := range 8 {
		from.pays(fmt.Sprintf("t%d", i), 10)
	}
	from.give(to, "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7")
	var wg sync.WaitGroup
	for _, ctl := range []*resume.Controller{to.serving(to.m), to.serving(to.m)} {
		wg.Go(func() { _ = ctl.Release(to.ctx, operator, "both") }) // one may lose every race
	}
	wg.Wait()
	to.release()
	require.Equal(t, used{80}, to.used("account/1"))
}

// glancing is a store on which something else happens right before one of the reads of a mark.
type glancing struct {
	*brittle
	left  int
	first func()
}

func (g *glancing) Resource(ctx context.Context, name string) (store.Resource, error) {
	if strings.HasPrefix(name, store.ImportedPrefix) {
		if g.left--; g.left == 0 {
			g.first()
		}
	}
	return g.Resources.Resource(ctx, name)
}

// Whenever another controller releases the store, what it has counted is not counted again.
func TestAnotherReleaseAmidTheCount(t *testing.T) {
	for at := 1; at <= 6; at++ {
		from, to := newBranch(t), newBranch(t)
		from.pays("a", 60)
		from.give(to, "a")
		ctl, err := resume.Open(to.ctx, &glancing{&brittle{to.st, to.st}, at, to.release}, to.config(to.m))
		require.NoError(t, err)
		require.NoError(t, ctl.Release(to.ctx, operator, "both"))
		require.Equal(t, used{60}, to.used("account/1"), "at %d", at)
		require.Len(t, to.counts(), 1)
	}
}

// What was pruned before the export is not known: the store stays in quarantine until an operator says what it was, and the error names
// task, effect and resource.
func TestImportedAfterPruning(t *testing.T) {
	from, to := newBranchOf(t, withdrawals()), newBranchOf(t, withdrawals())
	from.ctl, to.ctl = from.serving(purses), to.serving(purses)
	from.spends("purse", 3)
	tip, err := from.st.Tip(from.ctx, "purse")
	require.NoError(t, err)
	require.NoError(t, from.st.Prune(from.ctx, "purse", tip.Version))
	from.give(to, "purse")

	err = to.ctl.Release(to.ctx, operator, "go")
	require.ErrorIs(t, err, resume.ErrUncounted)
	var missing *resume.UncountedError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []resume.Uncounted{{Task: "purse", Effect: "pay_out", Operations: 2, Resources: []string{"account/3"}}}, missing.Missing)
	require.ErrorContains(t, err, "task purse, 2 operations of pay_out that were pruned, of account/3 as far as is known")
	dry, err := to.ctl.Imported(to.ctx)
	require.NoError(t, err)
	require.Equal(t, missing.Missing, dry.Missing)
	s, err := to.ctl.Resume(to.ctx, "purse", alice)
	require.NoError(t, err)
	require.Equal(t, "quarantined", to.refuses(s, disburse.With(outlay{"1", 1}).As(guard.User)).Code())
	require.ErrorIs(t, to.st.Prune(to.ctx, "purse", tip.Version), store.ErrUncounted, "what is left of its history is needed")

	said := map[string]int64{"account/1": 8, "account/2": 9}
	stranger := guard.Principal{ID: "bob"}
	require.ErrorIs(t, to.ctl.CountImported(to.ctx, "purse", stranger, "x", said), resume.ErrOperator)
	require.ErrorIs(t, to.ctl.CountImported(to.ctx, "purse", operator, " ", said), resume.ErrOperator)
	require.ErrorIs(t, to.ctl.CountImported(to.ctx, "nobody", operator, "x", said), resume.ErrNoTask)
	for name, amount := range map[string]int64{"account/1": 0, "": 1, "pawl.reply/x": 1, strings.Repeat("x", machine.MaxResource+1): 1} {
		require.ErrorIs(t, to.ctl.CountImported(to.ctx, "purse", operator, "x", map[string]int64{name: amount}), machine.ErrTask)
	}
	many := map[string]int64{}
	for i := range resume.MaxStated + 1 {
		many[fmt.Sprint(i)] = 1
	}
	require.ErrorIs(t, to.ctl.CountImported(to.ctx, "purse", operator, "x", many), machine.ErrTask)
	require.Empty(t, to.counts(), "nothing was changed")

	require.NoError(t, to.ctl.CountImported(to.ctx, "purse", operator, "as in the books of March", said))
	require.ErrorIs(t, to.ctl.CountImported(to.ctx, "purse", operator, "once more", said), resume.ErrNoTask)
	to.release()
	for i, want := range []int64{8, 9, 10} {
		require.Equal(t, used{want}, to.used(fmt.Sprintf("account/%d", i+1)))
	}
	counts := to.counts()
	require.Equal(t, "as in the books of March", counts[len(counts)-1].Reason)
	require.EqualValues(t, 8, counts[len(counts)-1].Resources[0].Stated)
}

// An operator may state as many resources as one commit takes, and that there was nothing.
func TestStatedLimits(t *testing.T) {
	for _, n := range []int{0, resume.MaxStated} {
		from, to := newBranchOf(t, withdrawals()), newBranchOf(t, withdrawals())
		from.ctl, to.ctl = from.serving(purses), to.serving(purses)
		from.spends("purse", 2)
		tip, err := from.st.Tip(from.ctx, "purse")
		require.NoError(t, err)
		require.NoError(t, from.st.Prune(from.ctx, "purse", tip.Version))
		from.give(to, "purse")
		var said map[string]int64
		for i := range n {
			if said == nil {
				said = map[string]int64{}
			}
			said[fmt.Sprintf("r%d", i)] = 5
		}
		require.NoError(t, to.ctl.CountImported(to.ctx, "purse", operator, "as in the books", said))
		to.release()
		for name := range said {
			require.Equal(t, used{5}, to.used(name))
		}
		require.Equal(t, used{9}, to.used("account/2"))
		to.sound()
	}
}

// Whatever is moved in whatever order, and whatever became of it: the sums of the store that has it all are those of all tasks.
func TestMovesKeepTheSums(t *testing.T) {
	m := withdrawing("withdrawal", func(d draw) machine.Hold {
		return machine.Hold{Resource: "account/" + d.Account, Amount: d.Amount, Limit: 1 << 40, Spent: true}
	})
	rapid.Check(t, func(rt *rapid.T) {
		from, to := newBranchOf(t, m), newBranchOf(t, m)
		paid, held := int64(0), int64(0)
		var movable []string
		for i := range rapid.IntRange(1, 6).Draw(rt, "tasks") {
			b := rapid.SampledFrom([]*branch{from, to}).Draw(rt, "at")
			id, amount := fmt.Sprintf("t%d", i), rapid.Int64Range(1, 1000).Draw(rt, "amount")
			require.NoError(t, b.withdraw(id, amount).Err())
			if b == from {
				movable = append(movable, id)
			}
			switch rapid.SampledFrom([]string{"paid", "declined", "open"}).Draw(rt, "end") {
			case "paid":
				b.send = func() error { return nil }
				b.work()
				paid += amount
			case "declined":
				b.send = func() error { return machine.Declined(errReset) }
				b.work()
			default:
				b.send = func() error { return errReset }
				b.work()
				held += amount
			}
		}
		for _, id := range rapid.Permutation(movable).Draw(rt, "moves") {
			from.give(to, id)
			for range rapid.IntRange(0, 2).Draw(rt, "releases") {
				to.release()
			}
		}
		to.release()
		got := to.used("account/1")
		for _, h := range got[1:] {
			held -= h
		}
		require.Equal(t, paid, got[0])
		require.Zero(t, held)
		to.sound()
	})
}
