package storetest

import (
	"iter"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var copierPromises = []Promise{
	{Name: "ImportKeepsTheHashes", Means: "A task that is exported and imported is the same task, hash for hash; what was unsettled becomes unknown.", run: importKeepsTheHashes},
	{Name: "ImportIsWholeOrNothing", Means: "A changed, missing or swapped record imports nothing.", run: importIsWholeOrNothing},
	{Name: "ImportMarksWhatTook", Means: "A task that took from resources where it came from is marked until somebody has counted that here: so long it is neither pruned nor erased.", run: importMarksWhatTook},
}

// exported are the records of a task, oldest first, and its effects.
func exported(b *bench, task string) ([]store.Record, []store.Effect) {
	var rs []store.Record
	for r, err := range b.open().History(ctx, task, 0, 0) {
		require.NoError(b, err)
		rs = append(rs, r)
	}
	slices.Reverse(rs)
	_, es := b.load(task)
	return rs, es
}

func sequence(rs []store.Record) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, r := range rs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// renamed is a history that was never in this store: the same records, sealed for another task.
func renamed(rs []store.Record, task string) []store.Record {
	var sealer store.Sealer
	out := slices.Clone(rs)
	prev := [32]byte{}
	for i := range out {
		out[i].Task, out[i].Prev = task, prev
		sealer.Seal(nil, &out[i], store.KindRecord)
		prev = out[i].Tip.Hash
	}
	return out
}

func importKeepsTheHashes(b *bench) {
	copier, ok := b.open().(store.Copier)
	if !ok {
		return
	}
	tip := b.create("a", emits("pay", "mail"), once("reply"))
	tip = b.step("a", tip, settles("mail", store.FirstRev(1)), wake(start), waits("bob"))
	b.step("a", tip, wake(start), waits("bob"))
	rs, es := exported(b, "a")
	rs = renamed(rs, "b")
	for i := range es {
		es[i].Task = "b"
	}
	before := b.s.Info()
	require.NoError(b, copier.Import(ctx, "b", sequence(rs), es))
	require.Greater(b, b.s.Info().Incarnation, before.Incarnation, "the original may go on elsewhere")
	require.Equal(b, before.ID, b.s.Info().ID)
	got, effects := exported(b, "b")
	require.Equal(b, rs, got)
	require.Len(b, effects, 1)
	require.Equal(b, "pay", effects[0].ID)
	require.Equal(b, store.Unknown, effects[0].Status)
	require.Greater(b, effects[0].Rev, es[0].Rev)
	v, err := b.s.Once(ctx, "b", "reply")
	require.NoError(b, err)
	require.EqualValues(b, 1, v)
	require.Equal(b, []string{"a", "b"}, b.find(store.Query{WaitsFor: "bob"}))
	require.Equal(b, []string{"a", "b"}, b.due())
	require.ErrorIs(b, copier.Import(ctx, "b", sequence(rs), es), store.ErrConflict)
	b.step("b", rs[2].Tip)
	if v, ok := b.s.(store.Verifier); ok {
		noProblems(b, v)
	}
}

func importIsWholeOrNothing(b *bench) {
	copier, ok := b.open().(store.Copier)
	if !ok {
		return
	}
	tip := b.create("a")
	for range 3 {
		tip = b.step("a", tip)
	}
	rs, _ := exported(b, "a")
	rs = renamed(rs, "b")
	spoil := map[string]func([]store.Record) []store.Record{
		"changed":    func(rs []store.Record) []store.Record { rs[1].Snapshot = []byte("x"); return rs },
		"missing":    func(rs []store.Record) []store.Record { return slices.Delete(rs, 1, 2) },
		"swapped":    func(rs []store.Record) []store.Record { rs[1], rs[2] = rs[2], rs[1]; return rs },
		"other task": func(rs []store.Record) []store.Record { rs[2].Task = "c"; return rs },
		"cut above":  func(rs []store.Record) []store.Record { return rs[:0] },
	}
	for what, f := range spoil {
		err := copier.Import(ctx, "b", sequence(f(slices.Clone(rs))), nil)
		require.Error(b, err, what)
		_, err = b.s.Tip(ctx, "b")
		require.ErrorIs(b, err, store.ErrNotFound, what)
	}
	broken := func(yield func(store.Record, error) bool) { _ = yield(rs[0], nil) && yield(store.Record{}, errStop) }
	require.ErrorIs(b, copier.Import(ctx, "b", broken, nil), errStop)
	_, err := b.s.Tip(ctx, "b")
	require.ErrorIs(b, err, store.ErrNotFound)
	require.NoError(b, copier.Import(ctx, "b", sequence(rs), nil))
}

func importMarksWhatTook(b *bench) {
	copier, ok := b.open().(store.Copier)
	rs, swaps := b.s.(store.Resources)
	if !ok || !swaps || !b.s.Info().Swap {
		return
	}
	took := func(c *store.Commit) {
		c.Swap = []store.Resource{{Name: "cap/" + c.Task, Value: []byte("5")}}
	}
	b.step("took", b.create("took", took))
	b.step("idle", b.create("idle"))
	mark := func(task string) store.Resource {
		r, err := rs.Resource(ctx, store.ImportedResource(task))
		require.NoError(b, err)
		return r
	}
	bring := func(from, as string, cut int) store.Tip {
		require.Zero(b, mark(as).Rev, "and remembered to be so")
		all, _ := exported(b, from)
		all = renamed(all, as)
		require.NoError(b, copier.Import(ctx, as, sequence(all[cut:]), nil))
		return all[len(all)-1].Tip
	}
	bring("idle", "harmless", 0)
	require.Zero(b, mark("harmless").Rev, "whole, and it took nothing")
	for _, c := range []struct {
		from, as string
		cut      int
	}{{"took", "taker", 0}, {"idle", "pruned", 1}} {
		tip := bring(c.from, c.as, c.cut)
		m := mark(c.as)
		got, err := store.ReadImported(m.Value)
		require.NoError(b, err)
		require.Equal(b, store.Imported{Tip: tip}, got)
		if k, ok := b.s.(store.Keeper); ok {
			require.ErrorIs(b, k.Prune(ctx, c.as, 2), store.ErrUncounted)
			_, err := k.Erase(ctx, c.as, nil)
			require.ErrorIs(b, err, store.ErrUncounted)
		}
		b.create("counts-"+c.as, func(k *store.Commit) {
			k.Swap = []store.Resource{{Name: m.Name, Rev: m.Rev, Value: store.Imported{Tip: got.Tip, Counted: true}.Encode()}}
		})
		if v, ok := b.s.(store.Verifier); ok {
			noProblems(b, v)
		}
		if k, ok := b.s.(store.Keeper); ok {
			require.NoError(b, k.Prune(ctx, c.as, 2))
			_, err := k.Erase(ctx, c.as, nil)
			require.NoError(b, err)
		}
	}
}
