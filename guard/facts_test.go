package guard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
)

// at is evidence for a fact of order 1: a value, its mark in seconds and as a number, and when it came in.
func at[T any](t require.TestingT, f guard.Fact[T], v T, mark int, came time.Duration) guard.Evidence {
	return accept(t, f.Observe(shop, guard.Observed[T]{
		Value: v, Subject: "1", At: noon.Add(time.Duration(mark) * time.Second), Seq: uint64(mark), Ref: came.String(),
	}), noon.Add(came))
}

// TestMerge has one row for each thing that can become of a second observation.
func TestMerge(t *testing.T) {
	first := at(t, owner, "alice", 5, 0)
	for _, row := range []struct {
		name     string
		second   guard.Evidence
		merged   guard.Merged
		value    any
		disputed bool
	}{
		{"another value later", at(t, owner, "bob", 6, time.Minute), guard.News, "bob", false},
		{"the same value later", at(t, owner, "alice", 6, time.Minute), guard.Renewed, "alice", false},
		{"the same once more", at(t, owner, "alice", 5, time.Minute), guard.Duplicate, "alice", false},
		{"another value earlier", at(t, owner, "bob", 4, time.Minute), guard.Late, "alice", false},
		{"the same value earlier", at(t, owner, "alice", 4, time.Minute), guard.Late, "alice", false},
		{"another value at once", at(t, owner, "bob", 5, time.Minute), guard.Dispute, nil, true},
		{"an answer at once", at(t, owner, "bob", 5, time.Minute).Pulled(), guard.News, "bob", false},
		{"an answer from before", at(t, owner, "bob", 4, time.Minute).Pulled(), guard.Late, "alice", false},
		{"nothing", guard.Evidence{}, guard.Late, "alice", false},
	} {
		before := known(first)
		f, merged := before.With(row.second)
		require.Equal(t, []guard.Merged{row.merged}, merged, row.name)
		e, ok := f.Entry(guard.Key{Fact: "owner", Subject: "1"})
		require.True(t, ok)
		require.Equal(t, row.value, e.Value, row.name)
		require.Equal(t, row.disputed, e.Disputed, row.name)
		require.Equal(t, known(first), before, "%s: what was there stays as it was", row.name)
	}
}

// TestDispute: a source that contradicts itself is unknown until it speaks of a later time, or is asked.
func TestDispute(t *testing.T) {
	disputed := known(at(t, owner, "alice", 5, 0), at(t, owner, "bob", 5, 0))
	for _, again := range []string{"alice", "bob", "carol"} {
		f, merged := disputed.With(at(t, owner, again, 5, time.Minute))
		require.Equal(t, []guard.Merged{guard.Duplicate}, merged)
		require.True(t, f.All()[0].Disputed)
		require.Nil(t, f.All()[0].Value)
		require.Empty(t, f.All()[0].Ref)
	}
	for _, settled := range []guard.Evidence{at(t, owner, "carol", 6, 0), at(t, owner, "carol", 5, time.Minute).Pulled()} {
		f, merged := disputed.With(settled)
		require.Equal(t, []guard.Merged{guard.News}, merged)
		require.False(t, f.All()[0].Disputed)
		require.Equal(t, "carol", f.All()[0].Value)
	}
	_, ok := owner.Of("1").Get(disputed)
	require.False(t, ok)
	_, merged := disputed.With(at(t, owner, "alice", 4, 0))
	require.Equal(t, []guard.Merged{guard.Late}, merged, "the mark of a dispute still orders")
}

// TestSequence: a source that numbers its changes may repeat one; the repetition is younger evidence of the same.
func TestSequence(t *testing.T) {
	numbered := guard.NewFact[string]("level", guard.From("shop"), guard.Ordered(guard.BySequence), guard.MaxAge(time.Hour))
	facts["level"] = numbered.Info()
	defer func() { facts["level"] = level.Info() }()
	see := func(v string, seq uint64, when time.Duration) guard.Evidence {
		now := noon.Add(when)
		return accept(t, numbered.Observe(shop, guard.Observed[string]{Value: v, Subject: "1", Seq: seq, At: now}), now)
	}
	f, merged := known(see("gold", 3, 0)).With(see("gold", 3, 2*time.Hour))
	require.Equal(t, []guard.Merged{guard.Renewed}, merged)
	require.Equal(t, noon.Add(2*time.Hour), f.All()[0].At, "it counts from its newest observation")
	_, merged = f.With(see("red", 2, 3*time.Hour), see("red", 3, 3*time.Hour), see("red", 4, time.Hour))
	require.Equal(t, []guard.Merged{guard.Late, guard.Dispute, guard.News}, merged, "the number orders, not the time")
}

// TestArrival: the last one to come in counts, whatever its time.
func TestArrival(t *testing.T) {
	f := known(at(t, latest, "a", 9, 0), at(t, latest, "b", 1, time.Second))
	require.Equal(t, "b", f.All()[0].Value)
	f, merged := f.With(at(t, latest, "c", 1, time.Second), at(t, latest, "d", 5, 0))
	require.Equal(t, []guard.Merged{guard.News, guard.Late}, merged)
	require.Equal(t, "c", f.All()[0].Value)
}

// TestAnyOrder is law 6: shuffled, repeated and split evidence ends in the same facts, by source time and by sequence.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []guard.Evidence
		for range rapid.IntRange(1, 8).Draw(t, "count") {
			mark, came := rapid.IntRange(0, 3).Draw(t, "mark"), time.Duration(rapid.IntRange(3, 5).Draw(t, "came"))*time.Second
			v := anyOf(t, "value", "x", "y")
			switch anyOf(t, "fact", "owner", "level", "paid") {
			case "owner":
				all = append(all, at(t, owner, v, mark, came))
			case "level": // its number and its time are not of one mind
				o := level.Observe(shop, guard.Observed[string]{Value: v, Subject: "1", Seq: uint64(mark), Ref: came.String(),
					At: noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "time")) * time.Second)})
				all = append(all, accept(t, o, noon.Add(came)))
			default:
				all = append(all, at(t, paid, v == "x", mark, came))
			}
		}
		straight := known(all...)
		shuffled := rapid.Permutation(append(all, all...)).Draw(t, "order")
		other := guard.Facts{}
		for len(shuffled) > 0 {
			n := rapid.IntRange(1, len(shuffled)).Draw(t, "batch")
			other, _ = other.With(shuffled[:n]...)
			shuffled = shuffled[n:]
		}
		require.Equal(t, straight.All(), other.All())
	})
}

// TestFactsOutsideGuards: invariants look at the record, whatever its age, by the subjects that the data names.
func TestFactsOutsideGuards(t *testing.T) {
	f := known(saw(t, owner, "1", "alice"), saw(t, stock, "a", 3), saw(t, level, "t", "gold"))
	_, ok := owner.Get(f)
	require.False(t, ok, "without a subject there is nothing to look up")
	f = f.Bound(guard.Subjects{"": {"t"}, "order": {"1"}, "item": {"a", "b"}})
	v, ok := owner.Get(f)
	require.True(t, ok)
	require.Equal(t, "alice", v)
	l, ok := level.Get(f)
	require.True(t, ok && l == "gold", "a fact about the task itself")
	_, ok = stock.Get(f)
	require.False(t, ok, "two items: which?")
	n, ok := stock.Of("a").Get(f)
	require.True(t, ok && n == 3)
	_, ok = guard.Fact[string]{}.Get(f)
	require.False(t, ok)
}

func TestWithout(t *testing.T) {
	f := known(saw(t, owner, "1", "alice"), saw(t, stock, "a", 3))
	g := f.Without(func(k guard.Key) bool { return k.Fact == "stock" })
	require.Equal(t, 1, g.Len())
	require.Equal(t, 2, f.Len())
	require.Equal(t, f.All(), f.Without(func(guard.Key) bool { return false }).All())
}

func TestFactsOf(t *testing.T) {
	f := known(saw(t, stock, "b", 3), saw(t, owner, "2", "alice"), saw(t, owner, "10", "alice"))
	require.Equal(t, []string{"owner(10)", "owner(2)", "stock(b)"}, []string{f.All()[0].Key.String(), f.All()[1].Key.String(), f.All()[2].Key.String()})
	backwards := []guard.Entry{f.All()[2], f.All()[1], f.All()[0], f.All()[1]}
	require.Equal(t, f.All(), guard.FactsOf(backwards).All())
	require.Equal(t, "stock(b)", backwards[0].Key.String(), "the caller's list stays as it was")
}
