package storetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var effectPromises = []Promise{
	{Name: "EffectIDsAreUnique", Means: "One effect per id while it is unsettled; a second intent of the same id is refused.", run: effectIDsAreUnique},
	{Name: "SettleIsFenced", Means: "Only who holds the newest revision of an effect can end it (field case B051).", run: settleIsFenced},
	{Name: "RevisionsNeverComeBack", Means: "A worker of a settled effect cannot touch a later one of the same id.", run: revisionsNeverComeBack},
	{Name: "ClaimIsExclusive", Means: "Two workers never hold one effect at one time, and a claim tells whether it may have been sent before.", run: claimIsExclusive},
	{Name: "ClaimWaitsUntilReady", Means: "An effect is not claimed before its time, and then earliest first.", run: claimWaitsUntilReady},
	{Name: "HoldsRunOut", Means: "A worker that stalls loses its hold by itself; from then on everything it does is refused (field case B051).", run: holdsRunOut},
	{Name: "UpdateIsFenced", Means: "Retry, unknown and renewal each need the newest revision and give a new one.", run: updateIsFenced},
	{Name: "ClaimIsPartitioned", Means: "Workers that share the tasks by slots see only their own.", run: claimIsPartitioned},
	{Name: "EffectsAreListed", Means: "Every unsettled effect of the whole store can be listed in pages, each exactly once.", run: effectsAreListed},
}

func effectIDsAreUnique(b *bench) {
	tip := b.create("a", emits("pay"))
	b.create("b", emits("pay"))
	c := b.next("a", tip)
	emits("pay")(c)
	err := b.refused(store.ErrTaken, c)
	var taken *store.TakenError
	require.ErrorAs(b, err, &taken)
	require.Equal(b, store.TakenError{Task: "a", Name: "pay", Version: 1}, *taken)
}

func settleIsFenced(b *bench) {
	tip := b.create("a", emits("pay", "mail"))
	old := store.FirstRev(1)
	held := b.claim("w")
	require.Len(b, held, 2)
	c := b.next("a", tip)
	settles("pay", old)(c)
	err := b.refused(store.ErrFenced, c)
	var fenced *store.FencedError
	require.ErrorAs(b, err, &fenced)
	require.Equal(b, store.FencedError{Task: "a", Effect: "pay", Want: old, Have: old + 1}, *fenced)
	tip = b.step("a", tip, settles("pay", old+1))
	_, es := b.load("a")
	require.Len(b, es, 1)
	require.Equal(b, "mail", es[0].ID)
	c = b.next("a", tip)
	settles("pay", old+1)(c)
	err = b.refused(store.ErrFenced, c)
	require.ErrorAs(b, err, &fenced)
	require.Zero(b, fenced.Have, "a settled effect has no revision")
	b.pass(60 * second)
	require.Len(b, b.claim("w"), 1, "a settled effect is not claimed")
}

func revisionsNeverComeBack(b *bench) {
	tip := b.create("a", emits("pay"))
	first := b.claim("w")[0]
	tip = b.step("a", tip, settles("pay", first.Rev))
	tip = b.step("a", tip, emits("pay"))
	_, es := b.load("a")
	require.Greater(b, es[0].Rev, first.Rev)
	c := b.next("a", tip)
	settles("pay", first.Rev)(c)
	b.refused(store.ErrFenced, c)
}

func claimIsExclusive(b *bench) {
	b.create("a", emits("pay", "mail"))
	es := b.claim("w1")
	require.Len(b, es, 2)
	require.Empty(b, b.claim("w2"))
	for i, id := range []string{"mail", "pay"} {
		require.Equal(b, store.Effect{
			Task: "a", ID: id, Version: 1, Rev: store.FirstRev(1) + 1, Status: store.Sent, Was: store.Intent,
			Holder: "w1", Hold: start + 10*second, Body: []byte("body of " + id),
		}, es[i])
	}
	_, stored := b.load("a")
	es[0].Was, es[1].Was = 0, 0
	require.Equal(b, es, stored, "what a claim returns is what is stored")
}

func claimWaitsUntilReady(b *bench) {
	ready := func(at store.Micros) func(*store.Commit) {
		return func(c *store.Commit) { c.Emit[0].Ready = at }
	}
	b.create("late", emits("pay"), ready(start+20))
	b.create("soon", emits("pay"), ready(start+10))
	require.Empty(b, b.claim("w"))
	b.pass(9)
	require.Empty(b, b.claim("w"))
	b.pass(1)
	es := b.claim("w")
	require.Len(b, es, 1)
	require.Equal(b, "soon", es[0].Task)
	b.create("early", emits("pay"))
	b.pass(10)
	es, err := b.s.Claim(ctx, store.Slots{}, 1, "w", second)
	require.NoError(b, err)
	require.Len(b, es, 1)
	require.Equal(b, "early", es[0].Task)
	es = b.claim("w")
	require.Len(b, es, 1)
	require.Equal(b, "late", es[0].Task)
}

func holdsRunOut(b *bench) {
	tip := b.create("a", emits("pay"))
	old := b.claim("worker")[0]
	b.pass(10*second - 1)
	require.Empty(b, b.claim("worker"))
	b.pass(1)
	taken := b.claim("worker")
	require.Len(b, taken, 1)
	require.Equal(b, store.Sent, taken[0].Was, "it may have been sent: look it up, do not send it again")
	require.Equal(b, old.Rev+1, taken[0].Rev)

	old.Hold = b.at + second
	_, err := b.s.Update(ctx, old)
	require.ErrorIs(b, err, store.ErrFenced, "heartbeat of the old attempt")
	old.Status = store.Intent
	_, err = b.s.Update(ctx, old)
	require.ErrorIs(b, err, store.ErrFenced, "release by the old attempt")
	var fenced *store.FencedError
	require.ErrorAs(b, err, &fenced)
	require.Equal(b, store.FencedError{Task: "a", Effect: "pay", Want: old.Rev, Have: taken[0].Rev}, *fenced)
	c := b.next("a", tip)
	settles("pay", old.Rev)(c)
	b.refused(store.ErrFenced, c)
	_, es := b.load("a")
	require.Equal(b, taken[0].Rev, es[0].Rev)
	require.Equal(b, taken[0].Hold, es[0].Hold)
	b.step("a", tip, settles("pay", taken[0].Rev))
}

func updateIsFenced(b *bench) {
	b.create("a", emits("pay"))
	e := b.claim("w")[0]

	e.Hold += 5 * second
	rev, err := b.s.Update(ctx, e)
	require.NoError(b, err)
	require.Equal(b, e.Rev+1, rev)
	b.pass(14 * second)
	require.Empty(b, b.claim("other"), "renewed")
	_, err = b.s.Update(ctx, e)
	require.ErrorIs(b, err, store.ErrFenced)

	e.Rev, e.Status, e.Ready, e.Body = rev, store.Intent, b.at+second, []byte("second try")
	rev, err = b.s.Update(ctx, e)
	require.NoError(b, err)
	require.Empty(b, b.claim("other"), "not ready yet")
	_, es := b.load("a")
	require.Equal(b, store.Effect{
		Task: "a", ID: "pay", Version: 1, Rev: rev, Status: store.Intent, Ready: b.at + second, Body: []byte("second try"),
	}, es[0])
	b.pass(second)
	e = b.claim("other")[0]
	require.Equal(b, store.Intent, e.Was)

	e.Status, e.Ready = store.Unknown, b.at+second
	_, err = b.s.Update(ctx, e)
	require.NoError(b, err)
	b.pass(20 * second)
	e = b.claim("w")[0]
	require.Equal(b, store.Unknown, e.Was)

	e.Hold = b.at
	_, err = b.s.Update(ctx, e)
	require.ErrorIs(b, err, store.ErrInvalid, "a hold must end ahead")
	e.ID, e.Hold = "gone", b.at+second
	_, err = b.s.Update(ctx, e)
	require.ErrorIs(b, err, store.ErrFenced)
}

func claimIsPartitioned(b *bench) {
	for i := range 40 {
		b.create(fmt.Sprint("task-", i), emits("pay"))
	}
	seen := map[string]bool{}
	for _, s := range []store.Slots{{From: 0, To: 1000}, {From: 1000, To: 3000}, {From: 3000, To: store.MaxSlot}} {
		es, err := b.open().Claim(ctx, s, 0, "w", second)
		require.NoError(b, err)
		for _, e := range es {
			slot := store.SlotOf(e.Task)
			require.True(b, s.From <= slot && slot < s.To)
			require.False(b, seen[e.Task])
			seen[e.Task] = true
		}
	}
	require.Len(b, seen, 40)
}

func effectsAreListed(b *bench) {
	var want []string
	for i := range 7 {
		task := fmt.Sprint("t", i)
		b.create(task, emits("mail", "pay"))
		want = append(want, task+" mail", task+" pay")
	}
	b.create("none")
	b.claim("w")
	var got []string
	after := ""
	for {
		es, next, err := b.s.Effects(ctx, after, 3)
		require.NoError(b, err)
		require.LessOrEqual(b, len(es), 3)
		for _, e := range es {
			got = append(got, e.Task+" "+e.ID)
			require.Equal(b, store.Sent, e.Status)
		}
		if after = next; next == "" {
			break
		}
	}
	require.ElementsMatch(b, want, got)
}
