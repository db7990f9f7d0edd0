package storetest

import (
	"context"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var inputPromises = []Promise{
	{Name: "BadInputChangesNothing", Means: "Malformed input gets a clear error and changes nothing.", run: badInput},
	{Name: "LimitsAreExact", Means: "Everything has a limit; what is just within it works, what is just past it is refused.", run: limitsAreExact},
	{Name: "TaskIDsHaveOneSpelling", Means: "No two spellings of an id mean one task, and no id can climb out of its place (field case B066).", run: taskIDs},
	{Name: "ContextIsHonoured", Means: "A cancelled request does nothing.", run: contextIsHonoured},
	{Name: "ClosedIsClosed", Means: "A closed store says so, and never ends the process.", run: closedIsClosed},
}

func badInput(b *bench) {
	tip := b.create("a")
	for what, change := range map[string]func(*store.Commit){
		"no machine":       func(c *store.Commit) { c.Meta.Machine = "" },
		"zero in owner":    func(c *store.Commit) { c.Meta.Owner = "a\x00b" },
		"zero in state":    func(c *store.Commit) { c.Meta.State = "\x00" },
		"zero in waits":    func(c *store.Commit) { c.Meta.WaitsFor = "\x00" },
		"negative wake":    func(c *store.Commit) { c.Meta.Wake = -1 },
		"negative since":   func(c *store.Commit) { c.Meta.Since = -1 },
		"negative at":      func(c *store.Commit) { c.At = -1 },
		"negative from":    func(c *store.Commit) { c.From = -1 },
		"negative until":   func(c *store.Commit) { c.Until = -1 },
		"empty once":       once(""),
		"once twice":       once("x", "x"),
		"zero in once":     once("x\x00y"),
		"empty effect":     emits(""),
		"effect twice":     emits("x", "x"),
		"zero in effect":   emits("x\x00y"),
		"foreign effect":   func(c *store.Commit) { c.Emit = []store.Effect{{Task: "b", ID: "x"}} },
		"sent effect":      func(c *store.Commit) { c.Emit = []store.Effect{{ID: "x", Status: store.Sent}} },
		"negative ready":   func(c *store.Commit) { c.Emit = []store.Effect{{ID: "x", Ready: -1}} },
		"emit and settle":  func(c *store.Commit) { emits("x")(c); settles("x", 1)(c) },
		"empty resource":   swaps("", 0, ""),
		"resource twice":   func(c *store.Commit) { swaps("r", 0, "")(c); swaps("r", 0, "")(c) },
		"expected twice":   func(c *store.Commit) { expects("r", 0)(c); expects("r", 0)(c) },
		"expect and swap":  func(c *store.Commit) { expects("r", 0)(c); swaps("r", 0, "")(c) },
		"nothing expected": expects("", 0),
		"base hash only":   func(c *store.Commit) { c.Base.Version = 0 },
		"zero in resource": swaps("\x00", 0, ""),
	} {
		c := b.next("a", tip)
		change(c)
		_, err := b.s.Commit(ctx, c)
		require.ErrorIs(b, err, store.ErrInvalid, what)
	}
	_, err := b.s.Claim(ctx, store.Slots{}, 0, "", second)
	require.ErrorIs(b, err, store.ErrInvalid)
	for _, hold := range []store.Micros{-1, 0, store.MaxHold + 1} {
		_, err = b.s.Claim(ctx, store.Slots{}, 0, "w", hold)
		require.ErrorIs(b, err, store.ErrInvalid)
	}
	for _, s := range []store.Slots{{From: 1, To: 1}, {From: 2, To: 1}, {From: 0, To: store.MaxSlot + 1}} {
		_, err = b.s.Due(ctx, s, 0)
		require.ErrorIs(b, err, store.ErrInvalid)
	}
	_, err = b.s.Due(ctx, store.Slots{}, -1)
	require.ErrorIs(b, err, store.ErrInvalid)
	require.ErrorIs(b, b.s.Note(ctx, "a", store.Attempt{Count: -1}), store.ErrInvalid)
	for _, st := range []store.Status{0, 4} {
		_, err = b.s.Update(ctx, store.Effect{Task: "a", ID: "x", Status: st})
		require.ErrorIs(b, err, store.ErrInvalid)
	}
	_, _, err = b.s.Find(ctx, store.Query{Owner: "\x00"})
	require.ErrorIs(b, err, store.ErrInvalid)
	r, es := b.load("a")
	require.Equal(b, tip, r.Tip)
	require.Empty(b, es)
}

func limitsAreExact(b *bench) {
	long := func(n int) string { return strings.Repeat("x", n) }
	try := func(what string, within, past func(*store.Commit)) {
		c := b.next("past", store.Tip{})
		past(c)
		_, err := b.open().Commit(ctx, c)
		require.ErrorIs(b, err, store.ErrTooBig, what)
		c = b.next(strings.ReplaceAll(what, " ", "-"), store.Tip{})
		within(c)
		b.commit(c)
	}
	size := func(n int) func(*store.Commit) {
		return func(c *store.Commit) { c.Snapshot, c.Entry = make([]byte, n-7), make([]byte, 7) }
	}
	body := func(n int) func(*store.Commit) {
		return func(c *store.Commit) { c.Emit = []store.Effect{{ID: "x", Body: make([]byte, n)}} }
	}
	names := func(n int) func(*store.Commit) {
		return func(c *store.Commit) {
			for i := range n {
				once(long(i + 1))(c)
			}
		}
	}
	try("size", size(store.MaxCommit), size(store.MaxCommit+1))
	try("rows", names(store.MaxRows-9), names(store.MaxRows-8))
	try("body", body(store.MaxBody), body(store.MaxBody+1))
	try("owner", owner(long(store.MaxName)), owner(long(store.MaxName+1)))
	try("state", state(long(store.MaxName)), state(long(store.MaxName+1)))
	try("waits", waits(long(store.MaxName)), waits(long(store.MaxName+1)))
	try("once name", once(long(store.MaxName)), once(long(store.MaxName+1)))
	try("effect id", emits(long(store.MaxName)), emits(long(store.MaxName+1)))
	if b.s.Info().Swap {
		try("value", swaps("r", 0, long(store.MaxResource)), swaps("r2", 0, long(store.MaxResource+1)))
		try("expected", expectsMany(store.MaxExpect), expectsMany(store.MaxExpect+1))
		try("resource", swaps(long(store.MaxName), 0, ""), swaps(long(store.MaxName+1), 0, ""))
	}
	b.create(long(store.MaxTask))
	b.refused(store.ErrTooBig, b.next(long(store.MaxTask+1), store.Tip{}))
	require.NoError(b, b.s.Note(ctx, "size", store.Attempt{Body: make([]byte, store.MaxBody)}))
	require.ErrorIs(b, b.s.Note(ctx, "size", store.Attempt{Body: make([]byte, store.MaxBody+1)}), store.ErrTooBig)
	_, err := b.s.Due(ctx, store.Slots{}, store.MaxPage)
	require.NoError(b, err)
	_, err = b.s.Due(ctx, store.Slots{}, store.MaxPage+1)
	require.ErrorIs(b, err, store.ErrTooBig)
	_, err = b.s.Claim(ctx, store.Slots{From: 0, To: store.MaxSlot}, store.MaxPage, long(store.MaxName), store.MaxHold)
	require.NoError(b, err)
	_, _, err = b.s.Load(ctx, "past")
	require.ErrorIs(b, err, store.ErrNotFound)
}

func taskIDs(b *bench) {
	for _, id := range []string{"", " A1", "A1 ", "A1\n", "A1\x00", "é", "e\u0301", "../A1", "a/b", `a\b`, "A1\u200b", "a%2f"} {
		b.refused(store.ErrInvalid, b.next(id, store.Tip{}))
		_, _, err := b.s.Load(ctx, id)
		require.ErrorIs(b, err, store.ErrInvalid, "%q", id)
		_, err = b.s.Tip(ctx, id)
		require.ErrorIs(b, err, store.ErrInvalid, "%q", id)
	}
	for _, id := range []string{"A1", "a1", "A-1", "A_1", "A.1", "A:1", ".", "..", "-"} {
		b.create(id)
	}
	require.Len(b, b.find(store.Query{}), 9)
}

func contextIsHonoured(b *bench) {
	tip := b.create("a", emits("pay"))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err := b.s.Commit(gone, b.next("a", tip))
	require.ErrorIs(b, err, context.Canceled)
	_, err = b.s.Claim(gone, store.Slots{}, 0, "w", second)
	require.ErrorIs(b, err, context.Canceled)
	_, _, err = b.s.Load(gone, "a")
	require.ErrorIs(b, err, context.Canceled)
	_, err = b.s.Now(gone)
	require.ErrorIs(b, err, context.Canceled)
	for _, err = range b.s.History(gone, "a", 0, 0) {
	}
	require.ErrorIs(b, err, context.Canceled)
	r, es := b.load("a")
	require.Equal(b, tip, r.Tip)
	require.Equal(b, store.Intent, es[0].Status)
}

func closedIsClosed(b *bench) {
	tip := b.create("a", emits("pay"))
	s := b.s
	b.s = nil
	require.NoError(b, s.Close())
	errs := map[string]error{"Close": s.Close()}
	_, errs["Now"] = s.Now(ctx)
	_, errs["Tip"] = s.Tip(ctx, "a")
	_, _, errs["Load"] = s.Load(ctx, "a")
	_, errs["Commit"] = s.Commit(ctx, b.next("a", tip))
	for _, err := range s.History(ctx, "a", 0, 0) {
		errs["History"] = err
	}
	_, errs["Once"] = s.Once(ctx, "a", "x")
	_, _, errs["Find"] = s.Find(ctx, store.Query{})
	_, errs["Due"] = s.Due(ctx, store.Slots{}, 0)
	_, errs["Claim"] = s.Claim(ctx, store.Slots{}, 0, "w", second)
	_, errs["Update"] = s.Update(ctx, store.Effect{Task: "a", ID: "pay", Rev: 1, Status: store.Unknown})
	_, _, errs["Effects"] = s.Effects(ctx, "", 0)
	errs["Note"] = s.Note(ctx, "a", store.Attempt{})
	_, errs["Attempts"] = s.Attempts(ctx, "a")
	for method, err := range errs {
		require.ErrorIs(b, err, store.ErrClosed, method)
	}
	require.Len(b, errs, 14)
}
