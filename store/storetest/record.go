package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var recordPromises = []Promise{
	{Name: "RecordRoundTrips", Means: "What was committed is what is loaded, byte for byte, in every field (field case B058).", run: recordRoundTrips},
	{Name: "RecordIsSealed", Means: "A tip's hash covers the whole record and the one before it; anybody can recompute it, and it is the same in every store.", run: recordIsSealed},
	{Name: "CopiesIn", Means: "Changing your buffers after a commit changes nothing that is stored.", run: copiesIn},
	{Name: "CopiesOut", Means: "Changing what you were given changes nothing that is stored.", run: copiesOut},
	{Name: "AbsentIsNotFound", Means: "A task that does not exist is ErrNotFound everywhere, never an empty task.", run: absentIsNotFound},
	{Name: "TipIsCurrent", Means: "Tip is the version and hash that Load would give, so a cached snapshot can be trusted when they are equal.", run: tipIsCurrent},
}

func recordRoundTrips(b *bench) {
	c := b.next("order-1", store.Tip{})
	c.Meta = store.Meta{Machine: "m", State: "s", Owner: "o", WaitsFor: "w", Since: 5, Wake: start + 9, Final: true}
	c.At, c.Nonce = start-7, 1<<63+5
	c.Snapshot, c.Entry = []byte{0, 1, 255}, []byte("é\x00")
	c.Once = []string{"reply-1"}
	c.Emit = []store.Effect{{ID: "pay", Ready: start + 3, Body: []byte{0, 9}}, {ID: "mail"}}
	tip := b.commit(c)
	r, es := b.load("order-1")
	want := c.Record
	want.Tip = tip
	require.Equal(b, want, r)
	require.Equal(b, tip, c.Tip)
	require.Len(b, es, 2)
	require.Equal(b, "mail", es[0].ID)
	require.Equal(b, store.Effect{
		Task: "order-1", ID: "pay", Version: 1, Rev: store.FirstRev(1), Status: store.Intent, Ready: start + 3, Body: []byte{0, 9},
	}, es[1])
	changes, err := store.ParseChanges(r.Changes)
	require.NoError(b, err)
	require.Equal(b, []string{"reply-1"}, changes.Once)
	require.Len(b, changes.Emit, 2)

	b.step("order-1", tip, func(c *store.Commit) { c.Snapshot, c.Entry, c.Meta.Owner = nil, nil, "" })
	r, _ = b.load("order-1")
	require.Empty(b, r.Snapshot)
	require.Empty(b, r.Entry)
	require.Empty(b, r.Meta.Owner)
	require.False(b, r.Meta.Final)
}

func recordIsSealed(b *bench) {
	var sealer store.Sealer
	tip := store.Tip{}
	for range 3 {
		tip = b.step("a", tip, emits())
	}
	next := store.Tip{}
	for r, err := range b.open().History(ctx, "a", 0, 0) {
		require.NoError(b, err)
		if next.Version != 0 {
			require.Equal(b, r.Tip.Hash, next.Hash)
		}
		copied := r
		copied.Tip.Hash = [32]byte{}
		sealer.Seal(nil, &copied, store.KindRecord)
		require.Equal(b, r.Tip, copied.Tip)
		next = store.Tip{Version: r.Tip.Version, Hash: r.Prev}
	}
	require.Equal(b, store.Tip{Version: 1}, next, "the first version follows nothing")
}

func copiesIn(b *bench) {
	snapshot, entry, body, value := []byte("snapshot"), []byte("entry"), []byte("body"), []byte("value")
	tip := b.create("a", func(c *store.Commit) {
		c.Snapshot, c.Entry = snapshot, entry
		c.Emit = []store.Effect{{ID: "pay", Body: body}}
		if b.s.Info().Swap {
			c.Swap = []store.Resource{{Name: "cap", Value: value}}
		}
	})
	update := []byte("update")
	require.NoError(b, b.s.Note(ctx, "a", store.Attempt{Body: entry}))
	_, err := b.s.Update(ctx, store.Effect{Task: "a", ID: "pay", Rev: store.FirstRev(1), Status: store.Unknown, Body: update})
	require.NoError(b, err)
	for _, buf := range [][]byte{snapshot, entry, body, value, update} {
		clear(buf)
	}
	r, es := b.load("a")
	require.Equal(b, tip, r.Tip)
	require.Equal(b, "snapshot", string(r.Snapshot))
	require.Equal(b, "entry", string(r.Entry))
	require.Equal(b, "update", string(es[0].Body))
	as, err := b.s.Attempts(ctx, "a")
	require.NoError(b, err)
	require.Equal(b, "entry", string(as[0].Body))
	if rs, ok := b.s.(store.Resources); ok {
		res, err := rs.Resource(ctx, "cap")
		require.NoError(b, err)
		require.Equal(b, "value", string(res.Value))
	}
}

func copiesOut(b *bench) {
	b.create("a", emits("pay"))
	require.NoError(b, b.s.Note(ctx, "a", store.Attempt{Body: []byte("no")}))
	spoil := func() {
		r, es := b.load("a")
		clear(r.Snapshot)
		clear(r.Entry)
		_ = append(r.Snapshot, "xxxxxxxxxxxxxxxx"...)
		clear(es[0].Body)
		as, err := b.s.Attempts(ctx, "a")
		require.NoError(b, err)
		clear(as[0].Body)
	}
	spoil()
	clear(b.claim("w")[0].Body)
	r, es := b.load("a")
	require.Equal(b, "snapshot 1 of a", string(r.Snapshot))
	require.Equal(b, "entry 1 of a", string(r.Entry))
	require.Equal(b, "body of pay", string(es[0].Body))
	as, err := b.s.Attempts(ctx, "a")
	require.NoError(b, err)
	require.Equal(b, "no", string(as[0].Body))
}

func absentIsNotFound(b *bench) {
	s := b.open()
	b.create("present")
	_, err := s.Tip(ctx, "absent")
	require.ErrorIs(b, err, store.ErrNotFound)
	_, _, err = s.Load(ctx, "absent")
	require.ErrorIs(b, err, store.ErrNotFound)
	require.Contains(b, err.Error(), "absent")
	_, err = b.history("absent", 0, 0)
	require.ErrorIs(b, err, store.ErrNotFound)
	_, err = s.Once(ctx, "absent", "x")
	require.ErrorIs(b, err, store.ErrNotFound)
	_, err = s.Update(ctx, store.Effect{Task: "absent", ID: "pay", Rev: 1, Status: store.Unknown})
	require.ErrorIs(b, err, store.ErrNotFound)
	require.ErrorIs(b, s.Note(ctx, "absent", store.Attempt{}), store.ErrNotFound)
	_, err = s.Attempts(ctx, "absent")
	require.ErrorIs(b, err, store.ErrNotFound)
	b.refused(store.ErrNotFound, b.next("absent", store.Tip{Version: 1}))
	_, _, err = s.Load(ctx, "presen")
	require.ErrorIs(b, err, store.ErrNotFound, "a prefix of an id is another id")
	_, _, err = s.Load(ctx, "present1")
	require.ErrorIs(b, err, store.ErrNotFound)
}

func tipIsCurrent(b *bench) {
	tip := store.Tip{}
	for range 3 {
		tip = b.step("a", tip)
		got, err := b.s.Tip(ctx, "a")
		require.NoError(b, err)
		require.Equal(b, tip, got)
		r, _ := b.load("a")
		require.Equal(b, tip, r.Tip)
	}
}
